"""The choice of the engine that computes the steps: machine code of our own, or XLA."""

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.code_cache import structure_of
from hydrostat.errors import InputError, choice
from hydrostat.native import NotLoweredError
from hydrostat.simulation.loop import Carry, Loop, Row, one_step, row_of
from hydrostat.system import System

BACKENDS = ("auto", "native", "xla")
_LOG = logging.getLogger("hydrostat")
_COMPILED: dict[Any, Any] = {}
_MOST_COMPILED = 32
_LONGEST = 0.5  # s, after which the rows that are made are handed out
_PORTION = 0.2  # s that rows should take until the clock is read again
_REFUSED: dict[Any, str] = {}
"""The reasons why there is no machine code, by what it would be of."""


def compiled_step(dynamic, carry: Carry, static, batched: tuple[bool, ...] | None = None, lanes: int = 1):
    """A step of the loop as machine code, or a step of a block of robots.

    **Arguments:** `dynamic`: arrays of the loop and of the step's length; `carry`: arrays of the carry; `static`: the
    rest of both, as a pair; `batched`: which of the arrays of the loop differ from robot to robot; `lanes`: the number
    of robots.
    """
    from hydrostat.native.function import Native, key_of

    batched = batched if lanes > 1 else None
    what = (dynamic, carry, static, batched, lanes)
    kind = structure_of(what)
    if kind in _COMPILED:
        return _COMPILED[kind]
    step, side_by_side = _step_of(*static), _equal_arms(dynamic, static)
    if batched is not None:
        leaves, structure = jax.tree.flatten(dynamic)
        axes = jax.tree.unflatten(structure, [0 if apart else None for apart in batched])
        step, side_by_side = jax.vmap(step, in_axes=(axes, 0)), lanes
        several = [_like(y, lanes) if apart else y for y, apart in zip(leaves, batched, strict=True)]
        dynamic = jax.tree.unflatten(structure, several)
        carry = jax.tree.map(lambda y: _like(y, lanes), carry)
    while len(_COMPILED) >= _MOST_COMPILED:
        _COMPILED.pop(next(iter(_COMPILED)))
    _COMPILED[kind] = Native(
        step, dynamic, carry, side_by_side=side_by_side, stepping=True,
        reset=(_index_of(carry, lambda c: c.iterations),), key=key_of("step", *what),
    )  # fmt: skip
    return _COMPILED[kind]


def stepped(kernel, arrays: list[np.ndarray], of_loop: int, rows: int, every: int) -> list[np.ndarray]:
    """Arrays of the carry after each row.

    **Arguments:** `arrays`: of the loop and the step's length, which are `of_loop`, and of the carry at the start.
    """
    parameters, memory = kernel.parameters.new(), kernel.argument.new()
    kernel.parameters.pack(parameters, arrays[:of_loop])
    kernel.argument.pack(memory, arrays[of_loop:])
    return kernel.argument.unpack(kernel.steps(parameters, memory, rows, every, kernel.frame()))


def compiled_pullback(dynamic, carry: Carry, static, chosen: tuple[bool, ...], rows: list[int]):
    """A step backwards as machine code: from cotangents after a step to those before it.

    It goes on with the cotangents of the carry's floating-point arrays and with the sum of those of the chosen arrays
    of the loop. Each step is brought the carry before it and what a row adds to the cotangents after it.

    **Arguments:** `dynamic`, `carry`, `static`: as in `compiled_step`; `chosen`: which arrays of the loop have
    cotangents; `rows`: the places, among all arrays of the carry, of the arrays that a row adds to.
    """
    from hydrostat.native.function import Native, key_of

    what = (dynamic, carry, static, chosen, tuple(rows), "pullback")
    kind = structure_of(what)
    if kind in _COMPILED:
        return _COMPILED[kind]
    step = _step_of(*static)
    structures = jax.tree.structure(dynamic), jax.tree.structure(carry)
    floating = [_is_floating(y) for y in jax.tree.leaves(carry)]
    places = [sum(floating[:place]) for place in rows]

    def pullback(dynamic, both):
        (after, total), (carry, added) = both
        for place, more in zip(places, added, strict=True):
            after = [y + more if i == place else y for i, y in enumerate(after)]
        loop, leaves = jax.tree.leaves(dynamic), jax.tree.leaves(carry)

        def stepped(parameters, moving):
            new = step(
                jax.tree.unflatten(structures[0], filled(loop, chosen, parameters)),
                jax.tree.unflatten(structures[1], filled(leaves, floating, moving)),
            )
            return taken(jax.tree.leaves(new), floating)

        back = jax.vjp(stepped, taken(loop, chosen), taken(leaves, floating))[1]
        parameters, before = back(after)
        return before, [y + more for y, more in zip(total, parameters, strict=True)]

    moving = taken(jax.tree.leaves(carry), floating)
    fed = (moving, taken(jax.tree.leaves(dynamic), chosen)), (carry, [moving[place] for place in places])
    while len(_COMPILED) >= _MOST_COMPILED:
        _COMPILED.pop(next(iter(_COMPILED)))
    _COMPILED[kind] = Native(
        pullback, dynamic, fed, side_by_side=_equal_arms(dynamic, static), stepping=True, fed=True, key=key_of(*what)
    )
    return _COMPILED[kind]


def _equal_arms(dynamic, static) -> int:
    """The number of equal arms, which are the lanes of vectors; zero where there are none."""
    loop = eqx.combine(dynamic[0], static[0][0])
    robot = loop.system.robot
    return robot.count if robot.equal else 0


def _is_floating(array) -> bool:
    """Whether an array has cotangents."""
    return np.issubdtype(array.dtype, np.floating)


def taken(values, chosen) -> list:
    """The chosen ones of some values."""
    return [value for value, is_chosen in zip(values, chosen, strict=True) if is_chosen]


def filled(values, chosen, new) -> list:
    """The values, the chosen ones replaced by new ones."""
    new = iter(new)
    return [next(new) if is_chosen else value for value, is_chosen in zip(values, chosen, strict=True)]


def _like(array, lanes: int) -> jax.ShapeDtypeStruct:
    """Such an array for each lane."""
    return jax.ShapeDtypeStruct((lanes, *array.shape), array.dtype)


class NativeRows:
    """Rows of a run, made by machine code."""

    def __init__(self, loop: Loop, carry: Carry, dt: float):
        """**Arguments:** `carry`: such as the run goes on from; `dt`: the step [s]."""
        dynamic, static = eqx.partition((loop, jnp.asarray(dt, float)), eqx.is_array)
        like, self._rest = eqx.partition(carry, eqx.is_array)
        self._step = compiled_step(dynamic, like, (static, self._rest))
        self._structure = jax.tree.structure(like)
        self._parameters, self._memory = self._step.parameters.new(), self._step.argument.new()
        self._step.parameters.pack(self._parameters, jax.tree.leaves(dynamic))
        # Where the length of a step is, the last of the parameters, and the arrays of the carry.
        self._dt = self._step.parameters.unpack(self._parameters)[-1]
        self._carry = self._step.argument.unpack(self._memory)
        self._frame = self._step.frame()
        self._seconds_a_step = np.inf  # not known before the first one

    def in_time(self, carry: Carry, rows: int, every: int, dt: float) -> tuple[Carry, Row]:
        """The carry after as many of some rows as half a second allows, and these rows: at least one.

        The last of them is the first with a step that could not be made, or one soon after it.
        """
        parts, begin, left = [], perf_counter(), rows
        while left and (not parts or perf_counter() - begin < _LONGEST):
            most = max(1, int(min(_PORTION / (self._seconds_a_step * every), left)))
            carry, found = self(carry, most, every, dt)
            parts, left = [*parts, found], left - most
            if not np.all(found.good):
                break
        return carry, parts[0] if len(parts) == 1 else jax.tree.map(_joined, *parts)

    def __call__(self, carry: Carry, rows: int, every: int, dt: float) -> tuple[Carry, Row]:
        """The carry after `rows` rows of `every` steps, and the rows."""
        started = perf_counter()
        self._dt[...] = dt
        for place, value in zip(self._carry, jax.tree.leaves(eqx.filter(carry, eqx.is_array)), strict=True):
            place[...] = value
        step = self._step
        arrays = step.argument.unpack(step.steps(self._parameters, self._memory, rows, every, self._frame))
        self._seconds_a_step = (perf_counter() - started) / max(rows * every, 1)
        after = jax.tree.unflatten(self._structure, [array[-1].copy() for array in arrays])
        after = eqx.combine(after._replace(iterations=np.zeros_like(after.iterations)), self._rest)
        rows_found = row_of(eqx.combine(jax.tree.unflatten(self._structure, arrays), self._rest))
        # Copies, so that what is not kept of a row takes no memory.
        return after, jax.tree.map(lambda y: y.copy() if isinstance(y, np.ndarray) else y, rows_found)


def _joined(*parts):
    """The parts of an array one after the other; of what is no array, and the same in all rows, the first."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else parts[0]


def _step_of(static, rest: Carry) -> Callable:
    """A step as a function of arrays: of the loop and the length of a step, and of the carry."""

    def step(dynamic, carry):
        loop, dt = eqx.combine(dynamic, static)
        return eqx.filter(one_step(loop, eqx.combine(carry, rest), dt), eqx.is_array)

    return step


def native_rows(backend: str, loop: Loop, carry: Carry, dt: float) -> NativeRows | None:
    """Rows by machine code; None where XLA makes them."""
    return or_none(backend, "run", structure_of((loop, carry)), lambda: NativeRows(loop, carry, dt))


def native_call(backend: str, function: Callable, parameters, arguments: tuple, key: tuple, system: System):
    """function(parameters, arguments) of vectors as machine code; None where XLA works it out.

    **Arguments:** `key`: what tells the function from others of the same parameters.
    """

    def make():
        from hydrostat.native.function import Native, key_of

        dynamic, static = eqx.partition(parameters, eqx.is_array)

        def flat(dynamic, arguments):
            return function(eqx.combine(dynamic, static), arguments)

        side_by_side = system.robot.count if system.robot.equal else 0
        name = key_of(*key, parameters, arguments)
        native = Native(flat, dynamic, arguments, side_by_side=side_by_side, key=name)
        return native.caller(jax.tree.leaves(dynamic))

    return or_none(backend, "loop", structure_of((key, parameters, arguments)), make)


def or_none(backend: str, what: str, kind: Any, make: Callable) -> Any:
    """The compiled function, or None where it cannot be compiled: said in one line of the log, once, unless it was
    asked for.

    **Arguments:** `kind`: of what is made; one that could not be made is not tried again.
    """
    if choice("backend", backend, BACKENDS) == "xla":
        return None
    reason = _REFUSED.get(kind)
    if reason is None:
        try:
            if jax.default_backend() != "cpu":
                raise NotLoweredError(f"arrays are on a {jax.default_backend()}")
            return make()
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            if reason not in _REFUSED.values() and backend == "auto":
                _LOG.warning("no machine code of our own for this %s, XLA computes it: %s", what, reason)
            _REFUSED[kind] = reason
    if backend == "native":
        raise InputError(f'`backend="native"` cannot run this: {reason}; "auto" takes XLA instead')
    return None


def _index_of(tree, which) -> int:
    """The index of the chosen leaf of a tree."""
    marked = eqx.tree_at(which, jax.tree.map(lambda _: False, tree), True)
    return jax.tree.leaves(marked).index(True)
