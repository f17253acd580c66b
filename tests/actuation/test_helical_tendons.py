"""Tendons that wind round the axis: their length against a fine polyline, and what they do to a rod."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics import equilibrium, no_inputs
from hydrostat.robots import parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.system import System

TEXT = """
name = "twister"
[[arm.segment]]
length = 0.4
radius = [0.02, 0.02]
modes = ["bend_x", "bend_y", "twist", "stretch"]
count = 4
[material]
youngs_modulus = 1e6
poisson_ratio = 0.5
[[tendon]]
azimuth_deg = 30
offset = [0.015, 0.010]
ends_at_segment = 4
turn_deg = 300
"""
Q = jnp.array([[1.0, -2.0, 3.0, 0.1], [0.5, 1.0, -1.0, 0.0], [-1.0, 0.3, 2.0, -0.05], [2.0, 2.0, 0.0, 0.02]])


@pytest.fixture(scope="module")
def robot():
    return build_robot(parse_robot(TEXT))


def test_length_is_that_of_a_polyline_along_the_helix(robot):
    @jax.jit
    def points(s):
        """Where the tendon is at a fraction s of each segment, in the segment's frame."""

        def of(segment, q, index):
            T = segment.pose(q, s)
            along = (index + s) / 4.0
            offset, azimuth = 0.015 - 0.005 * along, jnp.deg2rad(30.0 + 300.0 * along)
            return T.apply(offset * jnp.stack([jnp.cos(azimuth), jnp.sin(azimuth), jnp.zeros_like(azimuth)]))

        return jax.vmap(of)(robot.arm.segments, Q, jnp.arange(4.0))

    lengths = []
    for pieces in (1000, 2000):
        course = np.asarray(jax.vmap(points)(jnp.linspace(0.0, 1.0, pieces + 1)))
        lengths.append(np.linalg.norm(np.diff(course, axis=0), axis=-1).sum())
    # The polyline's error falls with the square of its step.
    exact = lengths[1] + (lengths[1] - lengths[0]) / 3.0
    assert float(robot.tendons.lengths(robot.arm, Q)[0]) == pytest.approx(exact, rel=1e-9)


def test_a_winding_tendon_twists_the_arm(robot):
    weightless = System(robot, gravity=(0.0, 0.0, 0.0)).robot
    q = equilibrium(weightless, no_inputs(weightless)._replace(wires=jnp.array([5.0]))).q
    # It shortens by unwinding: the arm turns against the winding, and is compressed.
    assert np.all(np.asarray(q[:, 2]) < -1e-4)
    assert np.all(np.asarray(q[:, 3]) < 0.0)
