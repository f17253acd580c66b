"""The octopus arm throws: how far is counted, and that it does so with muscles of wrong gains."""

import numpy as np
import pytest

from hydrostat.scenarios.arm_throw import Flight

TIME = np.arange(0.0, 1.0, 0.0025)


def path(release, level=0.8, rise=0.5):
    """A load that is carried from the ground by 0.1 m within a time [s], and flies on without drag."""
    carried, flown = np.clip(TIME / release, 0.0, 1.0), np.maximum(TIME - release, 0.0)
    along = 0.1 * carried + level * flown
    height = 0.05 * carried + rise * flown - 0.5 * 4.0 * flown**2
    return np.stack([0.6 * along, -0.8 * along, np.maximum(height, 0.0)], -1)


@pytest.mark.parametrize("release", [0.2, 0.35])
def test_a_range_counts_from_where_the_load_is_let_go_to_where_it_is_down(release):
    flight = Flight.of(path(release), TIME, release)
    # Down to 2 mm above the ground, which a row finds within its own length.
    seconds = (0.5 + np.sqrt(0.25 + 2.0 * 4.0 * 0.048)) / 4.0
    assert flight.landed
    assert TIME[flight.row] == pytest.approx(release)
    assert TIME[flight.lands] - release == pytest.approx(seconds, abs=0.0025)
    assert flight.range == pytest.approx(0.8 * seconds, abs=0.8 * 0.0025)


def test_what_slides_on_after_it_is_down_or_was_carried_before_does_not_count():
    ball = path(0.2)
    first = Flight.of(ball, TIME, 0.2)
    ball[first.lands + 1 :, :2] += 1.0
    ball[: first.row, :2] -= 1.0
    assert Flight.of(ball, TIME, 0.2) == first


def test_a_load_that_is_not_down_yet_has_not_landed():
    flight = Flight.of(path(0.2)[:120], TIME[:120], 0.2)
    assert not flight.landed
    assert flight.lands == 119


def test_a_load_that_is_never_let_go_does_not_fly():
    assert Flight.of(path(0.2), TIME, 1e3).range == 0.0


def test_a_load_is_taken_from_the_ground_and_thrown(run):
    metrics = run("arm-throw")
    assert metrics["attached"]
    assert metrics["landed"]
    assert metrics["release_speed_m_s"] >= 0.2
    # From where it is let go to where it lands; it had been carried before.
    assert 0.2 <= metrics["throw_range_m"] < metrics["distance_from_start_m"]
    assert metrics["highest_m"] > 0.05
    assert metrics["energy_balance_error"] <= 1e-3


def test_throws_differ_by_the_gains_of_muscles_and_the_first_is_that_of_a_single_one(run):
    noisy = {"load_density": 2000.0, "muscle_noise_percent": 10.0, "seconds": 1.0}
    one, two = run("arm-throw", seed=9, **noisy), run("arm-throw", seed=9, throws=2, **noisy)
    assert two["throw_range_m"] == pytest.approx(one["throw_range_m"], rel=1e-9)
    assert two["throw_range_min_m"] < two["throw_range_median_m"] < two["throw_range_max_m"]
    assert two["landed"]
    assert two["thrown_rate"] == 0.5 * sum(two[f"throw_range_{which}_m"] >= 0.2 for which in ("min", "max"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "rate"), [(1100.0, 0.9), (1250.0, 1.0), (1500.0, 1.0), (1750.0, 0.9), (2000.0, 0.9)]
)
def test_loads_are_thrown_by_muscles_of_wrong_gains(run, density, rate):
    # Draws that no search has seen; one of twenty falls short at some densities.
    metrics = run("arm-throw", seed=60, throws=20, load_density=density, muscle_noise_percent=10.0, seconds=2.0)
    assert metrics["thrown_rate"] >= rate
    assert metrics["throw_range_median_m"] >= 0.21
    assert metrics["landed"]


@pytest.mark.slow
def test_without_suckers_nothing_is_thrown(run):
    metrics = run("arm-throw", suckers=False)
    assert not metrics["attached"]
    assert metrics["throw_range_m"] == 0.0
