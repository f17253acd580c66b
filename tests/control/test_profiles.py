"""Time laws from rest to rest: they arrive, and they keep their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.control.profiles import Profile, scurve, trapezoid
from hydrostat.errors import InputError

limits = st.floats(0.01, 100.0)


@given(limits, limits)
def test_trapezoid_arrives_within_its_limits(speed, acceleration):
    check(trapezoid(speed, acceleration), [speed, acceleration])


@given(limits, limits, limits)
def test_scurve_arrives_within_its_limits(speed, acceleration, jerk):
    check(scurve(speed, acceleration, jerk), [speed, acceleration, jerk])


@given(limits, limits, limits)
def test_ramps_may_differ(speed, acceleration, deceleration):
    profile = trapezoid(speed, acceleration, deceleration)
    check(profile, [speed, max(acceleration, deceleration)])
    times = np.linspace(0.0, profile.duration, 2001)
    assert np.max(profile(times, 2)) <= acceleration * (1 + 1e-9)
    assert np.min(profile(times, 2)) >= -deceleration * (1 + 1e-9)
    # The least time: way over speed and half of each ramp; where the speed is not reached, sqrt(2 (1/a + 1/d)).
    peak = np.sqrt(2.0 / (1.0 / acceleration + 1.0 / deceleration))
    top = min(speed, peak)
    least = 1.0 / top + 0.5 * top * (1.0 / acceleration + 1.0 / deceleration)
    assert profile.duration == pytest.approx(least, rel=1e-9)


@given(limits, limits, limits, limits)
def test_ramps_of_an_scurve_may_differ(speed, acceleration, deceleration, jerk):
    profile = scurve(speed, acceleration, jerk, deceleration)
    check(profile, [speed, max(acceleration, deceleration), jerk])
    times = np.linspace(0.0, profile.duration, 2001)
    assert np.min(profile(times, 2)) >= -deceleration * (1 + 1e-9)


@given(limits, limits, limits)
def test_equal_ramps_are_those_of_one_limit(speed, acceleration, jerk):
    times = np.linspace(0.0, 1.0, 11)
    pairs = [
        (trapezoid(speed, acceleration), trapezoid(speed, acceleration, acceleration)),
        (scurve(speed, acceleration, jerk), scurve(speed, acceleration, jerk, acceleration)),
    ]
    for one, other in pairs:
        assert other.duration == pytest.approx(one.duration, rel=1e-6)
        assert other(times * one.duration) == pytest.approx(one(times * one.duration), abs=1e-6)


@pytest.mark.parametrize("jerk", [None, 8.0])
@pytest.mark.parametrize("factor", [0.25, 0.6, 1.5, 10.0])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5, 0.6])
def test_speed_changes_on_the_fly(share, factor, jerk):
    acceleration, deceleration, cruise = 1.0, 0.5, 0.2
    slow = trapezoid(cruise, acceleration, deceleration)
    if jerk is not None:
        slow = scurve(cruise, acceleration, jerk, deceleration)
    time = share * slow.duration
    profile = slow.with_speed(time, factor * cruise, acceleration, deceleration, jerk)
    times = np.linspace(0.0, profile.duration, 20001)
    # The past stays, the end is reached at rest, and nothing jumps that must not.
    before = times <= time
    assert profile(times[before]) == pytest.approx(slow(times[before]), abs=1e-12)
    assert profile(np.array([profile.duration])) == pytest.approx([1.0], abs=1e-9)
    assert profile(np.array([profile.duration]), 1) == pytest.approx([0.0], abs=1e-9)
    speeds, accelerations = profile(times, 1), profile(times, 2)
    assert np.max(np.abs(np.diff(speeds))) <= acceleration * times[1] * (1 + 1e-9)
    assert np.max(accelerations) <= acceleration * (1 + 1e-9)
    assert np.min(accelerations) >= -deceleration * (1 + 1e-9)
    if jerk is not None:
        assert np.max(np.abs(np.diff(accelerations))) <= jerk * times[1] * (1 + 1e-6)
    if factor < 2.0 and 0.0 < share <= 0.3:
        # There is way enough to come to the new speed, and it is kept.
        late = speeds[times > time]
        assert np.sum(np.isclose(late, factor * cruise, rtol=1e-9)) > 100


def test_a_move_that_comes_to_rest_keeps_its_speed():
    profile = trapezoid(0.5, 2.0)
    with pytest.raises(InputError, match=r"coming to rest at 2.2 s: its speed cannot be changed any more"):
        profile.with_speed(2.2, 0.7, 2.0, 1.9)
    with pytest.raises(InputError, match=r"from 0 to 2.25 s of this move; got 3 s"):
        profile.with_speed(3.0, 0.7, 2.0)


def test_constant_rate_has_the_ramps_that_were_asked_for():
    profile = Profile.constant_rate(10.0, 1.0, 3.0)
    assert profile(np.array([0.0, 10.0])) == pytest.approx([0.0, 1.0])
    assert profile(np.array([1.0, 4.0, 7.0]), 1) == pytest.approx([1.0 / 8.0] * 3)
    assert profile(np.array([0.5, 8.5]), 1) == pytest.approx([1.0 / 16.0] * 2)
    assert Profile.constant_rate(4.0)(np.array([0.0, 1.0, 3.0])) == pytest.approx([0.0, 0.25, 0.75])
    with pytest.raises(InputError, match=r"together at most the 2 s of the move; got 1 s and 1.5 s"):
        Profile.constant_rate(2.0, 1.0, 1.5)


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
