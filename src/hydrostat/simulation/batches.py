"""Rollouts within `jax.vmap`, `jax.jit` and `jax.grad` by machine code: the robots of a batch are the lanes of vectors,
in blocks over all cores.

Reverse mode goes back through the steps by machine code too. Forward mode and derivatives of derivatives are XLA's.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np

from hydrostat.code_cache import structure_of
from hydrostat.simulation.backend import compiled_step, or_none, stepped
from hydrostat.simulation.host_calls import Batched, called_on_host, of_robot, over_cores
from hydrostat.simulation.loop import Carry, Loop, Row, row_of
from hydrostat.simulation.tangents import tangents_of_rows

LANES = 8
"""Robots of a block."""
_FEWEST = 4
"""The number of robots from which a block pays: it takes about as long as three robots one after the other."""


def traced_rows(backend: str, by_xla: Callable, loop: Loop, carry: Carry, dt: Any, rows: int, every: int) -> Row:
    """The rows of a run whose arrays are being traced.

    **Arguments:** `by_xla`: the same rows as a function of the loop, the carry and the step's length.
    """
    run = or_none(backend, "run", structure_of((loop, carry)), lambda: Run(by_xla, loop, carry, dt, rows, every))
    if run is None:
        return by_xla(loop, carry, dt)

    @eqx.filter_custom_jvp
    def found(arguments):
        return run(*arguments)

    @found.def_jvp
    def _(primals, tangents):
        (arguments,), (directions,) = primals, tangents
        return tangents_of_rows(run, arguments, directions)

    return found((loop, carry, dt))


class Run:
    """Rows of a run, or of a batch of runs."""

    def __init__(self, by_xla: Callable, loop: Loop, carry: Carry, dt: Any, rows: int, every: int):
        """**Arguments:** `by_xla`: the same rows, by XLA; `loop`, `carry`, `dt`: such as it is called with."""
        self.by_xla = by_xla
        arrays, self.static = eqx.partition(((loop, dt), carry), eqx.is_array)
        self.like = jax.tree.map(lambda y: jax.ShapeDtypeStruct(y.shape, y.dtype), arrays)
        """Shapes of the arrays of the loop and of the step's length, and of those of the carry."""
        self.of_loop, self.of_carry = (len(jax.tree.leaves(part)) for part in arrays)
        self.rows, self.every = rows, every
        # Arms of a robot are lanes already.
        self._lanes = 1 if loop.system.robot.equal else LANES
        # What cannot be lowered is found out before anything relies on it.
        self.kernel(None, 1)

    def __call__(self, loop: Loop, carry: Carry, dt: Any) -> Row:
        """The rows of one run; of several where it is batched."""
        arrays = jax.tree.leaves(eqx.filter(((loop, dt), carry), eqx.is_array))
        return self.row(self._called(arrays, self.of_rows))

    def carries(self, arrays: list) -> list:
        """The arrays of the carry after each row."""
        return self._called(arrays, list)

    def row(self, arrays: list) -> Row:
        """The row whose arrays these are."""
        like = jax.tree.structure(row_of(self.like[1]))
        return eqx.combine(jax.tree.unflatten(like, arrays), row_of(self.static[1]))

    def of_rows(self, arrays: list) -> list:
        """Those arrays of a carry that are kept in a row."""
        return jax.tree.leaves(row_of(jax.tree.unflatten(jax.tree.structure(self.like[1]), arrays)))

    def kernel(self, batched: Batched | None, lanes: int):
        """The machine code of a step of one robot, or of a block of robots."""
        dynamic, carry = self.like
        return compiled_step(dynamic, carry, self.static, batched, lanes)

    def _called(self, arrays: list, kept: Callable[[list], list]) -> list:
        """Arrays after each row.

        **Arguments:** `kept`: chooses some of the arrays of a carry.
        """
        own = tuple(i >= self.of_loop for i in range(len(arrays)))
        shapes = kept(jax.tree.leaves(self.like[1]))

        def prepare(batched: Batched, count: int | None):
            lanes = 1 if count is None or count < _FEWEST else self._lanes
            kernel = self.kernel(batched[: self.of_loop], lanes)
            lead = (self.rows,) if count is None else (count, self.rows)
            host = partial(self._on_host, kernel, batched, count, lanes, kept)
            return host, [jax.ShapeDtypeStruct((*lead, *y.shape), y.dtype) for y in shapes]

        return called_on_host(prepare, arrays, own, (False,) * len(arrays), None)

    def _on_host(self, kernel, batched: Batched, count: int | None, lanes: int, kept, *arrays) -> list:
        """Arrays after each row, block by block over all cores."""
        values = [np.asarray(y) for y in arrays]
        robots = count or 1
        shapes = kept(jax.tree.leaves(self.like[1]))
        out = [np.empty((robots, self.rows, *y.shape), y.dtype) for y in shapes]

        def block(begin: int) -> None:
            # The last block is filled with its last robot.
            index = np.minimum(np.arange(begin, begin + lanes), robots - 1) if lanes > 1 else begin
            taken = of_robot(values, batched, index)
            found = kept(stepped(kernel, taken, self.of_loop, self.rows, self.every))
            end = min(begin + lanes, robots)
            for to, some in zip(out, found, strict=True):
                to[begin:end] = np.swapaxes(some[:, : end - begin], 0, 1) if lanes > 1 else some

        over_cores(block, range(0, robots, lanes))
        self._spoil(out if kept is not list else self.of_rows(out))
        return [y[0] for y in out] if count is None else out

    def _spoil(self, out: list[np.ndarray]) -> None:
        """Make every state no number from where a step could not be made."""
        row = self.row(out)
        bad = ~row.good
        if bad.any():
            for y in jax.tree.leaves(row.state):
                if np.issubdtype(y.dtype, np.floating):
                    y[bad] = np.nan
