"""Rollouts within `jax.vmap` and `jax.jit` by machine code: the robots of a batch are the lanes of vectors, in blocks
over all cores.

Within `jax.grad` and its kin XLA makes the steps, since it has their derivatives.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from hydrostat.code_cache import structure_of
from hydrostat.simulation.backend import compiled_step, or_none
from hydrostat.simulation.loop import Carry, Loop, Row, row_of

LANES = 8
"""Robots of a block."""
_FEWEST = 4
"""The number of robots from which a block pays: it takes about as long as three robots one after the other."""
Batched = tuple[bool, ...]
"""Which arrays have a leading axis of robots."""


def traced_rows(backend: str, by_xla: Callable, loop: Loop, carry: Carry, dt: Any, rows: int, every: int) -> Row:
    """The rows of a run whose arrays are being traced.

    **Arguments:** `by_xla`: the same rows as a function of the loop, the carry and the step's length.
    """
    native = or_none(backend, "run", structure_of((loop, carry)), lambda: _Run(loop, carry, dt, rows, every))
    if native is None:
        return by_xla(loop, carry, dt)

    @eqx.filter_custom_jvp
    def found(arguments):
        return native(*arguments)

    @found.def_jvp
    def _(primals, tangents):
        (arguments,), (directions,) = primals, tangents
        return eqx.filter_jvp(by_xla, arguments, directions)

    return found((loop, carry, dt))


class _Run:
    """Rows of a run, or of a batch of runs."""

    def __init__(self, loop: Loop, carry: Carry, dt: Any, rows: int, every: int):
        """**Arguments:** `loop`, `carry`, `dt`: such as it is called with."""
        arrays, self._static = eqx.partition(((loop, dt), carry), eqx.is_array)
        self._like = jax.tree.map(lambda y: jax.ShapeDtypeStruct(y.shape, y.dtype), arrays)
        self._of_loop, self._of_carry = (len(jax.tree.leaves(part)) for part in arrays)
        self._rows, self._every = rows, every
        # Arms of a robot are lanes already.
        self._lanes = 1 if loop.system.robot.equal else LANES
        # What cannot be lowered is found out before anything relies on it.
        self._kernel((False,) * self._of_loop, 1)

    def __call__(self, loop: Loop, carry: Carry, dt: Any) -> Row:
        """The rows of one run; of several where it is batched."""
        arrays = jax.tree.leaves(eqx.filter(((loop, dt), carry), eqx.is_array))
        return self._row(self._called(arrays, (False,) * len(arrays), None))

    def _row(self, arrays: list) -> Row:
        """The row whose arrays these are."""
        like = jax.tree.structure(row_of(self._like[1]))
        return eqx.combine(jax.tree.unflatten(like, arrays), row_of(self._static[1]))

    def _of_rows(self, arrays: list) -> list:
        """Those arrays of a carry that are kept in a row."""
        return jax.tree.leaves(row_of(jax.tree.unflatten(jax.tree.structure(self._like[1]), arrays)))

    def _kernel(self, batched: Batched, lanes: int):
        """The machine code of a block."""
        (loop, dt), carry = self._like
        return compiled_step((loop, dt), carry, self._static, batched, lanes)

    def _called(self, arrays: list, batched: Batched, count: int | None) -> list:
        """Arrays of the rows, as a function that can be batched once more.

        **Arguments:** `count`: the number of robots, None for one without an axis of robots.
        """
        lanes = 1 if count is None or count < _FEWEST else self._lanes
        kernel = self._kernel(batched[: self._of_loop] if lanes > 1 else (False,) * self._of_loop, lanes)
        lead = (self._rows,) if count is None else (count, self._rows)
        shapes = [jax.ShapeDtypeStruct((*lead, *y.shape), y.dtype)
                  for y in self._of_rows(jax.tree.leaves(self._like[1]))]  # fmt: skip

        @custom_vmap
        def call(*arrays):
            return jax.pure_callback(partial(self._on_host, kernel, batched, count, lanes), shapes, *arrays)

        @call.def_vmap
        def _(size, more, *arrays):
            # Each robot has a carry of its own.
            both = tuple(a or b or i >= self._of_loop for i, (a, b) in enumerate(zip(batched, more, strict=True)))
            joined = [_joined(*some, size, count) for some in zip(arrays, batched, more, both, strict=True)]
            found = self._called(joined, both, size * (count or 1))
            if count is not None:
                found = [y.reshape(size, count, *y.shape[1:]) for y in found]
            return found, [True] * len(found)

        return call(*arrays)

    def _on_host(self, kernel, batched: Batched, count: int | None, lanes: int, *arrays) -> list[np.ndarray]:
        """Arrays of the rows, block by block over all cores."""
        values = [np.asarray(y) for y in arrays]
        robots = count or 1
        out = [np.empty((robots, self._rows, *y.shape), y.dtype)
               for y in self._of_rows(jax.tree.leaves(self._like[1]))]  # fmt: skip

        def block(begin: int) -> None:
            # The last block is filled with its last robot.
            index = np.minimum(np.arange(begin, begin + lanes), robots - 1) if lanes > 1 else begin
            taken = [y[index] if apart else y for y, apart in zip(values, batched, strict=True)]
            parameters, memory = kernel.parameters.new(), kernel.argument.new()
            kernel.parameters.pack(parameters, taken[: self._of_loop])
            kernel.argument.pack(memory, taken[self._of_loop :])
            found = kernel.steps(parameters, memory, self._rows, self._every, kernel.frame())
            end = min(begin + lanes, robots)
            for to, some in zip(out, self._of_rows(kernel.argument.unpack(found)), strict=True):
                to[begin:end] = np.swapaxes(some[:, : end - begin], 0, 1) if lanes > 1 else some

        starts = range(0, robots, lanes)
        if len(starts) == 1:
            block(0)
        else:
            with ThreadPoolExecutor(min(len(starts), len(os.sched_getaffinity(0)))) as pool:
                list(pool.map(block, starts))
        self._spoil(out)
        return [y[0] for y in out] if count is None else out

    def _spoil(self, out: list[np.ndarray]) -> None:
        """Make every state no number from where a step could not be made."""
        row = self._row(out)
        bad = ~row.good
        if bad.any():
            for y in jax.tree.leaves(row.state):
                if np.issubdtype(y.dtype, np.floating):
                    y[bad] = np.nan


def _joined(array, batched: bool, more: bool, either: bool, size: int, count: int | None):
    """An array with one axis of robots for two axes of them.

    **Arguments:** `batched`: whether it has the second axis, of `count` robots; `more`: whether it has the first one,
    of `size`; `either`: whether it must have the axis of robots.
    """
    if not either:
        return array
    array = array if more else jnp.broadcast_to(array, (size, *array.shape))
    if count is None:
        return array
    if not batched:
        array = jnp.broadcast_to(array[:, None], (size, count, *array.shape[1:]))
    return array.reshape(size * count, *array.shape[2:])
