"""Errors of moves by wires: of lengths along the move, of the shape that lengths make, and of the tip at its end.

Paper: Boccolato et al. 2009, sections V and VI. A move is a `WireMotion`; its wires belong to a `WireModel`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float
from scipy.special import ellipe

from hydrostat.actuation import shape_from_lengths
from hydrostat.compiling import quick_jit
from hydrostat.control.shapes import configuration
from hydrostat.control.wire_motion import WireModel, WireMotion
from hydrostat.mechanics import Robot, kinematics

_SAMPLES = 2048  # moments at which a move is examined


def round_trip_error(model: WireModel) -> float:
    """Shape to lengths to shape, over bends of 0 to 170 degrees in all directions; the largest error [rad]."""
    theta, alpha = np.meshgrid(np.deg2rad(np.linspace(0.0, 170.0, 35)), np.linspace(0.0, 2 * np.pi, 48, False))
    # Each segment gets the same grid in another order, so that routed wires meet many combinations.
    grid = np.stack([theta * np.cos(alpha), theta * np.sin(alpha)], -1).reshape(-1, 2)
    bends = np.stack([np.roll(grid, 397 * i, 0) for i in range(model.arm.count)], 1)
    return float(np.max(np.abs(model.shapes(model.lengths(bends)).bend - bends)))


def _moments(motion: WireMotion) -> np.ndarray:
    """Times to examine a move at: evenly spread, and between its knots."""
    marks = np.linspace(0.0, motion.duration, 2 * (motion.knots - 1) + 1)
    return np.union1d(np.linspace(0.0, motion.duration, _SAMPLES), marks)


def length_deviation(model: WireModel, motion: WireMotion, times: np.ndarray) -> np.ndarray:
    """Largest difference between a wire's length and that of the planned shape, at each of some times [m]."""
    return np.max(np.abs(motion.lengths(times) - model.lengths(motion.bends(times))), -1)


def path_deviation(model: WireModel, motion: WireMotion) -> float:
    """Largest difference between a wire's length and that of the planned shape, along a move [m]."""
    return float(np.max(length_deviation(model, motion, _moments(motion))))


def compression(model: WireModel, motion: WireMotion) -> float:
    """Largest virtual compression along a move [m]."""
    return float(np.max(np.abs(model.shapes(motion.lengths(_moments(motion))).compression)))


def largest_speed(motion: WireMotion) -> float:
    """Largest speed of a wire along a move [m/s]."""
    return float(np.max(np.abs(motion.course(np.linspace(0.0, motion.duration, _SAMPLES), 1))))


@quick_jit
def tip_of_lengths(robot: Robot, lengths: ArrayLike) -> tuple[Float[Array, " 3"], Float[Array, "3 w"]]:
    """The position of the tip for lengths of the wires (w,) [m], and its derivative by them."""

    def tip(lengths):
        return kinematics.tip_pose(robot.arm, shape_from_lengths(robot.arm, robot.tendons, lengths).q).position

    lengths = jnp.asarray(lengths)
    return tip(lengths), jax.jacfwd(tip)(lengths)


def tip_error(robot: Robot, lengths: np.ndarray, goal: np.ndarray) -> tuple[float, float]:
    """Distance of the tip at lengths of the wires from that at others, and the bound that whole motor steps leave [m].

    **Arguments:** `lengths`, `goal`: (w,) [m].
    """
    reached, _ = tip_of_lengths(robot, lengths)
    target, rates = tip_of_lengths(robot, goal)
    bound = float(np.sum(np.linalg.norm(rates, axis=0))) * robot.motor.step / 2.0
    return float(np.linalg.norm(reached - target)), bound


def _ends(robot: Robot, q) -> jax.Array:
    """The directions that the links' ends point to, (n, 3)."""
    return kinematics.segment_poses(robot.arm, q).rotation[1:, :, 2]


@quick_jit
def link_directions(robot: Robot, bends: ArrayLike) -> tuple[Float[Array, "n 3"], Float[Array, "n 3 w"]]:
    """Directions of the links' ends in a shape, bend vectors (n, 2), and their derivatives by the wires' lengths."""
    lengths = robot.tendons.lengths(robot.arm, configuration(robot.arm, jnp.asarray(bends)))

    def directions(lengths):
        return _ends(robot, shape_from_lengths(robot.arm, robot.tendons, lengths).q)

    return _ends(robot, configuration(robot.arm, jnp.asarray(bends))), jax.jacfwd(directions)(lengths)


@quick_jit
def link_angle_errors(robot: Robot, directions: ArrayLike, lengths: ArrayLike) -> Float[Array, "m n"]:
    """The angle between each link's direction and its goal (n, 3), for many arrivals of the wires (m, w) [rad]."""

    def of_arrival(lengths):
        reached = _ends(robot, shape_from_lengths(robot.arm, robot.tendons, lengths).q)
        # The angle by its half's sine: exact for small angles, where an arc cosine loses half the digits.
        chord = jnp.sqrt(jnp.sum((reached - directions) ** 2, -1))
        return 2.0 * jnp.arcsin(jnp.minimum(0.5 * chord, 1.0))

    return jax.vmap(of_arrival)(jnp.asarray(lengths))


def noise_length_moments(rates: np.ndarray, noise: float) -> tuple[float, float]:
    """Mean and standard deviation of the length of rates @ N(0, noise^2), a normal vector in a plane.

    With the variances a >= b along the principal axes the mean is sqrt(2 a / pi) E(1 - b / a), E being the complete
    elliptic integral of the second kind, and the mean square is a + b.
    """
    a, b, _ = np.linalg.eigvalsh(noise**2 * rates @ rates.T)[::-1]
    if a <= 0.0:
        return 0.0, 0.0
    mean = np.sqrt(2.0 * a / np.pi) * ellipe(1.0 - max(b, 0.0) / a)
    return float(mean), float(np.sqrt(max(a + b - mean**2, 0.0)))
