"""The controller of one limb with tendons: it follows a course, presses with a set force, and points at a target.

On a body that is held, limbs that do not touch each other move each for itself, and each has a pilot of its own.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.control.tendon_servo import Gaze, TendonServo
from hydrostat.lie import small
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


class LimbPilot(Controller):
    """The controller of one limb: its tendons' motors, a force sensor at its tip, and a gaze."""

    servo: TendonServo
    gaze: Gaze
    """Gaze of the tip; without effect for a limb that has no camera."""
    gaze_start: float
    """When the gaze begins to correct [s]."""
    aim_times: Float[Array, " m"]
    aims: Float[Array, "m 3"]
    """The point to look at, over time [m]."""
    press: Press

    def init(self, observation: Observation) -> PilotMemory:
        """No correction yet."""
        zero = jnp.zeros(())
        tension = self.servo.tensions(zero, observation.q, observation.v)
        return PilotMemory(jnp.zeros_like(tension), zero, zero, tension)

    def __call__(self, time, observation: Observation, memory: PilotMemory) -> tuple[Control, PilotMemory]:
        """The tensions of all tendons for the step that begins now."""
        dt, q, v = observation.period, observation.q, observation.v
        force = self.press.measured(q, v)
        elongation = memory.elongation + dt * self.press.elongation_rate(time, force)
        change = self.gaze.change(q, self.aim(time))
        correction = memory.correction + dt * jnp.where(time > self.gaze_start, change, 0.0)
        tension = self.servo.tensions(time, q, v, correction, elongation)
        return Control(tension=tension), PilotMemory(correction, elongation, force, tension)

    def aim(self, time) -> Float[Array, " 3"]:
        """The point to look at [m]."""
        return jax.vmap(lambda y: jnp.interp(time, self.aim_times, y), 1)(self.aims)

    def looking_at(self, times: Float[Array, " m"], points: Float[Array, "m 3"]) -> "LimbPilot":
        """The same pilot with other points to look at over time."""
        return eqx.tree_at(lambda p: (p.aim_times, p.aims), self, (jnp.asarray(times), jnp.asarray(points)))


def tip_force(arm: Arm, law: ContactLaw, wall: AbstractShape, q, v) -> Float[Array, ""]:
    """The force that a sensor at the round tip of a limb measures when it touches a wall [N]."""
    place, velocity = jax.jvp(lambda q: kinematics.tip_pose(arm, q).position, (q,), (v,))
    surface = wall.distance_and_normal(place)
    depth = arm.section.radius_tip[-1] - surface.distance
    return law.pressed(depth, small.dot(surface.normal, velocity))[0]


@quick_jit
def aim_points(arm: Arm, q: Float[Array, "m n k"], target) -> Float[Array, "m 3"]:
    """Points on the axis of an arm's tip over rows, as far away as a target is: where a camera there points at [m]."""
    target = jnp.asarray(target, float)

    def at(q):
        tip = kinematics.tip_pose(arm, q)
        return tip.position + small.norm(target - tip.position) * tip.rotation[:, 2]

    return jax.lax.map(at, jnp.asarray(q))
