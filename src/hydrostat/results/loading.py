"""Reading a result back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrostat.results.recording import COMMITTED, TRAJECTORY

if TYPE_CHECKING:
    import xarray

METRICS = "metrics.json"


def load(path: str | os.PathLike[str]) -> xarray.Dataset:
    """Open a result, finished or not, as a Dataset of its valid rows; arrays are read from disk when first used.

    Every variable has the attributes `units` and `description`. The Dataset's own are those given to the recorder,
    `axis` (the name of the record axis), `complete` (whether the recording came to its end) and, once they are
    written, `metrics`. A result that is still being written is opened with the rows it has at this moment.

    **Arguments:** `path`: the result folder.
    """
    folder = Path(path)
    if not folder.exists():
        raise FileNotFoundError(f"no result at {str(folder)!r}; give the folder that a run has written")
    if not (folder / TRAJECTORY).is_dir():
        raise ValueError(f"{str(folder)!r} is not a result; give a folder that contains {TRAJECTORY}")
    if not (folder / COMMITTED).exists():
        raise ValueError(f"{str(folder)!r} holds no rows: its {COMMITTED} is missing, recording had not begun")

    # The number of valid rows is read before the rows themselves: a writer can only add to them in between
    committed = _read_json(folder / COMMITTED)
    rows, complete = (committed.get(name) for name in ("rows", "complete"))
    if type(rows) is not int or rows < 0 or type(complete) is not bool:
        raise ValueError(f'{str(folder / COMMITTED)!r} must be like {{"rows": 10, "complete": true}}; got {committed}')
    dataset = _open_trajectory(folder / TRAJECTORY)
    axis = dataset.attrs["axis"]
    if rows > dataset.sizes[axis]:
        raise ValueError(f"{str(folder / COMMITTED)!r} says {rows} rows; {TRAJECTORY} has only {dataset.sizes[axis]}")
    dataset = dataset.isel({axis: slice(0, rows)})

    dataset.attrs["complete"] = complete
    if (folder / METRICS).exists():
        report = _read_json(folder / METRICS)
        dataset.attrs["metrics"] = report.get("metrics", report)
        dataset.attrs["report"] = report
    return dataset


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is damaged: it must be JSON; got {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{str(path)!r} is damaged: it must be a JSON object; got {content!r}")
    return content


def _open_trajectory(path: Path) -> xarray.Dataset:
    """The whole group with its record axis named in `attrs["axis"]`, nothing decoded: "s" stays a float in seconds."""
    import xarray

    try:
        dataset = xarray.open_zarr(path, consolidated=True, chunks=None, decode_cf=False)
        if dataset.attrs["axis"] not in dataset.coords:
            raise KeyError(f"axis {dataset.attrs['axis']!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} is damaged or was not written by hydrostat: {reason}") from error
    return dataset
