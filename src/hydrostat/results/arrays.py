"""Whole arrays as a recording, where all rows are known at once."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from hydrostat.results.recording import Recorder
from hydrostat.results.variables import Variable


def record_arrays(folder: str | os.PathLike[str], index: Any, columns: Mapping[str, tuple], **options: Any) -> None:
    """Record arrays that share their rows into a result folder.

        record_arrays(folder, times, {"tip": (positions, ("axis",), "m", "tip in the world")})

    **Arguments:** `index`: coordinate of the rows; `columns`: by name of the variable, its values with the row as
    leading axis, the names of its other axes, its unit and its description; `options`: as those of `Recorder`.
    """
    index = np.asarray(index, float)
    values = {name: np.asarray(column[0]) for name, column in columns.items()}
    variables = [
        Variable(name, tuple(axes), values[name].shape[1:], unit, text)
        for name, (_, axes, unit, text) in columns.items()
    ]
    with Recorder(folder, variables, len(index), **options) as recorder:
        recorder.append(index, **values)
