"""Equations without one of their axes: what is done for every entry along it, said for a single one.

An equation maps over an axis where it does the same for each index of it. `without_axis` gives the equation of a single
index. Inputs may have the axis (a number says where), be the same for all indices (None), or be free to choose (FREE).
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from hydrostat.native.program import Atom, Block, Const, Eqn, Var


class Unmappable(Exception):
    """An equation does not do the same for every index of an axis."""


@dataclass(frozen=True)
class Single:
    """An axis with one index, which stands for all."""

    axis: int


FREE = "free"
Axis = Any

ELEMENTWISE = frozenset(
    "add add_any sub mul div rem neg sign max min pow integer_pow sqrt rsqrt cbrt exp exp2 log log1p expm1 sin cos tan "
    "tanh asin acos atan atan2 sinh cosh asinh acosh atanh logistic abs floor ceil round is_finite square erf "
    "eq ne lt le gt ge and or xor not select_n clamp convert_element_type nextafter shift_left shift_right_logical "
    "shift_right_arithmetic population_count imag copysign".split()
)
_REDUCE = frozenset("reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or argmin argmax".split())
_CUMULATIVE = frozenset("cumsum cumprod cummax cummin".split())


def without(shape: tuple, axis: Axis) -> tuple:
    """A shape without one of its axes."""
    return shape if axis is None else (*shape[:axis], *shape[axis + 1 :])


def without_axis(eqn: Eqn, axes: list[Axis], wanted: int | None, size: int) -> tuple[list[Axis], list[Axis], Eqn]:
    """The axes of the inputs, those of the outputs, and the equation of a single index (its inputs are the old ones).

    **Arguments:** `axes`: of the inputs, FREE where it may be chosen; `wanted`: the axis of the first output, where no
    input has one; `size`: of the axis.
    """
    rule = _RULES.get(eqn.name) or (_elementwise if eqn.name in ELEMENTWISE else None)
    rule = rule or (_reduction if eqn.name in _REDUCE else _cumulative if eqn.name in _CUMULATIVE else None)
    if rule is None:
        raise Unmappable(eqn.name)
    ins, outs, params, blocks = rule(eqn, axes, wanted, size)
    for atom, axis in zip(eqn.inputs, ins, strict=True):
        if isinstance(axis, int) and atom.shape[axis] != size:
            raise Unmappable("another size")
    outputs = [Var(without(var.shape, axis), var.dtype) for var, axis in zip(eqn.outputs, outs, strict=True)]
    return ins, outs, Eqn(eqn.name, eqn.inputs, outputs, params, blocks)


def _fixed(axes) -> list[int]:
    return [axis for axis in axes if axis is not FREE and axis is not None]


def _elementwise(eqn, axes, wanted, size):
    known = _fixed(axes)
    axis = known[0] if known else wanted
    if axis is None:
        raise Unmappable("no axis")
    ins = []
    for atom, own in zip(eqn.inputs, axes, strict=True):
        if not atom.shape:
            ins.append(None)
        elif own is FREE and atom.shape[axis] == 1 != size:
            ins.append(Single(axis))
        elif own is FREE or own == axis:
            ins.append(axis)
        else:
            raise Unmappable("axes differ")
    return ins, [axis], eqn.params, []


def _one(axes) -> Axis:
    """The axis of the first input."""
    return axes[0]


def _broadcast(eqn, axes, wanted, size):
    dims, shape, operand = eqn.params["broadcast_dimensions"], eqn.params["shape"], eqn.inputs[0]
    if len(eqn.inputs) > 1:
        raise Unmappable("sizes that are computed")
    own = _one(axes)
    if own is FREE:
        own = None
        if wanted is None:
            raise Unmappable("no axis")
        if wanted in dims:
            own = dims.index(wanted)
            if operand.shape[own] != size:
                raise Unmappable("one row for all")
        out = wanted
    elif own is None:
        raise Unmappable("the same for all")
    else:
        if shape[dims[own]] != size:
            raise Unmappable("another size")
        out = dims[own]
    kept = [d - (d > out) for i, d in enumerate(dims) if i != own]
    params = {**eqn.params, "shape": without(shape, out), "broadcast_dimensions": tuple(kept)}
    return [own], [out], params, []


def _transpose(eqn, axes, wanted, size):
    perm = eqn.params["permutation"]
    own = perm[wanted] if _one(axes) is FREE else _one(axes)
    out = perm.index(own)
    return [own], [out], {"permutation": tuple(p - (p > own) for p in perm if p != own)}, []


def _reshape(eqn, axes, wanted, size):
    old, new = eqn.inputs[0].shape, eqn.outputs[0].shape
    if _one(axes) is FREE:
        own = _same_place(new, old, wanted, size)
        out = wanted
    else:
        own = _one(axes)
        out = _same_place(old, new, own, size)
    return [own], [out], {"new_sizes": without(new, out)}, []


def _same_place(old, new, axis, size) -> int:
    """Which axis of the new shape is an axis of the old one."""
    before, count = prod(old[:axis]), 1
    for i, n in enumerate(new):
        if count == before and n == size and prod(new[i + 1 :]) == prod(old[axis + 1 :]):
            return i
        count *= n
    raise Unmappable("reshaped")


def _removing(eqn, axes, wanted, size, gone, params):
    """Of operations that remove axes."""
    rank = len(eqn.inputs[0].shape)
    kept = [d for d in range(rank) if d not in gone]
    own = _one(axes)
    if own is FREE:
        if wanted is None:
            raise Unmappable("no axis")
        own = kept[wanted]
    if own in gone:
        raise Unmappable("the axis goes")
    return [own], [kept.index(own)] * len(eqn.outputs), params(tuple(d - (d > own) for d in gone)), []


def _squeeze(eqn, axes, wanted, size):
    return _removing(eqn, axes, wanted, size, eqn.params["dimensions"], lambda gone: {"dimensions": gone})


def _reduction(eqn, axes, wanted, size):
    return _removing(eqn, axes, wanted, size, eqn.params["axes"], lambda gone: {**eqn.params, "axes": gone})


def _expand_dims(eqn, axes, wanted, size):
    dims, rank = eqn.params["dimensions"], len(eqn.outputs[0].shape)
    old = [d for d in range(rank) if d not in dims]
    out = wanted if _one(axes) is FREE else old[_one(axes)]
    if out in dims:
        raise Unmappable("a new axis")
    return [old.index(out)], [out], {"dimensions": tuple(d - (d > out) for d in dims)}, []


def _kept(eqn, axes, wanted) -> int:
    """The axis of operations whose result has the axes of their inputs."""
    known = _fixed(axes)
    axis = known[0] if known else wanted
    if axis is None or any(own not in (FREE, axis) for own in axes):
        raise Unmappable("axes differ")
    return axis


def _cumulative(eqn, axes, wanted, size):
    axis, along = _kept(eqn, axes, wanted), eqn.params["axis"]
    if axis == along:
        raise Unmappable("sums along the axis")
    return [axis], [axis], {**eqn.params, "axis": along - (along > axis)}, []


def _slice(eqn, axes, wanted, size):
    axis, p = _kept(eqn, axes, wanted), eqn.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    if p["start_indices"][axis] != 0 or p["limit_indices"][axis] != eqn.inputs[0].shape[axis] or strides[axis] != 1:
        raise Unmappable("cut")
    params = {"start_indices": without(p["start_indices"], axis), "limit_indices": without(p["limit_indices"], axis),
              "strides": without(strides, axis)}  # fmt: skip
    return [axis], [axis], params, []


def _dynamic_slice(eqn, axes, wanted, size):
    axis, sizes = _kept(eqn, axes[:1], wanted), eqn.params["slice_sizes"]
    if sizes[axis] != eqn.inputs[0].shape[axis] or _fixed(axes[1:]):
        raise Unmappable("cut")
    rest = [atom for i, atom in enumerate(eqn.inputs[1:]) if i != axis]
    eqn.inputs = [eqn.inputs[0], *rest]
    return [axis, *[None] * len(rest)], [axis], {**eqn.params, "slice_sizes": without(sizes, axis)}, []


def _concatenate(eqn, axes, wanted, size):
    axis, along = _kept(eqn, axes, wanted), eqn.params["dimension"]
    if axis == along:
        raise Unmappable("joined along the axis")
    return [axis] * len(axes), [axis], {"dimension": along - (along > axis)}, []


def _stack(eqn, axes, wanted, size):
    new, known = eqn.params["axis"], _fixed(axes)
    own = known[0] if known else None
    if own is None:
        if wanted is None or wanted == new:
            raise Unmappable("stacked")
        own = wanted - (wanted > new)
    if any(axis not in (FREE, own) for axis in axes):
        raise Unmappable("axes differ")
    out = own + (own >= new)
    return [own] * len(axes), [out], {"axis": new - (new > out)}, []


def _unstack(eqn, axes, wanted, size):
    gone = eqn.params["axis"]
    return _removing(eqn, axes, wanted, size, (gone,), lambda gone: {"axis": gone[0]})


def _pad(eqn, axes, wanted, size):
    own = _one(axes)
    axis = wanted if own is FREE else own
    config = eqn.params["padding_config"]
    if axis is None or tuple(config[axis]) != (0, 0, 0):
        raise Unmappable("padded")
    return [axis, None], [axis], {"padding_config": without(tuple(config), axis)}, []


def _rev(eqn, axes, wanted, size):
    axis, dims = _kept(eqn, axes, wanted), eqn.params["dimensions"]
    if axis in dims:
        raise Unmappable("reversed")
    return [axis], [axis], {"dimensions": tuple(d - (d > axis) for d in dims)}, []


def _tile(eqn, axes, wanted, size):
    axis, reps = _kept(eqn, axes, wanted), eqn.params["reps"]
    if reps[axis] != 1:
        raise Unmappable("repeated")
    return [axis], [axis], {"reps": without(reps, axis)}, []


def _iota(eqn, axes, wanted, size):
    p = eqn.params
    if wanted is None or wanted == p["dimension"] or len(eqn.inputs):
        raise Unmappable("counted")
    along = p["dimension"]
    return [], [wanted], {**p, "shape": without(p["shape"], wanted), "dimension": along - (along > wanted)}, []


def _dot_general(eqn, axes, wanted, size):
    (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
    left, right = (len(atom.shape) for atom in eqn.inputs)
    lf = [d for d in range(left) if d not in (*lc, *lb)]
    rf = [d for d in range(right) if d not in (*rc, *rb)]
    places = [("b", i) for i in range(len(lb))] + [("l", d) for d in lf] + [("r", d) for d in rf]
    if axes[0] not in (FREE, None):
        kind = ("b", lb.index(axes[0])) if axes[0] in lb else ("l", axes[0])
    elif axes[1] not in (FREE, None):
        kind = ("b", rb.index(axes[1])) if axes[1] in rb else ("r", axes[1])
    else:
        kind = places[wanted]
    if kind not in places:
        raise Unmappable("summed")
    out = places.index(kind)
    a = lb[kind[1]] if kind[0] == "b" else kind[1] if kind[0] == "l" else None
    b = rb[kind[1]] if kind[0] == "b" else kind[1] if kind[0] == "r" else None
    if any(own not in (FREE, mine) for own, mine in zip(axes, (a, b), strict=True)):
        raise Unmappable("axes differ")

    def shift(dims, gone):
        return tuple(d - (gone is not None and d > gone) for d in dims if d != gone)

    numbers = ((shift(lc, a), shift(rc, b)), (shift(lb, a), shift(rb, b)))
    return [a, b], [out], {**eqn.params, "dimension_numbers": numbers}, []


def _scan(eqn, axes, wanted, size):
    p = eqn.params
    consts, carry = p["num_consts"], p["num_carry"]
    if not carry and not any(axes[i] not in (FREE, None) for i in range(consts)):
        own = _fixed(axes)
        if (not own and wanted == 0) or (own and all(axis == 0 for axis in own)):
            # Every turn by itself.
            if p["length"] != size:
                raise Unmappable("another length")
            ins = [None] * consts + [0] * (len(axes) - consts)
            return ins, [0] * len(eqn.outputs), {"turn": True, "num_consts": consts}, eqn.blocks
    if not _fixed(axes):
        raise Unmappable("no axis")
    # Of inputs along the scan the first axis is that of the turns.
    ins = [None if axis is FREE else axis for axis in axes]
    inner = [axis if axis is None or i < consts + carry else axis - 1 for i, axis in enumerate(ins)]
    if any(axis == -1 for axis in inner):
        raise Unmappable("along the scan")
    block, inner, outer = _loop_axes(eqn.blocks[0], inner, slice(consts, consts + carry), slice(0, carry), size)
    ins = [axis if axis is None or i < consts + carry else axis + 1 for i, axis in enumerate(inner)]
    outs = [axis if axis is None or i < carry else axis + 1 for i, axis in enumerate(outer)]
    if any(axis is None for axis in outs[carry:]):
        raise Unmappable("the same for all")
    return _some(ins), outs, p, [block]


def _loop_axes(block, inner, into, out, size) -> tuple[Block, list, list]:
    """The block of a loop without an axis, by trial: what is carried has the same axis before and after a turn."""
    inner = list(inner)
    places = list(zip(range(*into.indices(len(inner))), range(*out.indices(len(block.outputs))), strict=True))
    for _ in range(len(inner) + 2):
        wanted: list = [None] * len(block.outputs)
        for a, b in places:
            wanted[b] = inner[a]
        found, wished, outer = block_without_axis(block, inner, size, wanted)
        if wished is not None:
            index, axis = wished
            inner[index] = axis
            continue
        changed = False
        for a, b in places:
            if inner[a] is None and outer[b] is not None:
                inner[a], changed = outer[b], True
            elif inner[a] != outer[b]:
                raise Unmappable("carried along another axis")
        if not changed:
            return found, inner, outer
    raise Unmappable("no end of axes")


def _while(eqn, axes, wanted, size):
    if not _fixed(axes):
        raise Unmappable("no axis")
    nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    test, body = eqn.blocks
    ins = [None if axis is FREE else axis for axis in axes]
    of_test, of_body = ins[:nt], ins[nt:]
    for _ in range(len(ins) + 2):
        carried = slice(nb, len(of_body))
        body_block, of_body, _ = _loop_axes(body, of_body, carried, slice(0, len(body.outputs)), size)
        test_block, wished, verdict = block_without_axis(test, [*of_test, *of_body[nb:]], size)
        if wished is None:
            break
        index, axis = wished
        if index < nt:
            of_test[index] = axis
        else:
            of_body[nb + index - nt] = axis
    else:
        raise Unmappable("no end of axes")
    # Of a condition with axes each entry guards its own part of what is carried.
    if verdict[0] is not None and any(axis != verdict[0] for axis in of_body[nb:]):
        raise Unmappable("a condition along another axis")
    return _some([*of_test, *of_body]), of_body[nb:], eqn.params, [test_block, body_block]


def _cond(eqn, axes, wanted, size):
    if axes[0] not in (FREE, None) or not _fixed(axes):
        raise Unmappable("no axis")
    ins = [None if axis is FREE else axis for axis in axes[1:]]
    outs: list = [None] * len(eqn.outputs)
    for _ in range(len(ins) + len(outs) + 2):
        blocks, again = [], False
        for branch in eqn.blocks:
            block, wished, outer = block_without_axis(branch, ins, size, outs)
            if wished is not None:
                ins[wished[0]], again = wished[1], True
                break
            if outs != outer:
                outs, again = outer, True
            blocks.append(block)
        if not again:
            break
    else:
        raise Unmappable("branches differ")
    return _some([None, *ins]), outs, eqn.params, blocks


def _some(ins):
    if not _fixed(ins):
        raise Unmappable("no axis")
    return ins


def _gather(eqn, axes, wanted, size):
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    operand, indices = eqn.inputs
    rank = len(eqn.outputs[0].shape)
    batch = [d for d in range(rank) if d not in numbers.offset_dims]
    own, at = axes
    inner = [d for d in range(len(operand.shape))
             if d not in numbers.collapsed_slice_dims and d not in numbers.operand_batching_dims]  # fmt: skip
    if own is FREE and at is FREE:
        raise Unmappable("indexed")
    params = {**eqn.params}
    if at is not FREE and at is not None:
        if at in numbers.start_indices_batching_dims:
            place = numbers.operand_batching_dims[numbers.start_indices_batching_dims.index(at)]
            if own not in (FREE, place):
                raise Unmappable("axes differ")
            own = place
        elif own not in (FREE, None):
            raise Unmappable("axes differ")
        else:
            own = None
        out = batch[at]
    else:
        if own in numbers.operand_batching_dims:
            at = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(own)]
            out = batch[at]
        else:
            if own not in inner or sizes[own] != operand.shape[own] or own in numbers.start_index_map:
                raise Unmappable("indexed along the axis")
            at, out = None, numbers.offset_dims[inner.index(own)]

    def shift(dims, gone):
        return tuple(d - (gone is not None and d > gone) for d in dims if gone is None or d != gone)

    params["slice_sizes"] = sizes if own is None else without(sizes, own)
    params["dimension_numbers"] = type(numbers)(
        offset_dims=shift(numbers.offset_dims, out),
        collapsed_slice_dims=shift(numbers.collapsed_slice_dims, own),
        start_index_map=shift(numbers.start_index_map, own),
        operand_batching_dims=shift(numbers.operand_batching_dims, own),
        start_indices_batching_dims=shift(numbers.start_indices_batching_dims, at),
    )
    return [own, at], [out], params, []


_RULES = {
    "broadcast_in_dim": _broadcast, "transpose": _transpose, "reshape": _reshape, "squeeze": _squeeze,
    "expand_dims": _expand_dims, "slice": _slice, "dynamic_slice": _dynamic_slice, "concatenate": _concatenate,
    "stack": _stack, "unstack": _unstack, "pad": _pad, "rev": _rev, "tile": _tile, "iota": _iota,
    "dot_general": _dot_general, "scan": _scan, "while": _while, "cond": _cond, "gather": _gather,
}  # fmt: skip


class Rows:
    """Values of a block at a single index of an axis.

    What has no axis, and is needed with one, is made so from what it was made of: zeros of every index are zeros.
    """

    def __init__(self, size: int, outside):
        self.size, self.outside = size, outside
        self.inner: dict[int, tuple[Atom, Axis]] = {}
        self.made: dict[int, Eqn] = {}
        """Equations without the axis, by their results."""
        self.eqns: list[Eqn] = []
        self.copies: dict[tuple[int, int], Atom] = {}

    def axis(self, atom: Atom) -> Axis:
        """The axis that a value has, None for none."""
        return None if isinstance(atom, Const) else self.inner.get(id(atom), (atom, None))[1]

    def add(self, eqn: Eqn, wanted: int | None = None, axes: list | None = None) -> None:
        """One more equation, of a single index."""
        axes = [FREE if self.axis(atom) is None else self.axis(atom) for atom in eqn.inputs] if axes is None else axes
        copy = Eqn(eqn.name, list(eqn.inputs), eqn.outputs, eqn.params, eqn.blocks)
        ins, outs, new = without_axis(copy, axes, wanted, self.size)
        new.inputs = [self.at(atom, axis) for atom, axis in zip(copy.inputs, ins, strict=True)]
        if any(axis is None for axis in outs):
            raise Unmappable("the same for all")
        self.inner.update((id(a), (b, axis)) for a, b, axis in zip(eqn.outputs, new.outputs, outs, strict=True))
        self.append(new)

    def append(self, new: Eqn) -> None:
        """An equation of a single index; of a loop over the indices its body."""
        if not new.params.get("turn"):
            self.eqns.append(new)
            return
        (body,) = new.blocks
        env = {id(var): atom for var, atom in zip(body.inputs, new.inputs, strict=True)}
        for eqn in body.eqns:
            inputs = [env.get(id(atom), atom) for atom in eqn.inputs]
            self.eqns.append(Eqn(eqn.name, inputs, eqn.outputs, eqn.params, eqn.blocks))
        for var, atom in zip(new.outputs, body.outputs, strict=True):
            self.eqns.append(Eqn("same", [env.get(id(atom), atom)], [var]))

    def at(self, atom: Atom, axis: Axis) -> Atom:
        """A value at the index, its axis being this one; None: the same for all."""
        inner, own = (atom, None) if isinstance(atom, Const) else self.inner.get(id(atom), (atom, None))
        if isinstance(axis, Single) and own is None:
            if isinstance(inner, Const):
                return Const(np.squeeze(inner.value, axis.axis))
            out = Var(without(atom.shape, axis.axis), atom.dtype)
            self.eqns.append(Eqn("squeeze", [inner], [out], {"dimensions": (axis.axis,)}))
            return out
        if own is not None or axis is None:
            if own != axis:
                raise Unmappable("axes differ")
            return inner
        if atom.shape[axis] != self.size:
            raise Unmappable("another size")
        key = (id(atom), axis)
        if key not in self.copies:
            self.copies[key] = self._copy(atom, axis)
        return self.copies[key]

    def _copy(self, atom: Atom, axis: int) -> Atom:
        if isinstance(atom, Const):
            first = np.take(atom.value, 0, axis)
            if np.array_equal(atom.value, np.broadcast_to(np.expand_dims(first, axis), atom.shape)):
                return Const(first)
            return self.outside(atom, axis)
        eqn = self.made.get(id(atom))
        if eqn is None:
            return self.outside(atom, axis)
        try:
            return self._made_again(eqn, axis)
        except Unmappable:
            return self.outside(atom, axis)

    def _made_again(self, eqn: Eqn, axis: int) -> Atom:
        """The result of an equation without the axis, with it."""
        if len(eqn.outputs) > 1:
            raise Unmappable("several results")
        copy = Eqn(eqn.name, list(eqn.inputs), eqn.outputs, eqn.params, eqn.blocks)
        ins, outs, new = without_axis(copy, [FREE] * len(eqn.inputs), axis, self.size)
        if outs != [axis]:
            raise Unmappable("axes differ")
        new.inputs = [self.at(one, own) for one, own in zip(copy.inputs, ins, strict=True)]
        self.append(new)
        return new.outputs[0]


class _Wish(Exception):
    """An input of a block has to have an axis."""


def block_without_axis(block: Block, axes: list, size: int, wanted: list | None = None):
    """The block of a single index; or which input would have to have which axis; and the axes of its outputs.

    **Arguments:** `wanted`: axes that outputs shall have; None for those that they have by themselves.
    """
    index = {id(var): i for i, var in enumerate(block.inputs)}

    def outside(atom, axis):
        if id(atom) not in index:
            raise Unmappable("computed within, the same for all")
        raise _Wish(index[id(atom)], axis)

    rows = Rows(size, outside)
    inputs = []
    for var, axis in zip(block.inputs, axes, strict=True):
        inner = Var(without(var.shape, axis), var.dtype)
        rows.inner[id(var)] = (inner, axis)
        inputs.append(inner)
    try:
        for eqn in block.eqns:
            if all(rows.axis(atom) is None for atom in eqn.inputs):
                own = [atom if isinstance(atom, Const) else rows.inner.get(id(atom), (atom,))[0] for atom in eqn.inputs]
                if eqn.name in ("scan", "while", "cond"):
                    # It would be done for all, beside what differs: better the whole by itself.
                    raise Unmappable("a loop that is the same for all")
                rows.eqns.append(Eqn(eqn.name, own, eqn.outputs, eqn.params, eqn.blocks))
                rows.made.update((id(var), eqn) for var in eqn.outputs)
            else:
                rows.add(eqn)
        outs = []
        for atom, axis in zip(block.outputs, wanted or [None] * len(block.outputs), strict=True):
            own = rows.axis(atom)
            axis = own if axis is None else axis
            outs.append((rows.at(atom, axis), axis))
    except _Wish as wish:
        return None, wish.args, None
    return Block(inputs, rows.eqns, [atom for atom, _ in outs]), None, [axis for _, axis in outs]
