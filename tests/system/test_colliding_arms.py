"""Two arms on a free body that hit each other, come apart, and hit each other again."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3
from hydrostat.mechanics.model import make_arm_model
from hydrostat.mechanics.robot import unequal_arms
from hydrostat.segments import StrainSegment
from hydrostat.simulation import rollout
from hydrostat.surroundings import ArmContact, ContactLaw
from hydrostat.system import System

RADIUS, LENGTH, NODES = 0.01, 0.2, 6
LAW = ContactLaw(2e3, 2.0, 0.5, 0.01, 1e-4)


@pytest.fixture(scope="module")
def pair():
    """A free body without weight that carries two arms side by side, bent apart, and a motion to begin with."""

    def arm(x):
        return Arm(
            StrainSegment(jnp.full(2, LENGTH / 2), ("bend_x", "bend_y")),
            Section(jnp.full(2, RADIUS), jnp.full(2, RADIUS)),
            Material(*(jnp.full(2, value) for value in (2e6, 0.4, 1000.0, 300.0))),
            SE3(jnp.eye(3), jnp.array([x, 0.0, 0.0])),
        )

    arms = [make_arm_model(arm(x), points=2, skin_points=NODES // 2) for x in (-0.03, 0.03)]
    robot = unequal_arms(arms, base_mass=0.02, base_inertia=2e-5)
    system = System(robot, [ArmContact(LAW, apart=4)], gravity=(0.0, 0.0, 0.0))
    bent = (jnp.array([[0.3, -2.0], [0.0, -2.5]]), jnp.array([[0.1, 2.2], [0.4, 2.0]]))
    return system, system.rest(bent)._replace(base_twist=jnp.array([0.5, -0.3, 1.0, 0.1, 0.2, -0.1]))


@pytest.mark.slow
def test_two_arms_hit_each_other_and_keep_their_momentum(pair):
    system, start = pair
    found = rollout(system, None, start, steps=800, dt=1e-3, every=4)
    force = np.concatenate([np.asarray(one) for one in found.contact_force(ArmContact)], 1)
    # They touch, come apart, and touch again.
    touching = np.abs(force).max((1, 2)) > 0.0
    changes = np.diff(touching.astype(int))
    assert np.count_nonzero(changes > 0) >= 2
    assert np.count_nonzero(changes < 0) >= 2
    # Nothing from outside at any time: forces come in pairs.
    np.testing.assert_allclose(force.sum(1), 0.0, atol=1e-13 * np.abs(force).sum((1, 2)).max())
    # Momentum is corrected anew in each of 800 steps to the rounding of some sixty masses.
    momentum = np.asarray(found.momentum())
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.abs(momentum[0]).max()
    # And every touch takes energy.
    flying = np.asarray(found.energy().total)[~touching]
    assert np.all(np.diff(flying) < 1e-6 * flying[0])
    assert flying[-1] < flying[0]
