"""Trajectories of arms that were not stepped but placed: a sequence of configurations, and the tendons along them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from hydrostat.control import configuration
from hydrostat.mechanics import Robot
from hydrostat.results.scene import TendonCourse, per_arm
from hydrostat.results.trajectory import Trajectory
from hydrostat.system import Control, System
from hydrostat.viewer import Line

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
        position, rotation, radius = (np.asarray(y) for y in (shape.pose.position, shape.pose.rotation, shape.radius))
        for k, course in enumerate(TendonCourse.all_of(arm, _FINE)):
            color = _COLORS[arm.wires.course.ends_at[k] % len(_COLORS)]  # type: ignore[union-attr]
            lines.append(
                Line(f"{name}tendon {k + 1}", course.on_skin(position, rotation, radius, _OUTSIDE), color=color)
            )
    return lines


def replay_with_tendons(trajectory: Trajectory, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write the replay of a trajectory in which tendons are seen on the skin of the arms."""
    return trajectory.replay(path, title, lines=tendon_lines(trajectory))
