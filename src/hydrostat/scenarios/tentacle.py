"""Set-up that the scenarios of tentacles share: shapes by the paper's angles, and their trajectories."""

import jax
import numpy as np

import hydrostat as hs
from hydrostat.control import bend_vectors, configuration
from hydrostat.results import along_configurations, tendon_lines

MOVES = ("stepped", "constant_speed", "smooth")
"""The three kinds of move from shape to shape, by their names in metrics."""


def shape_of_angles(alpha_deg: tuple[float, ...], theta_deg: tuple[float, ...]) -> np.ndarray:
    """Bend vectors (n, 2) [rad] from the paper's azimuths and bends of the segments [deg]."""
    return bend_vectors(np.deg2rad(alpha_deg), np.deg2rad(theta_deg))


def shapes_over_time(robot: hs.Robot, times: np.ndarray, bends: np.ndarray) -> hs.Trajectory:
    """The trajectory of a robot that takes the shapes of bend vectors (m, n, 2) at times."""
    q = jax.vmap(lambda bend: configuration(robot.arm, bend))(np.asarray(bends))
    return along_configurations(hs.System(robot), times, q)


def replay(path, rows: hs.Trajectory, title: str) -> None:
    """Write the replay of a tentacle with its wires."""
    rows.replay(path, title, lines=tendon_lines(rows))
