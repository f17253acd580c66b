"""Metrics: the few numbers that a run is judged by, as strict JSON."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hydrostat.results.folders import replace_file


def check_metrics(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics as plain Python values, or raise ValueError naming the first that breaks the contract.

    A metric is a finite number, a boolean, None or a flat list of these.

    **Arguments:** `metrics`: values by name; scalars and 1-D arrays of NumPy or JAX are converted.
    """
    return {_checked_name(name): _plain(name, value) for name, value in metrics.items()}


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of a metric must be a non-empty string; got {name!r}")
    return name


def _plain(name: str, value: Any) -> Any:
    """One metric as a plain scalar or a list of plain scalars."""
    value = _unwrapped(value)
    if isinstance(value, list | tuple):
        return [_plain_scalar(name, _unwrapped(item), f" at index {index}") for index, item in enumerate(value)]
    return _plain_scalar(name, value, "")


def _unwrapped(value: Any) -> Any:
    """A NumPy or JAX scalar or array as Python scalars or (nested) lists; anything else unchanged."""
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value


def _plain_scalar(name: str, value: Any, where: str) -> bool | int | float | None:
    valid = value is None or (isinstance(value, bool | int | float) and math.isfinite(value))
    if not valid:
        raise ValueError(
            f"metric {name!r} must be a finite number, a boolean, None or a flat list of these; got {value!r}{where}"
        )
    return value


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write `content` as strict JSON (no NaN, no infinity), replacing the file atomically and durably."""
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
    replace_file(Path(path), f"{text}\n".encode(), durable=True)
