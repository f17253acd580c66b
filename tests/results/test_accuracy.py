"""Single numbers made of results: errors, orders, frequencies, changes of energy."""

import numpy as np
import pytest

from hydrostat.results import accuracy


def test_rms_and_percent():
    assert accuracy.rms([3.0, -4.0]) == pytest.approx(np.sqrt(12.5))
    assert accuracy.percent(1.0, 4.0) == 25.0
    assert accuracy.percent(1.0, 0.0) is None
    assert accuracy.percent(1.0, -1e-10, smallest=1e-9) is None


@pytest.mark.parametrize("order", [1.0, 2.0, 4.0])
def test_the_order_of_errors_that_fall_with_a_power(order):
    sizes = np.array([2, 4, 8, 16])
    assert accuracy.convergence_order(sizes, 3.0 * sizes**-order) == pytest.approx(order)


def test_there_is_no_order_of_a_single_size_nor_of_rounding():
    assert accuracy.convergence_order([2], [0.1]) is None
    assert accuracy.convergence_order([2, 4], [0.0, 0.0]) is None
    assert accuracy.convergence_order([2, 4], [1e-3, 1e-12], rounding=1e-9) is None


def test_the_frequency_of_a_vibration_from_its_crossings():
    time = np.linspace(0.0, 3.0, 3001)
    # Linear interpolation between rows: wrong by (w dt)^2 / 12 of a period at most.
    assert accuracy.crossing_frequency(time, np.sin(2.0 * np.pi * 1.7 * time + 0.3)) == pytest.approx(1.7, rel=1e-5)
    assert accuracy.crossing_frequency(time, np.sin(2.0 * np.pi * 0.2 * time)) is None


def test_the_angle_of_a_turning_point_has_no_jumps():
    angle = np.linspace(0.0, -6.0 * np.pi, 200)
    found = accuracy.polar_angle(np.stack([np.cos(angle), np.sin(angle)], -1))
    np.testing.assert_allclose(found, angle, atol=1e-12)


def test_change_of_energy_is_over_the_largest_kinetic_energy():
    energies = np.array([[0.0, 5.0, 1.0], [4.0, 2.0, 0.2], [1.0, 4.0, 0.8]])
    np.testing.assert_allclose(accuracy.energy_change(energies), [0.0, 0.05, -0.05], atol=1e-15)


def test_deviation_of_a_path_sampled_otherwise():
    fine, coarse = np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 11)
    line = lambda t: np.outer(t, [1.0, 2.0, -1.0])  # noqa: E731
    assert accuracy.path_deviation(coarse, line(coarse) + np.array([0.0, 0.3, 0.4]), fine, line(fine)) == pytest.approx(
        0.5
    )


def test_the_largest_difference_of_two_trees():
    one, other = (np.zeros(3), {"a": np.ones(2)}), (np.array([0.0, -0.2, 0.1]), {"a": np.array([1.0, 1.1])})
    assert accuracy.largest_difference(one, other) == pytest.approx(0.2)
