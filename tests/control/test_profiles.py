"""Time laws from rest to rest: they arrive, and they keep their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.control.profiles import scurve, trapezoid

limits = st.floats(0.01, 100.0)


@given(limits, limits)
def test_trapezoid_arrives_within_its_limits(speed, acceleration):
    check(trapezoid(speed, acceleration), [speed, acceleration])


@given(limits, limits, limits)
def test_scurve_arrives_within_its_limits(speed, acceleration, jerk):
    check(scurve(speed, acceleration, jerk), [speed, acceleration, jerk])


def check(profile, bounds):
    times = np.linspace(0.0, profile.duration, 2001)
    assert profile(np.array([0.0, profile.duration])) == pytest.approx([0.0, 1.0], abs=1e-12)
    for order, bound in enumerate(bounds, 1):
        # Phase boundaries belong to one side; the bound holds on both.
        assert np.max(np.abs(profile(times, order))) <= bound * (1 + 1e-9)
    assert np.all(np.diff(profile(times)) >= -1e-12)
    # From rest to rest: the speed vanishes at both ends; an S-curve's acceleration does as well.
    assert profile(np.array([0.0, profile.duration]), 1) == pytest.approx([0.0, 0.0], abs=1e-9 * bounds[0])


@pytest.mark.parametrize(
    ("bounds", "duration"),
    [
        ((1.0, 1e9), 1.0),  # no inertia: distance over speed
        ((1e9, 4.0), 1.0),  # no speed limit: 2 sqrt(distance / acceleration)
        ((0.5, 2.0), 2.25),  # distance / speed + speed / acceleration
    ],
)
def test_trapezoid_takes_the_least_time(bounds, duration):
    assert trapezoid(*bounds).duration == pytest.approx(duration, rel=1e-6)


def test_scurve_takes_the_least_time():
    # Jerk alone limits: four ramps of t with distance 2 j t^3 = 1.
    assert scurve(1e9, 1e9, 32.0).duration == pytest.approx(4.0 * (1.0 / 64.0) ** (1.0 / 3.0))
    # All limits are met: distance / speed + speed / acceleration + acceleration / jerk.
    assert scurve(0.5, 2.0, 40.0).duration == pytest.approx(2.0 + 0.25 + 0.05)


def test_integral_of_the_speed_is_the_way():
    profile = scurve(0.7, 1.3, 9.0)
    times = np.linspace(0.0, profile.duration, 20001)
    assert np.trapezoid(profile(times, 1), times) == pytest.approx(1.0, abs=1e-7)


def test_stretching_scales_every_derivative():
    profile = scurve(0.7, 1.3, 9.0)
    slow = profile.stretched(2.0 * profile.duration)
    times = np.linspace(0.0, profile.duration, 50)[1:-1] + 1e-3
    for order in range(4):
        assert slow(2.0 * times, order) == pytest.approx(profile(times, order) / 2.0**order, abs=1e-12)
