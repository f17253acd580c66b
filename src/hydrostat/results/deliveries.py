"""Prey on its way to an octopus' mouth: how far it is from there, and whether an arm holds it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.lie import SE3
from hydrostat.mechanics.robot import Robot
from hydrostat.surroundings.objects import Ball
from hydrostat.system import System

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

_TOUCHES = 1e-3  # m between surfaces that touch, as for suckers


@dataclass(frozen=True)
class Delivery:
    """One hunt: the motion, and the prey's distance from the mouth, by rows."""

    hunt: "Trajectory"
    start: np.ndarray
    """Position of the prey at the start (3,) [m]."""
    distance: np.ndarray
    """Distance from the prey's surface to the mouth (rows,) [m]."""
    held: np.ndarray
    """Whether an arm holds the prey (rows,)."""

    def brought(self, within: float) -> bool:
        """Whether the prey is held within a distance of the mouth [m] in the end."""
        return bool(self.held[-1] and self.distance[-1] < within)

    def delivered(self, seconds: float = 1.0) -> bool:
        """Whether the prey's surface touches the mouth at the end, and has done so for some seconds."""
        time = np.asarray(self.hunt.time)
        return bool(np.all(self.distance[time >= time[-1] - seconds] <= _TOUCHES))

    def drift(self) -> float:
        """How far the prey has moved before an arm first holds it, or in the end [m]."""
        row = int(np.argmax(self.held)) if self.held.any() else -1
        return float(np.linalg.norm(np.asarray(self.hunt.objects)[row, 0] - self.start))

    @staticmethod
    def of(hunt: "Trajectory") -> "Delivery":
        """The delivery of the first free object of a trajectory."""
        pose, prey = hunt.body_pose, np.asarray(hunt.objects)[:, 0]
        own = np.einsum("tji,tj->ti", np.asarray(pose.rotation), prey - np.asarray(pose.position))
        held = np.asarray(hunt.taken).max((1, 2)) > 0.0
        gap = mouth_distance(hunt.system.robot, own) - float(hunt.system.part(Ball).radius)
        return Delivery(hunt, prey[0], gap, held)


def mouth_distance(robot: Robot, points: np.ndarray) -> np.ndarray:
    """The distance of points in the body's frame (rows, 3) from its mouth [m]; negative within the body.

    The mouth is the underside of the round body within the bases of the arms. The flat disc in the plane of the bases
    is inside the body but for its rim, where nothing from outside could touch it.
    """
    assert robot.body is not None
    base = np.asarray(_mounts(robot).position)[0]
    ring, across = np.hypot(base[0], base[1]), np.hypot(points[:, 0], points[:, 1])
    below = np.arctan2(across, -points[:, 2]) <= np.arctan2(ring, -base[2])
    to_skin = np.linalg.norm(points, axis=1) - float(robot.body.radius)
    return np.where(below, to_skin, np.hypot(across - ring, points[:, 2] - base[2]))


def gaps_to_arms(system: System) -> dict[str, float]:
    """The gap between the free ball of a system and each of its equal arms, which are straight [m]; negative within."""
    ball, robot = system.part(Ball), system.robot
    bases = robot.T_world_body @ _mounts(robot)
    length, section = float(robot.arm.length), robot.arm.section
    axes, gaps = np.asarray(bases.rotation)[:, :, 2], {}
    for name, base, axis in zip(robot.names, np.asarray(bases.position), axes, strict=True):
        away = np.asarray(ball.position) - base
        along = float(np.clip(away @ axis, 0.0, length))
        thick = np.interp(along / length, (0.0, 1.0), (float(section.radius_base[0]), float(section.radius_tip[-1])))
        gaps[name] = float(np.linalg.norm(away - along * axis)) - thick - float(ball.radius)
    return gaps


def _mounts(robot: Robot) -> SE3:
    """The poses of the arms' bases in the body's frame, of equal arms."""
    assert isinstance(robot.mounts, SE3)
    return robot.mounts
