"""Arrays in memory: where they are, how they are written, and loops over them."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from hydrostat.native.axis import Chunk, without
from hydrostat.native.emitter import Emitter
from hydrostat.native.frame import Frame, Space
from hydrostat.native.program import Atom, Block, Const, Eqn, NotLoweredError, Var
from hydrostat.native.table import Slot, Table, sharing, slots_of
from hydrostat.native.values import Entry, Mem, Val, bytes_of, kind_of, known

Value = Any
"""An array: of entries where it is short, `Mem` where it is in memory, `Table` where some of it is known."""
LONG = 13
"""Least size of any axis that is worth a loop: more than rows and columns of a segment's matrices."""
LONG_FIRST = 7
"""Least size of a first axis that is worth a loop."""
SHORT = 64
"""Largest size of constants that are written into the code."""
MOST = 2000
"""Largest size of arrays whose operations are written out one by one."""


@dataclass
class Lanes:
    """Vectors in use."""

    valid: Entry
    """Which lanes count."""


class Storage:
    """Values and memory: the base of `Lowering`.

    **Arguments:** `lengths`: sizes of axes that are worth a loop, as scans go over them; `side_by_side`: the size of
    the first axis of arrays whose rows are the lanes of vectors.
    """

    def __init__(self, emitter: Emitter, lengths: frozenset[int], side_by_side: int):
        self.e = emitter
        self.lengths, self.side_by_side = lengths, side_by_side
        self.env: dict[int, Value] = {}
        self.plain: dict[int, Mem] = {}
        """Arrays of `env` that are tables, written out."""
        self.views: dict[int, Eqn] = {}
        self.lanes: Lanes | None = None
        self.homes: set[int] = set()
        """Buffers that the innermost loop carries."""
        self.uses: dict[int, int] = {}
        self.frame = Frame()
        self.whole: dict[str, tuple[int, ...]] = {}
        """Shapes of buffers, by their pointers."""
        self.spaces: dict[str, tuple[int, int]] = {}
        """Where buffers begin and end, by their pointers."""
        self.regions: list[list[Space]] = [[]]
        """Memory taken by the equation that is being done, by the one around it, and so on."""
        self.aliases: dict[str, str] = {}
        """Other names of pointers."""
        self.keep: list = []

    def axis_of(self, shape) -> int | None:
        """The axis of a shape that is worth a loop, or lanes."""
        if 0 in shape:
            return None
        if shape and self.lanes is None and shape[0] == self.side_by_side > 1:
            return 0
        for i, n in enumerate(shape):
            first = i == 0 or (i == 1 and n in self.lengths)
            if n >= LONG or (first and (n >= LONG_FIRST or (n >= 4 and n in self.lengths))):
                return i
        return None

    def read(self, atom: Atom, table: bool = False) -> Value:
        """The value of an atom.

        **Arguments:** `table`: whether it may be one of which only some entries are stored.
        """
        if isinstance(atom, Const):
            return self.constant(atom.value)
        if id(atom) not in self.env:
            self.env[id(atom)] = self.view(self.views[id(atom)])
        value = self.env[id(atom)]
        if isinstance(value, Table) and not table:
            if id(atom) not in self.plain:
                self.plain[id(atom)] = self.written_out(value)
            return self.plain[id(atom)]
        return value

    def written_out(self, table: Table) -> Mem:
        """An array with memory for each of its entries."""
        mem = self.buffer(table.shape, table.kind, table.vec)
        self._write_out(mem, table)
        return mem

    def _write_out(self, mem: Mem, value: Value) -> None:
        if not isinstance(value, Table):
            self.put(mem, value)
            return
        with self.loop(value.base.shape[0]) as index:
            axis = value.axes[0]
            self._write_out(self.at(mem, axis, index), self.at(value, axis, index))

    def filled(self, base: Mem, step: int, inner: np.ndarray) -> np.ndarray:
        """Entries, loaded from their slots."""
        found = np.empty(inner.shape, object)
        for at in np.ndindex(*inner.shape):
            x = inner[at]
            found[at] = self.e.load(base, x.number * step) if isinstance(x, Slot) else x
        return found

    def of_axes(self, base: Mem, step: int, axes: tuple[int, ...], inner: np.ndarray) -> Value:
        """A table, or its entries where it has no long axis."""
        return Table(base, step, axes, inner) if axes else self.filled(base, step, inner)

    def constant(self, value: np.ndarray) -> Value:
        """A constant, as it is where it is short."""
        if value.size <= SHORT or self.axis_of(value.shape) is None:
            return boxed(value.reshape(-1).tolist(), value.shape)
        flat = value.reshape(-1)
        if np.all(flat == flat[0]):
            mem = self.spilled(boxed(flat[:1].tolist(), (1,)), kind_of(value.dtype))
            return mem.part(value.shape, (0,) * value.ndim)
        axis = self.axis_of(value.shape)
        kind = kind_of(value.dtype)
        strides, size = self.layout(value.shape, axis)
        laid = np.zeros(size + 2 * self.e.width, value.dtype)
        np.lib.stride_tricks.as_strided(laid, value.shape, [s * laid.itemsize for s in strides])[...] = value
        stored = "i8" if kind == "i1" else kind
        name = f"@constant{len(self.e.globals)}"
        inside = ", ".join(f"{stored} {self.e.literal(x, stored)}" for x in laid.tolist())
        self.e.globals.append(f"{name} = private unnamed_addr constant [{laid.size} x {stored}] [{inside}], align 64")
        return Mem(name, 0, value.shape, strides, kind)

    def entries(self, value: Value) -> np.ndarray:
        """The entries of a value, loaded from where they are."""
        if isinstance(value, np.ndarray):
            return value
        if value.size > MOST:
            raise NotLoweredError(f"{value.size} numbers at once")
        out = np.empty(value.shape, object)
        for at in np.ndindex(value.shape):
            out[at] = self.e.load(value, sum(i * s for i, s in zip(at, value.strides, strict=True)))
        return out

    def varies(self, value: Value) -> bool:
        """Whether a value differs from lane to lane."""
        if isinstance(value, Mem | Table):
            return value.vec
        return any(isinstance(x, Val) and x.vec for x in value.reshape(-1))

    def call(self, block: Block, values: list[Value]) -> list[Value]:
        """What a block gives of some values."""
        self.keep.append(block)
        self.bind(block.inputs, values)
        return self.run(block)

    def bind(self, variables, values) -> None:
        """Give variables their values."""
        for var, value in zip(variables, values, strict=True):
            self.env[id(var)] = value
            self.plain.pop(id(var), None)

    def rows_stored(self, outputs: list[tuple[Var, int]], index, values: list[Value]) -> list[Value]:
        """The arrays of which values are the rows at an index of a loop, the rows being stored.

        **Arguments:** `outputs`: the arrays, and which of their axes is that of the loop.
        """

        def pool(kind: str, vec: bool, n: int, count: int) -> tuple[Mem, int, Mem]:
            mem = self.buffer((n, max(count, 1)), kind, vec, lasting=True)
            return mem.part((n,), mem.strides[:1]), mem.strides[1], self.at(mem, 0, index)

        def plain(var: Var, axis: int, value: Value) -> Mem:
            mem = self.buffer(var.shape, kind_of(var.dtype), self.varies(value), lasting=True)
            self._write_out(self.at(mem, axis, index), value)
            return mem

        return self.stored(outputs, values, pool, plain)

    def stored(
        self, outputs: list[tuple[Var, int]], values: list[Value], pool: Callable, plain: Callable
    ) -> list[Value]:
        """Arrays, stored one by one, or in one pool of slots where entries are known or occur more than once.

        **Arguments:** `pool`: makes slots of a kind: where the first one is, the way from one to the next, and what
        they are stored to; `plain`: stores an array by itself.
        """
        found: list[Value] = [None] * len(values)
        kinds: dict[tuple[str, bool], list[int]] = {}
        for k in sharing(
            [None if isinstance(axis, Chunk) else v for v, (_, axis) in zip(values, outputs, strict=True)]
        ):
            kinds.setdefault((kind_of(outputs[k][0].dtype), self.varies(values[k])), []).append(k)
        for (kind, vec), which in kinds.items():
            inners, slots = slots_of([values[k] for k in which])
            var, axis = outputs[which[0]]
            base, step, to = pool(kind, vec, var.shape[axis], len(slots))
            for number, x in enumerate(slots):
                self.e.store(to, number * step, x)
            for k, inner in zip(which, inners, strict=True):
                found[k] = Table(base, step, (outputs[k][1],), np.expand_dims(inner, outputs[k][1]))
        for k, (var, axis) in enumerate(outputs):
            if found[k] is None:
                found[k] = plain(var, axis, values[k])
        return found

    def assembled(self, eqn: Eqn, parts: list, fill=None):
        """An array made of parts: (value, place as slices)."""
        out = eqn.outputs[0]
        long = self.axis_of(out.shape) is not None
        if not long or (all(isinstance(value, np.ndarray) for value, _ in parts) and prod(out.shape) <= 64):
            found = np.empty(out.shape, object)
            if fill is not None:
                found[...] = fill
            for value, place in parts:
                entries = self.entries(value)
                found[place] = entries if entries.ndim else entries.item()
            return found
        mem = self.buffer(out.shape, kind_of(out.dtype), any(self.varies(value) for value, _ in parts))
        if fill is not None:
            self.put(
                mem,
                Mem(
                    self.spilled(np.array([fill], object), mem.kind).ptr, 0, out.shape, (0,) * len(out.shape), mem.kind
                ),
            )
        for value, place in parts:
            if prod(value.shape):
                cuts = [cut.indices(n) for cut, n in zip(place, out.shape, strict=True)]
                offset = sum(cut[0] * s for cut, s in zip(cuts, mem.strides, strict=True))
                strides = [s * cut[2] for cut, s in zip(cuts, mem.strides, strict=True)]
                self.put(mem.part(value.shape, strides, offset), value)
        return mem

    def run(self, block: Block, table: bool = False) -> list[Value]:
        """Do a block whose inputs are known."""
        raise NotImplementedError

    def view(self, eqn: Eqn) -> Value:
        """The result of an operation that only says in another way where numbers are."""
        raise NotImplementedError

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

    def at(self, value: Value, axis: Any, index) -> Value:
        """What is at an index; of an axis in chunks, the rows of the index."""
        if isinstance(axis, Chunk):
            mem = self.spilled(value)
            ptr = self.e.moved(mem.ptr, index, mem.strides[axis.axis] * axis.rows * bytes_of(mem.kind))
            return replace(mem, ptr=ptr, shape=without(mem.shape, axis))
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
