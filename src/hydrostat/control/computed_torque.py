"""Computed torque for a chain of platforms: the leg forces that make the arm follow a planned motion.

The inverse dynamics of the arm as the controller knows it gives the forces for the planned acceleration, corrected by
the errors of pose and rate and by the error's integral. A payload that the controller does not know is learnt from what
the legs' forces did.
"""

from typing import NamedTuple

import equinox as eqx
import jax
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
    payload: Float[Array, ""]
    """What the tip seems to carry [kg]."""
    q: Float[Array, "n 6"]
    """The coordinates a step ago."""
    v: Float[Array, "n 6"]
    """Their rates a step ago."""
    forces: Float[Array, "n 6"]
    """Of the legs during the last step [N]."""


class ComputedTorque(AbstractController):
    """A controller that knows an arm's inverse dynamics, and finds out what its tip carries.

    What the legs did in the last step, less what the arm by itself needed for the acceleration that followed, is what
    a mass at the tip needed: one equation per coordinate and step for one unknown, followed by normalised least mean
    squares. What is left of errors goes to an integral.
    """

    model: Model
    """The arm as the controller knows it, its last lumped mass at the tip: the payload."""
    legs: Legs
    plan: Plan
    bandwidth: Float[Array, ""]
    """How fast errors fade [rad/s]."""
    integral_share: Float[Array, ""]
    """The integral's gain over the cube of the bandwidth; 0 for none."""
    learning_time: Float[Array, ""]
    """How fast the payload is learnt [s]; 0 for a controller that does not."""

    def begin(self, state: State) -> Memory:
        """No error yet, and nothing carried."""
        zero = jnp.zeros_like(state.q)
        hold = leg_forces(_segments(self.model), state.q, self.needed(0.0, state.q, state.v, zero))
        return Memory(zero, jnp.zeros(()), state.q, state.v, hold)

    def act(self, time, dt, state: State, memory: Memory) -> tuple[Inputs, Memory]:
        """The forces of the legs for the step that begins now, held during it."""
        segments = _segments(self.model)
        payload = self._learnt(time, dt, state, memory)
        row = jnp.clip(jnp.round(time / dt).astype(int), 0, len(self.plan.q) - 1)
        q, v, a = self.plan.q[row], self.plan.v[row], self.plan.a[row]
        error, slip = q - state.q, v - state.v
        w = self.bandwidth
        wanted = a + 2.0 * w * slip + w**2 * error + self.integral_share * w**3 * memory.integral
        forces = leg_forces(segments, state.q, self.needed(payload, state.q, state.v, wanted))
        held = jnp.clip(forces, -self.legs.force[:, None], self.legs.force[:, None])
        # Legs at the end of their strength do not wind up the integral.
        strong = jnp.all(held == forces, -1, keepdims=True)
        integral = jnp.where(strong, memory.integral + dt * error, memory.integral)
        torque = generalised_forces(segments, state.q, held)
        return no_inputs(self.model)._replace(torque=torque), Memory(integral, payload, state.q, state.v, held)

    def needed(self, payload, q, v, acceleration: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
        """The generalised forces for accelerations of the coordinates with a payload: inverse dynamics."""
        zero = jnp.zeros(6)
        x, v, a = (Coordinates(part, zero) for part in (q, v, acceleration))
        model = with_payload(self.model, payload)
        return residual(model, x, v, a, no_inputs(model)).q

    def _learnt(self, time, dt, state: State, memory: Memory) -> Float[Array, ""]:
        """The payload, from what the last step's forces did."""
        segments = _segments(self.model)
        felt = (state.v - memory.v) / dt
        alone, per_kilogram = jax.jvp(
            lambda payload: self.needed(payload, memory.q, memory.v, felt), (jnp.zeros(()),), (jnp.ones(()),)
        )
        acted = generalised_forces(segments, memory.q, memory.forces)
        # In leg forces, so that turns and displacements count alike.
        unexplained = leg_forces(segments, memory.q, acted - alone - memory.payload * per_kilogram)
        direction = leg_forces(segments, memory.q, per_kilogram)
        step = jnp.sum(direction * unexplained) / (1e-9 + jnp.sum(direction * direction))
        pace = jnp.where((self.learning_time > 0.0) & (time > 0.5 * dt), dt / (self.learning_time + dt), 0.0)
        return jnp.maximum(memory.payload + pace * step, 0.0)


def with_payload(model: Model, payload) -> Model:
    """The model with another mass at the tip, its last lumped mass [kg]."""
    inertia = model.lump_inertia
    tip = jnp.concatenate([jnp.zeros(3), jnp.ones(3) * payload])
    return eqx.tree_at(lambda m: m.lump_inertia, model, jnp.concatenate([inertia[:-1], tip[None]]))


def inverse_dynamics(model: Model, plan: Plan, row) -> Float[Array, "n 6"]:
    """The forces of the legs along a planned motion, at one of its rows [N]."""
    zero = jnp.zeros(6)
    x, v, a = (Coordinates(part[row], zero) for part in plan)
    return leg_forces(_segments(model), plan.q[row], residual(model, x, v, a, no_inputs(model)).q)


def _segments(model: Model) -> StewartSegment:
    segments = model.arm.segments
    assert isinstance(segments, StewartSegment), "computed torque by legs needs a chain of platforms"
    return segments
