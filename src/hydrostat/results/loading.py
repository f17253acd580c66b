"""Reading a result back."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrostat.errors import InputError
from hydrostat.results.checking import TRAJECTORY, read_json, read_whole

if TYPE_CHECKING:
    import xarray

METRICS = "metrics.json"


def load(path: str | os.PathLike[str], *, verify: bool = True) -> xarray.Dataset:
    """Open a result, finished or not, as a Dataset of its valid rows; arrays are read from disk when first used.

    Every variable has the attributes `units` and `description`. The Dataset's own are those given to the recorder,
    `axis` (the name of the record axis), `complete` (whether the recording came to its end) and, once they are
    written, `metrics`. A result that is still being written is opened with the rows it has at this moment.

    A chunk that is missing, or that does not hold what was written, is named in an `InputError`; of a recording that a
    power cut has ended, the rows that were on the medium are opened, and a warning says so.

    **Arguments:** `path`: the result folder; `verify`: whether the checksums of all chunks are verified, at some 1 GB a
    second.
    """
    folder = Path(path)
    if not folder.exists():
        raise FileNotFoundError(f"no result at {str(folder)!r}; give the folder that a run has written")
    # The number of valid rows is read before the rows themselves: a writer can only add to them in between
    committed, _ = read_whole(folder, verified=verify)
    rows, complete = committed.rows, committed.complete
    dataset = _open_trajectory(folder / TRAJECTORY)
    axis = dataset.attrs["axis"]
    dataset = dataset.isel({axis: slice(0, rows)})
    for name in dataset.dims:
        if name in dataset.coords and name not in dataset.xindexes:
            dataset = dataset.set_xindex(str(name))

    dataset.attrs["complete"] = complete
    if (folder / METRICS).exists():
        report = read_json(folder / METRICS)
        dataset.attrs["metrics"] = report.get("metrics", report)
        dataset.attrs["report"] = report
    return dataset


def _open_trajectory(path: Path) -> xarray.Dataset:
    """The whole group with its record axis named in `attrs["axis"]`, nothing decoded: "s" stays a float in seconds."""
    import xarray

    try:
        # Indexes are made of the valid rows alone: a table of all rows that were allocated may not fit into memory
        options: Any = {"create_default_indexes": False} if _has_option(xarray.open_zarr) else {}
        dataset = xarray.open_zarr(path, consolidated=True, chunks=None, decode_cf=False, **options)
        if dataset.attrs["axis"] not in dataset.coords:
            raise KeyError(f"axis {dataset.attrs['axis']!r}")
    except Exception as error:  # whatever zarr says of a file that it did not write
        reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
        raise InputError(f"{str(path)!r} is damaged or was not written by hydrostat: {reason}") from error
    return dataset


def _has_option(function) -> bool:
    """Whether this version of xarray can leave indexes out."""
    return "create_default_indexes" in inspect.signature(function).parameters
