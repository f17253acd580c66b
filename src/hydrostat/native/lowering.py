"""From equations to LLVM IR.

Short arrays are NumPy arrays of values, so that slices, transpositions and concatenations of them cost nothing, and
what is known is folded. Long ones are in memory; a group of equations goes through them index by index, or as the
lanes of vectors where no vector is in use yet.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

import numpy as np

from hydrostat.native.axes import ELEMENTWISE
from hydrostat.native.elementwise import scalar
from hydrostat.native.emitter import Emitter, Entry, Mem, Val, bytes_of, kind_of, known
from hydrostat.native.frame import Frame, Space
from hydrostat.native.grouping import Group, Plan, plan
from hydrostat.native.loops import Loops, is_light
from hydrostat.native.program import Atom, Block, Const, Eqn, NotLowered, Var
from hydrostat.native.shaping import Shaping
from hydrostat.native.summing import Sum, Summing
from hydrostat.native.table import Slot, Table, slots_of

LONG = 13
"""An axis of so many indices is worth a loop in any case."""
SHORT = 64
"""Constants of so many entries are written into the code."""
MOST = 600
"""Of so many entries at most operations are written out one by one."""

Value = np.ndarray | Mem | Table


@dataclass
class Lanes:
    """Vectors in use."""

    valid: Entry
    """Which lanes count."""


class Lowering(Shaping, Summing, Loops):
    """Writes the equations of a program.

    **Arguments:** `lengths`: sizes of axes that are worth a loop, as scans go over them; `side_by_side`: the size of the
    first axis of arrays whose rows are the lanes of vectors.
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

    # Values.

    def axis_of(self, shape) -> int | None:
        """The axis of a shape that is worth a loop, or lanes."""
        if 0 in shape:
            return None
        if shape and self.lanes is None and shape[0] == self.side_by_side > 1:
            return 0
        for i, n in enumerate(shape):
            if n >= LONG or (i == 0 and n >= 4 and n in self.lengths):
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
            return Mem(mem.ptr, mem.offset, value.shape, (0,) * value.ndim, mem.kind)
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
            raise NotLowered(f"{value.size} numbers at once")
        out = np.empty(value.shape, object)
        for at in np.ndindex(value.shape):
            out[at] = self.e.load(value, sum(i * s for i, s in zip(at, value.strides, strict=True)))
        return out

    def varies(self, value: Value) -> bool:
        """Whether a value differs from lane to lane."""
        if isinstance(value, Mem | Table):
            return value.vec
        return any(isinstance(x, Val) and x.vec for x in value.reshape(-1))

    # Memory.

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

    # Blocks.

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

    def run(self, block: Block, table: bool = False) -> list[Value]:
        """Do a block whose inputs are known."""
        found = plan(block, self.axis_of)
        self.keep.append(found)
        for key in found.views:
            self.env.pop(key, None)
            self.plain.pop(key, None)
        self.views.update(found.views)
        for eqn in block.eqns:
            for atom in eqn.inputs:
                self.uses[id(atom)] = self.uses.get(id(atom), 0) + 1
        for atom in block.outputs:
            self.uses[id(atom)] = self.uses.get(id(atom), 0) + 1
        found.units = _loops_first(found)
        last = _last_uses(found, block)
        owned: list[Space] = []
        for index, unit in enumerate(found.units):
            self.regions.append([])
            if isinstance(unit, Group):
                self.group(unit)
            else:
                self.equation(unit)
            # Memory of what nobody needs any more is free for what comes next.
            owned += self.regions.pop()
            if not owned:
                continue
            live = [key for key, end in last.items() if end > index]
            values = [some[key] for key in live for some in (self.env, self.plain) if key in some]
            needed = {id(value.buffer) for value in values if isinstance(value, Mem | Table)}
            for space in owned:
                if id(space) not in needed:
                    self.frame.give(space)
            owned = [space for space in owned if id(space) in needed]
        self.regions[-1] += owned
        return [self.read(atom, table) for atom in block.outputs]

    def equation(self, eqn: Eqn) -> None:
        """Do one equation."""
        name = eqn.name
        if name in ELEMENTWISE:
            found = [self.elementwise(eqn)]
        else:
            method = getattr(self, f"do_{name}", None)
            if method is None:
                raise NotLowered(f"the operation {name}")
            found = method(eqn)
        self.bind(eqn.outputs, found)

    def do_same(self, eqn: Eqn) -> list[Value]:
        return [self.read(eqn.inputs[0])]

    def elementwise(self, eqn: Eqn) -> np.ndarray:
        """An operation on every entry."""
        inputs = [self.entries(self.read(atom)) for atom in eqn.inputs]
        shape = eqn.outputs[0].shape
        function = scalar(self.e, eqn)
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in inputs]
        return boxed([function(*args) for args in zip(*flat, strict=True)], shape)

    # Groups.

    def group(self, group: Group) -> None:
        """Do a group: as lanes where no vectors are in use, else as a loop."""
        outside = [(self.read(atom, table=True), axis, inner) for atom, axis, inner in group.inputs]
        for eqn in group.rows.eqns:
            for atom in eqn.inputs:
                if id(atom) in self.views or isinstance(self.env.get(id(atom)), Table):
                    self.read(atom)
        (self._as_lanes if self.lanes is None else self._as_loop)(group, outside)

    def _body(self, group: Group, sums: list[Sum]) -> list[Value]:
        """What a group makes at an index, or in a block of lanes; its sums are gone on with."""
        outputs = [inner for _, inner, _ in group.outputs]
        found = self.run(Block([], group.rows.eqns, [*outputs, *(inner for _, inner in group.sums)]), table=True)
        for one, value in zip(sums, found[len(outputs) :], strict=True):
            self.add_to(one, self.entries(value if isinstance(value, np.ndarray) else self.spilled(value)))
        return found[: len(outputs)]

    def _sums(self, group: Group, outside=None) -> list[Sum]:
        """The sums of a group before its first turn; those that are the same in all lanes are single numbers."""
        vecs = [True] * len(group.sums)
        if outside is not None:
            block = Block([inner for _, _, inner in outside], group.rows.eqns, [inner for _, inner in group.sums])
            vecs = self.varying(block, [self.varies(value) for value, _, _ in outside])
        return [self.new_sum(eqn.name, eqn.outputs[0].shape, eqn.inputs[0].dtype, vec)
                for (eqn, _), vec in zip(group.sums, vecs, strict=True)]  # fmt: skip

    def row_stored(self, var: Var, axis: int, index, value: Value) -> Value:
        """The array of which a value is the row at an index of a loop, the row being stored."""
        kind, n = kind_of(var.dtype), var.shape[axis]
        if isinstance(value, np.ndarray):
            inner, values = slots_of(value)
            if len(values) < value.size:
                vec = self.varies(value)
                mem = self.buffer((n, max(len(values), 1)), kind, vec, lasting=True)
                for number, x in enumerate(values):
                    self.e.store(self.at(mem, 0, index), number * mem.strides[1], x)
                base = mem.part((n,), mem.strides[:1])
                return Table(base, mem.strides[1], (axis,), np.expand_dims(inner, axis))
        mem = self.buffer(var.shape, kind, self.varies(value), lasting=True)
        self._write_out(self.at(mem, axis, index), value)
        return mem

    def _as_loop(self, group: Group, outside) -> None:
        outside = [(value if isinstance(value, Table) and axis in value.axes else
                    self.spilled(value, kind_of(inner.dtype)), axis, inner)
                   for value, axis, inner in outside]  # fmt: skip
        lengths, self.lengths = self.lengths, self.lengths - {group.size}
        results, sums = [], self._sums(group, outside)
        with self.loop(group.size) as index:
            self.bind([inner for _, _, inner in outside], [self.at(value, axis, index) for value, axis, _ in outside])
            for (var, _, axis), value in zip(group.outputs, self._body(group, sums), strict=True):
                results.append((var, self.row_stored(var, axis, index, value)))
        self.lengths = lengths
        self.bind(*(zip(*results, strict=True) if results else ((), ())))
        self.bind([eqn.outputs[0] for eqn, _ in group.sums], [self.summed(one) for one in sums])

    def _as_lanes(self, group: Group, outside) -> None:
        e, n = self.e, group.size
        blocks = -(-n // e.width)
        lengths, self.lengths = self.lengths, self.lengths - {n}
        if blocks == 1:
            numbers = e.vector(list(range(e.width)), "i64")
            self.lanes = Lanes(True if n == e.width else e.compare("lt", "i64", numbers, n))
            self.bind(
                [inner for _, _, inner in outside], [self._lanes_of(value, axis, 0) for value, axis, _ in outside]
            )
            sums = self._sums(group)
            for (var, _, axis), value in zip(group.outputs, self._body(group, sums), strict=True):
                self.bind([var], [self._out_of_lanes(value, var, axis, n)])
            self.lanes, self.lengths = None, lengths
            self.bind([eqn.outputs[0] for eqn, _ in group.sums], [self.over_lanes(one, n) for one in sums])
            return
        places = [(self._padded(value, axis, kind_of(inner.dtype)), axis, inner) for value, axis, inner in outside]
        results, sums = [], self._sums(group)
        with self.loop(blocks) as block:
            first = e.fresh("i64", False, f"mul nsw i64 {block.name}, {e.width}")
            numbers = e.add("i64", e.vector(list(range(e.width)), "i64"), first)
            self.lanes = Lanes(True if n % e.width == 0 else e.compare("lt", "i64", numbers, n))
            self.bind(
                [inner for _, _, inner in places], [self._lanes_of(value, axis, first) for value, axis, _ in places]
            )
            for (var, _, axis), value in zip(group.outputs, self._body(group, sums), strict=True):
                results.append((var, self._lanes_stored(var, axis, first, value)))
            self.lanes = None
        self.lengths = lengths
        self.bind(*(zip(*results, strict=True) if results else ((), ())))
        self.bind([eqn.outputs[0] for eqn, _ in group.sums], [self.over_lanes(one, e.width) for one in sums])

    def _out_of_lanes(self, value: Value, var: Var, axis: int, n: int) -> Value:
        """What the lanes hold, with the lanes as an axis."""
        if isinstance(value, Table):
            if value.vec:
                base = with_axis(value.base, 0, n, 1)
                axes = (axis, *(a + (a >= axis) for a in value.axes))
                return Table(base, value.step, axes, np.expand_dims(value.inner, axis))
            value = self.written_out(value)
        mem = value
        if not isinstance(value, Mem) or value.lane != 1:
            mem = self.buffer(without(var.shape, axis), kind_of(var.dtype), True)
            self.put(mem, value)
        return with_axis(mem, axis, n, 1)

    def _lanes_stored(self, var: Var, axis: int, first, value: Value) -> Value:
        """The array of which a value is a block of lanes, which is stored."""
        kind = kind_of(var.dtype)
        if isinstance(value, np.ndarray):
            inner, values = slots_of(value)
            if len(values) < value.size:
                whole = self._inner_last((len(values) or 1, var.shape[axis]), 1, kind)
                lanes = self._lanes_of(whole, 1, first)
                for number, x in enumerate(values):
                    e_offset = number * whole.strides[0]
                    self.e.store(lanes, e_offset, x)
                base = whole.part(whole.shape[1:], whole.strides[1:])
                return Table(base, whole.strides[0], (axis,), np.expand_dims(inner, axis))
        mem = self._inner_last(var.shape, axis, kind)
        self._write_out(self._lanes_of(mem, axis, first), value)
        return mem

    def _inner_last(self, shape, axis: int, kind: str) -> Mem:
        """Memory for an array whose axis is that of the lanes."""
        strides, size = self.layout(shape, axis)
        mem = self.buffer((size,), kind, False, lasting=True)
        return Mem(mem.ptr, 0, tuple(shape), strides, kind, None, mem.buffer)

    def _padded(self, value: Value, axis: int, kind: str) -> Mem:
        """An array whose entries along an axis are side by side, or all the same."""
        if isinstance(value, Table):
            if axis in value.axes and value.base.strides[value.axes.index(axis)] in (0, 1):
                return value
            value = self.written_out(value)
        if isinstance(value, Mem) and value.strides[axis] in (0, 1):
            return value
        shape = value.shape
        strides, size = self.layout(shape, axis)
        whole = self.buffer((size,), kind, False)
        mem = Mem(whole.ptr, 0, shape, strides, kind, None, whole.buffer)
        self.put(mem, value)
        return mem

    def _lanes_of(self, value: Value, axis: int, first) -> Value:
        """The rows of an array along an axis as lanes, from the first on."""
        e = self.e
        if isinstance(value, Table):
            if axis not in value.axes:
                return self._lanes_of(self.written_out(value), axis, first)
            base = self._lanes_of(value.base, value.axes.index(axis), first)
            axes = tuple(a - (a > axis) for a in value.axes if a != axis)
            return self.of_axes(base, value.step, axes, value.inner.reshape(without(value.inner.shape, axis)))
        if isinstance(value, np.ndarray):
            count = value.shape[axis]
            rows = [np.take(value, min(i, count - 1), axis) for i in range(e.width)]
            kind = self.kind(value)
            each = zip(*(np.asarray(row, object).reshape(-1) for row in rows), strict=True)
            return boxed([e.vector(list(lanes), kind) for lanes in each], without(value.shape, axis))
        stride = value.strides[axis]
        count = value.shape[axis]
        part = value.at(axis, 0)
        if not stride:
            return part
        if stride != 1 and count < e.width:
            value = self._padded(value, axis, value.kind)
            part, stride = value.at(axis, 0), 1
        ptr = part.ptr if known(first) else e.moved(part.ptr, first, stride * bytes_of(value.kind))
        return Mem(ptr, part.offset, part.shape, part.strides, part.kind, stride, part.buffer)


def _loops_first(found: Plan) -> list[Group | Eqn]:
    """The units of a plan, short loops and what they need first.

    What is computed before a loop and used after it would wait in memory while the loop, which hardly ever turns, might.
    """
    made = {id(var): unit for unit in found.units if isinstance(unit, Eqn) for var in unit.outputs}
    waiting = [unit for unit in found.units if isinstance(unit, Eqn) and unit.name == "while" and is_light(unit)]
    if not waiting or any(isinstance(unit, Group) for unit in found.units):
        return found.units
    early: set[int] = set()
    while waiting:
        unit = waiting.pop()
        if id(unit) in early:
            continue
        early.add(id(unit))
        atoms = list(unit.inputs)
        while atoms:
            atom = atoms.pop()
            if id(atom) in found.views:
                atoms += found.views[id(atom)].inputs
            elif id(atom) in made:
                waiting.append(made[id(atom)])
    return [u for u in found.units if id(u) in early] + [u for u in found.units if id(u) not in early]


def _last_uses(found: Plan, block: Block) -> dict[int, int]:
    """After which unit the values of a block are needed no more."""
    last: dict[int, int] = {}

    def use(atom, index: int) -> None:
        if isinstance(atom, Var) and last.get(id(atom), -1) < index:
            last[id(atom)] = index
            for other in found.views[id(atom)].inputs if id(atom) in found.views else ():
                use(other, index)

    for atom in block.outputs:
        use(atom, len(found.units))
    for index in range(len(found.units) - 1, -1, -1):
        unit = found.units[index]
        if isinstance(unit, Group):
            for atom, _, _ in unit.inputs:
                use(atom, index)
            for eqn in unit.rows.eqns:
                for atom in eqn.inputs:
                    use(atom, index)
        else:
            for atom in unit.inputs:
                use(atom, index)
    return last


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
