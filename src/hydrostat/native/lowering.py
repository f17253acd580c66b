"""From equations to LLVM IR.

Short arrays are NumPy arrays of values, so that slices, transpositions and concatenations of them cost nothing, and
what is known is folded. Long ones are in memory; a group of equations goes through them index by index, or as the
lanes of vectors where no vector is in use yet.
"""

import numpy as np

from hydrostat.native.axes import ELEMENTWISE
from hydrostat.native.elementwise import scalar
from hydrostat.native.frame import Space
from hydrostat.native.grouping import Group, Plan, plan
from hydrostat.native.groups import Groups
from hydrostat.native.loops import is_light
from hydrostat.native.program import Block, Eqn, NotLoweredError, Var
from hydrostat.native.storage import Value, boxed
from hydrostat.native.table import Table
from hydrostat.native.values import Mem


class Lowering(Groups):
    """Writes the equations of a program.

    **Arguments:** `lengths`: sizes of axes that are worth a loop, as scans go over them; `side_by_side`: the size of
    the first axis of arrays whose rows are the lanes of vectors.
    """

    # Blocks.

    def run(self, block: Block, table: bool = False) -> list[Value]:
        """Do a block whose inputs are known."""
        found = plan(block, self.axis_of, self.lanes is not None)
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
            method = getattr(self, f"_do_{name.replace('-', '_')}", None)
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
