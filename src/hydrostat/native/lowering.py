"""From equations to LLVM IR.

Short arrays are NumPy arrays of values, so that slices, transpositions and concatenations of them cost nothing, and
what is known is folded. Long ones are in memory; a group of equations goes through them index by index, or as the
lanes of vectors where no vector is in use yet.
"""

import numpy as np

from hydrostat.native.axes import ELEMENTWISE
from hydrostat.native.elementwise import scalar
from hydrostat.native.emitter import Emitter
from hydrostat.native.frame import Frame, Space
from hydrostat.native.grouping import Group, Plan, plan
from hydrostat.native.groups import Groups, Lanes
from hydrostat.native.loops import Loops, is_light
from hydrostat.native.program import Atom, Block, Const, Eqn, NotLoweredError, Var
from hydrostat.native.shaping import Shaping
from hydrostat.native.storage import Storage, Value, boxed
from hydrostat.native.summing import Summing
from hydrostat.native.table import Slot, Table
from hydrostat.native.values import Mem, Val, kind_of

LONG = 13
"""An axis of so many indices is worth a loop in any case."""
SHORT = 64
"""Constants of so many entries are written into the code."""
MOST = 600
"""Of so many entries at most operations are written out one by one."""


class Lowering(Storage, Groups, Shaping, Summing, Loops):
    """Writes the equations of a program.

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
            method = getattr(self, f"_do_{name}", None)
            if method is None:
                raise NotLoweredError(f"the operation {name}")
            found = method(eqn)
        self.bind(eqn.outputs, found)

    def _do_same(self, eqn: Eqn) -> list[Value]:
        return [self.read(eqn.inputs[0])]

    def elementwise(self, eqn: Eqn) -> np.ndarray:
        """An operation on every entry."""
        inputs = [self.entries(self.read(atom)) for atom in eqn.inputs]
        shape = eqn.outputs[0].shape
        function = scalar(self.e, eqn)
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in inputs]
        return boxed([function(*args) for args in zip(*flat, strict=True)], shape)


def _loops_first(found: Plan) -> list[Group | Eqn]:
    """The units of a plan, short loops and what they need first.

    What is computed before a loop and used after it would wait in memory for a loop that hardly ever turns.
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
