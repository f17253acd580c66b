"""Stepper motors: pulses and the wire they draw."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import Stepper

STEP = 1.25e-3 / 5000


@pytest.fixture
def motor():
    return Stepper(step=STEP, max_speed=0.025, max_acceleration=0.1, max_jerk=1.0, max_pulse_rate=200e3)


def test_a_step_is_a_quarter_of_a_micrometre(motor):
    # 5000 steps per turn on a screw of 1.25 mm: 0.00025 mm.
    assert motor.step == pytest.approx(0.25e-6)
    assert int(motor.pulses(jnp.asarray(1.25e-3))) == 5000


def test_pulses_are_the_nearest_and_come_back_within_half_a_step(motor):
    travel = np.random.default_rng(0).uniform(-0.1, 0.1, 1000)
    pulses = motor.pulses(jnp.asarray(travel))
    assert jnp.issubdtype(pulses.dtype, jnp.integer)
    error = np.asarray(motor.travel(pulses)) - travel
    # Half a step, and the rounding of a length of 0.1 m.
    assert np.max(np.abs(error)) <= STEP / 2 + 1e-16
    assert np.max(np.abs(error)) > 0.4 * STEP
    np.testing.assert_array_equal(np.sign(pulses)[np.abs(travel) > STEP], np.sign(travel)[np.abs(travel) > STEP])


def test_a_long_way_does_not_overflow(motor):
    # 1 km is 4e9 pulses, more than 32 bits hold.
    assert int(motor.pulses(jnp.asarray(1000.0))) == 4_000_000_000


@pytest.mark.parametrize("rate, limit", [(200e3, 0.025), (40e3, 0.01)])
def test_speed_is_limited_by_motor_and_by_pulses(rate, limit):
    motor = Stepper(step=STEP, max_speed=0.025, max_acceleration=0.1, max_jerk=1.0, max_pulse_rate=rate)
    assert motor.speed_limit == pytest.approx(limit)
