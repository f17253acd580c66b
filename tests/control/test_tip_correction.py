"""The bandwidth of servos with delay, and the correction of a plan by the seen tip."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control.tip_correction import fastest_rate, tip_correction
from hydrostat.mechanics import kinematics


@pytest.mark.parametrize("delay", [0.0025, 0.0225, 0.1])
def test_the_fastest_rate_leaves_ten_degrees_of_phase(delay):
    lag = 0.03
    w = fastest_rate(delay, lag)
    # The margin of the loop itself, where its gain is 1.
    omega = np.geomspace(0.1 * w, 10.0 * w, 20_001)
    s = 1j * omega
    ideal = (3.0 * w * s**2 + 3.0 * w**2 * s + w**3) / s**3
    cross = np.argmin(np.abs(np.abs(ideal) - 1.0))
    lost = np.arctan(lag * omega[cross]) + delay * omega[cross]
    margin = np.pi + (np.unwrap(np.angle(ideal))[cross] - 2.0 * np.pi) % (-2.0 * np.pi) - lost
    assert np.rad2deg(margin) == pytest.approx(10.0, abs=1.5)


def test_a_small_displacement_of_the_seen_tip_moves_the_planned_tip_as_much():
    arm = hs.robots.octopus_arm(3).arm
    bent = jnp.asarray(np.random.default_rng(0).normal(scale=0.3, size=(3, 3))) * jnp.array([5.0, 5.0, 0.1])
    sight = tip_correction(arm, bent, 1)
    shift = 1e-6 * jnp.array([1.0, -2.0, 0.5])
    before, after = (kinematics.tip_pose(arm, q).position for q in (bent, bent + sight.shape(shift)))
    np.testing.assert_allclose(sight.target, before, rtol=0, atol=1e-15)
    # To first order: what is left is of the order of the square.
    np.testing.assert_allclose(after - before, shift, rtol=0, atol=1e-9)
    # Before the course is over nothing is learned; after it the error fades.
    seen = before - shift
    np.testing.assert_array_equal(sight.moved(jnp.zeros(3), seen, 1, 0.1), jnp.zeros(3))
    np.testing.assert_allclose(sight.moved(jnp.zeros(3), seen, 101, 0.01), 0.012 * shift, rtol=1e-9, atol=0)
