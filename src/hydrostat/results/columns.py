"""The arrays of `trajectory.zarr`, whose rows are written in place.

zarr creates the arrays and their description. Their chunks are plain little-endian float64 without compression, so that
a row sits at a known offset of a known file and is written there in microseconds. (Assignment through zarr decodes and
encodes a whole chunk and hands it from thread to thread: milliseconds, or a tenth of a second beside a busy loop.)
"""

import dataclasses
import math
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hydrostat.results.folders import replace_file
from hydrostat.results.variables import Coordinate, Variable

CHUNK_BYTES = 2**20
_SEPARATOR = "."  # without folders of their own, which take longer to make than the files


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
    import zarr

    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise FileExistsError(f"{str(path)!r} exists already and is not overwritten; give a new folder") from error
    group = zarr.create_group(path, attributes=dict(attributes))
    columns = {}
    for variable in (axis, *variables):
        chunk_rows = _chunk_rows(total, variable.shape)
        group.create_array(
            variable.name,
            shape=(total, *variable.shape),
            chunks=(chunk_rows, *variable.shape),
            chunk_key_encoding={"name": "default", "separator": _SEPARATOR},
            dtype="<f8",
            fill_value=np.nan,
            compressors=None,
            filters=None,
            dimension_names=(axis.name, *variable.dims),
            attributes={"units": variable.unit, "description": variable.description},
        )
        columns[variable.name] = Column(path / variable.name, variable.shape, chunk_rows, _SEPARATOR)
    for coordinate in coordinates:
        values = np.asarray(coordinate.values)
        group.create_array(
            coordinate.dim,
            shape=values.shape,
            dtype="str" if values.dtype.kind == "U" else values.dtype,
            dimension_names=(coordinate.dim,),
            attributes={"units": coordinate.unit, "description": coordinate.description},
        )[:] = values
    # xarray.open_zarr searches for consolidated metadata first; it stays true, because no array changes its shape
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata")
        zarr.consolidate_metadata(path)
    return columns


def _chunk_rows(total: int, row_shape: tuple[int, ...]) -> int:
    """Rows per chunk for files of equal length (zarr stores the last one in full size too) of at most about 1 MB."""
    chunks = min(total, math.ceil(total * math.prod(row_shape) * 8 / CHUNK_BYTES))
    return math.ceil(total / chunks)
