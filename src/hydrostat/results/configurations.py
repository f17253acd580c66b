"""Trajectories of arms that were not stepped but placed: a sequence of configurations, and the tendons along them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from hydrostat.control import configuration
from hydrostat.mechanics import Robot
from hydrostat.results.scene import per_arm
from hydrostat.results.trajectory import Trajectory
from hydrostat.system import Control, System
from hydrostat.viewer import Line

if TYPE_CHECKING:
    from hydrostat.mechanics import ArmModel

_COLORS = ((40, 102, 110), (224, 160, 48), (91, 95, 151), (51, 50, 46))
_FINE = 12  # points of a tendon in each segment
_OUTSIDE = 1.03  # of the arm's radius, where tendons are drawn so that they can be seen


def along_configurations(system: System, times: Sequence[float] | np.ndarray, q: Any) -> Trajectory:
    """The trajectory whose rows are configurations at rest: for kinematics, which has shapes but no motion.

    **Arguments:** `times`: of the rows [s]; `q`: coordinates of a single arm (rows, n, k), or a list of those of each.
    """
    times, rest = np.asarray(times, float), system.rest()
    if isinstance(q, list | tuple):
        q = np.stack([np.asarray(one) for one in q], 1) if system.robot.equal else tuple(q)
    many = jax.tree.map(lambda y: np.broadcast_to(np.asarray(y), (len(times), *np.shape(y))), rest)
    state = many._replace(q=jax.tree.map(np.asarray, q), time=times)
    return Trajectory.of_states(system, state, Control())


def along_bends(robot: Robot, times: Sequence[float] | np.ndarray, bends: np.ndarray) -> Trajectory:
    """The trajectory of an arm of arcs that takes the shapes of bend vectors (rows, n, 2) [rad] at times."""
    q = jax.vmap(lambda bend: configuration(robot.arm, bend))(np.asarray(bends))
    return along_configurations(System(robot), times, q)


def tendon_lines(trajectory: Trajectory) -> list[Line]:
    """The tendons of all arms as lines on the skin, for replays: a colour for each segment that they end at."""
    robot = trajectory.system.robot
    shapes = per_arm(robot, trajectory.centreline(_FINE))
    lines = []
    for i, (arm, shape) in enumerate(zip(robot.each, shapes, strict=True)):
        name = "" if robot.single else f"arm {i + 1}, "
        course: Any = None if arm.wires is None else arm.wires.course
        count = 0 if course is None else len(course.ends_at)
        lines += [_line(f"{name}tendon {k + 1}", arm, k, shape) for k in range(count)]
    return lines


def replay_with_tendons(trajectory: Trajectory, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write the replay of a trajectory in which tendons are seen on the skin of the arms."""
    return trajectory.replay(path, title, lines=tendon_lines(trajectory))


def _line(name: str, arm: "ArmModel", tendon: int, shape) -> Line:
    """One tendon along the segments that it passes."""
    assert arm.wires is not None
    tendons: Any = arm.wires.course
    passed = np.flatnonzero(np.asarray(tendons.passes[tendon]))
    part = slice(passed[0] * _FINE, (passed[-1] + 1) * _FINE + 1)
    azimuth = np.full(part.stop - part.start, float(tendons.azimuth[tendon]))
    if tendons.turns is not None:
        turns = np.asarray(tendons.turns[tendon])[passed]
        marks = np.append(turns[:, 0], turns[-1, 1])
        azimuth = azimuth + np.interp(np.arange(len(azimuth)) / _FINE, np.arange(len(marks)), marks)
    arrays = (shape.pose.position, shape.pose.rotation, shape.radius)
    position, rotation, radius = (np.asarray(y)[:, part] for y in arrays)
    across = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros_like(azimuth)], -1)
    points = position + _OUTSIDE * radius[..., None] * np.einsum("mnij,nj->mni", rotation, across)
    return Line(name, points, color=_COLORS[tendons.ends_at[tendon] % len(_COLORS)])
