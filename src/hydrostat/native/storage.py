"""Arrays in memory: where they are, how they are written, and loops over them."""

from contextlib import contextmanager
from math import prod

import numpy as np

from hydrostat.native.frame import Space
from hydrostat.native.table import Table
from hydrostat.native.values import Entry, Mem, Val, bytes_of, known

Value = np.ndarray | Mem | Table


class Storage:
    """Memory, for `Lowering`."""

    def layout(self, shape, inner: int | None) -> tuple[tuple[int, ...], int]:
        """Strides and size of an array whose inner axis has its entries side by side, for vectors of them."""
        order = [i for i in range(len(shape)) if i != inner]
        strides, step = [0] * len(shape), 1
        if inner is not None:
            strides[inner] = 1
            step = -(-shape[inner] // self.e.width) * self.e.width
        for i in reversed(order):
            strides[i] = step
            step *= shape[i]
        return tuple(strides), step

    def buffer(self, shape, kind: str, vec: bool, lasting: bool = False) -> Mem:
        """New memory for an array.

        **Arguments:** `lasting`: whether it is filled in several turns of the loop that is being written.
        """
        if vec:
            strides, size = self.layout((*shape, self.e.width), len(shape))
            strides = strides[:-1]
        else:
            strides, size = self.layout(shape, self.axis_of(shape) if self.lanes is None else None)
        space = self.frame.take(size * bytes_of(kind), lasting)
        self.regions[-1].append(space)
        name = self.e.name("m")
        self.e.allocas.append(f"{name} = getelementptr i8, ptr %frame, i64 {space.start}")
        self.whole[name] = tuple(shape)
        self.spaces[name] = space.start, space.end
        return Mem(name, 0, tuple(shape), strides, kind, 1 if vec else None, space)

    def spilled(self, value: Value, kind: str | None = None) -> Mem:
        """A value in memory."""
        if isinstance(value, Mem):
            return value
        if isinstance(value, Table):
            return self.written_out(value)
        kind = self.kind(value) if kind is None else kind
        mem = self.buffer(value.shape, kind, self.varies(value))
        self.put(mem, value)
        return mem

    def kind(self, value: Value) -> str:
        """The LLVM type of its numbers."""
        if isinstance(value, Mem):
            return value.kind
        for x in value.reshape(-1):
            if isinstance(x, Val):
                return x.kind
        x = value.reshape(-1)[0] if value.size else 0.0
        return "i1" if isinstance(x, bool) else "i64" if isinstance(x, int) else "double"

    def put(self, mem: Mem, value: Value, mask: Entry = True) -> None:
        """Store a value."""
        if isinstance(value, np.ndarray) or value.size <= 36:
            entries = self.entries(value)
            for at in np.ndindex(mem.shape):
                offset = sum(i * s for i, s in zip(at, mem.strides, strict=True))
                self.e.store(mem, offset, entries[at], mask)
        elif known(mask) and mask and self._alike(mem, value):
            self._copy_all(mem, value)
        else:
            axis = int(np.argmax(mem.shape))
            with self.loop(mem.shape[axis]) as index:
                self.put(self.at(mem, axis, index), self.at(value, axis, index), mask)

    def _alike(self, to: Mem, value: Mem) -> bool:
        """Whether two arrays lie in memory in the same way, and nothing else is between the entries of the first."""
        if to.strides != value.strides or to.lane != value.lane or min(to.strides) <= 0:
            return False
        unit = self.e.width if to.vec else 1
        if self._span(to) == to.size * unit:
            return True
        # A whole buffer may have room between its rows.
        return isinstance(to.buffer, Space) and to.offset == 0 and self.whole.get(to.ptr) == to.shape

    def _span(self, mem: Mem) -> int:
        """From the first number of an array to its last."""
        return sum((n - 1) * s for n, s in zip(mem.shape, mem.strides, strict=True)) + (self.e.width if mem.vec else 1)

    def _copy_all(self, to: Mem, value: Mem) -> None:
        size = bytes_of(to.kind)
        full = self._span(to)
        self.e.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        a, b = (self.e.pointer(mem.ptr, mem.offset * size) for mem in (to, value))
        self.e.say(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {a}, ptr align 8 {b}, i64 {full * size}, i1 false)")

    def at(self, value: Value, axis: int, index) -> Value:
        """What is at an index."""
        if isinstance(value, Table):
            if axis not in value.axes:
                inner = np.take(value.inner, [index], axis).reshape(without(value.inner.shape, axis))
                axes = tuple(a - (a > axis) for a in value.axes)
                return Table(value.base, value.step, axes, inner)
            base = self.at(value.base, value.axes.index(axis), index)
            axes = tuple(a - (a > axis) for a in value.axes if a != axis)
            return self.of_axes(base, value.step, axes, value.inner.reshape(without(value.inner.shape, axis)))
        if isinstance(value, np.ndarray):
            if known(index):
                return np.asarray(np.take(value, index, axis), object)
            value = self.spilled(value)
        if known(index):
            return value.at(axis, index)
        ptr = self.e.moved(value.ptr, index, value.strides[axis] * bytes_of(value.kind))
        part = value.at(axis, 0)
        return Mem(ptr, part.offset, part.shape, part.strides, part.kind, part.lane, part.buffer)

    @contextmanager
    def loop(self, count, reverse: bool = False):
        """A loop over indices; gives the index."""
        e = self.e
        counter = e.name("count")
        e.allocas.append(f"{counter} = alloca i64")
        head, inside, done = e.label("head"), e.label("body"), e.label("done")
        e.say(f"store i64 0, ptr {counter}")
        e.jump(head)
        e.begin(head)
        now = e.fresh("i64", False, f"load i64, ptr {counter}")
        more = e.fresh("i1", False, f"icmp ult i64 {now.name}, {count}")
        e.say(f"br i1 {more.name}, label %{inside}, label %{done}")
        e.begin(inside)
        e.scopes.append({})
        self.frame.turns.append([])
        index = now if not reverse else e.fresh("i64", False, f"sub nsw i64 {count - 1}, {now.name}")
        yield index
        self.frame.turns.pop()
        e.scopes.pop()
        after = e.fresh("i64", False, f"add nuw nsw i64 {now.name}, 1")
        e.say(f"store i64 {after.name}, ptr {counter}")
        e.jump(head)
        e.begin(done)


def without(shape, axis) -> tuple:
    """A shape without an axis."""
    return (*shape[:axis], *shape[axis + 1 :])


def with_axis(mem: Mem, axis: int, size: int, stride: int) -> Mem:
    """Lanes as an axis."""
    shape, strides = list(mem.shape), list(mem.strides)
    shape.insert(axis, size)
    strides.insert(axis, stride)
    return Mem(mem.ptr, mem.offset, tuple(shape), tuple(strides), mem.kind, None, mem.buffer)


def boxed(entries, shape) -> np.ndarray:
    """An array of values."""
    out = np.empty(prod(shape), object)
    for i, x in enumerate(entries):
        out[i] = x
    return out.reshape(shape)
