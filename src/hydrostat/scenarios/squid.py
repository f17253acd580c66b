"""Set-up that the scenarios of robots with limbs of arcs share: coordinates of arcs, and the robot in poses."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.actuation import coordinates_of
from hydrostat.bodies import Arm
from hydrostat.results import along_configurations
from hydrostat.segments import Arc

NO_MUJOCO = "MuJoCo is not installed, so {}: pip install 'hydrostat[rigid]'"
"""A note for the user, with what follows from it."""


def coordinates(arm: Arm, theta, phi, length) -> np.ndarray:
    """Coordinates (m, n, 3) of a limb of arcs with angles, azimuths [rad] and lengths [m], (m, n) each."""
    arcs = Arc(*(jnp.asarray(x) for x in (theta, phi, length)))
    return np.asarray(jax.vmap(lambda arc: coordinates_of(arm, arc))(arcs))


def in_poses(robot: hs.Robot, shapes: Sequence[np.ndarray]) -> hs.Trajectory:
    """The trajectory of a robot through poses: for each limb its coordinates (m, n, 3)."""
    q = tuple(shapes) if isinstance(robot.arms, tuple) else np.stack(list(shapes), 1)
    return along_configurations(hs.System(robot), np.arange(float(len(shapes[0]))), q)
