"""Computed torque for a chain of platforms: the leg forces that make the arm follow a planned motion.

The inverse dynamics of the arm as the controller knows it gives the forces for the planned acceleration, corrected by
the errors of pose and rate and by the error's integral. What the controller does not know, such as a payload, is left
to the integral.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation.legs import Legs, generalised_forces, leg_forces
from hydrostat.mechanics import Inputs, Model, no_inputs
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.segments import StewartSegment
from hydrostat.stepping import AbstractController, State


class Plan(NamedTuple):
    """A motion by its coordinates, one row per step and one more for its end."""

    q: Float[Array, "rows n 6"]
    v: Float[Array, "rows n 6"]
    a: Float[Array, "rows n 6"]


def plan_of(q: Float[Array, "rows n 6"], dt: float) -> Plan:
    """The rates and accelerations of coordinates that are given step by step, by central differences."""
    v = np.gradient(np.asarray(q), dt, axis=0)
    a = np.gradient(v, dt, axis=0)
    return Plan(*map(jnp.asarray, (q, v, a)))


class Memory(NamedTuple):
    """What the controller remembers, and what it did last."""

    integral: Float[Array, "n 6"]
    """Of the errors of the coordinates [rad s, m s]."""
    forces: Float[Array, "n 6"]
    """Of the legs [N]."""


class ComputedTorque(AbstractController):
    """A controller that knows an arm's inverse dynamics."""

    model: Model
    """The arm as the controller knows it."""
    legs: Legs
    plan: Plan
    bandwidth: Float[Array, ""]
    """How fast errors fade [rad/s]."""
    integral_share: Float[Array, ""]
    """The integral's gain over the cube of the bandwidth; 0 for none."""

    def begin(self, state: State) -> Memory:
        """No error yet."""
        return Memory(jnp.zeros_like(state.q), jnp.zeros_like(state.q))

    def act(self, time, dt, state: State, memory: Memory) -> tuple[Inputs, Memory]:
        """The forces of the legs for the step that begins now, held during it."""
        row = jnp.clip(jnp.round(time / dt).astype(int), 0, len(self.plan.q) - 1)
        q, v, a = self.plan.q[row], self.plan.v[row], self.plan.a[row]
        error, slip = q - state.q, v - state.v
        w = self.bandwidth
        wanted = a + 2.0 * w * slip + w**2 * error + self.integral_share * w**3 * memory.integral
        forces = leg_forces(_segments(self.model), state.q, self.needed(state, wanted))
        held = jnp.clip(forces, -self.legs.force[:, None], self.legs.force[:, None])
        # Legs at the end of their strength do not wind up the integral.
        strong = jnp.all(held == forces, -1, keepdims=True)
        integral = jnp.where(strong, memory.integral + dt * error, memory.integral)
        torque = generalised_forces(_segments(self.model), state.q, held)
        return no_inputs(self.model)._replace(torque=torque), Memory(integral, held)

    def needed(self, state: State, acceleration: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
        """The generalised forces for accelerations of the coordinates: inverse dynamics."""
        zero = jnp.zeros(6)
        x, v, a = (Coordinates(part, zero) for part in (state.q, state.v, acceleration))
        return residual(self.model, x, v, a, no_inputs(self.model)).q


def inverse_dynamics(model: Model, plan: Plan, row) -> Float[Array, "n 6"]:
    """The forces of the legs along a planned motion, at one of its rows [N]."""
    zero = jnp.zeros(6)
    x, v, a = (Coordinates(part[row], zero) for part in plan)
    return leg_forces(_segments(model), plan.q[row], residual(model, x, v, a, no_inputs(model)).q)


def _segments(model: Model) -> StewartSegment:
    segments = model.arm.segments
    assert isinstance(segments, StewartSegment), "computed torque by legs needs a chain of platforms"
    return segments
