"""Derivatives of rollouts that machine code has made.

The tangents of the rows are a linear function of those of the arguments. Forward mode works it out by XLA; reverse mode
goes back through the steps by machine code, with the carry before each row kept and that before each step made again.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.extend.core
import numpy as np
from jax.core import ShapedArray
from jax.interpreters import ad, batching, mlir

from hydrostat.code_cache import structure_of
from hydrostat.simulation.backend import compiled_pullback, filled, or_none, stepped, taken
from hydrostat.simulation.host_calls import Batched, called_on_host, joined_batches, of_robot, over_cores, parted


def tangents_of_rows(run, arguments: tuple, directions: tuple, carries: list | None = None) -> tuple[Any, Any]:
    """The rows of a run, and their tangents.

    **Arguments:** `run`: the `Run`; `arguments`: the loop, the carry and the step's length; `directions`: tangents of
    their arrays, None where they are zero; `carries`: arrays of the carry after each row, where they are known.
    """
    (loop, carry, dt), (of_loop, of_carry, of_dt) = arguments, directions
    leaves, structure = jax.tree.flatten(((loop, dt), carry))
    along = structure.flatten_up_to(((of_loop, of_dt), of_carry))
    pairs = [(y, tangent) for y, tangent in zip(leaves, along, strict=True) if eqx.is_array(y)]
    arrays = [y for y, _ in pairs]
    moved = tuple(tangent is not None and _is_floating(y) for y, tangent in pairs)
    carries = run.carries([jax.lax.stop_gradient(y) for y in arrays]) if carries is None else carries
    tangents = taken([tangent for _, tangent in pairs], moved)
    found = iter(_bound(run, moved, arrays, carries, tangents))
    row = _known(arguments, carries, run)
    of_row = jax.tree.map(lambda y: next(found) if eqx.is_array(y) and _is_floating(y) else None, row)
    return row, of_row


@eqx.filter_custom_jvp
def _known(arguments: tuple, carries: list, run):
    """The rows of a run of which the carry after each row is known; they have derivatives by the arguments."""
    return run.row(run.of_rows(carries))


@_known.def_jvp
def _(primals, tangents):
    arguments, carries, run = primals
    return tangents_of_rows(run, arguments, tangents[0], carries)


def _bound(run, moved: Batched, arrays: list, carries: list, tangents: list) -> list:
    values = [*arrays, *carries, *tangents]
    return tangents_p.bind(*values, run=run, moved=moved, batched=(False,) * len(values), count=None)


tangents_p = jax.extend.core.Primitive("rollout_tangents")
"""Tangents of the floating-point arrays of the rows, from the arrays of the loop, the step's length and the carry, from
those of the carry after each row, and from the tangents of those arrays that are `moved`.
"""
tangents_p.multiple_results = True


def _shapes(run, count: int | None) -> list[jax.ShapeDtypeStruct]:
    lead = (run.rows,) if count is None else (count, run.rows)
    shapes = run.of_rows(jax.tree.leaves(run.like[1]))
    return [jax.ShapeDtypeStruct((*lead, *y.shape), y.dtype) for y in shapes if _is_floating(y)]


@tangents_p.def_abstract_eval
def _(*_, run, count, **__):
    return [ShapedArray(y.shape, y.dtype) for y in _shapes(run, count)]


def _by_xla(*values, run, moved, batched, count):
    """The tangents, by XLA's forward mode."""

    def one(arrays, tangents):
        return jax.jvp(partial(_rows, run, moved, arrays), (taken(arrays, moved),), (tangents,))[1]

    return _over_robots(one, values, run, moved, batched, count)


def _back_by_xla(*values, run, moved, batched, count):
    """The cotangents of the arrays that are moved, by XLA's reverse mode, where the tangents are cotangents."""

    def one(arrays, cotangents):
        return jax.vjp(partial(_rows, run, moved, arrays), taken(arrays, moved))[1](cotangents)[0]

    return _over_robots(one, values, run, moved, batched, count)


def _rows(run, moved: Batched, arrays: list, changed: list) -> list:
    """The floating-point arrays of the rows, by XLA, as a function of the arrays that are moved."""
    tree = jax.tree.unflatten(jax.tree.structure(run.like), filled(arrays, moved, changed))
    (loop, dt), carry = eqx.combine(tree, run.static)
    found = jax.tree.leaves(eqx.filter(run.by_xla(loop, carry, dt), eqx.is_array))
    return [y for y in found if _is_floating(y)]


def _over_robots(one, values, run, moved: Batched, batched: Batched, count: int | None) -> list:
    """one(arrays, directions) of each robot, where the values are arrays, carries and directions."""
    first, last = len(moved), len(moved) + run.of_carry
    arrays, directions = list(values[:first]), list(values[last:])
    if count is None:
        return one(arrays, directions)
    axes = [0 if apart else None for apart in batched]
    return jax.vmap(one, (axes[:first], axes[last:]))(arrays, directions)


@tangents_p.def_impl
def _(*values, **params):
    return jax.jit(partial(_by_xla, **params))(*values)


mlir.register_lowering(tangents_p, mlir.lower_fun(_by_xla, multiple_results=True))
# Derivatives of derivatives go through XLA's forward mode.
ad.primitive_jvps[tangents_p] = lambda primals, tangents, **params: jax.jvp(  # type: ignore[assignment]
    partial(_by_xla, **params), list(primals), [ad.instantiate_zeros(y) for y in tangents]
)


def _batched(values, axes, *, run, moved, batched, count):
    """The tangents of a batch."""
    size = next(y.shape[axis] for y, axis in zip(values, axes, strict=True) if axis is not None)
    first = [y if axis is None else jax.numpy.moveaxis(y, axis, 0) for y, axis in zip(values, axes, strict=True)]
    own = tuple(i >= len(moved) + run.of_carry for i in range(len(values)))
    more = [axis is not None for axis in axes]
    both, joined = joined_batches(first, own, batched, more, size, count)
    found = tangents_p.bind(*joined, run=run, moved=moved, batched=both, count=size * (count or 1))
    return parted(found, size, count), [0] * len(found)


batching.primitive_batchers[tangents_p] = _batched


def _transposed(cotangents, *values, run, moved, batched, count):
    """Cotangents of the tangents, back through the steps by machine code."""
    known, tangents = values[: len(moved) + run.of_carry], values[len(moved) + run.of_carry :]
    lead = count is not None
    after = [
        jax.numpy.zeros(shape.shape, shape.dtype) if type(y) is ad.Zero else y
        for y, shape in zip(cotangents, _shapes(run, count), strict=True)
    ]
    inputs = [*known, *after]
    flags = (*batched[: len(known)], *(lead for _ in after))
    kind = structure_of((run.like, run.static, moved, "gradient"))
    kernels = or_none("auto", "gradient", kind, partial(_kernels, run, moved))
    by_xla = partial(_back_by_xla, run=run, moved=moved, batched=flags, count=count)
    if kernels is None:
        found = by_xla(*inputs)
    else:
        found = _back(partial(_prepared, run, moved, kernels), by_xla, flags, count, inputs)
    unknown = [ad.is_undefined_primal(y) for y in tangents]
    return [*(None for _ in known), *(y if asked else None for y, asked in zip(found, unknown, strict=True))]


ad.primitive_transposes[tangents_p] = _transposed


def _back(prepare, by_xla, batched: Batched, count: int | None, inputs: list) -> list:
    """The cotangents by machine code; their own derivatives are XLA's."""

    @jax.custom_jvp
    def call(*inputs):
        return called_on_host(prepare, list(inputs), (False,) * len(inputs), batched, count)

    call.defjvp(lambda primals, tangents: jax.jvp(by_xla, primals, tangents))
    return call(*inputs)


def _kernels(run, moved: Batched) -> tuple:
    """The machine code of a step backwards, and that of a step."""
    dynamic, carry = run.like
    kept = run.of_rows(list(range(run.of_carry)))
    leaves = jax.tree.leaves(carry)
    return (
        compiled_pullback(
            dynamic, carry, run.static, moved[: run.of_loop], [i for i in kept if _is_floating(leaves[i])]
        ),
        run.kernel(None, 1),
    )


def _prepared(run, moved: Batched, kernels: tuple, batched: Batched, count: int | None):
    """The function on the host that goes back through the steps, and the shapes of its results."""
    lead = () if count is None else (count,)
    shapes = [jax.ShapeDtypeStruct((*lead, *y.shape), y.dtype) for y in taken(jax.tree.leaves(run.like), moved)]
    return partial(_on_host, run, moved, kernels, batched, count), shapes


def _on_host(run, moved: Batched, kernels, batched: Batched, count: int | None, *arrays) -> list[np.ndarray]:
    """The cotangents of each robot."""
    values = [np.asarray(y) for y in arrays]
    robots = count or 1
    shapes = taken(jax.tree.leaves(run.like), moved)
    out = [np.empty((robots, *y.shape), y.dtype) for y in shapes]

    def one(index: int) -> None:
        found = _pulled_back(run, moved, kernels, of_robot(values, batched, index))
        for to, value in zip(out, found, strict=True):
            to[index] = value

    over_cores(one, range(robots))
    return [y[0] for y in out] if count is None else out


def _pulled_back(run, moved: Batched, kernels, values: list[np.ndarray]) -> list[np.ndarray]:
    """The cotangents of one robot's arrays."""
    back, step = kernels
    arrays, carries = values[: len(moved)], values[len(moved) : len(moved) + run.of_carry]
    of_rows = values[len(moved) + run.of_carry :]
    parameters, memory = back.parameters.new(), back.argument.new()
    back.parameters.pack(parameters, arrays[: run.of_loop])
    starts = [
        np.concatenate([first[None], rows[:-1]]) for first, rows in zip(arrays[run.of_loop :], carries, strict=True)
    ]

    def through(before: list[np.ndarray], added: list[np.ndarray]) -> None:
        """Back through some steps, of which the last one comes first."""
        rows = back.brought.new(len(before[0]))
        for field, value in zip(back.brought.fields, [*before, *added], strict=True):
            field.of(rows)[...] = value[::-1]
        back.fed_steps(parameters, memory, rows)

    if run.every == 1:
        through(starts, of_rows)
    else:
        for row in range(run.rows - 1, -1, -1):
            begin = [y[row] for y in starts]
            later = stepped(step, [*arrays[: run.of_loop], *begin], run.of_loop, run.every - 1, 1)
            added = [np.zeros((run.every, *y.shape[1:]), y.dtype) for y in of_rows]
            for to, value in zip(added, of_rows, strict=True):
                to[-1] = value[row]
            through([np.concatenate([y[None], more]) for y, more in zip(begin, later, strict=True)], added)
    found = [y.copy() for y in back.argument.unpack(memory)]
    floating = [_is_floating(y) for y in arrays[run.of_loop :]]
    before, total = found[: sum(floating)], found[sum(floating) :]
    of_carry = taken(filled(arrays[run.of_loop :], floating, before), moved[run.of_loop :])
    results = [*total, *of_carry]
    good = run.row(run.of_rows(carries)).good
    return results if good.all() else [np.full_like(y, np.nan) for y in results]


def _is_floating(array) -> bool:
    return np.issubdtype(array.dtype, np.floating)
