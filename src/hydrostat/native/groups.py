"""Groups of equations: lanes of vectors where none are in use, else loops."""

import numpy as np

from hydrostat.native.axis import without
from hydrostat.native.grouping import Group
from hydrostat.native.program import Block, Var
from hydrostat.native.scattering import Scattering
from hydrostat.native.storage import Lanes, Value, boxed, with_axis
from hydrostat.native.summing import Sum
from hydrostat.native.table import Table
from hydrostat.native.values import Mem, bytes_of, kind_of, known


class Groups(Scattering):
    """Doing groups, for `Lowering`."""

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

    def _as_loop(self, group: Group, outside) -> None:
        outside = [(value if isinstance(value, Table) and axis in value.axes else
                    self.spilled(value, kind_of(inner.dtype)), axis, inner)
                   for value, axis, inner in outside]  # fmt: skip
        lengths, self.lengths = self.lengths, self.lengths - {group.size}
        results, sums = [], self._sums(group, outside)
        with self.loop(group.size) as index:
            self.bind([inner for _, _, inner in outside], [self.at(value, axis, index) for value, axis, _ in outside])
            outputs = [(var, axis) for var, _, axis in group.outputs]
            results = self.rows_stored(outputs, index, self._body(group, sums))
        self.lengths = lengths
        self.bind([var for var, _, _ in group.outputs], results)
        self.bind([eqn.outputs[0] for eqn, _ in group.sums], [self.summed(one) for one in sums])

    def _as_lanes(self, group: Group, outside) -> None:
        e, n = self.e, group.size
        blocks = -(-n // e.width)
        # Arms side by side may have as many segments as there are arms.
        lengths, self.lengths = self.lengths, self.lengths - ({n} if n != self.side_by_side else set())
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
            outputs = [(var, axis) for var, _, axis in group.outputs]
            results = self._lanes_stored(outputs, first, self._body(group, sums))
            self.lanes = None
        self.lengths = lengths
        self.bind([var for var, _, _ in group.outputs], results)
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

    def _lanes_stored(self, outputs: list[tuple[Var, int]], first, values: list[Value]) -> list[Value]:
        """The arrays of which values are a block of lanes, which is stored."""

        def pool(kind: str, vec: bool, n: int, count: int) -> tuple[Mem, int, Mem]:
            del vec
            whole = self._inner_last((max(count, 1), n), 1, kind)
            return whole.part(whole.shape[1:], whole.strides[1:]), whole.strides[0], self._lanes_of(whole, 1, first)

        def plain(var: Var, axis: int, value: Value) -> Mem:
            mem = self._inner_last(var.shape, axis, kind_of(var.dtype))
            self._write_out(self._lanes_of(mem, axis, first), value)
            return mem

        return self.stored(outputs, values, pool, plain)

    def _inner_last(self, shape, axis: int, kind: str) -> Mem:
        """Memory for an array whose axis is that of the lanes."""
        strides, size = self.layout(shape, axis)
        mem = self.buffer((size,), kind, False, lasting=True)
        return Mem(mem.ptr, 0, tuple(shape), strides, kind, None, mem.buffer)

    def _padded(self, value: Value, axis: int, kind: str) -> Value:
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
            # Few rows that are apart are brought side by side with all the entries of the table, not its base alone.
            apart = axis in value.axes and value.base.strides[value.axes.index(axis)] not in (0, 1)
            if axis not in value.axes or (apart and value.shape[axis] < e.width):
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
