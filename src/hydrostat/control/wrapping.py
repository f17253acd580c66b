"""Tensions that lead a limb beside a round bar and wrap its end around it, from statics of the limb without contact.

The tendons of the limb's first part bring a place along it beside the bar, with the limb's axis across that of the bar
there. Then the tendons to the tip bend the end: a curvature 1 / (R + r) takes the tension E I / (d (R + r)) at an
offset d, which falls with the fourth power of the radius r towards the tip. The tension chosen bends the limb so
sharply from the place on that leaves an arc of the wanted angle up to the tip; what is thinner presses on the bar.
Meanwhile the tendons of the first part hold its end, which the pull to the tip would bend as well.
"""

from itertools import product
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.control.tendon_plans import TendonPlan, TipTask, plan_tension
from hydrostat.errors import UnsolvedError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.surroundings import Capsule

_AROUND = np.deg2rad([10.0, 35.0, 60.0])
"""Where on the bar the limb may touch it, from the side that its base points to, outwards [rad]."""
_STANDOFF, _PRESSED = 0.025, 0.002  # m: of the limb's skin before it wraps, and into the bar while it does
_ASKEW = 0.05  # m: what a radian between the limb's axis and that across the bar counts as miss
_PULLED = 1e-3  # m: what a newton of all tendons counts as miss, when plans are compared
_EFFORT = 3e-3  # of the limb's length: what a newton counts as miss within a plan
_EARLIER = 2  # segments before the one from which the arc begins, whose end may be what touches first
_FAR = 1e3  # lengths, to a point that stands for a direction
_ROUNDS = 20  # for the place from which the arc begins, which depends on the radius there


class WrapPlan(NamedTuple):
    """Two rests of a limb: beside the bar, and pulled around it, as far as it could where the bar is not there."""

    beside: TendonPlan
    around: TendonPlan
    segment: int
    """Number of the segment, from 1, whose end touches the bar first."""
    tension: float
    """Tension that wraps [N]."""

    @property
    def miss(self) -> float:
        """Distance by which the place beside the bar, or at it, is missed: above some millimetres it is out of reach
        [m]."""
        return max(self.beside.miss, self.around.miss)


def plan_wrap(robot: Robot, bar: Capsule, angle: float, *, least: float = 0.0) -> WrapPlan:
    """The plan that wraps a limb's end around a bar by an angle [rad].

    Of the places on the bar where the limb may touch it, the one that statics reach best.

    **Arguments:** `least`: tension that every tendon keeps [N].
    """
    base, radii = robot.arm.T_world_base, _radii(robot)
    start, ahead = np.asarray(base.position), np.asarray(base.rotation)[:, 2]
    marks = np.concatenate([[0.0], np.cumsum(np.asarray(robot.arm.segments.length))])
    begin = _arc_start(marks[-1], radii, float(bar.radius), angle)
    first = int(np.searchsorted(marks, begin, side="right")) - 1
    adjusts, best, normal, segment, fewest = ~_to_tip(robot), None, ahead, first, np.inf
    for turn, candidate in product(_AROUND, range(first - _EARLIER, first + 1)):
        place, out, along = _touch(start, ahead, bar, turn)
        away = float(bar.radius) + radii(marks[candidate]) + _STANDOFF
        task = TipTask(place + away * out, place + _FAR * along, look_counts=_ASKEW / marks[-1], segment=candidate)
        options = {"least": least, "adjusts": adjusts, "effort": _EFFORT}
        try:
            found = plan_tension(robot, task, _first(robot, least), **options)
        except UnsolvedError:
            continue
        missed = found.miss + _ASKEW * found.turn + _PULLED * found.tension.sum()
        if missed < fewest:
            best, normal, segment, fewest = found, out, candidate, missed
    if best is None:
        raise UnsolvedError("no tensions were found that bring the limb beside the bar")
    tension = bending_tension(robot, begin, float(bar.radius) + radii(begin))
    held = min(robot.tendons.ends_at) + 1
    ends = kinematics.segment_poses(robot.arm, jnp.asarray(best.q))
    pulls = np.maximum(tension * _towards(robot, np.asarray(ends.rotation)[segment], -normal), least)
    task = TipTask(np.asarray(ends.position)[held] - (_STANDOFF + _PRESSED) * normal, segment=held)
    around = plan_tension(robot, task, best.tension, least=pulls, adjusts=adjusts)
    return WrapPlan(best, around, segment, tension)


def bending_tension(robot: Robot, place: float, radius: float) -> float:
    """The tension that bends a limb's axis to a radius [m] at a place along it [m]: E I / (d radius) [N]."""
    youngs = float(robot.arm.material.youngs_modulus[0])
    offset = float(jnp.max(robot.tendons.offsets))
    return youngs * np.pi / 4.0 * _radii(robot)(place) ** 4 / (offset * radius)


def _radii(robot: Robot):
    """The radius of a limb as a function of the place along it [m]."""
    section, lengths = robot.arm.section, np.asarray(robot.arm.segments.length)
    marks = np.concatenate([[0.0], np.cumsum(lengths)])
    values = np.concatenate([np.asarray(section.radius_base)[:1], np.asarray(section.radius_tip)])
    return lambda place: float(np.interp(place, marks, values))


def _arc_start(length: float, radii, radius: float, angle: float) -> float:
    """The place along a limb from which an arc around a bar takes the rest of it [m]."""
    begin = 0.8 * length
    for _ in range(_ROUNDS):
        begin = length - angle * (radius + radii(0.5 * (begin + length)))
    return begin


def _touch(start: np.ndarray, ahead: np.ndarray, bar: Capsule, turn: float):
    """The point of the bar's axis, the normal and the limb's direction where it touches the bar.

    **Arguments:** `start`, `ahead`: place and direction of the limb's base; `turn`: from the side of the bar that the
    base points to, outwards [rad].
    """
    a, axis = np.asarray(bar.a), np.asarray(bar.b) - np.asarray(bar.a)
    place = a + np.clip((start - a) @ axis / (axis @ axis), 0.0, 1.0) * axis
    across = np.eye(3) - np.outer(axis, axis) / (axis @ axis)
    out = across @ (place - start)
    out = out / np.linalg.norm(out)
    side = across @ ahead - (across @ ahead @ out) * out
    side = side / np.linalg.norm(side)
    return place, np.cos(turn) * side + np.sin(turn) * out, np.cos(turn) * out - np.sin(turn) * side


def _first(robot: Robot, least: float) -> np.ndarray:
    """Tensions to start from: gently downwards, where limbs hang to by themselves."""
    down = _cosines(robot, np.asarray(robot.arm.T_world_base.rotation).T @ np.array([0.0, 0.0, -1.0]))
    return np.maximum(np.where(_to_tip(robot), 0.0, 2.0 * down), least)


def _to_tip(robot: Robot) -> np.ndarray:
    """Which tendons end at the tip."""
    ends = np.array(robot.tendons.ends_at)
    return ends == ends.max()


def _towards(robot: Robot, rotation: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Share of each tendon to the tip in a pull towards a direction of the world, where a section has a rotation."""
    return np.where(_to_tip(robot), np.maximum(_cosines(robot, rotation.T @ direction), 0.0), 0.0)


def _cosines(robot: Robot, direction: np.ndarray) -> np.ndarray:
    """The cosine of each tendon's azimuth to a direction in the section's axes; 0 where that is along the limb."""
    azimuth, across = np.asarray(robot.tendons.azimuth), np.hypot(*direction[:2])
    toward = np.cos(azimuth) * direction[0] + np.sin(azimuth) * direction[1]
    return np.zeros_like(azimuth) if across < 1e-9 else toward / across
