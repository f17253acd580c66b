"""The scenes of squid-reach: a bar to grasp among obstacles, and a wall to press on. All places are assumed."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.surroundings import Box, Capsule

WALL_GAP = 0.006
"""From the skin of the palpation arm's tip to the wall before it presses [m]."""
_BAR_HALF = 0.09  # m
_FROM_BAR = ((-0.135, 0.0, 0.06), (0.225, 0.0, -0.17), (0.015, 0.105, 0.05))  # m, to the middles of the obstacles
_OBSTACLE_RADII = (0.025, 0.025, 0.020)  # m
_WALL = (0.02, 0.06, 0.04)  # m, half sizes: beside the limbs that hang
_TIP_RADIUS = 0.010  # m, of the limbs
# Least and largest of what is drawn; the standard scene has the values in between.
_BAR_X, _BAR_Z, _BAR_RADIUS, _BAR_YAW = (0.19, 0.25), (-0.31, -0.26), (0.028, 0.040), (-10.0, 10.0)  # m, deg
_LOOK = (-0.025, 0.025)  # m along the bar, from its middle
_TOUCH_X, _TOUCH_Y, _TOUCH_Z = (0.50, 0.54), (-0.16, -0.09), (-0.11, -0.05)  # m
_BAR_Y = 0.085  # m
_RANGES = (_BAR_X, _BAR_Z, _BAR_RADIUS, _BAR_YAW, _LOOK, _TOUCH_X, _TOUCH_Y, _TOUCH_Z)


class ReachScene(NamedTuple):
    """What is around the squid."""

    bar: Capsule
    """The bar to grasp, across and below the limbs."""
    obstacles: tuple[Capsule, ...]
    """A bar between the body and the one to grasp, one beyond it, and a post beside it."""
    wall: Box
    look_at: np.ndarray
    """The point of the bar that the camera points at [m]."""
    touch: np.ndarray
    """Place of the palpation arm's tip before it presses [m]."""

    @property
    def shapes(self) -> list:
        """All shapes: the bar, the obstacles and, last, the wall."""
        return [self.bar, *self.obstacles, self.wall]


def scenes(count: int, seed: int) -> list[ReachScene]:
    """Some drawn scenes; the standard one alone for none."""
    if not count:
        return [_scene(np.mean(_RANGES, 1))]
    rng, (low, high) = np.random.default_rng([seed, 3]), np.transpose(_RANGES)
    return [_scene(rng.uniform(low, high)) for _ in range(count)]


def _scene(numbers: np.ndarray) -> ReachScene:
    """The scene of some numbers, in the order of the ranges."""
    x, z, radius, yaw, view, *touch = numbers
    middle, along = np.array([x, _BAR_Y, z]), np.array([-np.sin(np.deg2rad(yaw)), np.cos(np.deg2rad(yaw)), 0.0])
    before, beyond, beside = middle + np.array(_FROM_BAR)
    across, up = np.array([0.0, _BAR_HALF, 0.0]), np.array([0.0, 0.0, 0.25])
    lines = [(before - across, before + across), (beyond - across, beyond + across), (beside - up, beside + up)]
    obstacles = tuple(Capsule(a=a, b=b, radius=r) for (a, b), r in zip(lines, _OBSTACLE_RADII, strict=True))
    bar = Capsule(a=middle - _BAR_HALF * along, b=middle + _BAR_HALF * along, radius=radius)
    place = np.array([touch[0] + _TIP_RADIUS + WALL_GAP + _WALL[0], *touch[1:]])
    wall = Box(pose=hs.SE3(jnp.eye(3), jnp.asarray(place)), half_sizes=_WALL)
    return ReachScene(bar, obstacles, wall, middle + view * along, np.array(touch))
