"""The recorder: rows of named arrays on disk as soon as they are appended."""

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from hydrostat.results.checking import COMMITTED, SYNCED, TRAJECTORY, file_sums, reopened
from hydrostat.results.columns import create_trajectory
from hydrostat.results.folders import carry_to_medium, replace_file, resumes
from hydrostat.results.variables import Coordinate, Variable, check_layout

_SYNC_SECONDS = 10.0
RESERVED_ATTRIBUTES = ("axis", "complete", "metrics")


class Recorder:
    """Record rows into `folder/trajectory.zarr`; whatever `append` has returned from survives `kill -9`.

    There is no buffer, no timer and no thread. `append` writes the new rows behind the committed ones, in place, and
    then replaces `committed.json`, which says how many rows are valid, atomically. A process that dies in between
    leaves some bytes that no reader uses; committed rows are never written again. An exception, Ctrl-C and a kill
    thus all leave the same: every row appended, marked as not complete. The same file holds a checksum of the valid
    rows of every chunk, which `load` verifies. Where recording goes on for longer, all rows are carried to the medium
    every ten seconds: a power cut takes at most the rows after that, and `load` opens those before.

    An append costs some 0.2 ms however short it is, so append blocks of rows where speed matters.

        with Recorder(folder, [Variable("tip", ("component",), (3,), "m", "tip in the world")], 1000) as recorder:
            recorder.append(times, tip=positions)

    **Arguments:** `folder`: the result folder; created when missing, must not hold a recording already, unless a run is
    resumed there; `variables`: what is recorded; `total`: the number of rows to allocate; fewer may be recorded;
    `axis`: the name of the record axis; `axis_unit`: its unit; `attributes`: anything JSON can hold that describes the
    whole recording; `coordinates`: labels of the other dimensions.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        variables: Sequence[Variable],
        total: int,
        *,
        axis: str = "time",
        axis_unit: str = "s",
        attributes: Mapping[str, Any] | None = None,
        coordinates: Sequence[Coordinate] = (),
    ) -> None:
        if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 1:
            raise ValueError(f"`total` must be a positive number of rows; got {total!r}")
        check_layout(axis, variables, coordinates)
        attributes = {"axis": axis, **_checked_attributes(attributes or {})}
        self.folder = Path(folder)
        self.total = int(total)
        self.axis = axis
        self._rows = self._seen = 0
        self._closed = False
        self._synced_rows, self._synced_at = 0, time.monotonic()
        layout = {"axis": Variable(axis, unit=axis_unit), "variables": variables, "coordinates": coordinates}
        path = self.folder / TRAJECTORY
        if resumes(self.folder) and (self.folder / COMMITTED).exists():
            self._columns, committed = reopened(self.folder, self.total, attributes=attributes, **layout)
            self._rows, self._sums, self._files = committed.rows, committed.sums, committed.files
            return
        if resumes(self.folder) and path.is_dir():  # it had not begun
            shutil.rmtree(path)
        self._columns = create_trajectory(path, self.total, attributes=attributes, **layout)
        self._sums: dict[str, list[int]] = {name: [] for name in self._columns}
        self._files = file_sums(path, self._columns)
        self._commit(0, self._sums)

    @property
    def rows(self) -> int:
        """The number of rows recorded so far, all of them on disk."""
        return self._rows

    def append(self, axis_values: Any, /, **blocks: Any) -> None:
        """Record n more rows; when it returns they are on disk, when it raises nothing has changed.

        **Arguments:** `axis_values`: the rows' places on the record axis [axis_unit], shape (n,); `**blocks`: for each
        variable an array of shape (n, *its shape), in its unit.
        """
        if self._closed:
            raise ValueError("this recorder is closed; rows can be appended only before close()")
        expected = [name for name in self._columns if name != self.axis]
        if set(blocks) != set(expected):
            missing, unknown = [n for n in expected if n not in blocks], [n for n in blocks if n not in expected]
            raise ValueError(
                f"append needs exactly the variables {expected}; "
                + "; ".join(f"{what} {names}" for what, names in (("missing", missing), ("unknown", unknown)) if names)
            )
        axis_block = _as_numbers(self.axis, axis_values)
        if axis_block.ndim != 1:
            raise ValueError(f"the values of {self.axis!r} must be one-dimensional; got shape {axis_block.shape}")
        count = len(axis_block)
        ready = {self.axis: axis_block} | {name: _as_numbers(name, block) for name, block in blocks.items()}
        for name, block in ready.items():
            shape = (count, *self._columns[name].row_shape)
            if block.shape != shape:
                raise ValueError(f"{name!r} must have shape {shape} to match {self.axis!r}; got {block.shape}")
        if self._seen + count > self.total:
            raise ValueError(
                f"this recorder was made for {self.total} rows and holds {self._seen}; got {count} more; "
                f"make it with a larger `total`"
            )
        # Of a run that is resumed, the first rows are there already
        known, seen = min(self._rows - self._seen, count), self._seen + count
        ready = {name: block[known:] for name, block in ready.items()}
        count -= known
        if not count:
            self._seen = seen
            return
        # The rows first, and only then their number
        sums = {}
        for name, block in ready.items():
            column = self._columns[name]
            column.write(self._rows, block)
            own = self._sums[name]
            new = column.sums(self._rows, block, own[-1] if own else 0)
            sums[name] = [*own[: min(new)], *new.values()]
        self._commit(self._rows + count, sums)
        self._rows, self._sums, self._seen = self._rows + count, sums, seen
        if time.monotonic() - self._synced_at > _SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        """Mark the recording as complete; a second call does nothing."""
        if not self._closed:
            if self._synced_rows:
                self._sync()
            self._commit(self._rows, self._sums, complete=True)
            (self.folder / SYNCED).unlink(missing_ok=True)
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self._closed = True

    def _commit(self, rows: int, sums: dict[str, list[int]], complete: bool = False) -> None:
        replace_file(self.folder / COMMITTED, self._text(rows, sums, complete), durable=complete)

    def _sync(self) -> None:
        """Carry all rows to the medium, and then their number, to a file of its own.

        The one of `_commit` changes its name several times a second: after a power cut it may have no content.
        """
        trajectory = self.folder / TRAJECTORY
        if not self._synced_rows:
            carry_to_medium(*(trajectory / name for name in self._files), trajectory, self.folder)
        for column in self._columns.values():
            first, last = (rows // column.chunk_rows for rows in (self._synced_rows, self._rows - 1))
            carry_to_medium(*(column.chunk(number) for number in range(first, last + 1)), column.folder)
        replace_file(self.folder / SYNCED, self._text(self._rows, self._sums, False), durable=True)
        carry_to_medium(self.folder)
        self._synced_rows, self._synced_at = self._rows, time.monotonic()

    def _text(self, rows: int, sums: dict[str, list[int]], complete: bool) -> bytes:
        return json.dumps({"rows": rows, "complete": complete, "chunks": sums, "files": self._files}).encode()


def _as_numbers(name: str, values: Any) -> np.ndarray:
    """The values as a contiguous little-endian float64 array."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name!r} must hold real numbers; got type {array.dtype}")
    return np.ascontiguousarray(array, dtype="<f8").reshape(array.shape)


def _checked_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, once it is sure that strict JSON can hold them."""
    for name in RESERVED_ATTRIBUTES:
        if name in attributes:
            raise ValueError(f"`attributes` must not contain {name!r}, which is set when a result is loaded")
    try:
        return json.loads(json.dumps(dict(attributes), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`attributes` must be strict JSON (no NaN, no arrays); got {attributes!r}: {error}"
        ) from error
