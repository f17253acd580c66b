"""Inverse kinematics: the configuration for a target pose of the tip, or for a curve in space."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, choice
from hydrostat.least_squares import least_squares
from hydrostat.lie import SE3, small, so3
from hydrostat.mechanics import kinematics

MATCHES = ("pose", "direction", "position")
_MOST_POINTS = 80  # of a curve, that the fit uses
_STARTS = 24  # first guesses for a pose
_TURN = 0.2  # one radian of a tip's orientation counts as much as this part of the arm's length
_PENALTY = 10.0  # on bending beyond the limit, relative to a miss of one arm length per radian
_REACHED = 1e-6  # of the arm's length, and radians: below, a target counts as reached


class PoseFit(NamedTuple):
    """The configuration for a pose of the tip."""

    q: np.ndarray
    bend: np.ndarray
    """Bend vectors (n, 2) [rad]."""
    miss: float
    """Distance between the tip and its target [m]."""
    turn: float
    """Angle between the tip's orientation (or direction) and its target [rad]; 0 where none was prescribed."""
    reachable: bool
    """Whether the target was reached; if not, this is the nearest that the arm comes."""


class CurveFit(NamedTuple):
    """The configuration for a curve."""

    q: np.ndarray
    bend: np.ndarray
    """Bend vectors (n, 2) [rad]."""
    distances: np.ndarray
    """Distance of each used point of the curve from the arm's axis [m]."""
    used: np.ndarray
    """Indices of the points of the curve that were used: those that the arm is long enough for."""
    start: float
    """Distance of the curve's first point from the arm's base [m]; 0 for a curve that begins there."""

    @property
    def rms(self) -> float:
        """Root mean square of the distances [m]."""
        return float(np.sqrt(np.mean(self.distances**2)))


def configuration(arm: Arm, bend: Float[Array, "n 2"]) -> Float[Array, "n k"]:
    """The arm's coordinates for bend vectors [rad]."""
    return jax.vmap(lambda segment, bend: segment.from_bend_vector(bend))(arm.segments, bend)


def fit_pose(arm: Arm, T_world_target: SE3, match: str = "pose", bend_limit: float = 2.967, seed: int = 0) -> PoseFit:
    """The configuration whose tip has a target pose, or comes nearest to it.

    **Arguments:** `match`: what counts: pose (position and orientation), direction (position and the tip's tangent) or
    position; `bend_limit`: largest bend of a segment [rad]; `seed`: of the first guesses, of which the best end wins.
    """
    choice("match", match, MATCHES)
    for name, value in (("position", T_world_target.position), ("rotation", T_world_target.rotation)):
        if not np.all(np.isfinite(value)):
            raise InputError(f"the target's {name} must be finite; got {np.asarray(value).ravel().tolist()}")
    rng = np.random.default_rng(seed)
    starts = rng.normal(size=(_STARTS, arm.count, 2)) * np.linspace(0.1, 1.0, _STARTS)[:, None, None]
    q, bend, miss, turn = _fit_pose(arm, T_world_target, jnp.asarray(starts), bend_limit, match)
    within = np.max(np.hypot(*np.asarray(bend).T)) <= bend_limit * (1.0 + 1e-6)
    reachable = bool(miss <= _REACHED * arm.length and turn <= _REACHED and within)
    return PoseFit(np.asarray(q), np.asarray(bend), float(miss), float(turn), reachable)


@quick_jit
def _fit_pose(arm, T_world_target, starts, bend_limit, match):
    """The best end of the solver from all first guesses: configuration, bend vectors, miss and turn."""

    def residual(flat):
        bend = flat.reshape(arm.count, 2)
        T_world_tip = kinematics.tip_pose(arm, configuration(arm, bend))
        miss = (T_world_tip.position - T_world_target.position) / arm.length
        turn = _TURN * _turn_left(T_world_tip, T_world_target, match)
        excess = jnp.maximum(small.norm(bend) - bend_limit, 0.0)
        return jnp.concatenate([miss, turn, _PENALTY * excess])

    solutions = jax.vmap(lambda start: least_squares(residual, start.ravel(), tolerance=1e-12))(starts)
    # Among equally good ends take the one that bends least.
    costs = jnp.sum(solutions.residual**2, -1)
    effort = jnp.sum(solutions.x**2, -1)
    best = jnp.argmin(jnp.where(costs <= jnp.min(costs) + 1e-12, effort, jnp.inf))
    left, bend = solutions.residual[best], solutions.x[best].reshape(arm.count, 2)
    miss = arm.length * small.norm(left[:3])
    turn = small.norm(left[3 : -arm.count]) / _TURN
    return configuration(arm, bend), bend, miss, turn


def _turn_left(T_world_tip: SE3, T_world_target: SE3, match: str) -> Float[Array, " m"]:
    """The error of the orientation: a rotation vector, a vector between directions, or nothing."""
    if match == "pose":
        return so3.log(small.matmul(jnp.swapaxes(T_world_target.rotation, -1, -2), T_world_tip.rotation))
    if match == "direction":
        return T_world_tip.rotation[:, 2] - T_world_target.rotation[:, 2]
    return jnp.zeros(1)


def fit_curve(arm: Arm, points: np.ndarray, bend_limit: float = 2.967) -> CurveFit:
    """The configuration whose axis lies closest to a curve through points, (m, 3) in the world [m], from base to tip.

    Unknown are the bends and, for each point, its place along the arm, from base to tip: so the points need not be
    evenly spaced, and a curve that the arm can take is met exactly. Points that the arm is too short for are left out:
    it takes at least the distance from its base to the first point, and then the curve's own length. Noise that is not
    small against the spacing of the points makes that length too long.
    """
    points, kept = _checked_points(points)
    base = np.asarray(arm.T_world_base.position)
    start, length = float(np.linalg.norm(points[0] - base)), float(arm.length)
    distances = start + _distances_along(points)
    used = np.flatnonzero(distances <= length * (1.0 + 1e-3))
    if len(used) < 4:
        away = f", and begins {start:g} m from its base" if start > length * 1e-6 else ""
        raise InputError(
            f"the curve must have at least 4 points within the arm's {length:g} m; it has {len(used)}{away}"
        )
    if len(used) > _MOST_POINTS:
        used = used[np.unique(np.linspace(0, len(used) - 1, _MOST_POINTS).round().astype(int))]
    # Pad to a fixed number of points, with weight zero, so that any curve uses the same compiled solver.
    fill = _MOST_POINTS - len(used)
    padded = np.concatenate([points[used], np.repeat(points[used[-1:]], fill, 0)])
    along = np.concatenate([distances[used], np.repeat(distances[used[-1:]], fill)]) / length
    weights = np.concatenate([np.ones(len(used)), np.zeros(fill)])
    guess = _follow(arm, points, distances)
    guesses = np.array([scale * guess for scale in (1.0, 0.6, 0.3, 1.4)])
    q, bend, left = _fit_curve(arm, padded, weights, guesses, np.minimum(along, 1.0), bend_limit)
    return CurveFit(np.asarray(q), np.asarray(bend), np.asarray(left)[: len(used)], kept[used], start)


@quick_jit
def _fit_curve(arm, points, weights, guesses, along, bend_limit):
    """The best end from all first guesses: configuration, bend vectors, distance of every point from the arm."""
    size = 2 * arm.count

    def misses(unknown):
        q = configuration(arm, unknown[:size].reshape(arm.count, 2))
        ends = kinematics.segment_poses(arm, q)
        places = jax.vmap(lambda s: kinematics.pose_at(arm, q, s, ends).position)(unknown[size:] * arm.length)
        return (places - points) / arm.length

    def residual(unknown):
        excess = jnp.maximum(small.norm(unknown[:size].reshape(arm.count, 2)) - bend_limit, 0.0)
        # Points without weight stay where they are, so that the system keeps its rank.
        idle = (1.0 - weights) * (unknown[size:] - along)
        return jnp.concatenate([(weights[:, None] * misses(unknown)).ravel(), idle, _PENALTY * excess])

    # A place beyond an end of the arm does not exist, though the formula of its arc goes on there.
    unbounded = jnp.full(size, jnp.inf)
    bounds = (
        jnp.concatenate([-unbounded, jnp.zeros_like(along)]),
        jnp.concatenate([unbounded, jnp.ones_like(along)]),
    )

    def from_guess(guess):
        start = jnp.concatenate([guess.ravel(), along])
        return least_squares(residual, start, tolerance=1e-12, bounds=bounds)

    solutions = jax.vmap(from_guess)(guesses)
    unknown = solutions.x[jnp.argmin(jnp.sum(solutions.residual**2, -1))]
    bend = unknown[:size].reshape(arm.count, 2)
    return configuration(arm, bend), bend, small.norm(misses(unknown)) * arm.length


def space_curve(
    arm: Arm, curvature: Callable[[float], float], torsion: Callable[[float], float], points: int = 150
) -> np.ndarray:
    """Points (m, 3) [m] of the curve of an arm's length with a curvature and a torsion [1/m] over its arc length [m].

    It begins at the arm's base along its axis; Frenet's equations are integrated.
    """
    base = arm.T_world_base

    def frenet(s, state):
        x, y, z = state[3:].reshape(3, 3).T
        bend, turn = curvature(s), torsion(s)
        # z' = bend x, x' = turn y - bend z, y' = -turn x
        return np.concatenate([z, np.stack([turn * y - bend * z, -turn * x, bend * x], -1).ravel()])

    start = np.concatenate([np.asarray(base.position), np.asarray(base.rotation).ravel()])
    marks = np.linspace(0.0, float(arm.length), points)
    return solve_ivp(frenet, (0.0, marks[-1]), start, t_eval=marks, rtol=1e-10, atol=1e-12).y[:3].T


def _checked_points(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points as an array of finite numbers, none twice in a row, and their indices."""
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"a curve must be points with x, y, z; got an array of shape {points.shape}")
    if not np.all(np.isfinite(points)):
        row = int(np.flatnonzero(~np.isfinite(points).all(1))[0]) + 1
        raise InputError(f"every point of a curve must be finite; got {points[row - 1].tolist()} at point {row}")
    apart = np.concatenate([[True], np.any(np.diff(points, axis=0) != 0.0, 1)])
    if np.sum(apart) < 4:
        raise InputError(f"a curve must have at least 4 different points; got {int(np.sum(apart))}")
    return points[apart], np.flatnonzero(apart)


def _distances_along(points: np.ndarray) -> np.ndarray:
    """The arc length from the first point to each, along a spline through all of them [m]."""
    chords = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = CubicSpline(chords, points)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    half = np.diff(chords)[:, None] / 2.0
    middle = (chords[1:] + chords[:-1])[:, None] / 2.0
    speed = np.linalg.norm(spline(middle + half * nodes, 1), axis=-1)
    return np.concatenate([[0.0], np.cumsum(np.sum(half * weights * speed, 1))])


def _follow(arm: Arm, points: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """First guess of the bend vectors: each segment turns from the curve's tangent at its base to that at its end."""
    if distances[0] > 0.0:  # from the base straight to where the curve begins
        distances = np.concatenate([[0.0], distances])
        points = np.concatenate([np.asarray(arm.T_world_base.position)[None], points])
    spline = CubicSpline(distances, points)
    ends = np.minimum(np.cumsum(np.asarray(arm.segments.length)), distances[-1])
    rotation = np.asarray(arm.T_world_base.rotation)
    bends = []
    for end in ends:
        tangent = spline(end, 1)
        local = rotation.T @ (tangent / np.linalg.norm(tangent))
        angle = np.arctan2(np.hypot(local[0], local[1]), local[2])
        azimuth = np.arctan2(local[1], local[0])
        bends.append(angle * np.array([np.cos(azimuth), np.sin(azimuth)]))
        rotation = rotation @ Rotation.from_rotvec([-bends[-1][1], bends[-1][0], 0.0]).as_matrix()
    return np.array(bends)
