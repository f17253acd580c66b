"""The loop over steps that rollouts and simulations share: observe, decide, step."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.errors import InputError, shown
from hydrostat.sensing import Sensors, observe
from hydrostat.stepping.base import AbstractStepper
from hydrostat.stepping.step import advance, first_memory
from hydrostat.surroundings.base import Place
from hydrostat.system import Control, State, System


class Loop(NamedTuple):
    """The constant part of a run."""

    system: System
    controller: Controller
    sensors: Sensors
    stepper: AbstractStepper


class Carry(NamedTuple):
    """The part of a run that evolves from step to step."""

    state: State
    place: Place | None
    control: Control
    """The last control."""
    memory: Any
    """Memory of the controller."""
    sensed: Any
    """Memory of the sensors."""
    stepping: Any
    """Memory of the stepper."""
    good: Bool[Array, ""]
    """Whether every step so far has converged."""
    iterations: Int[Array, ""]
    """Iterations of the stepper since the last row."""
    steps: Int[Array, ""]
    """Number of steps since the start."""
    start: Float[Array, ""]
    """Time of the first step's begin [s]."""


class Row(NamedTuple):
    """One row of a run."""

    state: State
    control: Control
    memory: Any
    good: Bool[Array, ""]
    iterations: Int[Array, ""]


def first_carry(loop: Loop, state: State, dt, memory: Any = None) -> Carry:
    """The carry at the start of a run."""
    system, controller, sensors, stepper = loop
    # Of a run before, both are NumPy arrays.
    state, memory = jax.tree.map(jnp.asarray, (state, memory))
    observation, sensed, place, stepping = _first_sensed(system, sensors, stepper, state, dt)
    memory = controller.init(observation) if memory is None else memory
    shapes = jax.eval_shape(lambda: decided(controller, state.time, observation, memory)[0])
    control = system.check(jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype), shapes))
    none = jnp.asarray(0)
    return Carry(state, place, control, memory, sensed, stepping, jnp.asarray(True), none, none, state.time)


@quick_jit
def _first_sensed(system: System, sensors: Sensors, stepper: AbstractStepper, state: State, dt) -> tuple:
    """The first observation, the memory of the sensors before it, the robot's place among its surroundings, and the
    memory of the stepper."""
    truth = observe(system, state, Control(), dt, sensors.force is not None)
    sensed = sensors.init(system, truth, dt)
    first = sensors(state.time, truth, sensed)[0]
    return first, sensed, system.place(state), first_memory(system, state, stepper)


def decided(controller: Controller, time, observation, memory) -> tuple[Control, Any]:
    """The control of a controller at a time, and its memory; a control that is a function of time is evaluated now."""
    control, memory = controller(time, observation, memory)
    return control_at(control, time), memory


def control_at(control, time) -> Control:
    """The decision of a controller: a control, or a function of time that returns one."""
    found = control(time) if callable(control) else control
    if not isinstance(found, Control):
        raise InputError(f"a controller must give a `Control`, or a function of time to one; got {shown(found)}")
    return found


def one_step(loop: Loop, carry: Carry, dt) -> Carry:
    """One step of the loop: observe, decide, step."""
    system, controller, sensors, stepper = loop
    state = carry.state
    truth = observe(system, state, carry.control, dt, sensors.force is not None)
    observation, sensed = sensors(state.time, truth, carry.sensed)
    control, memory = controller(state.time, observation, carry.memory)
    new = advance(system, state, carry.place, control, dt, stepper, carry.stepping)
    # Times are multiples of the step, not sums of it.
    steps = carry.steps + 1
    after = new.state._replace(time=carry.start + steps * dt)
    held = control_at(control, state.time)
    good, count = carry.good & new.converged, carry.iterations + new.iterations
    return Carry(after, new.place, held, memory, sensed, new.memory, good, count, steps, carry.start)


def row_of(carry: Carry) -> Row:
    """The row of a step that has ended with this carry."""
    return Row(carry.state, carry.control, carry.memory, carry.good, carry.iterations)
