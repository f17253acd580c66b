"""JAX's operations as NumPy does them: from an equation to a function of arrays."""

import math
from typing import Any

import numpy as np


def _plain(function):
    """An operation without parameters that matter."""
    return lambda eqn: function


def _integer_pow(eqn):
    y = eqn.params["y"]
    if y == 2:
        return lambda x: x * x
    if y == 3:
        return lambda x: x * x * x
    if y < 0:
        return lambda x: 1.0 / x ** (-y)
    return lambda x: x**y


def _div(eqn):
    if np.issubdtype(eqn.outvars[0].aval.dtype, np.integer):
        return lambda x, y: np.where(y == 0, -1, np.trunc(x / np.where(y == 0, 1, y))).astype(x.dtype)
    return np.true_divide


def _convert(eqn):
    dtype = np.dtype(eqn.params["new_dtype"])
    return lambda x: np.asarray(x).astype(dtype)


def _round(eqn):
    if int(eqn.params["rounding_method"]) == 1:
        return np.rint
    return lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)


def _select(eqn):
    if len(eqn.invars) == 3:
        return lambda which, no, yes: np.where(which, yes, no)
    return lambda which, *cases: np.choose(which, cases)


def _broadcast(eqn):
    shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    old = eqn.invars[0].aval.shape
    middle = [1] * len(shape)
    for size, dim in zip(old, dims, strict=True):
        middle[dim] = size
    return lambda x, *_: np.broadcast_to(np.reshape(x, middle), shape)


def _reshape(eqn):
    shape = eqn.params["new_sizes"]
    return lambda x, *_: np.reshape(x, shape)


def _to_result(eqn):
    shape = eqn.outvars[0].aval.shape
    return lambda x: np.reshape(x, shape)


def _transpose(eqn):
    order = eqn.params["permutation"]
    return lambda x: np.transpose(x, order)


def _concatenate(eqn):
    axis = eqn.params["dimension"]
    return lambda *xs: np.concatenate(xs, axis)


def _slice(eqn):
    starts, limits, strides = (eqn.params[k] for k in ("start_indices", "limit_indices", "strides"))
    index = tuple(slice(*some) for some in zip(starts, limits, strides or [1] * len(starts), strict=True))
    return lambda x: x[index]


def _dynamic_slice(eqn):
    sizes, shape = eqn.params["slice_sizes"], eqn.invars[0].aval.shape

    def call(x, *starts):
        at = [min(max(int(s), 0), n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]
        return x[tuple(slice(a, a + size) for a, size in zip(at, sizes, strict=True))]

    return call


def _dynamic_update_slice(eqn):
    shape, sizes = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape

    def call(x, update, *starts):
        at = [min(max(int(s), 0), n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]
        out = np.array(x)
        out[tuple(slice(a, a + size) for a, size in zip(at, sizes, strict=True))] = update
        return out

    return call


def _iota(eqn):
    dtype, shape, axis = (eqn.params[k] for k in ("dtype", "shape", "dimension"))
    lengths = [1] * len(shape)
    lengths[axis] = shape[axis]
    value = np.broadcast_to(np.arange(shape[axis], dtype=dtype).reshape(lengths), shape)
    return lambda: value


def _pad(eqn):
    config = eqn.params["padding_config"]
    shape = eqn.outvars[0].aval.shape
    # Where entries of the operand are in the result; what would be outside of it is cut.
    places, kept = [], []
    for (low, _, inner), old, new in zip(config, eqn.invars[0].aval.shape, shape, strict=True):
        at = low + np.arange(old) * (inner + 1)
        inside = np.flatnonzero((at >= 0) & (at < new))
        kept.append(inside)
        places.append(at[inside])

    def call(x, value):
        out = np.full(shape, value)
        out[np.ix_(*places)] = x[np.ix_(*kept)]
        return out

    return call


def _rev(eqn):
    dims = eqn.params["dimensions"]
    return lambda x: np.flip(x, dims)


def _reduced(function):
    def make(eqn):
        axes = tuple(eqn.params["axes"])
        return lambda x: function(x, axis=axes)

    return make


def _arg(function):
    def make(eqn):
        (axis,), dtype = eqn.params["axes"], np.dtype(eqn.params["index_dtype"])
        return lambda x: function(x, axis=axis).astype(dtype)

    return make


def _cumulative(function):
    def make(eqn):
        axis, reverse = eqn.params["axis"], eqn.params["reverse"]
        if reverse:
            return lambda x: np.flip(function(np.flip(x, axis), axis=axis), axis)
        return lambda x: function(x, axis=axis)

    return make


def _dot_general(eqn):
    (left, right), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    a, b = (var.aval.shape for var in eqn.invars)
    dtype, out = eqn.outvars[0].aval.dtype, eqn.outvars[0].aval.shape
    left_free = [d for d in range(len(a)) if d not in left and d not in left_batch]
    right_free = [d for d in range(len(b)) if d not in right and d not in right_batch]
    batch = tuple(a[d] for d in left_batch)
    inner = math.prod(a[d] for d in left)
    rows, columns = math.prod(a[d] for d in left_free), math.prod(b[d] for d in right_free)
    a_order, b_order = (*left_batch, *left_free, *left), (*right_batch, *right, *right_free)

    def call(x, y):
        x = np.reshape(np.transpose(x, a_order), (*batch, rows, inner))
        y = np.reshape(np.transpose(y, b_order), (*batch, inner, columns))
        return np.reshape(np.matmul(x, y), out).astype(dtype, copy=False)

    return call


def _places(indices, operand_shape, out_shape, numbers, sizes, scattering: bool):
    """The index of every entry of a gather's result, or of a scatter's updates, along each axis of the operand; and
    whether the window that it belongs to lies within the operand.
    """
    if scattering:
        window, collapsed = numbers.update_window_dims, numbers.inserted_window_dims
        index_map = numbers.scatter_dims_to_operand_dims
        batching, index_batching = numbers.operand_batching_dims, numbers.scatter_indices_batching_dims
    else:
        window, collapsed = numbers.offset_dims, numbers.collapsed_slice_dims
        index_map = numbers.start_index_map
        batching, index_batching = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    rank = len(out_shape)
    batch_axes = [d for d in range(rank) if d not in window]
    kept = [d for d in range(len(operand_shape)) if d not in collapsed and d not in batching]

    def over_batch(values):
        shape = [1] * rank
        for axis, size in zip(batch_axes, np.shape(values), strict=True):
            shape[axis] = size
        return np.reshape(values, shape)

    def along(axis):
        shape = [1] * rank
        shape[axis] = out_shape[axis]
        return np.arange(out_shape[axis]).reshape(shape)

    places, inside = [], np.array(True)
    for d, length in enumerate(operand_shape):
        size = sizes[d] if sizes is not None else (out_shape[window[kept.index(d)]] if d in kept else 1)
        place = np.zeros([1] * rank, int)
        if d in index_map:
            start = indices[..., index_map.index(d)].astype(np.int64)
            inside = inside & over_batch((start >= 0) & (start <= length - size))
            place = place + over_batch(np.clip(start, 0, max(length - size, 0)))
        if d in batching:
            place = place + along(batch_axes[index_batching[batching.index(d)]])
        if d in kept:
            place = place + along(window[kept.index(d)])
        places.append(place)
    return tuple(places), inside


def _gather(eqn):
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    fills = "fill" in str(eqn.params["mode"]).lower()
    operand, out = eqn.invars[0].aval, eqn.outvars[0].aval
    fill = eqn.params["fill_value"]
    if fill is None:
        fill = np.nan if np.issubdtype(out.dtype, np.inexact) else (
            np.iinfo(out.dtype).min if np.issubdtype(out.dtype, np.signedinteger) else
            True if out.dtype == bool else np.iinfo(out.dtype).max)  # fmt: skip

    def call(x, indices):
        places, inside = _places(indices, operand.shape, out.shape, numbers, sizes, False)
        found = np.broadcast_to(x[places] if places else x, out.shape)
        return np.where(inside, found, fill).astype(out.dtype) if fills else found

    return call


def _scatter(combine):
    def make(eqn):
        numbers = eqn.params["dimension_numbers"]
        clips = "clip" in str(eqn.params["mode"]).lower()
        operand = eqn.invars[0].aval

        def call(x, indices, updates):
            places, inside = _places(indices, operand.shape, updates.shape, numbers, None, True)
            out = np.array(x)
            if not places:
                return np.asarray(combine(out, updates))
            places = [np.broadcast_to(place, updates.shape) for place in places]
            if not clips:
                inside = np.broadcast_to(inside, updates.shape)
                places, updates = [place[inside] for place in places], updates[inside]
            if combine is _set:
                out[tuple(places)] = updates
            else:
                combine.at(out, tuple(places), updates)
            return out

        return call

    return make


def _set(old, new):
    return new


def _clamp(eqn):
    return lambda low, x, high: np.minimum(np.maximum(x, low), high)


def _logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


OPERATIONS: dict[str, Any] = {
    **{name: _plain(getattr(np, function)) for name, function in (
        ("add", "add"), ("add_any", "add"), ("sub", "subtract"), ("mul", "multiply"), ("neg", "negative"),
        ("sign", "sign"), ("max", "maximum"), ("min", "minimum"), ("pow", "power"), ("sqrt", "sqrt"), ("cbrt", "cbrt"),
        ("exp", "exp"), ("exp2", "exp2"), ("log", "log"), ("log1p", "log1p"), ("expm1", "expm1"), ("sin", "sin"),
        ("cos", "cos"), ("tan", "tan"), ("tanh", "tanh"), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"),
        ("atan2", "arctan2"), ("sinh", "sinh"), ("cosh", "cosh"), ("asinh", "arcsinh"), ("acosh", "arccosh"),
        ("atanh", "arctanh"), ("abs", "abs"), ("floor", "floor"), ("ceil", "ceil"), ("is_finite", "isfinite"),
        ("square", "square"), ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"),
        ("gt", "greater"), ("ge", "greater_equal"), ("and", "bitwise_and"), ("or", "bitwise_or"),
        ("xor", "bitwise_xor"), ("not", "invert"), ("nextafter", "nextafter"), ("rem", "fmod"),
        ("real", "real"), ("imag", "imag"), ("conj", "conj"),
    )},
    **{name: _plain(lambda x, *_: x) for name in ("copy", "copy_p", "stop_gradient")},
    **{name: _reduced(function) for name, function in (
        ("reduce_sum", np.sum), ("reduce_prod", np.prod), ("reduce_max", np.max), ("reduce_min", np.min),
        ("reduce_and", np.all), ("reduce_or", np.any),
    )},
    **{name: _cumulative(function) for name, function in (
        ("cumsum", np.cumsum), ("cumprod", np.cumprod), ("cummax", np.maximum.accumulate),
        ("cummin", np.minimum.accumulate),
    )},
    "rsqrt": _plain(lambda x: 1.0 / np.sqrt(x)), "logistic": _plain(_logistic), "integer_pow": _integer_pow,
    "div": _div, "convert_element_type": _convert, "round": _round, "select_n": _select, "clamp": _clamp,
    "broadcast_in_dim": _broadcast, "reshape": _reshape, "squeeze": _to_result, "expand_dims": _to_result,
    "transpose": _transpose, "concatenate": _concatenate, "slice": _slice, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice, "iota": _iota, "pad": _pad, "rev": _rev, "argmax": _arg(np.argmax),
    "argmin": _arg(np.argmin), "dot_general": _dot_general, "gather": _gather, "scatter": _scatter(_set),
    "scatter-add": _scatter(np.add), "scatter_add": _scatter(np.add),
}  # fmt: skip
