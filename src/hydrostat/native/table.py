"""Arrays of which some entries are known, or equal to each other, at every index of their long axes.

What a loop computes for each of its turns may be a symmetric matrix, or one with zeros: only what differs is stored.
"""

from dataclasses import dataclass

import numpy as np

from hydrostat.native.values import Mem, Val


@dataclass(frozen=True)
class Slot:
    """An entry that is stored, by its number."""

    number: int


@dataclass(frozen=True, eq=False)
class Table:
    """An array in memory with a slot for each entry that is not known."""

    base: Mem
    """The first slot; its axes are the long ones."""
    step: int
    """From slot to slot, in numbers."""
    axes: tuple[int, ...]
    """Which axes of the array the long ones are."""
    inner: np.ndarray
    """Slots or numbers; the long axes have the size 1."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        shape = list(self.inner.shape)
        for axis, n in zip(self.axes, self.base.shape, strict=True):
            shape[axis] = n
        return tuple(shape)

    @property
    def buffer(self):
        """What it is a part of."""
        return self.base.buffer

    @property
    def vec(self) -> bool:
        """Whether it differs from lane to lane."""
        return self.base.vec

    @property
    def kind(self) -> str:
        """The LLVM type of its numbers."""
        return self.base.kind

    def viewed(self, name: str, params: dict, shape) -> "Table | None":
        """The same in another shape; None where that cannot be said."""
        full, axes, base = self.inner, list(self.axes), self.base
        if name == "transpose":
            perm = list(params["permutation"])
            return Table(base, self.step, tuple(perm.index(a) for a in axes), full.transpose(perm))
        if name == "squeeze":
            gone = params["dimensions"]
            if any(a in gone for a in axes):
                return None
            new = tuple(a - sum(d < a for d in gone) for a in axes)
            return Table(base, self.step, new, np.squeeze(full, tuple(gone)))
        if name == "slice":
            return self._cut(params)
        if name in ("reshape", "expand_dims"):
            return self._reshaped(shape)
        if name == "broadcast_in_dim":
            dims = params["broadcast_dimensions"]
            spread = [1] * len(shape)
            for d, n in zip(dims, full.shape, strict=True):
                spread[d] = n
            if any(self.shape[a] != shape[dims[a]] for a in axes):
                return None
            new = tuple(dims[a] for a in axes)
            target = [1 if d in new else n for d, n in enumerate(shape)]
            return Table(base, self.step, new, np.broadcast_to(full.reshape(spread), target))
        return None

    def _cut(self, params: dict) -> "Table":
        start, stop = params["start_indices"], params["limit_indices"]
        step = params["strides"] or (1,) * len(start)
        base, shape, strides, offset = self.base, [], [], 0
        for k, a in enumerate(self.axes):
            offset += start[a] * base.strides[k]
            strides.append(base.strides[k] * step[a])
            shape.append(len(range(start[a], stop[a], step[a])))
        cuts = [slice(None) if d in self.axes else slice(start[d], stop[d], step[d]) for d in range(len(start))]
        return Table(base.part(shape, strides, offset), self.step, self.axes, self.inner[tuple(cuts)])

    def _reshaped(self, shape) -> "Table | None":
        old, new = self.shape, []
        for a in self.axes:
            before, size, count, found = int(np.prod(old[:a])), old[a], 1, None
            for i, n in enumerate(shape):
                if count == before and n == size and int(np.prod(shape[i + 1 :])) == int(np.prod(old[a + 1 :])):
                    found = i
                    break
                count *= n
            if found is None or found in new:
                return None
            new.append(found)
        target = [1 if d in new else n for d, n in enumerate(shape)]
        order = np.argsort(new)
        if list(order) != list(range(len(new))):
            return None
        return Table(self.base, self.step, tuple(new), self.inner.reshape(target))


def slots_of(arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[Val]]:
    """Which slot each entry of some arrays has, and what the slots hold."""
    held: dict[int, int] = {}
    values: list[Val] = []
    inners = []
    for entries in arrays:
        inner = np.empty(entries.shape, object)
        for at in np.ndindex(*entries.shape):
            x = entries[at]
            if isinstance(x, Val):
                if id(x) not in held:
                    held[id(x)] = len(values)
                    values.append(x)
                inner[at] = Slot(held[id(x)])
            else:
                inner[at] = x
        inners.append(inner)
    return inners, values


def sharing(arrays: list) -> list[int]:
    """Which of some arrays have entries that are known, or that occur more than once among all of them."""
    count: dict[int, int] = {}
    flat = [list(array.reshape(-1)) if isinstance(array, np.ndarray) else [] for array in arrays]
    for entries in flat:
        for x in entries:
            count[id(x)] = count.get(id(x), 0) + 1
    return [k for k, entries in enumerate(flat) if any(not isinstance(x, Val) or count[id(x)] > 1 for x in entries)]
