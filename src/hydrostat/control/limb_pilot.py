"""The controller of limbs with tendons on one body: they follow courses, press with a set force, and point at targets.

Each limb has a pilot of its own, which knows of the others only the point at which another limb's tip points.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.control.base import Controller
from hydrostat.control.tendon_servo import Gaze, TendonServo
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.sensing import Observation
from hydrostat.surroundings import AbstractShape, ContactLaw
from hydrostat.system import Control


class PilotMemory(NamedTuple):
    """What a limb's controller remembers, and what it set last."""

    correction: Float[Array, " w"]
    """Tensions added by the gaze [N]."""
    elongation: Float[Array, ""]
    """Length by which the tendons have been let out [m]."""
    force: Float[Array, ""]
    """Force of the wall on the tip [N]."""
    tension: Float[Array, " w"]
    """[N]"""


class Press(eqx.Module):
    """Pressing against a wall with a set force: tendons are let out until a force sensor at the tip measures it."""

    arm: Arm
    """Whose tip has the force sensor."""
    wall: AbstractShape
    law: ContactLaw
    """Law of the contact with the wall."""
    force: Float[Array, ""]
    """Force to press with [N]."""
    rate: Float[Array, ""]
    """Rate of the tendons' length per error of the force [m/(N s)]; 0 for a limb that does not press."""
    speed: float
    """Largest rate of the tendons' length [m/s]."""
    start: float
    """When it begins [s]."""

    def measured(self, q, v) -> Float[Array, ""]:
        """The force of the wall on the tip."""
        return tip_force(self.arm, self.law, self.wall, q, v)

    def elongation_rate(self, time, force) -> Float[Array, ""]:
        """How fast the tendons are let out at a measured force."""
        pace = jnp.clip(self.rate * (self.force - force), -self.speed, self.speed)
        return jnp.where(time > self.start, pace, 0.0)


class LimbPilot(eqx.Module):
    """The control of one limb of several: its tendons' motors, a force sensor at its tip, and a gaze."""

    servo: TendonServo
    gaze: Gaze
    """Gaze of the tip; without effect for a limb that has no camera."""
    gaze_start: float
    """When the gaze begins to correct [s]."""
    press: Press

    def begin(self, q, v) -> PilotMemory:
        """No correction yet."""
        zero = jnp.zeros(())
        tension = self.servo.tensions(zero, q, v)
        return PilotMemory(jnp.zeros_like(tension), zero, zero, tension)

    def advance(self, time, dt, q, v, aim: Float[Array, " 3"], memory: PilotMemory) -> PilotMemory:
        """The tensions of the step that begins now, and what is remembered for the next one.

        **Arguments:** `dt`: how long it lasts [s]; `aim`: the point for the tip to point at [m].
        """
        force = self.press.measured(q, v)
        elongation = memory.elongation + dt * self.press.elongation_rate(time, force)
        change = self.gaze.change(q, aim)
        correction = memory.correction + dt * jnp.where(time > self.gaze_start, change, 0.0)
        return PilotMemory(correction, elongation, force, self.servo.tensions(time, q, v, correction, elongation))


class LimbPilots(Controller):
    """The controller of several unequal limbs on one body, a pilot for each."""

    limbs: tuple[LimbPilot, ...]
    targets: Float[Array, "a 3"]
    """The point that each limb points at [m]."""
    follows: tuple[int | None, ...] = eqx.field(static=True)
    """For each limb, the number of the one whose aimed point it points at as well; None where it has a target."""

    def init(self, observation: Observation) -> tuple[PilotMemory, ...]:
        """The memories of all pilots."""
        each = zip(self.limbs, observation.q, observation.v, strict=True)
        return tuple(limb.begin(q, v) for limb, q, v in each)

    def __call__(self, time, observation: Observation, memory) -> tuple[Control, tuple[PilotMemory, ...]]:
        """The tensions of all tendons for the step that begins now."""
        after = []
        for i, (limb, own) in enumerate(zip(self.limbs, memory, strict=True)):
            leader = self.follows[i]
            aim = self.targets[i] if leader is None else pointed_at(observation.tip[leader], self.targets[leader])
            after.append(limb.advance(time, observation.period, observation.q[i], observation.v[i], aim, own))
        return Control(tension=tuple(own.tension for own in after)), tuple(after)


def pointed_at(T_world_tip: SE3, target) -> Float[Array, " 3"]:
    """The point on the axis of a tip that is as far away as a target: where a camera there points at [m]."""
    distance = small.norm(jnp.asarray(target, float) - T_world_tip.position)
    return T_world_tip.position + distance * T_world_tip.rotation[:, 2]


def tip_force(arm: Arm, law: ContactLaw, wall: AbstractShape, q, v) -> Float[Array, ""]:
    """The force that a sensor at the round tip of a limb measures when it touches a wall [N]."""
    place, velocity = jax.jvp(lambda q: kinematics.tip_pose(arm, q).position, (q,), (v,))
    surface = wall.distance_and_normal(place)
    depth = arm.section.radius_tip[-1] - surface.distance
    return law.pressed(depth, small.dot(surface.normal, velocity))[0]
