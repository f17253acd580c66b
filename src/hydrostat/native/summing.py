"""Sums, products and extremes along axes, and products of matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from hydrostat.native.elementwise import extreme
from hydrostat.native.loops import Loops
from hydrostat.native.program import Eqn, NotLoweredError
from hydrostat.native.values import Mem, kind_of

UNROLLED = 64
"""Largest size of sums that are written out."""


@dataclass
class Sum:
    """A sum, or the like, that grows from turn to turn."""

    places: np.ndarray
    combine: Callable
    first: object
    kind: str
    vec: bool


class Summing(Loops):
    """Reductions, for `Lowering`."""

    def new_sum(self, name: str, shape, dtype, vec: bool) -> Sum:
        """A sum before its first term."""
        combine, first = self._combining(name, dtype)
        one = Sum(self.places(shape, kind_of(dtype), vec), combine, first, kind_of(dtype), vec)
        start = np.empty(shape, object)
        start[...] = first
        self.keep_in(one.places, start, one.kind, vec)
        return one

    def add_to(self, one: Sum, value: np.ndarray) -> None:
        """One more term; lanes that do not count add nothing."""
        now, valid = self.summed(one), self.lanes.valid if self.lanes and one.vec else True
        found = np.empty(value.shape, object)
        for at in np.ndindex(*value.shape):
            found[at] = one.combine(now[at], self.e.select(one.kind, valid, one.first, value[at]))
        self.keep_in(one.places, found, one.kind, one.vec)

    def summed(self, one: Sum) -> np.ndarray:
        """The sum so far."""
        return self.from_places(one.places, one.kind, one.vec)

    def over_lanes(self, one: Sum, count: int) -> np.ndarray:
        """The sum over the first lanes as well."""
        lanes = self.summed(one)
        found = np.empty(lanes.shape, object)
        for at in np.ndindex(*lanes.shape):
            found[at] = self._fold_row([self.e.extract(lanes[at], k) for k in range(count)], one.combine, one.first)
        return found

    def _combining(self, name: str, dtype):
        """How a reduction puts two numbers together, and what it starts from."""
        e, kind, signed = self.e, kind_of(dtype), np.dtype(dtype).kind != "u"
        if name in ("reduce_sum", "cumsum"):
            zero = 0.0 if np.dtype(dtype).kind == "f" else 0
            return lambda a, b: e.add(kind, a, b), zero
        if name in ("reduce_prod", "cumprod"):
            one = 1.0 if np.dtype(dtype).kind == "f" else 1
            return lambda a, b: e.mul(kind, a, b), one
        if name in ("reduce_max", "cummax", "reduce_min", "cummin"):
            which = name[-3:]
            if np.dtype(dtype).kind == "f":
                first = float("-inf") if which == "max" else float("inf")
            elif np.dtype(dtype).kind == "b":
                first = which == "min"
            else:
                info = np.iinfo(dtype)
                first = int(info.min if which == "max" else info.max)
            return lambda a, b: extreme(e, which, kind, a, b, signed), first
        if name in ("reduce_and", "reduce_or"):
            op = name[7:]
            return lambda a, b: e.logic(op, kind, a, b), op == "and"
        raise NotLoweredError(name)

    def _reduce(self, eqn: Eqn):
        value, axes = self.read(eqn.inputs[0]), sorted(eqn.params["axes"])
        if not axes:
            return [value]
        combine, first = self._combining(eqn.name, eqn.inputs[0].dtype)
        kind = kind_of(eqn.inputs[0].dtype)
        return [self.folded(value, axes, combine, first, kind)]

    _do_reduce_sum = _do_reduce_prod = _do_reduce_max = _do_reduce_min = _do_reduce_and = _do_reduce_or = _reduce

    def folded(self, value, axes: list[int], combine, first, kind: str) -> np.ndarray:
        """A value folded along axes."""
        if isinstance(value, np.ndarray) or value.size <= UNROLLED:
            entries = self.entries(value)
            kept = [d for d in range(entries.ndim) if d not in axes]
            rows = entries.transpose([*kept, *axes]).reshape(*(entries.shape[d] for d in kept), -1)
            found = np.empty(rows.shape[:-1], object)
            for at in np.ndindex(found.shape):
                found[at] = self._fold_row(list(rows[at]), combine, first)
            return found
        axis = max(axes, key=lambda d: value.shape[d])
        rest = [d - (d > axis) for d in axes if d != axis]
        shape = [n for d, n in enumerate(value.shape) if d not in axes]
        if prod(shape) > UNROLLED:
            raise NotLoweredError(f"a sum of {prod(shape)} numbers at once")
        homes = self.places(tuple(shape), kind, value.vec)
        start = np.empty(shape, object)
        start[...] = first
        self.keep_in(homes, start, kind, value.vec)
        with self.loop(value.shape[axis]) as index:
            part = self.folded(self.at(value, axis, index), rest, combine, first, kind)
            now = self.from_places(homes, kind, value.vec)
            found = np.empty(shape, object)
            for at in np.ndindex(*shape):
                found[at] = combine(now[at], part[at])
            self.keep_in(homes, found, kind, value.vec)
        return self.from_places(homes, kind, value.vec)

    def _fold_row(self, row: list, combine, first):
        """Numbers put together in pairs, so that one need not wait for all others."""
        if not row:
            return first
        while len(row) > 1:
            row = [combine(*row[i : i + 2]) if i + 1 < len(row) else row[i] for i in range(0, len(row), 2)]
        return row[0]

    def _cumulative(self, eqn: Eqn):
        value, axis = self.entries(self.read(eqn.inputs[0])), eqn.params["axis"]
        combine, _ = self._combining(eqn.name, eqn.inputs[0].dtype)
        found, count = np.empty(value.shape, object), value.shape[axis]
        moved, out = np.moveaxis(value, axis, -1), np.moveaxis(found, axis, -1)
        order = range(count - 1, -1, -1) if eqn.params.get("reverse") else range(count)
        for at in np.ndindex(moved.shape[:-1]):
            total = None
            for i in order:
                total = moved[(*at, i)] if total is None else combine(total, moved[(*at, i)])
                out[(*at, i)] = total
        return [found]

    _do_cumsum = _do_cumprod = _do_cummax = _do_cummin = _cumulative

    def _argument(self, eqn: Eqn):
        value = self.entries(self.read(eqn.inputs[0]))
        (axis,) = eqn.params["axes"]
        e, kind = self.e, kind_of(eqn.inputs[0].dtype)
        out = kind_of(eqn.outputs[0].dtype)
        moved = np.moveaxis(value, axis, -1)
        found = np.empty(moved.shape[:-1], object)
        for at in np.ndindex(found.shape):
            best, where = moved[(*at, 0)], 0
            for i in range(1, moved.shape[-1]):
                better = e.compare("lt" if eqn.name == "argmin" else "gt", kind, moved[(*at, i)], best)
                best, where = e.select(kind, better, best, moved[(*at, i)]), e.select(out, better, where, i)
            found[at] = where
        return [found]

    _do_argmin = _do_argmax = _argument

    def _do_dot_general(self, eqn: Eqn):
        (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
        left, right = (self.read(atom) for atom in eqn.inputs)
        e, kind = self.e, kind_of(eqn.outputs[0].dtype)
        lf = [d for d in range(len(left.shape)) if d not in (*lc, *lb)]
        rf = [d for d in range(len(right.shape)) if d not in (*rc, *rb)]
        out = eqn.outputs[0].shape
        if prod(out) > UNROLLED * 4:
            raise NotLoweredError(f"a product with {prod(out)} entries at once")
        if len(lc) == 1 and left.shape[lc[0]] > 16 and prod(out) <= UNROLLED:
            return [self._long_product(left, right, (lc, rc, lb, rb, lf, rf), out, kind)]
        a = self.entries(left).transpose([*lb, *lf, *lc]).reshape(*(left.shape[d] for d in (*lb, *lf)), -1)
        b = self.entries(right).transpose([*rb, *rf, *rc]).reshape(*(right.shape[d] for d in (*rb, *rf)), -1)
        found = np.empty(out, object)
        nb, nl = len(lb), len(lf)
        for at in np.ndindex(out):
            x, y = a[at[: nb + nl]], b[(*at[:nb], *at[nb + nl :])]
            total = 0.0 if kind in ("double", "float") else 0
            for p, q in zip(x, y, strict=True):
                total = e.add(kind, total, e.mul(kind, p, q))
            found[at] = total
        return [found]

    def _long_product(self, left, right, dims, out, kind):
        lc, rc, lb, rb, lf, rf = dims
        left, right = self.spilled(left, kind), self.spilled(right, kind)
        vec = left.vec or right.vec
        homes = self.places(out, kind, vec)
        start = np.empty(out, object)
        start[...] = 0.0
        self.keep_in(homes, start, kind, vec)
        nb, nl = len(lb), len(lf)
        with self.loop(left.shape[lc[0]]) as index:
            a, b = self.at(left, lc[0], index), self.at(right, rc[0], index)
            a = self.entries(a).transpose([d - (d > lc[0]) for d in (*lb, *lf)])
            b = self.entries(b).transpose([d - (d > rc[0]) for d in (*rb, *rf)])
            now, found = self.from_places(homes, kind, vec), np.empty(out, object)
            for at in np.ndindex(out):
                product = self.e.mul(kind, a[at[: nb + nl]], b[(*at[:nb], *at[nb + nl :])])
                found[at] = self.e.add(kind, now[at], product)
            self.keep_in(homes, found, kind, vec)
        return self.from_places(homes, kind, vec)


__all__ = ["Mem", "Summing"]
