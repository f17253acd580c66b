"""A value that was found by an iteration, with a derivative that is not the iteration's.

It is a primitive of its own and not a `jax.custom_jvp`: within a loop JAX 0.10 forgets the rule of a custom derivative
that is used in another one's rule, and then second derivatives are wrong without a word.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.extend.core
from jax.core import ShapedArray
from jax.interpreters import ad, batching, mlir

Change = Callable[[Any, Any, Any], Any]
"""The tangent of a value, from the value, the parameters it depends on and their tangents, which are None where they
are zero."""


def with_derivative(value: Any, parameters: Any, change: Change) -> Any:
    """The value, as a differentiable function of the parameters to any order.

    **Arguments:** `value`: a tree of floating-point arrays; `parameters`: a tree; `change`: linear in the tangents, a
    function of nothing else that is traced.
    """
    values, of_value = jax.tree.flatten(jax.lax.stop_gradient(value))
    arrays, static = eqx.partition(parameters, eqx.is_array)
    leaves, of_arrays = jax.tree.flatten(arrays)

    def rule(values: list, leaves: list, tangents: list) -> list:
        arrays, directions = (jax.tree.unflatten(of_arrays, some) for some in (leaves, tangents))
        return jax.tree.leaves(change(jax.tree.unflatten(of_value, values), eqx.combine(arrays, static), directions))

    return jax.tree.unflatten(of_value, value_p.bind(*values, *leaves, count=len(values), rule=rule))


value_p = jax.extend.core.Primitive("value_with_derivative")
"""The first `count` operands, whose tangents `rule` gives from them, from the other operands and from the tangents of
those."""
value_p.multiple_results = True


@value_p.def_impl
def _(*operands, count, rule):
    return list(operands[:count])


@value_p.def_abstract_eval
def _(*operands, count, rule):
    return [ShapedArray(y.shape, y.dtype) for y in operands[:count]]


mlir.register_lowering(value_p, lambda _, *operands, count, rule: operands[:count])


def _pushed(primals, tangents, *, count, rule):
    # The rate of change is that at a value which moves with the parameters: a second derivative needs it.
    values = value_p.bind(*primals, count=count, rule=rule)
    along = [None if type(y) is ad.Zero else y for y in tangents[count:]]
    if all(y is None for y in along):
        return values, [ad.Zero(ShapedArray(y.shape, y.dtype)) for y in values]
    return values, rule(list(values), list(primals[count:]), along)


ad.primitive_jvps[value_p] = _pushed  # type: ignore[assignment]


def _batched(operands, axes, *, count, rule):
    size = next(y.shape[axis] for y, axis in zip(operands, axes, strict=True) if axis is not None)
    moved = [y if axis is None else jax.numpy.moveaxis(y, axis, 0) for y, axis in zip(operands, axes, strict=True)]
    values = [
        jax.numpy.broadcast_to(y, (size, *y.shape)) if axis is None else y
        for y, axis in zip(moved[:count], axes[:count], strict=True)
    ]
    flags = [None if axis is None else 0 for axis in axes[count:]]
    found = value_p.bind(*values, *moved[count:], count=count, rule=partial(_rule_of_batch, rule, flags, size))
    return found, [0] * count


def _rule_of_batch(rule, flags: list, size: int, values: list, leaves: list, tangents: list) -> list:
    """The tangents of a batch of values; a tangent has an axis of the batch where its operand has one."""
    known = [y is not None for y in tangents]

    def one(values, leaves, some):
        rest = iter(some)
        return rule(values, leaves, [next(rest) if is_known else None for is_known in known])

    some = [y for y in tangents if y is not None]
    of_some = [axis for axis, is_known in zip(flags, known, strict=True) if is_known]
    return jax.vmap(one, (0, flags, of_some), axis_size=size)(values, leaves, some)


batching.primitive_batchers[value_p] = _batched
