"""Equations without one of their axes: what is done for every entry along it, said for a single one.

An equation maps over an axis where it does the same for each index of it. `without_axis` gives the equation of a single
index. Inputs may have the axis (a number says where), be the same for all indices (None), or be free to choose (FREE).
"""

from math import prod

from hydrostat.native.axis import FREE, Axis, Chunk, Single, UnmappableError, fixed, without

ELEMENTWISE = frozenset((
    "add", "add_any", "sub", "mul", "div", "rem", "neg", "sign", "max", "min", "pow", "integer_pow", "sqrt",
    "rsqrt", "cbrt", "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "asinh", "acosh", "atanh", "logistic", "abs", "floor", "ceil", "round",
    "is_finite", "square", "erf", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "select_n",
    "clamp", "convert_element_type", "nextafter", "shift_left", "shift_right_logical", "shift_right_arithmetic",
    "population_count", "imag", "copysign", "lt_to", "le_to",
))  # fmt: skip
_REDUCE = frozenset(
    ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmin", "argmax"]
)
_CUMULATIVE = frozenset(["cumsum", "cumprod", "cummax", "cummin"])


def _elementwise(eqn, axes, target, size):
    known = fixed(axes)
    axis = known[0] if known else target
    if axis is None:
        raise UnmappableError("no axis")
    ins = []
    for atom, own in zip(eqn.inputs, axes, strict=True):
        if not atom.shape:
            ins.append(None)
        elif own is FREE and atom.shape[axis] == 1 != size:
            ins.append(Single(axis))
        elif own is FREE or own == axis:
            ins.append(axis)
        else:
            raise UnmappableError("axes differ")
    return ins, [axis], eqn.params, []


def _one(axes) -> Axis:
    """The axis of the first input."""
    return axes[0]


def _broadcast(eqn, axes, target, size):
    dims, shape, operand = eqn.params["broadcast_dimensions"], eqn.params["shape"], eqn.inputs[0]
    if len(eqn.inputs) > 1:
        raise UnmappableError("sizes that are computed")
    own = _one(axes)
    if own is FREE:
        own = None
        if target is None:
            raise UnmappableError("no axis")
        if target in dims:
            own = dims.index(target)
            if operand.shape[own] != size:
                raise UnmappableError("one row for all")
        out = target
    elif own is None:
        raise UnmappableError("the same for all")
    else:
        if shape[dims[own]] != size:
            raise UnmappableError("another size")
        out = dims[own]
    kept = [d - (d > out) for i, d in enumerate(dims) if i != own]
    params = {**eqn.params, "shape": without(shape, out), "broadcast_dimensions": tuple(kept)}
    return [own], [out], params, []


def _transpose(eqn, axes, target, size):
    perm = eqn.params["permutation"]
    own = perm[target] if _one(axes) is FREE else _one(axes)
    out = perm.index(own)
    return [own], [out], {"permutation": tuple(p - (p > own) for p in perm if p != own)}, []


def _reshape(eqn, axes, target, size):
    old, new = eqn.inputs[0].shape, eqn.outputs[0].shape
    if _one(axes) is FREE:
        own = _same_place(new, old, target, size)
        out = target
    else:
        own = _one(axes)
        try:
            out = _same_place(old, new, own, size)
        except UnmappableError:
            out = _merged(old, new, own, size)
    return [own], [out], {"new_sizes": without(new, out)}, []


def _merged(old, new, axis: int, size: int) -> Chunk:
    """The axis of the new shape that is an axis of the old one with some that follow it."""
    before, count = prod(old[:axis]), 1
    for i, n in enumerate(new):
        if count == before and n > size and n % size == 0:
            rows = n // size
            if any(prod(old[axis + 1 : end]) == rows for end in range(axis + 2, len(old) + 1)):
                return Chunk(i, rows)
        count *= n
    raise UnmappableError("reshaped")


def _same_place(old, new, axis, size) -> int:
    """Which axis of the new shape is an axis of the old one."""
    before, count = prod(old[:axis]), 1
    for i, n in enumerate(new):
        if count == before and n == size and prod(new[i + 1 :]) == prod(old[axis + 1 :]):
            return i
        count *= n
    raise UnmappableError("reshaped")


def _removing(eqn, axes, target, size, gone, params):
    """The axes of operations that remove axes."""
    rank = len(eqn.inputs[0].shape)
    kept = [d for d in range(rank) if d not in gone]
    own = _one(axes)
    if own is FREE:
        if target is None:
            raise UnmappableError("no axis")
        own = kept[target]
    if own in gone:
        raise UnmappableError("the axis goes")
    return [own], [kept.index(own)] * len(eqn.outputs), params(tuple(d - (d > own) for d in gone)), []


def _squeeze(eqn, axes, target, size):
    return _removing(eqn, axes, target, size, eqn.params["dimensions"], lambda gone: {"dimensions": gone})


def _reduction(eqn, axes, target, size):
    return _removing(eqn, axes, target, size, eqn.params["axes"], lambda gone: {**eqn.params, "axes": gone})


def _expand_dims(eqn, axes, target, size):
    dims, rank = eqn.params["dimensions"], len(eqn.outputs[0].shape)
    old = [d for d in range(rank) if d not in dims]
    out = target if _one(axes) is FREE else old[_one(axes)]
    if out in dims:
        raise UnmappableError("a new axis")
    return [old.index(out)], [out], {"dimensions": tuple(d - (d > out) for d in dims)}, []


def _kept(eqn, axes, target) -> int:
    """The axis of operations whose result has the axes of their inputs."""
    known = fixed(axes)
    axis = known[0] if known else target
    if axis is None or any(own not in (FREE, axis) for own in axes):
        raise UnmappableError("axes differ")
    return axis


def _cumulative(eqn, axes, target, size):
    axis, along = _kept(eqn, axes, target), eqn.params["axis"]
    if axis == along:
        raise UnmappableError("sums along the axis")
    return [axis], [axis], {**eqn.params, "axis": along - (along > axis)}, []


def _slice(eqn, axes, target, size):
    axis, p = _kept(eqn, axes, target), eqn.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    if p["start_indices"][axis] != 0 or p["limit_indices"][axis] != eqn.inputs[0].shape[axis] or strides[axis] != 1:
        raise UnmappableError("cut")
    params = {"start_indices": without(p["start_indices"], axis), "limit_indices": without(p["limit_indices"], axis),
              "strides": without(strides, axis)}  # fmt: skip
    return [axis], [axis], params, []


def _dynamic_slice(eqn, axes, target, size):
    axis, sizes = _kept(eqn, axes[:1], target), eqn.params["slice_sizes"]
    if sizes[axis] != eqn.inputs[0].shape[axis] or fixed(axes[1:]):
        raise UnmappableError("cut")
    rest = [atom for i, atom in enumerate(eqn.inputs[1:]) if i != axis]
    eqn.inputs = [eqn.inputs[0], *rest]
    return [axis, *[None] * len(rest)], [axis], {**eqn.params, "slice_sizes": without(sizes, axis)}, []


def _concatenate(eqn, axes, target, size):
    axis, along = _kept(eqn, axes, target), eqn.params["dimension"]
    if axis == along:
        raise UnmappableError("joined along the axis")
    return [axis] * len(axes), [axis], {"dimension": along - (along > axis)}, []


def _stack(eqn, axes, target, size):
    new, known = eqn.params["axis"], fixed(axes)
    own = known[0] if known else None
    if own is None:
        if target is None or target == new:
            raise UnmappableError("stacked")
        own = target - (target > new)
    if any(axis not in (FREE, own) for axis in axes):
        raise UnmappableError("axes differ")
    out = own + (own >= new)
    return [own] * len(axes), [out], {"axis": new - (new > out)}, []


def _unstack(eqn, axes, target, size):
    gone = eqn.params["axis"]
    return _removing(eqn, axes, target, size, (gone,), lambda gone: {"axis": gone[0]})


def _pad(eqn, axes, target, size):
    own = _one(axes)
    axis = target if own is FREE else own
    config = eqn.params["padding_config"]
    if axis is None or tuple(config[axis]) != (0, 0, 0):
        raise UnmappableError("padded")
    return [axis, None], [axis], {"padding_config": without(tuple(config), axis)}, []


def _rev(eqn, axes, target, size):
    axis, dims = _kept(eqn, axes, target), eqn.params["dimensions"]
    if axis in dims:
        raise UnmappableError("reversed")
    return [axis], [axis], {"dimensions": tuple(d - (d > axis) for d in dims)}, []


def _tile(eqn, axes, target, size):
    axis, reps = _kept(eqn, axes, target), eqn.params["reps"]
    if reps[axis] != 1:
        raise UnmappableError("repeated")
    return [axis], [axis], {"reps": without(reps, axis)}, []


def _iota(eqn, axes, target, size):
    p = eqn.params
    if target is None or target == p["dimension"] or len(eqn.inputs):
        raise UnmappableError("counted")
    along = p["dimension"]
    return [], [target], {**p, "shape": without(p["shape"], target), "dimension": along - (along > target)}, []


def _dot_general(eqn, axes, target, size):
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
        kind = places[target]
    if kind not in places:
        raise UnmappableError("summed")
    out = places.index(kind)
    a = lb[kind[1]] if kind[0] == "b" else kind[1] if kind[0] == "l" else None
    b = rb[kind[1]] if kind[0] == "b" else kind[1] if kind[0] == "r" else None
    if any(own not in (FREE, mine) for own, mine in zip(axes, (a, b), strict=True)):
        raise UnmappableError("axes differ")

    def shift(dims, gone):
        return tuple(d - (gone is not None and d > gone) for d in dims if d != gone)

    numbers = ((shift(lc, a), shift(rc, b)), (shift(lb, a), shift(rb, b)))
    return [a, b], [out], {**eqn.params, "dimension_numbers": numbers}, []


def _gather(eqn, axes, target, size):
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    operand = eqn.inputs[0]
    rank = len(eqn.outputs[0].shape)
    batch = [d for d in range(rank) if d not in numbers.offset_dims]
    own, at = axes
    inner = [d for d in range(len(operand.shape))
             if d not in numbers.collapsed_slice_dims and d not in numbers.operand_batching_dims]  # fmt: skip
    if own is FREE and at is FREE:
        raise UnmappableError("indexed")
    params = {**eqn.params}
    if at is not FREE and at is not None:
        if at in numbers.start_indices_batching_dims:
            place = numbers.operand_batching_dims[numbers.start_indices_batching_dims.index(at)]
            if own not in (FREE, place):
                raise UnmappableError("axes differ")
            own = place
        elif own not in (FREE, None):
            raise UnmappableError("axes differ")
        else:
            own = None
        out = batch[at]
    elif own in numbers.operand_batching_dims:
        at = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(own)]
        out = batch[at]
    else:
        if own not in inner or sizes[own] != operand.shape[own] or own in numbers.start_index_map:
            raise UnmappableError("indexed along the axis")
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


RULES = {
    "broadcast_in_dim": _broadcast, "transpose": _transpose, "reshape": _reshape, "squeeze": _squeeze,
    "expand_dims": _expand_dims, "slice": _slice, "dynamic_slice": _dynamic_slice, "concatenate": _concatenate,
    "stack": _stack, "unstack": _unstack, "pad": _pad, "rev": _rev, "tile": _tile, "iota": _iota,
    "dot_general": _dot_general, "gather": _gather,
    **dict.fromkeys(ELEMENTWISE, _elementwise), **dict.fromkeys(_REDUCE, _reduction),
    **dict.fromkeys(_CUMULATIVE, _cumulative),
}  # fmt: skip
"""Rules by operation: from an equation, the axes of its inputs, the target axis and its size to the axes of inputs and
results, and the parameters at a single index."""
