"""Smooth schedules: values at rest before, between and after their changes, and tensions that follow them."""

import jax
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import ScheduledTension, SmoothSchedule
from hydrostat.errors import InputError

CHANGES = np.array([[70.0, 0.0], [-70.0, 6.0]])


@pytest.fixture
def schedule():
    return SmoothSchedule(starts=[1.0, 3.0], durations=[1.0, 0.5], changes=CHANGES)


def test_values_between_changes_are_their_sums(schedule):
    for time, value in ((0.0, [0.0, 0.0]), (2.5, CHANGES[0]), (10.0, CHANGES.sum(0))):
        np.testing.assert_allclose(schedule(time), value, atol=1e-12)
    np.testing.assert_allclose(schedule(1.5), 0.5 * CHANGES[0], atol=1e-12)


@pytest.mark.parametrize("time", [1.0, 2.0, 3.0, 3.5])
def test_changes_begin_and_end_at_rest_without_acceleration(schedule, time):
    speed = jax.jacfwd(schedule)
    np.testing.assert_allclose(speed(time), 0.0, atol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(speed)(time), 0.0, atol=1e-9)


def test_a_schedule_that_does_not_fit_together_is_refused():
    with pytest.raises(InputError, match="1 starts, 2 durations and changes of shape"):
        SmoothSchedule([0.0], [1.0, 1.0], [[1.0]])


def test_tensions_follow_within_steps(schedule):
    system = hs.System(hs.robots.finger())
    controller = ScheduledTension(schedule).attach(system, 1e-3)
    control, _ = controller(1.2, None, ())
    for time in (1.2, 1.7):
        np.testing.assert_array_equal(control(time).tension, schedule(time))


def test_tensions_for_another_number_of_tendons_are_refused():
    other = SmoothSchedule([0.0], [1.0], [[1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="tension"):
        ScheduledTension(other).attach(hs.System(hs.robots.finger()), 1e-3)
