"""Water: drag and lift against the tabulated coefficients, and that it only takes energy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings.base import Together
from hydrostat.surroundings.water import DENSITY, NORMAL, TANGENTIAL, Water

RADIUS, LENGTH = 0.004, 0.012


def node(velocity, tangent=(0.0, 0.0, 1.0)):
    one = lambda x: jnp.asarray(x, float)[None]  # noqa: E731
    return Nodes(one([0, 0, 0]), one(velocity), one([0, 0, 0]), one(tangent), jnp.array([RADIUS]), jnp.array([LENGTH]))


@pytest.mark.parametrize(
    "angle, drag, lift",
    [(0, 0.080425, 0), (10, 0.082119, 0.016537), (20, 0.107263, 0.087063), (30, 0.178862, 0.189162),
     (45, 0.386584, 0.329715), (60, 0.668016, 0.362463), (80, 0.967950, 0.168213), (90, 1.013, 0)],
)  # fmt: skip
def test_drag_and_lift_are_the_tabulated_ones(angle, drag, lift):
    speed, theta = 0.3, np.deg2rad(angle)
    # The piece moves against the flow; the flow comes along -motion and meets the axis at the angle.
    motion = speed * np.array([np.sin(theta), 0.0, np.cos(theta)])
    force = np.asarray(Water().forces(node(motion)).force[0])
    scale = 0.5 * DENSITY * 2 * RADIUS * LENGTH * speed**2
    along = -motion / speed
    across = np.array([-np.cos(theta), 0.0, np.sin(theta)])  # where drag across the axis has a part beside the flow
    assert force @ along / scale == pytest.approx(drag, abs=1e-6)
    assert force @ across / scale == pytest.approx(lift, abs=1e-6)


def test_still_water_only_takes_energy():
    rng = np.random.default_rng(0)
    for _ in range(200):
        tangent = rng.normal(size=3)
        velocity = rng.normal(size=3)
        forces = Water().forces(node(velocity, tangent / np.linalg.norm(tangent)))
        assert float(forces.force[0] @ velocity) <= 0.0


def test_damping_is_the_derivative_by_the_velocity():
    velocity, tangent = jnp.array([0.3, -0.2, 0.4]), np.array([0.6, 0.0, 0.8])
    water = Water(current=(0.1, 0.0, -0.05))
    exact = -jax.jacfwd(lambda v: water.forces(node(v, tangent)).force[0])(velocity)
    own = water.forces(node(velocity, tangent)).damping[0, 3:, 3:]
    np.testing.assert_allclose(own, exact, rtol=1e-12, atol=1e-15)
    assert np.all(np.linalg.eigvalsh(own) > 0.0)


def test_terminal_velocities_of_a_sinking_cylinder():
    heavier, g = 20.0, 9.81
    weight = heavier * np.pi * RADIUS**2 * LENGTH * g
    flat = np.sqrt(np.pi * 2 * RADIUS * heavier * g / (2 * DENSITY * NORMAL))
    upright = np.sqrt(2 * RADIUS * heavier * g / (2 * DENSITY * TANGENTIAL))
    for speed, tangent in ((flat, (1.0, 0.0, 0.0)), (upright, (0.0, 0.0, 1.0))):
        force = Water().forces(node([0, 0, -speed], tangent)).force[0]
        assert float(force[2]) == pytest.approx(weight, rel=1e-12)


def test_a_current_drags_what_stands_still_and_leaves_what_drifts_alone():
    water = Water(current=(0.2, 0.0, 0.0))
    assert float(water.forces(node([0, 0, 0])).force[0, 0]) > 0.0
    assert not np.any(np.asarray(water.forces(node([0.2, 0, 0])).force))


def test_gradients_at_rest_are_finite():
    slope = jax.jacfwd(lambda v: Water().forces(node(v)).force)(jnp.zeros(3))
    assert np.all(np.isfinite(slope))


def test_several_surroundings_add_up():
    nodes = node([0.1, 0.2, 0.3])
    both = Together((Water(), Water(density=500.0))).forces(nodes)
    alone = Water().forces(nodes)
    np.testing.assert_allclose(both.force, alone.force * (1 + 500.0 / DENSITY), rtol=1e-12)
