"""The arrays of `trajectory.zarr`, whose rows are written in place.

Arrays and their description are files as version 3 of the Zarr format has them, written without the package of that
name, which takes a tenth of a second for it and longer to be imported. Chunks are plain little-endian float64 without
compression, so that a row sits at a known offset of a known file and is written there in microseconds.
"""

import dataclasses
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hydrostat.results.folders import replace_file
from hydrostat.results.variables import Coordinate, Variable

CHUNK_BYTES = 2**20
_SEPARATOR = "."  # without folders of their own, which take longer to make than the files
_METADATA = "zarr.json"
_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
# Of each kind of numbers and words: type, what stands for a missing value, and how it is written.
_KINDS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "f": ("float64", "NaN", _BYTES),
    "i": ("int64", 0, _BYTES),
    "u": ("uint64", 0, _BYTES),
    "b": ("bool", False, {"name": "bytes"}),
    "U": ("string", "", {"name": "vlen-utf8", "configuration": {}}),
}
_NUMBERS = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "?"}


@dataclasses.dataclass(frozen=True)
class Column:
    """The files that hold the rows of one recorded array.

    **Arguments:** `folder`: the array's folder inside `trajectory.zarr`; `row_shape`: the shape of one row;
    `chunk_rows`: rows per chunk file; `separator`: between the numbers in the name of a chunk file, "/" for one that
    lies in folders of its own.
    """

    folder: Path
    row_shape: tuple[int, ...]
    chunk_rows: int
    separator: str

    def chunk(self, number: int) -> Path:
        """The file of a chunk."""
        return self.folder / self.separator.join(["c", str(number), *("0" for _ in self.row_shape)])

    def sums(self, start: int, rows: np.ndarray, before: int) -> dict[int, int]:
        """The checksums of the valid rows of all chunks that rows reach into, by the chunks' numbers.

        **Arguments:** `start`: index of the first of these rows; `before`: checksum of the rows before them in its
        chunk.
        """
        found = {}
        while len(rows) > 0:
            chunk, offset = divmod(start, self.chunk_rows)
            count = min(len(rows), self.chunk_rows - offset)
            found[chunk] = zlib.crc32(rows[:count].data, before if offset else 0)
            start, rows = start + count, rows[count:]
        return found

    def write(self, start: int, rows: np.ndarray) -> None:
        """Write rows `start`, `start + 1`, ...; all earlier rows stay untouched.

        **Arguments:** `start`: index of the first row; `rows`: contiguous little-endian float64, shape (n, *row_shape).
        """
        while len(rows) > 0:
            chunk, offset = divmod(start, self.chunk_rows)
            count = min(len(rows), self.chunk_rows - offset)
            path = self.chunk(chunk)
            if offset == 0:
                # A new file appears whole: these rows, then NaN
                content = np.full((self.chunk_rows, *self.row_shape), np.nan, dtype="<f8")
                content[:count] = rows[:count]
                if self.separator == "/":
                    path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content.data)
            else:
                with path.open("r+b") as file:
                    file.seek(offset * rows[0].nbytes)
                    file.write(rows[:count].data)
            start, rows = start + count, rows[count:]


def create_trajectory(
    path: Path,
    total: int,
    *,
    axis: Variable,
    variables: Sequence[Variable],
    coordinates: Sequence[Coordinate],
    attributes: Mapping[str, Any],
) -> dict[str, Column]:
    """Create a zarr group whose arrays hold nothing but NaN yet, and return its columns by name, the axis first.

    **Arguments:** `path`: where the group is stored; must not exist; `total`: the size of the record axis; `axis`: the
    record axis; `variables`: the recorded quantities; `coordinates`: labels of their dimensions; `attributes`: of the
    whole group.
    """
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise FileExistsError(f"{str(path)!r} exists already and is not overwritten; give a new folder") from error
    columns, described = {}, {}
    for variable in (axis, *variables):
        name, shape = variable.name, (total, *variable.shape)
        chunk_rows = _chunk_rows(total, variable.shape)
        attributes_of = {"units": variable.unit, "description": variable.description}
        described[name] = _array(shape, (chunk_rows, *variable.shape), "f", (axis.name, *variable.dims), attributes_of)
        columns[name] = Column(path / name, variable.shape, chunk_rows, _SEPARATOR)
    for coordinate in coordinates:
        values = np.asarray(coordinate.values)
        attributes_of = {"units": coordinate.unit, "description": coordinate.description}
        described[coordinate.dim] = _array(
            values.shape, values.shape, values.dtype.kind, (coordinate.dim,), attributes_of
        )
    for name, array in described.items():
        (path / name).mkdir()
        _write_json(path / name / _METADATA, array)
    for coordinate in coordinates:
        values = np.asarray(coordinate.values)
        chunk = _SEPARATOR.join(["c", *("0" for _ in values.shape)])
        (path / coordinate.dim / chunk).write_bytes(_encoded(values))
    # Of all arrays in one place, which `xarray.open_zarr` reads first; no array changes its shape.
    consolidated = {"kind": "inline", "must_understand": False, "metadata": dict(sorted(described.items()))}
    group = {"attributes": dict(attributes), "zarr_format": 3, "consolidated_metadata": consolidated}
    _write_json(path / _METADATA, {**group, "node_type": "group"})
    return columns


def _array(shape, chunk, kind: str, dims, attributes: dict[str, Any]) -> dict[str, Any]:
    """The description of an array, whose numbers or words are of a kind of NumPy's."""
    data_type, fill, codec = _KINDS[kind]
    return {
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": _SEPARATOR}},
        "fill_value": fill,
        "codecs": [codec],
        "attributes": attributes,
        "dimension_names": list(dims),
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def _encoded(values: np.ndarray) -> bytes:
    """The bytes of a chunk of numbers or words; of words each after its length, and their number before all."""
    if values.dtype.kind != "U":
        return values.astype(_NUMBERS[values.dtype.kind]).tobytes()
    words = [word.encode() for word in values.ravel().tolist()]
    lengths = np.array([len(words), *map(len, words)], dtype="<u4")
    return lengths[:1].tobytes() + b"".join(n.tobytes() + word for n, word in zip(lengths[1:], words, strict=True))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _chunk_rows(total: int, row_shape: tuple[int, ...]) -> int:
    """Rows per chunk for files of equal length (zarr stores the last one in full size too) of at most about 1 MB."""
    chunks = min(total, math.ceil(total * math.prod(row_shape) * 8 / CHUNK_BYTES))
    return math.ceil(total / chunks)
