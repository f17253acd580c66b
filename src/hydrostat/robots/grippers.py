"""A hand: equal fingers around a vertical axis that hang down and close inwards."""

import jax.numpy as jnp
import numpy as np

from hydrostat import errors
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import Robot, equal_arms
from hydrostat.robots.build import build_arm
from hydrostat.robots.spec import SIZE, RobotSpec

MOST_FINGERS = 12
"""The largest number of fingers."""


def hand(finger: RobotSpec, fingers: int = 2, spread: float = 0.05, **options) -> Robot:
    """Equal fingers on a fixed palm, evenly around the world's z, the first towards x.

    Each is clamped at the height of the origin and hangs down; a positive `bend_y`, as the tendon at azimuth 0 makes
    it, closes it towards the axis. The base of the finger's own specification is left out.

    **Arguments:** `finger`: the specification of each; `fingers`: how many; `spread`: distance of their clamps from the
    axis [m]; `options`: of each finger's model, as those of `hydrostat.robots.build.build_arm`.
    """
    errors.whole("fingers", fingers, least=1, most=MOST_FINGERS)
    spread = errors.number("spread", spread, **SIZE)
    turns = 2.0 * np.pi * np.arange(fingers) / fingers
    outward = np.stack([np.cos(turns), np.sin(turns), np.zeros(fingers)], -1)
    # The section's x inwards, the axis down, and y across both.
    down = np.broadcast_to([0.0, 0.0, -1.0], outward.shape)
    rotations = np.stack([-outward, np.cross(down, -outward), down], -1)
    mounts = SE3(jnp.asarray(rotations), jnp.asarray(spread * outward))
    names = tuple(f"finger {number}" for number in range(1, fingers + 1))
    return equal_arms(build_arm(finger, **options), mounts, names=names, name="hand")
