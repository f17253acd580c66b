"""The octopus arm's motions: static lengths, constant volume, bends, twist, and reaching with its controls."""

import numpy as np
import pytest
from scipy.optimize import brentq

from hydrostat.errors import InputError
from hydrostat.robots.specs.octopus_arm import BULK_MODULUS

E, STRESS, STIFFNESS = 10e3, 80e3, 132e3


def passive(stretch):
    return E / 3.0 * (stretch - stretch**-2)


@pytest.mark.slow
def test_elongation_and_shortening_reach_the_static_lengths(run):
    longer, shorter = run("arm-elongate", activations=[0.1, 0.4]), run("arm-shorten", activations=[0.1, 1.0])
    for activation, ratio in zip(longer["activation"], longer["length_ratio"], strict=True):
        root = brentq(lambda s, a=activation: passive(s) - a * STRESS / 2.0 / s, 1.0, 4.0)
        assert ratio == pytest.approx(root, rel=0.01)
    for activation, ratio in zip(shorter["activation"], shorter["length_ratio"], strict=True):
        root = brentq(lambda s, a=activation: passive(s) + a * (STRESS + STIFFNESS * (s - 1.0)), 0.4, 1.0)
        assert ratio == pytest.approx(root, rel=0.01)
    assert max(longer["length_ratio"]) >= 1.7
    assert min(shorter["length_ratio"]) <= 0.65
    assert max(longer["volume_error_max"], shorter["volume_error_max"]) <= 1e-12


@pytest.mark.slow
def test_an_arm_that_elongates_too_far_at_once_buckles(run):
    metrics = run("arm-elongate", activations=[0.3, 0.4], added_mass=False)
    straight, buckled = metrics["tip_distance_mm"]
    # 470.0, 471.3 and 470.6 mm with 20, 40 and 80 segments: the rest to 486 mm is its sag.
    assert straight == pytest.approx(470.6, rel=0.01)
    assert buckled < 0.9 * 240.0 * metrics["length_ratio"][1]


@pytest.mark.slow
def test_a_pressure_keeps_the_volume_nearly_and_the_length_as_well(run):
    metrics = run("arm-elongate", activations=[0.1, 0.4], volume="pressure")
    for activation, ratio in zip(metrics["activation"], metrics["length_ratio"], strict=True):
        root = brentq(lambda s, a=activation: passive(s) - a * STRESS / 2.0 / s, 1.0, 4.0)
        assert ratio == pytest.approx(root, rel=0.01)
    # Radial muscles alone: along the arm pressure balances the tissue, P w^2 = E/3 (l - 1/l).
    long = metrics["length_ratio"][-1]
    pressure = E / 3.0 * (long - 1.0 / long) * long
    assert 1e3 * metrics["pressure_max_kpa"] == pytest.approx(pressure, rel=0.02)
    assert metrics["volume_error_max"] == pytest.approx(1e3 * metrics["pressure_max_kpa"] / BULK_MODULUS, rel=1e-6)


def test_a_bend_goes_where_it_is_told(run):
    metrics = run("arm-bend", activations=[0.05, 0.1], seconds=1.5)
    assert 60.0 < metrics["bend_deg"][0] < 100.0
    assert 110.0 < metrics["bend_deg"][1] < 160.0
    np.testing.assert_allclose(metrics["bend_azimuth_deg"], 0.0, atol=1.0)


def test_reaching_needs_the_wave(run):
    reach, slack = run("arm-reach"), run("arm-reach", wave=False)
    assert reach["bend_arrived"]
    assert reach["extension"] >= 0.9
    assert 0.8 <= reach["tip_arrival_s"] <= 1.6
    assert 0.2 <= reach["bend_speed_peak_m_s"] <= 0.6
    assert 0.3 <= reach["bend_speed_peak_time_fraction"] <= 0.65
    assert reach["minimum_jerk_correlation"] >= 0.8
    assert reach["energy_balance_error"] <= 1e-3
    assert not slack["bend_arrived"]
    assert slack["extension"] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("azimuth_deg", [0.0, 37.0, 90.0, 203.0])
@pytest.mark.parametrize("wave_seconds", [0.7, 1.0, 1.4, 2.0])
def test_a_planned_bend_travels_to_all_sides_at_all_speeds(run, azimuth_deg, wave_seconds):
    reach = run("arm-reach", azimuth_deg=azimuth_deg, wave_seconds=wave_seconds)
    assert reach["minimum_jerk_correlation"] >= 0.8
    assert reach["extension"] >= 0.9


@pytest.mark.slow
def test_a_planned_reach_ends_straight_in_a_current_and_with_muscles_of_wrong_gains(run):
    still, flow = run("arm-reach"), run("arm-reach", current_m_s=[0.0, 0.05, 0.0])
    first, other = (run("arm-reach", seed=seed, muscle_noise_percent=5.0) for seed in (0, 1))
    assert len({one["minimum_jerk_correlation"] for one in (still, flow, first, other)}) == 4
    assert min(one["extension"] for one in (still, flow, first, other)) >= 0.99
    assert abs(still["proximal_strain_max"]) <= 0.01  # the plan keeps the length


@pytest.mark.slow
def test_a_wave_of_stiffening_needs_drag(run):
    still = {"pattern": "stiffening", "added_mass": False}
    reach, empty = run("arm-reach", **still), run("arm-reach", drag=False, **still)
    assert reach["minimum_jerk_correlation"] >= 0.8
    assert empty["tip_speed_peak_m_s"] >= 2.0 * reach["tip_speed_peak_m_s"]


def test_bad_settings_are_refused_in_one_line(run):
    with pytest.raises(InputError, match="`first_segment` must be at most 20, the number of segments; got 25"):
        run("arm-bend", first_segment=25, last_segment=26)
    with pytest.raises(InputError, match="muscular arm"):
        run("arm-reach", robot="tentacle")
    with pytest.raises(InputError, match="without muscles"):
        run("rod-abrupt", robot="octopus_arm")


def paper_root(load):
    """The static length of a segment with the paper's muscles, over its own, under a load per E and volume."""
    return brentq(lambda l: l - 1.0 - 0.5 * (l**-0.5 - 1.0) * l**-1.5 - load(l), 0.05, 10.0)  # noqa: E741


def test_the_papers_muscles_hold_the_static_lengths_at_constant_volume(run):
    """Fig. 12: elongated by radial muscles, shortened by longitudinal ones; the volume stays."""
    metrics = run("arm-volume", muscle_law="paper", seconds=1.0, dt_ms=5.0)
    longer, shorter = metrics["length_ratio"]
    assert longer == pytest.approx(paper_root(lambda l: 0.5 * 0.2 * STRESS / E * l**-1.5), rel=0.01)  # noqa: E741
    assert shorter == pytest.approx(paper_root(lambda l: -0.1 * STRESS / E), rel=0.01)  # noqa: E741
    np.testing.assert_allclose(metrics["radius_ratio"], np.array([longer, shorter]) ** -0.5, rtol=1e-3)
    assert metrics["volume_error_max"] <= 1e-12
    assert metrics["energy_balance_error"] <= 1e-2


def test_muscles_that_tire_let_the_arm_go_once_too_few_are_left(run):
    """The command is above the share that lasts, A = r / (F + r + t F r) = 0.089; weight holds some of the bend."""
    fresh = run("arm-bend", activations=[0.2], seconds=3.0)
    tired = run("arm-bend", activations=[0.2], seconds=3.0, fatigue=True, fatigue_rate=10.0, recovery_rate=1.0)
    assert "fatigued_share_max" not in fresh
    assert tired["fatigued_share_max"][0] == pytest.approx(10.0 / (10.0 + 1.0 + 0.3), rel=0.02)
    assert tired["bend_deg"][0] < fresh["bend_deg"][0] - 10.0


def test_the_papers_muscles_are_refused_where_they_cannot_be(run):
    with pytest.raises(InputError, match="muscles of law `paper` need `oblique_deg` 0"):
        run("arm-twist", muscle_law="paper")
