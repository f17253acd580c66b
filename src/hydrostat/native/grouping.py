"""Which equations of a block are done together, index by index of a long axis.

An equation on long arrays alone would go through memory for every number that it reads and writes. Equations that do
the same for every index of an axis are therefore grouped: a group is one loop, or the lanes of a vector, and what it
computes on the way stays in registers. An equation joins the earliest group whose results, and all it needs besides,
are there by then.
"""

from dataclasses import dataclass, field
from math import prod

from hydrostat.native.axis import FREE, Chunk, UnmappableError, without
from hydrostat.native.mapped import Rows
from hydrostat.native.program import Atom, Block, Const, Eqn, Var

SUMS = frozenset(("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"))
MOST_SUMS = 40
"""Largest size of sums that are kept in registers."""
VIEWS = frozenset(("slice", "squeeze", "reshape", "transpose", "expand_dims", "rev", "broadcast_in_dim", "iota"))


@dataclass(eq=False)
class Group:
    """Equations that are done index by index."""

    size: int
    rows: Rows
    inputs: list[tuple[Atom, int, Var]] = field(default_factory=list)
    """What comes from outside: the value, the axis, and what it is within."""
    outputs: list[tuple[Var, Atom, int]] = field(default_factory=list)
    """What is needed outside: the value, what it is within, and the axis."""
    sums: list[tuple[Eqn, Atom]] = field(default_factory=list)
    """Sums and the like over all indices: the equation, and what is summed at each index."""


@dataclass(eq=False)
class Plan:
    """The order in which a block is done."""

    units: list[Group | Eqn]
    views: dict[int, Eqn]
    """Equations that are done where their result is needed, by their results."""


def plan(block: Block, axis_of, chunks: bool = False) -> Plan:
    """How to do a block.

    **Arguments:** `axis_of`: of a shape, the axis that is worth a loop; None where there is none;
    `chunks`: whether an index of a group may have several rows of an axis.
    """
    return _Planner(axis_of, chunks).plan(block)


class _Planner:
    def __init__(self, axis_of, chunks: bool):
        self.axis_of, self.chunks = axis_of, chunks
        self.groups: list[Group] = []
        self.plain: list[list[Eqn]] = [[]]
        """Before each group, and after the last."""
        self.ready: dict[int, int] = {}
        """From which group on a value is there."""
        self.views: dict[int, Eqn] = {}
        self.used: dict[int, int] = {}

    def plan(self, block: Block) -> Plan:
        for eqn in block.eqns:
            self._place(eqn)
        self._outputs(block)
        units: list[Group | Eqn] = []
        for i, plain in enumerate(self.plain):
            units += plain
            units += self.groups[i : i + 1]
        return Plan(units, self.views)

    def _place(self, eqn: Eqn) -> None:
        long = [atom for atom in (*eqn.outputs, *eqn.inputs) if self.axis_of(atom.shape) is not None]
        from_groups = [atom for atom in eqn.inputs if self._group_of(atom) is not None]
        if eqn.name in VIEWS and not from_groups:
            self._view(eqn)
        elif eqn.name in SUMS and self._sum(eqn):
            pass
        elif not long or not self._join(eqn):
            if eqn.name in VIEWS:
                self._view(eqn)
            else:
                slot = self._earliest(eqn)
                self.plain[slot].append(eqn)
                self.ready.update((id(var), slot) for var in eqn.outputs)

    def _sum(self, eqn: Eqn) -> bool:
        """Let the group that makes what is summed sum it as well."""
        index, group = next(((i, g) for i, g in enumerate(self.groups) if id(eqn.inputs[0]) in g.rows.inner), (0, None))
        if group is None or prod(eqn.outputs[0].shape) > MOST_SUMS:
            return False
        inner, axis = group.rows.inner[id(eqn.inputs[0])]
        axes = eqn.params["axes"]
        if isinstance(axis, Chunk):
            rest = tuple(axes)
            if axis.axis not in axes:
                return False
        elif axis in axes:
            rest = tuple(d - (d > axis) for d in axes if d != axis)
        else:
            return False
        if rest:
            part = Var(eqn.outputs[0].shape, eqn.outputs[0].dtype)
            group.rows.eqns.append(Eqn(eqn.name, [inner], [part], {**eqn.params, "axes": rest}))
            inner = part
        group.sums.append((eqn, inner))
        self.ready[id(eqn.outputs[0])] = index + 1
        return True

    def _view(self, eqn: Eqn) -> None:
        self.views[id(eqn.outputs[0])] = eqn
        self.ready[id(eqn.outputs[0])] = self._earliest(eqn)

    def _group_of(self, atom: Atom) -> Group | None:
        return next((group for group in self.groups if id(atom) in group.rows.inner), None)

    def _earliest(self, eqn: Eqn) -> int:
        """The first place between groups at which all inputs are there."""
        return max((self.ready.get(id(atom), 0) for atom in eqn.inputs if isinstance(atom, Var)), default=0)

    def _join(self, eqn: Eqn) -> bool:
        """Put an equation into a group, a new one if need be."""
        axis = self.axis_of(eqn.outputs[0].shape)
        last = self._earliest(eqn)
        for index in range(max(last - 1, 0), len(self.groups)):
            group = self.groups[index]
            if eqn.name in VIEWS and id(eqn.inputs[0]) not in group.rows.inner:
                continue
            late = [atom for atom in eqn.inputs if isinstance(atom, Var) and self.ready.get(id(atom), 0) > index]
            if any(id(atom) not in group.rows.inner for atom in late):
                continue
            if self._try(group, eqn, axis, index):
                return True
        size = self._size(eqn, axis)
        if size is None or eqn.name in VIEWS:
            return False
        group = Group(size, None)  # type: ignore[arg-type]
        group.rows = Rows(size, lambda atom, axis: _outside(group, atom, axis), self.chunks)
        group.rows.made = self.views
        if not self._try(group, eqn, axis, len(self.groups)):
            return False
        self.groups.append(group)
        self.plain.append([])
        return True

    def _size(self, eqn: Eqn, axis: int | None) -> int | None:
        if eqn.name in ("scan", "while", "cond"):
            if eqn.name == "scan" and not eqn.params["num_carry"] and self.axis_of(eqn.outputs[0].shape) == 0:
                return eqn.params["length"]
            found = self._carried(eqn)
            return None if found is None else eqn.inputs[found[0]].shape[found[1]]
        return None if axis is None else eqn.outputs[0].shape[axis]

    def _carried(self, eqn: Eqn) -> tuple[int, int] | None:
        """An input of a loop that is long, and its axis."""
        first = {"scan": eqn.params.get("num_consts", 0), "cond": 1,
                 "while": eqn.params.get("cond_nconsts", 0) + eqn.params.get("body_nconsts", 0)}[eqn.name]  # fmt: skip
        last = first + eqn.params["num_carry"] if eqn.name == "scan" else len(eqn.inputs)
        for i in range(first, last):
            axis = self.axis_of(eqn.inputs[i].shape)
            if axis is not None:
                return i, axis
        return None

    def _try(self, group: Group, eqn: Eqn, axis: int | None, index: int) -> bool:
        rows = group.rows
        axes = [FREE if rows.axis(atom) is None else rows.axis(atom) for atom in eqn.inputs]
        target = axis if axis is not None and eqn.outputs[0].shape[axis] == group.size else None
        if all(own is FREE for own in axes):
            if target is None and eqn.name not in ("scan", "while", "cond"):
                return False
            if eqn.name in ("while", "cond") or (eqn.name == "scan" and eqn.params["num_carry"]):
                found = self._carried(eqn)
                if found is None or eqn.inputs[found[0]].shape[found[1]] != group.size:
                    return False
                axes[found[0]] = found[1]
        mark = len(rows.eqns), len(group.inputs), dict(rows.copies)
        try:
            rows.add(eqn, target, axes)
        except UnmappableError:
            del rows.eqns[mark[0] :], group.inputs[mark[1] :]
            rows.copies = mark[2]
            return False
        self.ready.update((id(var), index + 1) for var in eqn.outputs)
        return True

    def _outputs(self, block: Block) -> None:
        """What of each group is needed outside."""
        needed = {id(atom): atom for atom in block.outputs}
        for plain in self.plain:
            needed.update((id(atom), atom) for eqn in plain for atom in eqn.inputs)
        for group in self.groups:
            needed.update((id(atom), atom) for atom, _, _ in group.inputs)
            # What is the same for all indices comes from outside as well.
            needed.update((id(atom), atom) for eqn in group.rows.eqns for atom in eqn.inputs)
        waiting = list(needed.values())
        while waiting:
            atom = waiting.pop()
            eqn = self.views.get(id(atom))
            for one in eqn.inputs if eqn else ():
                if id(one) not in needed:
                    needed[id(one)] = one
                    waiting.append(one)
        for group in self.groups:
            for key, (inner, axis) in group.rows.inner.items():
                if key in needed:
                    group.outputs.append((needed[key], inner, axis))  # type: ignore[arg-type]


def _outside(group: Group, atom: Atom, axis) -> Var:
    inner = Var(without(atom.shape, axis), atom.dtype)
    group.inputs.append((atom, axis, inner))
    return inner


__all__ = ["Const", "Group", "Plan", "plan"]
