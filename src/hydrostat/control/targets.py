"""Targets of an arm's tip: points that it can be expected to reach."""

import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.control.feedback import shape_to_point
from hydrostat.mechanics import kinematics


def targets_before(arm: Arm, count: int, seed: int, near: float, far: float) -> np.ndarray:
    """Points drawn evenly from the half shell before an arm (count, 3) [m].

    **Arguments:** `near`, `far`: the shell's radii, in lengths of the arm.
    """
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ahead = directions @ np.asarray(arm.T_world_base.rotation)[:, 2]
    directions = np.where(ahead[:, None] < 0.0, -directions, directions)
    distances = rng.uniform(near**3, far**3, count) ** (1.0 / 3.0)
    return np.asarray(arm.T_world_base.position) + float(arm.length) * distances[:, None] * directions


def distance_left(arm: Arm, point) -> float:
    """The distance from a point to the tip of the shape by which the arm would reach for it [m]."""
    tip = kinematics.tip_pose(arm, shape_to_point(arm, jnp.asarray(point))).position
    return float(np.linalg.norm(np.asarray(tip) - np.asarray(point)))
