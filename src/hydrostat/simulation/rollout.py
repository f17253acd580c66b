"""A pure rollout: `jax.jit`, `jax.vmap`, `jax.grad` and `jax.jacfwd` go through it."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from hydrostat import errors
from hydrostat.compiling import fast_jit, quick_jit
from hydrostat.control.base import Constant, Controller, Idle
from hydrostat.errors import DivergedError
from hydrostat.results.trajectory import Trajectory
from hydrostat.sensing import Sensors
from hydrostat.simulation.backend import native_rows
from hydrostat.simulation.batches import traced_rows
from hydrostat.simulation.loop import Carry, Loop, Row, first_carry, one_step, row_of
from hydrostat.stepping.base import AbstractStepper
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.stepping.step import default_stepper
from hydrostat.system import Control, State, System


def rollout(
    system: System,
    controller: Controller | Control | None = None,
    state: State | None = None,
    *,
    steps: int,
    dt: float,
    every: int = 1,
    stepper: AbstractStepper | None = None,
    sensors: Sensors | None = None,
    memory: Any = None,
    backend: str = "auto",
) -> Trajectory:
    """The motion of a system in some steps of dt [s], as arrays: first the state at the start, then a row `every`
    steps.

    A step that cannot be made is not tried again in smaller ones, as `simulate` does. Outside of `jax.jit` and its
    kin that raises `DivergedError`; within them it cannot, and every row from there on is not a number.

    **Arguments:** `controller`: what drives it, or a control that is held; `state`: where it starts, at rest when not
    given; `stepper`: as `default_stepper` says when not given; `sensors`: perfect ones when not given; `memory`: of
    the controller, where a motion before is continued; `backend`: "native" for machine code of our own, "xla" for
    XLA's, "auto" for the first where it can. Robots of a batch (`jax.vmap`) are stepped side by side, over all cores.
    Derivatives are XLA's.
    """
    steps, every = errors.whole("steps", steps, least=1, most=10**9), errors.whole("every", every, least=1, most=10**9)
    if steps % every:
        raise errors.InputError(f"`steps` must be a multiple of `every`; got {steps} and {every}")
    controller = as_controller(system, controller).attach(system, dt)
    stepper = without_rescue(default_stepper(system) if stepper is None else stepper)
    state = system.rest() if state is None else state
    loop = Loop(system, controller, Sensors() if sensors is None else sensors, stepper)
    step, count = jnp.asarray(dt, float), steps // every
    begin = _first(loop, state, dt, memory)
    first = row_of(begin)
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((loop, state, memory, step))):
        by_xla = partial(_rows, count=count, every=every)
        return _trajectory(system, first, traced_rows(backend, by_xla, loop, begin, step, count, every))
    native = native_rows(backend, loop, begin, dt)
    rows = _compiled(loop, begin, step, count, every) if native is None else native(begin, count, every, dt)[1]
    if not bool(rows.good[-1]):
        last = float(state.time) + (int(jnp.argmin(rows.good)) + 1) * every * dt
        raise DivergedError(
            f"a step before {last:g} s could not be made at dt = {dt:g} s; a smaller dt may do, and `simulate` tries "
            f"smaller steps by itself"
        )
    return _trajectory(system, first, rows)


def as_controller(system: System, controller: Controller | Control | None) -> Controller:
    """A controller, also from a constant control or from None."""
    if controller is None:
        return Idle()
    if isinstance(controller, Control):
        return Constant(system.check(controller))
    if not isinstance(controller, Controller):
        raise errors.InputError(
            f"a controller must be a hydrostat `Controller`, such as hydrostat.gaits.Crawl(), or a `Control`; "
            f"got {errors.shown(controller)}"
        )
    return controller


def without_rescue(stepper: AbstractStepper) -> AbstractStepper:
    """The same stepper without smaller steps where one does not converge, which reverse mode cannot go through."""

    def plain(part):
        return SDIRK2(part.tolerance, part.max_iterations, rescue=False) if isinstance(part, SDIRK2) else part

    return jax.tree.map(plain, stepper, is_leaf=lambda part: isinstance(part, SDIRK2))


def _rows(loop: Loop, begin: Carry, dt, count: int, every: int) -> Row:
    """The rows after the first one."""

    # Reverse mode stores what goes on from step to step, and makes each step again. Within a loop nothing is shared
    # between both by mistake.
    @partial(jax.checkpoint, prevent_cse=False)
    def one(carry, _):
        return one_step(loop, carry, dt), None

    def row(carry, _):
        carry, _ = jax.lax.scan(one, carry, None, length=every) if every > 1 else one(carry, None)
        kept = row_of(carry)
        # A factor, so that derivatives are no numbers either.
        spoilt = jnp.where(kept.good, 1.0, jnp.nan)
        state = jax.tree.map(lambda y: y * spoilt, kept.state)
        return carry._replace(iterations=jnp.zeros_like(carry.iterations)), kept._replace(state=state)

    return jax.lax.scan(row, begin, None, length=count)[1]


_compiled = fast_jit(_rows)
_first = quick_jit(first_carry)


def _trajectory(system: System, first: Row, rows: Row) -> Trajectory:
    """The rows, the first one before them."""
    both = jax.tree.map(lambda one, many: jnp.concatenate([one[None], many]), first, rows)
    return Trajectory(system, both.state, both.control, both.memory, both.good, both.iterations)
