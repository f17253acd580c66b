"""Results that are recorded all at once, such as a table of cases or a motion that is known before it is written."""

import os
from collections.abc import Sequence

from hydrostat.results.recording import Recorder
from hydrostat.results.variables import Variable


def record_rows(folder: str | os.PathLike[str], axis_values, columns: Sequence[tuple[Variable, object]], **options):
    """Record all rows of some variables into a result folder.

    **Arguments:** `axis_values`: of the record axis, one for each row; `columns`: variables with their rows; `options`:
    as those of `Recorder`.
    """
    with Recorder(folder, [variable for variable, _ in columns], len(axis_values), **options) as recorder:
        recorder.append(axis_values, **{variable.name: rows for variable, rows in columns})
