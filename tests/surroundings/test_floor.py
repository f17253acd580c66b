"""The floor, suckers that hold it, and arms that touch each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings import ContactLaw
from hydrostat.surroundings.floor import Held, Holds, floor
from hydrostat.surroundings.own import own_contact
from hydrostat.surroundings.suckers import SuckerLaw

LAW = ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005)


def _nodes(seed=0, count=6, low=-1e-3, high=4e-3) -> Nodes:
    """Nodes about the floor, in motion."""
    rng = np.random.default_rng(seed)
    position = rng.normal(size=(count, 3))
    position[:, 2] = rng.uniform(low, high, count)
    vectors = [jnp.asarray(y) for y in (position, 0.01 * rng.normal(size=(count, 3)), rng.normal(size=(count, 3)))]
    radius = jnp.asarray(rng.uniform(1e-3, 3e-3, count))
    return Nodes(*vectors, jnp.zeros((count, 3)), radius, jnp.full(count, 0.01))


def _wrench(around, nodes: Nodes, twist):
    """Torque and force with another motion of the nodes: displacements first, then velocities (2, n, 6)."""
    turned, rates = twist
    moved = nodes._replace(
        position=nodes.position + turned[:, 3:],
        velocity=nodes.velocity + rates[:, 3:],
        angular_velocity=nodes.angular_velocity + rates[:, :3],
    )
    forces = around.forces(moved)
    return jnp.concatenate([forces.torque, forces.force], 1)


def test_floor_damping_and_stiffness_are_derivatives():
    """By autodiff: damping is all of it; stiffness that of the force, whose torque the operator leaves out."""
    nodes = _nodes()
    around = floor(LAW, jnp.zeros(()), nodes)
    forces = around.forces(nodes)
    assert (np.asarray(forces.force[:, 2]) > 0.0).sum() >= 3
    J = jax.jacfwd(lambda twist: _wrench(around, nodes, twist))(jnp.zeros((2, 6, 6)))
    own = np.stack([np.asarray(J)[i, :, :, i] for i in range(6)])  # node, wrench, place or rate, twist
    np.testing.assert_allclose(-own[:, :, 1], forces.damping, atol=1e-9)
    np.testing.assert_allclose(-own[:, 3:, 0, 3:], np.asarray(forces.stiffness)[:, 3:, 3:], atol=1e-9)


def test_floor_takes_energy_and_does_not_pull():
    for seed in range(5):
        nodes = _nodes(seed)
        forces = floor(LAW, jnp.zeros(()), nodes).forces(nodes)
        assert np.all(np.asarray(forces.force[:, 2]) >= 0.0)
        slip = forces.force.at[:, 2].set(0.0)
        power = jnp.sum(slip * nodes.velocity, 1) + jnp.sum(forces.torque * nodes.angular_velocity, 1)
        assert np.all(np.asarray(power) <= 1e-15)


def test_suckers_take_hold_where_they_touch_and_tear_off():
    law = SuckerLaw()
    nodes = _nodes(1)
    gap = np.asarray(nodes.position[:, 2] - nodes.radius)
    holds = Holds.nowhere(6).advance(law, 0.0, nodes, jnp.ones(6))
    np.testing.assert_array_equal(holds.held, (gap <= float(law.reach)).astype(float))
    assert 0 < holds.held.sum() < 6
    # What holds starts without a pull but that of its damper; further away it tears off; let go, it holds no more.
    still = nodes._replace(velocity=jnp.zeros((6, 3)))
    np.testing.assert_array_equal(Held(law, holds).forces(still).force, 0.0)
    far = still._replace(position=still.position + jnp.array([0.1, 0.0, 0.0]))
    assert holds.advance(law, -1.0, far, jnp.ones(6)).held.sum() == 0.0
    assert holds.advance(law, 0.0, still, jnp.zeros(6)).held.sum() == 0.0
    np.testing.assert_allclose(
        Held(law, holds).forces(far).force[:, 0], -0.1 * float(law.stiffness) * np.asarray(holds.held), rtol=1e-12
    )


@pytest.mark.parametrize("gap", [-2e-3, 5e-3])
def test_arms_push_each_other_apart(gap):
    """Two straight arms side by side: pushed apart if they overlap, and together no force at all."""
    count, radius = 5, 4e-3
    along = jnp.linspace(0.0, 0.05, count)
    zero = jnp.zeros(count)
    first, second = (jnp.stack([along, zero + y, zero], 1) for y in (0.0, 2.0 * radius + gap))
    still = jnp.zeros((2 * count, 3))
    nodes = Nodes(jnp.concatenate([first, second]), still, still, still, jnp.full(2 * count, radius), still[:, 0])
    forces = own_contact(LAW, nodes, 3, 1e-3, arms=2).forces(nodes)
    force = np.asarray(forces.force)
    np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-15)
    if gap > 0.0:
        assert not np.any(force)
    else:
        assert force[:count, 1].sum() < -1e-3
        assert force[count:, 1].sum() > 1e-3
