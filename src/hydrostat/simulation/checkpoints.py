"""Checkpoints of simulations: all rows and the carry after them, on disk as they come, so that a run can be resumed.

A program that runs several simulations in the same order each time, as a scenario does, is resumed by running it once
more: what a simulation had done before is read instead of computed, and it goes on from there. A file holds one piece
of rows, and appears whole or not at all.
"""

import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.errors import InputError
from hydrostat.results.folders import replace_file
from hydrostat.tables import read_bytes

FOLDER = "checkpoint"
_ALIGN = 64
_LARGEST = 2**34  # bytes of a piece of rows


class Checkpoints:
    """The checkpoints of all simulations of one program.

    **Arguments:** `folder`: the result folder; `resume`: whether what it holds is used; `single`: whether there
    is but one simulation.
    """

    def __init__(self, folder: str | os.PathLike[str], resume: bool = False, single: bool = False):
        self._folder, self._resume, self._count, self._single = Path(folder) / FOLDER, resume, 0, single

    def next(self, kind: dict[str, Any]) -> "Checkpoint":
        """The checkpoint of the next simulation.

        **Arguments:** `kind`: what must be the same for it to be resumed.
        """
        self._count += 1
        return Checkpoint(self._folder, self._count, kind, self._resume)

    def of(self, folder: str | os.PathLike[str]) -> bool:
        """Whether these are the checkpoints of one simulation, recorded into this folder and resumed by itself."""
        return self._resume and self._single and self._folder == Path(folder) / FOLDER

    def discard(self) -> None:
        """Remove all of them: the program has come to its end."""
        shutil.rmtree(self._folder, ignore_errors=True)


class Checkpoint:
    """The pieces of one simulation."""

    def __init__(self, folder: Path, number: int, kind: dict[str, Any], resume: bool):
        self._folder, self._number, self._kind = folder, number, kind
        self._pieces = 0
        self._resume = resume

    def _path(self, piece: int) -> Path:
        return self._folder / f"{self._number:05}-{piece:07}"

    def read(self, carry: Any, row: Any) -> tuple[Any, Any] | None:
        """The carry after the next piece that is on disk, and its rows; None where there is none.

        **Arguments:** `carry`, `row`: as in the simulation, for their structure.
        """
        path = self._path(self._pieces)
        if not self._resume or not path.exists():
            self._resume = False
            return None
        arrays = _read(path, self._kind)
        if arrays is None:  # cut off or changed: from here on it is computed
            self._resume = False
            return None
        leaves, structure = jax.tree.flatten(carry)
        rows, shape = jax.tree.flatten(row)
        if len(arrays) != len(leaves) + len(rows):
            raise InputError(f"the checkpoint in {str(self._folder)!r} is of another simulation; resume it as it began")
        after = [_like(new, old) for new, old in zip(arrays[: len(leaves)], leaves, strict=True)]
        self._pieces += 1
        return jax.tree.unflatten(structure, after), jax.tree.unflatten(shape, arrays[len(leaves) :])

    def piece(self, make: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """A carry and rows, read where they are on disk, else made and kept.

        **Arguments:** `make`: a function of arrays that JAX can trace.
        """
        found = self.read(*jax.eval_shape(make)) if self._resume else None
        if found is None:
            found = make()
            self.write(found[1], found[0])
        return jax.tree.map(jnp.asarray, found)

    def write(self, rows: Any, carry: Any) -> None:
        """Keep a piece of rows, and the carry after them, trees of arrays."""
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(self._path(self._pieces), self._kind, [_plain(y) for y in jax.tree.leaves((carry, rows))])
        self._pieces += 1


_ACTIVE: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def keeping(checkpoints: Checkpoints | None) -> Iterator[None]:
    """Within, simulations keep their rows there; nowhere for None."""
    token = _ACTIVE.set(checkpoints)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


@contextmanager
def kept_beside(folder: str | os.PathLike[str]) -> Iterator[Checkpoints]:
    """Within, simulations keep their rows: where they do already, else in this folder; those of it to be discarded."""
    active, own = _ACTIVE.get(), Checkpoints(folder)
    if active is None:
        with keeping(own):
            yield own
    else:
        yield active if active.of(folder) else _Nothing(folder)


class _Nothing(Checkpoints):
    """Checkpoints that belong to a larger program, and stay until its end."""

    def discard(self) -> None:
        """Leave all of them."""


def next_checkpoint(kind: dict[str, Any]) -> Checkpoint | None:
    """The checkpoint of a simulation that is about to begin; None where none are kept."""
    active = _ACTIVE.get()
    return None if active is None else active.next(kind)


def _plain(array: Any) -> np.ndarray:
    """An array as NumPy's; of random keys, their data."""
    if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    return np.asarray(array)


def _like(new: np.ndarray, old: Any) -> Any:
    """An array that was kept, of the kind that it was."""
    if isinstance(old, jax.Array) and jnp.issubdtype(old.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(new), impl=jax.random.key_impl(old))
    if np.shape(old) != new.shape:
        raise InputError(f"a checkpoint holds an array of shape {new.shape}; the simulation has {np.shape(old)}")
    return jnp.asarray(new) if isinstance(old, jax.Array) else new


def _write(path: Path, kind: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """Write arrays: a line with a checksum of all that follows it, and JSON that describes them; then their bytes."""
    described = [[array.dtype.str, array.shape] for array in arrays]
    # Not joined to one piece: that would take as long as the writing.
    parts = [part for array in arrays for part in (_bytes_of(array), bytes(-array.nbytes % _ALIGN))]
    head = json.dumps({"kind": kind, "arrays": described}).encode()
    total = zlib.crc32(head)
    for part in parts:
        total = zlib.crc32(part, total)
    replace_file(path, b"%08x " % total, head, b"\n", *parts)


def _bytes_of(array: np.ndarray) -> memoryview:
    """The bytes of an array, not copied where they are in one piece."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _read(path: Path, kind: dict[str, Any]) -> list[np.ndarray] | None:
    """The inverse of `_write`; None for a file that is damaged."""
    try:
        line, _, body = read_bytes(path, _LARGEST, "a checkpoint").partition(b"\n")
        total, _, head = line.partition(b" ")
        if zlib.crc32(body, zlib.crc32(head)) != int(total, 16):
            return None
        told = json.loads(head)
        same, described = told["kind"] == json.loads(json.dumps(kind)), told["arrays"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not same:
        raise InputError(f"the checkpoint {str(path)!r} is of another simulation; resume it with what it began with")
    arrays, place = [], 0
    for name, shape in described:
        count = int(np.prod(shape, dtype=int))
        array = np.frombuffer(body, np.dtype(name), count, place).reshape(shape)
        arrays.append(array.copy())
        place += -(-array.nbytes // _ALIGN) * _ALIGN
    return arrays
