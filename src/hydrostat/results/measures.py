"""Measures of motions: displacements, tilts, moving averages, speeds, first moments. Arrays in, arrays out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import InputError
from hydrostat.results.analysis import momentum_change

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory


def displacement(trajectory: "Trajectory") -> np.ndarray:
    """The position of the body relative to its first one (rows, 3) [m]."""
    return np.asarray(trajectory.body - trajectory.body[0])


def distance_covered(trajectory: "Trajectory", axes: int = 3) -> np.ndarray:
    """The distance of the body from its first position (rows,) [m]; over the ground alone with two axes."""
    return np.linalg.norm(displacement(trajectory)[:, :axes], axis=1)


def momentum_error(trajectory: "Trajectory") -> float:
    """The largest difference between the change of a free robot's momentum and the impulse from outside, over the
    momentum that all of its parts would have if they moved one way.

    For trajectories with a row for every step, stepped by SDIRK2. The impulse is that of its stages, which are found
    again from the rows to some 1e-7; those of steps that had to be made in parts, as where contact comes, are not.
    """
    robot = trajectory.system.robot
    if robot.base_inertia is None:
        raise InputError("momentum balances for a robot with a free base; this one's is fixed")
    changes = trajectory.derived(momentum_change)
    gap = np.asarray(changes.change - changes.impulse)[1:, 3:]
    mass = float(robot.base_inertia[3]) + sum(float(np.sum(arm.inertia[..., 3])) for arm in robot.each)
    size = np.sqrt(2.0 * mass * float(np.max(trajectory.energy().kinetic)))
    return float(np.max(np.abs(np.cumsum(gap, 0)), initial=0.0) / size)


def axis_error(trajectory: "Trajectory", direction: Any) -> np.ndarray:
    """The angle between the body's z axis and a direction of the world, a unit vector (rows,) [deg]."""
    axis = np.asarray(trajectory.body_pose.rotation)[:, :, 2]
    return np.rad2deg(np.arctan2(np.linalg.norm(np.cross(axis, direction), axis=1), axis @ direction))


def length_ratio(trajectory: "Trajectory") -> np.ndarray:
    """The length of a single arm over that at rest (rows,)."""
    rest = np.asarray(trajectory.system.robot.arm.segments.length)
    return (np.asarray(trajectory.stretch) * rest).sum(-1) / rest.sum()


def segment_angles(trajectory: "Trajectory") -> np.ndarray:
    """The coordinates of the segments of a single arm as angles from end to end (rows, n, k) [rad]."""
    return np.asarray(trajectory.q) * np.asarray(trajectory.system.robot.arm.segments.scale)[:, None]


def direction(polar_deg: float, azimuth_deg: float) -> np.ndarray:
    """The unit vector at a polar angle from the vertical, towards an azimuth from the x axis."""
    polar, azimuth = np.deg2rad([polar_deg, azimuth_deg])
    return np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])


def rms(vectors: np.ndarray) -> np.ndarray:
    """The root mean square over rows of the length of vectors (rows, ..., components) -> (...)."""
    return np.sqrt(np.mean(np.sum(vectors**2, -1), 0))


def window_rows(times: np.ndarray, window: float) -> int:
    """The rows on either side of a row that a window of time [s] covers; at least one."""
    return max(round(0.5 * window / (times[1] - times[0]) - 0.5), 1)


def moving_average(values: np.ndarray, times: np.ndarray, window: float) -> np.ndarray:
    """The mean of values (rows, ...) over a window of time [s] about each row; the ends are continued unchanged."""
    half = window_rows(times, window)
    padded = np.concatenate([np.repeat(values[:1], half, 0), values, np.repeat(values[-1:], half, 0)])
    sums = np.cumsum(np.concatenate([np.zeros_like(padded[:1]), padded]), 0)
    return (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)


def in_picture(points: Any, azimuth_deg: float) -> np.ndarray:
    """Where a distant level camera sees points (..., 3): to its right and upwards (..., 2) [m].

    The camera stands at an azimuth from the x axis and points at the z axis, so that motion towards it is not seen.
    """
    azimuth = np.deg2rad(azimuth_deg)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    return np.stack([np.asarray(points) @ right, np.asarray(points)[..., 2]], -1)


def speed_over(points: np.ndarray, times: np.ndarray, window: float) -> np.ndarray:
    """The speed of a point (rows, 3) as its mean over a window of time [s]: that of a polygon has no jumps so [m/s]."""
    half, rows = window_rows(times, window), np.arange(len(times))
    before, after = np.maximum(rows - half, 0), np.minimum(rows + half, len(times) - 1)
    return np.linalg.norm(points[after] - points[before], axis=-1) / (times[after] - times[before])


def speed(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The speed of points (rows, ..., 3) by central differences [m/s]."""
    return np.linalg.norm(np.gradient(points, times, axis=0), axis=-1)


def stays_from(flags: np.ndarray) -> int | None:
    """The row from which on a condition holds up to the last row; None where it does not hold there."""
    off = np.flatnonzero(~np.asarray(flags))
    first = int(off[-1]) + 1 if len(off) else 0
    return first if first < len(flags) else None


def points_along(positions: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Points of a polygon of equal parts (rows, n + 1, 3) at a fraction of it for each row, 0 at its first corner."""
    n = positions.shape[1] - 1
    at = np.clip(place * n, 0.0, n - 1e-9)
    first = at.astype(int)
    share = (at - first)[:, None]
    rows = np.arange(len(place))
    return positions[rows, first] * (1.0 - share) + positions[rows, first + 1] * share
