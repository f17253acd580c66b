"""One step of a whole system: actuators, surroundings, and the motion of the robot among them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.mechanics.nodes import AbstractForces
from hydrostat.mechanics.robot import Inputs, PerArm
from hydrostat.stepping.base import AbstractStepper, finite
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.surroundings.base import Place, Together
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, State, System

ControlOrFunction = Control | Callable[[Float[Array, ""]], Control]
"""A control that is held during a step, or a function from time [s] to control."""
_SOFT = 1e-6  # tolerance for muscular arms: bends to 1e-6 rad a step, far below what the step itself leaves
_MANY = 5e-5  # of several of them: with 1e-8 an octopus crawls within 0.1 percent as far, and takes half as long again
_IN_WATER = 1e-7  # of others in water: limbs at 1 kHz are off by 8e-5 of their bends with it, and as much with 1e-8


class Advanced(NamedTuple):
    """The result of a step of a whole system."""

    state: State
    place: Place | None
    """The robot's place among its surroundings in that state, with which the next step begins."""
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    memory: Any
    """Memory of the stepper for the next step."""


def default_stepper(system: System) -> AbstractStepper:
    """The default stepper, SDIRK2; muscular arms, and others in water, are stepped to a coarser tolerance.

    The momentum of a free robot changes by the impulse of loads, water, ground and other surroundings, and by nothing
    else: see `KeepMomentum`. That takes a third more time than `SDIRK2` alone.
    """
    robot = system.robot
    muscular = any(arm.muscles is not None for arm in robot.each)
    inner = SDIRK2()
    if muscular:
        inner = SDIRK2(tolerance=_SOFT if robot.single else _MANY)
    elif system.part(Water) is not None:
        inner = SDIRK2(tolerance=_IN_WATER)
    return KeepMomentum(inner) if robot.free_base else inner


def step(system: System, state: State, control: Control | None, dt, stepper: AbstractStepper | None = None) -> State:
    """The state after a step of dt [s] with a constant control; not a number where the step does not converge.

    Pure: `jax.jit`, `jax.vmap` and `jax.grad` go through it.
    """
    control = Control() if control is None else system.check(control)
    stepper = default_stepper(system) if stepper is None else stepper
    state = jax.tree.map(jnp.asarray, state)
    new = advance(system, state, system.place(state), control, dt, stepper)
    return poisoned(new.state, new.converged)


def poisoned(state: State, good) -> State:
    """The state where a condition holds, else one that is not a number."""
    factor = jnp.where(good, 1.0, jnp.nan)
    return jax.tree.map(lambda y: factor * y, state)


def advance(
    system: System,
    state: State,
    place: Place | None,
    control: ControlOrFunction,
    dt,
    stepper: AbstractStepper,
    memory: Any = None,
) -> Advanced:
    """One step, for those who make many.

    **Arguments:** `place`: the robot's place among its surroundings at the begin; `memory`: of the stepper, from
    `first_memory` or from the step before.
    """
    held = control if isinstance(control, Control) else control(state.time)
    after, fatigue = system.muscles.tire(state.activation, state.fatigue, held.activation, dt)

    # What happens around the robot at the begin, and which forces act during the step.
    environment, commands = system.environment, system.commands(held)
    around, forces = list(state.surroundings), []
    if place is not None:
        for i, part in enumerate(system.surroundings):
            around[i], found = part.begin(around[i], place, environment, commands, dt)
            forces.append(found)
    acting = [found for found in forces if found is not None]
    inputs = StepInputs(system, control, state, after, jnp.asarray(dt), Together(tuple(acting)) if acting else None)

    # The motion of the robot.
    new = stepper.step(system.robot, state.robot, state.time, dt, inputs, memory=memory)
    moved = state._replace(time=state.time + dt, activation=after, fatigue=fatigue).moved(new.state)

    # A prescribed body is where it is told to be.
    end = control if isinstance(control, Control) else control(state.time + dt)
    if end.base is not None and not system.robot.free_base:
        moved = moved._replace(base_pose=end.base.T, base_twist=end.base.V)

    # Where that has brought what is around.
    place_after = None if place is None else system.place(moved)
    if place_after is not None:
        for i, (part, found) in enumerate(zip(system.surroundings, forces, strict=True)):
            around[i] = part.finish(around[i], found, place_after, environment, dt)
    moved = moved._replace(surroundings=tuple(around))
    return Advanced(moved, place_after, new.converged & finite(new.state), new.iterations, new.memory)


def first_memory(system: System, state: State, stepper: AbstractStepper) -> Any:
    """The memory of a stepper before the first step from a state."""
    inputs = system.inputs(Control(), state, state.activation, 0.0, system.part(Water))
    return stepper.init(system.robot, state.robot, inputs)


class StepInputs(eqx.Module):
    """The inputs of the mechanics during a step, as a function of time."""

    system: System
    control: Any
    """The control, constant or a function of time."""
    before: State
    after: PerArm
    """Activation at the step's end."""
    duration: Float[Array, ""]
    """Length of the step [s]."""
    forces: AbstractForces | None

    def __call__(self, time, state) -> Inputs:
        """The inputs at a time."""
        del state
        elapsed = time - self.before.time
        control = self.control if isinstance(self.control, Control) else self.control(time)
        forces = None if self.forces is None else self.forces.after(elapsed)
        return self.system.inputs(control, self.before, self.after, elapsed / self.duration, forces)
