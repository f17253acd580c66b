"""Whether a result folder is whole: what it says of itself fits, every chunk is there, and holds what was written."""

import errno
import json
import math
import os
import stat
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hydrostat.errors import InputError, shown
from hydrostat.results.columns import Column

TRAJECTORY = "trajectory.zarr"
COMMITTED = "committed.json"
SYNCED = "synced.json"
"""The file that is as `COMMITTED`, of the rows that have been carried to the medium: what a power cut leaves."""
_METADATA = "zarr.json"
_LARGEST_JSON = 64 * 2**20
_MOST_ROWS = 10**9
_MOST_NUMBERS = 2**34  # of one row


class Committed(NamedTuple):
    """The content of `committed.json`."""

    rows: int
    """Number of valid rows."""
    complete: bool
    sums: dict[str, list[int]]
    """Checksums of the valid rows of every chunk, by the name of the array; empty in folders of early versions."""
    files: dict[str, int]
    """Checksums of all other files of `trajectory.zarr`, by their paths."""


class Checked(NamedTuple):
    """A result that is whole."""

    rows: int
    chunks: int
    """Number of chunks whose checksums were verified."""
    complete: bool
    """Whether recording came to its end."""


def check_result(path: str | os.PathLike[str]) -> Checked:
    """Verify a result folder; `InputError` names the first thing that is missing or changed.

    **Arguments:** `path`: the result folder.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"no result at {str(folder)!r}; give the folder that a run has written")
    try:
        committed = _read_committed(folder, COMMITTED)
        columns = read_columns(folder, committed)
        return Checked(committed.rows, verify(folder, committed, columns), committed.complete)
    except InputError as error:
        if not (folder / SYNCED).exists():
            raise
        rows = _synced(folder, error)[0].rows
        raise InputError(f"{error}; its first {rows} rows are whole, and are what is loaded") from None


def read_whole(folder: Path, *, verified: bool = True) -> tuple[Committed, dict[str, Column]]:
    """What a folder says of its rows, and its arrays.

    Where its last rows are damaged and recording had not come to its end, as after a power cut, those are left out that
    had not been carried to the medium, with a warning.

    **Arguments:** `verified`: whether the checksums of all chunks are verified.
    """
    try:
        committed = _read_committed(folder, COMMITTED)
        columns = read_columns(folder, committed)
        if verified:
            verify(folder, committed, columns)
    except InputError as error:
        if not (folder / SYNCED).exists():
            raise
        committed, columns = _synced(folder, error)
        warnings.warn(f"{error}; only its first {committed.rows} rows are whole and used", stacklevel=3)
    return committed, columns


def _synced(folder: Path, error: InputError) -> tuple[Committed, dict[str, Column]]:
    """The rows that had been carried to the medium, verified; the error of all rows where they are damaged too."""
    try:
        committed = _read_committed(folder, SYNCED)
        columns = read_columns(folder, committed)
        verify(folder, committed, columns)
    except InputError:
        raise error from None
    return committed, columns


def _read_committed(folder: Path, name: str) -> Committed:
    """What a file of a folder says of its rows."""
    if not (folder / TRAJECTORY).is_dir():
        raise InputError(f"{str(folder)!r} is not a result; give a folder that contains {TRAJECTORY}")
    path = folder / name
    if not path.exists():
        raise InputError(f"{str(folder)!r} holds no rows: its {name} is missing, recording had not begun")
    content = read_json(path)
    rows, complete = content.get("rows"), content.get("complete")
    if type(rows) is not int or not 0 <= rows <= _MOST_ROWS or type(complete) is not bool:
        raise InputError(f'{str(path)!r} must be like {{"rows": 10, "complete": true}}; got {shown(content)}')
    sums, files = content.get("chunks", {}), content.get("files", {})
    right = isinstance(sums, dict) and all(isinstance(own, list) and all(map(_is_sum, own)) for own in sums.values())
    if not right or not isinstance(files, dict) or not all(map(_is_sum, files.values())):
        raise InputError(f"{str(path)!r} is damaged: its checksums must be lists of whole numbers")
    return Committed(rows, complete, sums, files)


def read_columns(folder: Path, committed: Committed) -> dict[str, Column]:
    """The recorded arrays of a folder, as its metadata describes them, once it is sure that they can be read."""
    path = folder / TRAJECTORY / _METADATA
    if not path.exists():
        raise _damaged(folder, f"its {_METADATA} is missing")
    group = read_json(path)
    try:
        axis = group["attributes"]["axis"]
        arrays = group["consolidated_metadata"]["metadata"]
        described = {name: arrays[name] for name in arrays if arrays[name].get("node_type") == "array"}
        along = {name: one for name, one in described.items() if (one["dimension_names"] or [None])[0] == axis}
        found = {name: _column(folder, name, one, committed.rows) for name, one in along.items()}
        others = [math.prod(one["shape"]) for name, one in described.items() if name not in along]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise _damaged(folder, f"its {_METADATA} is not that of a recording: {shown(error)}") from None
    if not isinstance(axis, str) or axis not in found:
        raise _damaged(folder, f"its axis {shown(axis)} is missing")
    if any(type(size) is not int or not 0 <= size <= _MOST_NUMBERS for size in others):
        raise _damaged(folder, "a label has a size that cannot be")
    return found


def verify(folder: Path, committed: Committed, columns: Mapping[str, Column]) -> int:
    """The number of chunks that were verified; the first one that is missing or changed is named in an `InputError`."""
    for name, expected in committed.files.items():
        _verify_file(folder, name, expected)
    done = 0
    for name, column in columns.items():
        chunks = -(-committed.rows // column.chunk_rows)
        sums: Sequence[int] | None = committed.sums.get(name)
        if committed.sums and (sums is None or len(sums) != chunks):
            raise _damaged(folder, f"{COMMITTED} has not the checksums of {shown(name)}")
        for number in range(chunks):
            rows = min(column.chunk_rows, committed.rows - number * column.chunk_rows)
            done += 1
            _verify_chunk(folder, name, number, column, rows, None if sums is None else sums[number])
    return done


def reopened(folder: Path, total: int, **layout: Any) -> tuple[dict[str, Column], Committed]:
    """The arrays of a recording that is to be continued, verified, and what it says of its rows.

    **Arguments:** `total`: number of rows; `layout`: as of `create_trajectory`; both must be those it was made with.
    """
    committed, found = read_whole(folder)
    variables = {variable.name: variable for variable in (layout["axis"], *layout["variables"])}
    same = found.keys() == variables.keys() and all(
        column.row_shape == tuple(variables[name].shape) for name, column in found.items()
    )
    metadata = read_json(folder / TRAJECTORY / _METADATA)
    declared = metadata["consolidated_metadata"]["metadata"][layout["axis"].name]["shape"]
    if not same or declared != [total]:
        raise InputError(f"the recording in {str(folder)!r} is another one; resume it with the same settings")
    return {name: found[name] for name in variables}, committed


def file_sums(path: Path, columns: Mapping[str, Column]) -> dict[str, int]:
    """The checksums of all files of a new recording, by their paths in it."""
    del columns
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): zlib.crc32(file.read_bytes()) for file in files}


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; one line of what is wrong where it is none."""
    try:
        with _opened(path) as file:
            raw = file.read(_LARGEST_JSON + 1)
        if len(raw) > _LARGEST_JSON:
            raise InputError(f"{str(path)!r} is damaged: it must be at most {_LARGEST_JSON} bytes")
        content = json.loads(raw.decode("utf-8"))
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{str(path)!r} could not be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = (
            "too many brackets in each other" if isinstance(error, RecursionError) else " ".join(str(error).split())
        )
        raise InputError(f"{str(path)!r} is damaged: it must be JSON; got {reason[:100]}") from None
    if not isinstance(content, dict):
        raise InputError(f"{str(path)!r} is damaged: it must be a JSON object; got {shown(content)}")
    return content


def _column(folder: Path, name: str, array: dict[str, Any], rows: int) -> Column:
    """One array whose rows are recorded, from its metadata."""
    shape, chunk = array["shape"], array["chunk_grid"]["configuration"]["chunk_shape"]
    whole = all(type(size) is int for size in (*shape, *chunk))
    if not whole or len(shape) != len(chunk) or not shape or min(shape) < 0 or min(chunk) < 1:
        raise _damaged(folder, f"{shown(name)} must have a shape and chunks of whole numbers")
    if shape[1:] != chunk[1:] or shape[0] > _MOST_ROWS or math.prod(shape[1:]) > _MOST_NUMBERS:
        raise _damaged(
            folder, f"{shown(name)} has the shape {shown(shape)} in chunks of {shown(chunk)}, which none has"
        )
    if rows > shape[0]:
        raise InputError(f"{str(folder / COMMITTED)!r} says {rows} rows; {TRAJECTORY} has only {shape[0]}")
    if array["data_type"] != "float64":
        raise _damaged(folder, f"{shown(name)} must hold float64; got {shown(array['data_type'])}")
    encoding = array["chunk_key_encoding"]
    separator = encoding["configuration"]["separator"]
    if encoding["name"] != "default" or separator not in ("/", "."):
        raise _damaged(folder, f"the chunks of {shown(name)} have names that none has: {shown(encoding)}")
    return Column(folder / TRAJECTORY / name, tuple(shape[1:]), chunk[0], separator)


def _verify_chunk(folder: Path, name: str, number: int, column: Column, rows: int, expected: int | None) -> None:
    """Refuse a chunk that is missing, of another size, or changed."""
    path, what = column.chunk(number), f"chunk {number} of {shown(name)}"
    size = 8 * math.prod(column.row_shape)
    try:
        with _opened(path) as file:
            length = os.fstat(file.fileno()).st_size
            if length != size * column.chunk_rows:
                raise _damaged(folder, f"{what} must be of {size * column.chunk_rows} bytes; it has {length}")
            if expected is not None and zlib.crc32(file.read(size * rows)) != expected:
                raise _damaged(folder, f"{what} has been changed: its checksum is another one")
    except FileNotFoundError:
        raise _damaged(folder, f"{what} is missing") from None
    except OSError as error:
        raise _damaged(folder, f"{what} could not be read: {error.strerror}") from None


def _verify_file(folder: Path, name: str, expected: int) -> None:
    """Refuse a file of the recording that is missing or changed."""
    try:
        with _opened(folder / TRAJECTORY / name) as file:
            found = zlib.crc32(file.read())
    except FileNotFoundError:
        raise _damaged(folder, f"its file {shown(name)} is missing") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise _damaged(folder, f"its file {shown(name)} could not be read: {reason}") from None
    if found != expected:
        raise _damaged(folder, f"its file {shown(name)} has been changed: its checksum is another one")


def _opened(path: Path) -> BinaryIO:
    """A file to read; a pipe would keep its reader waiting, and a device may have no end."""
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))
    return path.open("rb")


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(f"{str(folder / TRAJECTORY)!r} is damaged or was not written by hydrostat: {what}")


def _is_sum(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**32
