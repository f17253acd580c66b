"""Arms that touch each other, as a part of the surroundings."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings import ArmContact, Commands, ContactLaw, Environment, Place

LAW = ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005)


def side_by_side(counts, gap, radius=4e-3):
    """Straight arms of as many nodes 12.5 mm apart, one beside another, and their forces on each other."""
    arms = [[(12.5e-3 * i, y * (2.0 * radius + gap), 0.0) for i in range(n)] for y, n in enumerate(counts)]
    position = jnp.asarray([place for arm in arms for place in arm])
    still, n = jnp.zeros_like(position), len(position)
    nodes = Nodes(position, still, still, still, jnp.full(n, radius), jnp.zeros(n))
    environment = Environment(jnp.zeros(3), None, None, None, None, tuple(counts), len(set(counts)) == 1)
    commands = Commands(jnp.zeros(n), jnp.zeros(n), jnp.zeros(()))
    _, forces = ArmContact(LAW, apart=3).begin((), Place(nodes, None), environment, commands, 1e-3)
    return np.asarray(forces.forces(nodes).force)


@pytest.mark.parametrize("gap", [-2e-3, 5e-3])
def test_arms_push_each_other_apart(gap):
    """Two straight arms side by side: pushed apart if they overlap, and together no force at all."""
    count = 5
    force = side_by_side((count, count), gap)
    np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-15)
    if gap > 0.0:
        assert not np.any(force)
    else:
        assert force[:count, 1].sum() < -1e-3
        assert force[count:, 1].sum() > 1e-3


def test_arms_of_different_numbers_of_nodes_touch_as_far_as_they_reach():
    """Three arms, of which the middle one is the shortest and touched from both sides."""
    force = side_by_side((5, 3, 4), -2e-3)
    np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-15)
    first, middle, last = np.split(force, [5, 8])
    assert first[:3, 1].sum() < -1e-3
    assert last[:3, 1].sum() > 1e-3
    assert np.all(np.isfinite(middle))
    # Beyond the end of the middle arm there is nothing to touch; shares of a touch fade smoothly, to 4e-7 of it here.
    np.testing.assert_allclose(first[3:], 0.0, atol=1e-6 * np.abs(force).max())
    np.testing.assert_allclose(last[3:], 0.0, atol=1e-6 * np.abs(force).max())
    assert not np.any(side_by_side((5, 3, 4), 5e-3))
