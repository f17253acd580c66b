"""A servo of tendons that follows planned tensions and lengths, with corrections from a limb's sensors.

A motor that knows the length l of its tendon, and how fast it changes, pulls with

    T = T_plan + k (l - l_plan) + c (l' - l'_plan) + u,    T >= 0.

The plan is where the limb rests: `control.tendon_plans` says under which tensions that is. The spring k and the damper
c act where they measure, so that they only take energy from a limb that swings, whatever is not known of it. u is slow,
and comes from sensors at the tip. Of the rates, what the tendons round a segment have in common is stretch, the
rest is bend; a limb that bends is slow and wants much damping, its thin end is light along the axis and bears little.
"""

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.control.base import Controller
from hydrostat.control.profiles import minimum_jerk
from hydrostat.control.tendon_plans import off_axis, rest_under
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.mechanics.wires import wire_lengths
from hydrostat.sensing import Observation
from hydrostat.system import Control


class TendonCourse(eqx.Module):
    """The tensions and lengths of a limb's tendons over time, from rest to rest."""

    times: Float[Array, " m"]
    """Times [s]."""
    tension: Float[Array, "m w"]
    """Tensions [N]."""
    lengths: Float[Array, "m w"]
    """Lengths [m]."""

    def at(self, time) -> tuple[Float[Array, " w"], Float[Array, " w"]]:
        """The tensions and lengths at a time, interpolated linearly between knots."""
        row = jnp.clip(jnp.searchsorted(self.times, time) - 1, 0, len(self.times) - 2)
        start, end = self.times[row], self.times[row + 1]
        share = jnp.clip((time - start) / (end - start), 0.0, 1.0)
        return tuple((1.0 - share) * y[row] + share * y[row + 1] for y in (self.tension, self.lengths))  # type: ignore[return-value]


def make_course(robot: Robot, waypoints, knots: int = 9) -> TendonCourse:
    """The course through tensions at times: a smooth change from each to the next, and the lengths of statics.

    **Arguments:** `waypoints`: (time [s], tensions [N]) each; `knots`: at which the equilibrium is found, between two.
    """
    times, tensions = [waypoints[0][0]], [np.asarray(waypoints[0][1], float)]
    for (start, first), (end, second) in pairwise(waypoints):
        for s in np.arange(1, knots + 1) / knots:
            times.append(start + s * (end - start))
            tensions.append(np.asarray(first) + minimum_jerk(s) * (np.asarray(second) - np.asarray(first)))
    plan = rest_under(robot, tensions[0])
    lengths = [plan.lengths]
    for tension in tensions[1:]:
        plan = plan if np.array_equal(tension, plan.tension) else rest_under(robot, tension, plan.q)
        lengths.append(plan.lengths)
    return TendonCourse(jnp.array(times), jnp.array(tensions), jnp.array(lengths))


class TendonServo(Controller):
    """The motors of one limb's tendons, which follow a course."""

    robot: Robot
    """The motors' model of the limb: its geometry."""
    course: TendonCourse
    stiffness: Float[Array, ""]
    """Stiffness k of the servo [N/m]."""
    bend_damping: Float[Array, ""]
    """Damping c of tendons against each other [N s/m]."""
    stretch_damping: Float[Array, ""]
    """Damping c of tendons in common [N s/m]; as it acts step by step, the mass of the tip over the step limits it."""
    most: Float[Array, ""]
    """Largest tension [N]."""

    def __call__(self, time, observation: Observation, memory):
        """The tensions of all tendons for the step that begins now."""
        return Control(tension=self.tensions(time, observation.q, observation.v)), memory

    def tensions(self, time, q, v, asked: Any = 0.0, longer: Any = 0.0) -> Float[Array, " w"]:
        """The tensions of the tendons.

        **Arguments:** `asked`: u [N]; `longer`: desired lengths less the planned ones [m].
        """
        time = jnp.asarray(time, float)
        (planned, lengths), (_, lengths_rate) = jax.jvp(self.course.at, (time,), (jnp.ones_like(time),))
        length, rate = jax.jvp(lambda q: wire_lengths(self.robot.one, q), (q,), (v,))
        together = _together(self.robot) @ (rate - lengths_rate)
        apart = rate - lengths_rate - together
        damped = self.bend_damping * apart + self.stretch_damping * together
        return jnp.clip(planned + self.stiffness * (length - lengths - longer) + damped + asked, 0.0, self.most)


def _together(robot: Robot) -> np.ndarray:
    """The matrix that takes the mean over the tendons that end at the same segment."""
    ends = np.array(robot.tendons.ends_at)
    same = (ends[:, None] == ends[None]).astype(float)
    return same / same.sum(1, keepdims=True)


class Gaze(eqx.Module):
    """A tip that keeps a point in the middle of its view: tendons follow the integral of the point's offset."""

    robot: Robot
    pull: Float[Array, "w 2"]
    """Tensions that move the view by a unit, from the statics of the plan [N]."""
    rate: Float[Array, ""]
    """Rate at which errors decay [1/s]."""

    def change(self, q, point: Float[Array, " 3"]) -> Float[Array, " w"]:
        """The rate of the correcting tensions [N/s]."""
        return -self.rate * self.pull @ off_axis(kinematics.tip_pose(self.robot.arm, q), point)[:2]


def make_gaze(robot: Robot, q, sensitivity, point, stiffness: float, rate: float) -> Gaze:
    """The gaze at a point from a planned pose; the motors' own spring k makes it less mobile, which is allowed for."""
    q, S = jnp.asarray(q), jnp.asarray(sensitivity)
    seen = jax.jacfwd(lambda q: off_axis(kinematics.tip_pose(robot.arm, q), jnp.asarray(point))[:2])(q)
    J = jax.jacrev(lambda q: wire_lengths(robot.one, q))(q)
    moved = jnp.einsum("rnk,nkw->rw", seen, S)
    # T = u + k dl and dl = J S T: u to T.
    through = jnp.linalg.inv(jnp.eye(S.shape[-1]) - stiffness * jnp.einsum("wnk,nkv->wv", J, S))
    return Gaze(robot, jnp.linalg.pinv(moved @ through), jnp.asarray(rate, float))


def pointing_error(T_world_tip: SE3, point: Float[Array, " 3"]) -> Float[Array, ""]:
    """The angle between a tip's direction and that of a point [rad]."""
    off = off_axis(T_world_tip, point)
    return 2.0 * jnp.arcsin(jnp.clip(0.5 * jnp.sqrt(jnp.sum(off * off)), 0.0, 1.0))
