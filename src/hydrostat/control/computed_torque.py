"""Computed torque for a chain of platforms: the leg forces that make the arm follow a planned motion.

The inverse dynamics of the arm as the controller knows it gives the forces for the planned acceleration, corrected by
the errors of pose and rate and by the error's integral. A payload that the controller does not know is learnt from what
the legs' forces did. Where the plan takes more than the legs have, it is followed more slowly, and not beyond where
they could hold the arm (`time_scaling`).
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.actuation.legs import generalised_forces, leg_forces
from hydrostat.control.base import Controller
from hydrostat.control.leg_demand import Plan, PlanDemand, plan_demand, platforms, with_payload, with_payload_place
from hydrostat.control.time_scaling import pace_after, part_within
from hydrostat.errors import InputError
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.segments import StewartSegment
from hydrostat.sensing import Observation
from hydrostat.system import Control, System


class TorqueMemory(NamedTuple):
    """The memory of the controller, and its last control."""

    integral: Float[Array, "n 6"]
    """Integral of the errors of the coordinates [rad s, m s]."""
    payload: Float[Array, ""]
    """Estimated payload at the tip [kg]."""
    q: Float[Array, "n 6"]
    """The coordinates one step ago."""
    v: Float[Array, "n 6"]
    """The rates one step ago."""
    forces: Float[Array, "n 6"]
    """Forces of the legs during the last step [N]."""
    phase: Float[Array, ""]
    """The time of the plan that is reached [s]."""
    pace: Float[Array, ""]
    """Time of the plan per time: 1 as planned, 0 at rest."""


class ComputedTorque(Controller):
    """A controller with a model of the arm's inverse dynamics, which estimates the payload at the tip.

    What the legs did in the last step, less what the arm by itself needed for the acceleration that followed, is what
    a mass at the tip needed: one equation per coordinate and step for one unknown, followed by normalised least mean
    squares. What is left of errors goes to an integral.

    The pace of the plan is the largest up to 1 with which no leg needs more than a share of its strength, now and a
    while ahead, what brakes it in time included; where there is none, the arm stops before. What corrects errors is
    made less, platform by platform, where it takes legs beyond their strength, and what is wrong meanwhile is not
    summed up: cut leg by leg, it would push plates to where they should not go.
    """

    plan: Plan
    robot: Robot | None
    """The arm as the controller knows it, its last lumped mass at the tip: the payload."""
    bandwidth: Float[Array, ""]
    """Bandwidth: the rate at which errors decay [rad/s]."""
    integral_share: Float[Array, ""]
    """The integral's gain over the cube of the bandwidth; 0 for none."""
    learning_time: Float[Array, ""]
    """Time constant with which the payload is learnt [s]; 0 for a controller that does not learn it."""
    waits: bool = eqx.field(static=True)
    """Whether the plan waits for the legs' strength."""
    demand: PlanDemand | None
    """What the plan takes of the legs, known once the controller is attached; None where it does not wait."""

    def __init__(
        self,
        plan: Plan,
        robot: Robot | None = None,
        *,
        bandwidth: float = 60.0,
        integral_share: float = 0.1,
        learning_time: float = 0.02,
        waits: bool = True,
    ):
        """**Arguments:** `plan`: the motion to follow, step by step (`plan_of`); `robot`: the arm as the controller
        knows it, its last lumped mass at the tip; the system's own, with no payload, when not given; the others as the
        fields.
        """
        self.plan, self.robot = plan, robot
        self.bandwidth = jnp.asarray(errors.number("bandwidth", bandwidth, above=0.0), float)
        self.integral_share = jnp.asarray(errors.number("integral_share", integral_share, least=0.0), float)
        self.learning_time = jnp.asarray(errors.number("learning_time", learning_time, least=0.0), float)
        self.waits, self.demand = waits, None

    def attach(self, system: System, dt: float) -> "ComputedTorque":
        """The same controller with the system's robot as its model, where it has none yet, and with what its plan
        takes of the legs.
        """
        robot = with_payload_place(system.robot) if self.robot is None else self.robot
        demand = plan_demand(robot, self.plan, dt) if self.waits else None
        return eqx.tree_at(lambda c: (c.robot, c.demand), self, (robot, demand), is_leaf=lambda x: x is None)

    def init(self, observation: Observation) -> TorqueMemory:
        """The memory at the start: no error, and no payload."""
        zero = jnp.zeros_like(observation.q)
        needed = self.needed(0.0, observation.q, observation.v, zero)
        hold = leg_forces(self._segments, observation.q, needed)
        return TorqueMemory(zero, jnp.zeros(()), observation.q, observation.v, hold, jnp.zeros(()), jnp.ones(()))

    def __call__(self, time, observation: Observation, memory: TorqueMemory):
        """The forces of the legs for the step that begins now, held during it."""
        dt = observation.period
        payload = self._learnt(time, observation, memory)
        strength = self._robot.legs.force
        pace = memory.pace
        if self.demand is not None:
            pace = pace_after(self.demand, payload, strength, memory.phase, memory.pace, dt)
        q, v, a = self._planned(memory.phase, memory.pace, (pace - memory.pace) / dt, dt)
        error, slip = q - observation.q, v - observation.v
        w = self.bandwidth
        acceleration = a + 2.0 * w * slip + w**2 * error + self.integral_share * w**3 * memory.integral
        forces, planned = (
            leg_forces(self._segments, observation.q, self.needed(payload, observation.q, observation.v, one))
            for one in (acceleration, a)
        )
        strongest, correction = strength[:, None], forces - planned
        share = part_within(planned, correction, strongest)
        held = jnp.clip(planned + jnp.min(share, -1, keepdims=True) * correction, -strongest, strongest)
        # Legs at the end of their strength do not wind up the integral.
        strong = jnp.all(share == 1.0, -1, keepdims=True)
        integral = jnp.where(strong, memory.integral + dt * error, memory.integral)
        phase = memory.phase + 0.5 * (memory.pace + pace) * dt
        return Control(leg_force=held), TorqueMemory(integral, payload, observation.q, observation.v, held, phase, pace)

    def _planned(self, phase, pace, change, dt) -> tuple[Float[Array, "n 6"], ...]:
        """The coordinates, rates and accelerations of the plan at a time of its own, passed at a pace that changes."""
        place = jnp.clip(phase / dt, 0.0, len(self.plan.q) - 1.0)
        row = jnp.minimum(place.astype(int), len(self.plan.q) - 2)
        q, v, a = (part[row] + (place - row) * (part[row + 1] - part[row]) for part in self.plan)
        return q, pace * v, pace**2 * a + change * v

    def needed(self, payload, q, v, acceleration: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
        """The generalised forces for accelerations of the coordinates with a payload: inverse dynamics."""
        zero = jnp.zeros(6)
        x, v, a = (Coordinates(part, zero) for part in (q, v, acceleration))
        robot = with_payload(self._robot, payload)
        return residual(robot, x, v, a, no_inputs(robot)).q

    def _learnt(self, time, observation: Observation, memory: TorqueMemory) -> Float[Array, ""]:
        """The new estimate of the payload, from the accelerations that the last step's forces caused."""
        dt = observation.period
        acceleration = (observation.v - memory.v) / dt
        alone, per_kilogram = jax.jvp(
            lambda payload: self.needed(payload, memory.q, memory.v, acceleration), (jnp.zeros(()),), (jnp.ones(()),)
        )
        acted = generalised_forces(self._segments, memory.q, memory.forces)
        # In leg forces, so that turns and displacements count alike.
        unexplained = leg_forces(self._segments, memory.q, acted - alone - memory.payload * per_kilogram)
        direction = leg_forces(self._segments, memory.q, per_kilogram)
        step = jnp.sum(direction * unexplained) / (1e-9 + jnp.sum(direction * direction))
        pace = jnp.where((self.learning_time > 0.0) & (time > 0.5 * dt), dt / (self.learning_time + dt), 0.0)
        return jnp.maximum(memory.payload + pace * step, 0.0)

    @property
    def _robot(self) -> Robot:
        """The controller's model of the robot."""
        if self.robot is None or (self.waits and self.demand is None):
            raise InputError("`ComputedTorque` does not know its robot yet; call what its `attach(system, dt)` gives")
        return self.robot

    @property
    def _segments(self) -> StewartSegment:
        return platforms(self._robot)
