"""Depth, flow past the body, and force at the tips: what they measure, with noise and rate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.lie import so3
from hydrostat.sensing import observe
from hydrostat.surroundings import Plane

LAW = hs.ContactLaw(500.0, damping=0.0, friction=0.0, slip_speed=1e-3, onset=1e-6)


@pytest.fixture(scope="module")
def touching():
    """A limb along the world's x whose tip is 3 mm deep in a wall."""
    robot = hs.robots.squid_limb("camera", skin_points=1)
    return hs.System(robot, [hs.Obstacles(LAW, [Plane(point=(0.607, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))])])


def test_depth_and_flow_are_those_of_the_body():
    system = hs.System(hs.robots.squid_vehicle(arms=[2]), [hs.Water(current=(0.3, 0.1, 0.0))])
    R = so3.exp(jnp.array([0.3, -0.2, 0.5]))
    twist = jnp.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    state = system.rest()._replace(base_pose=hs.SE3(R, jnp.array([1.0, 2.0, -7.0])), base_twist=twist)
    seen = observe(system, state, hs.Control(), 5e-3)
    assert float(seen.depth) == 7.0
    np.testing.assert_allclose(seen.flow, R.T @ jnp.array([0.3, 0.1, 0.0]) - twist[3:], rtol=1e-12)
    assert seen.tip_force is None


def test_force_at_the_tip_is_that_of_contact_in_its_axes(touching):
    seen = observe(touching, touching.rest(), hs.Control(), 5e-3, True)
    # The tip is a ball of 10 mm; its axis is the world's x.
    np.testing.assert_allclose(seen.tip_force, [0.0, 0.0, -500.0 * 0.003], rtol=1e-3, atol=1e-9)


def test_senses_have_noise_and_rate(touching):
    truth = observe(touching, touching.rest(), hs.Control(), 0.01, True)
    sensors = hs.Sensors(force=hs.Sensor(noise=0.1, rate=20.0), depth=hs.Sensor(noise=0.01), seed=4)

    @jax.jit
    def measured():
        def sample(memory, time):
            told, memory = sensors(time, truth, memory)
            return memory, (told.tip_force, told.depth)

        return jax.lax.scan(sample, sensors.init(touching, truth, 0.01), 0.01 * jnp.arange(2000))[1]

    force, depth = (np.asarray(y) for y in measured())
    assert len(np.unique(force[:, 0])) == pytest.approx(2000 / 5, abs=2)  # 20 Hz at steps of 10 ms
    # 400 and 2000 samples: their spread is known to 4 and 2 percent.
    np.testing.assert_allclose(force.std(0), 0.1, rtol=0.15)
    assert depth.std() == pytest.approx(0.01, rel=0.08)


def test_a_force_has_no_attitude():
    with pytest.raises(InputError, match="`turn_noise` has no meaning for `force`"):
        hs.Sensors(force=hs.Sensor(turn_noise=0.1))
