"""Measures of motions, on curves whose values are known."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.results import measures
from hydrostat.results.measures import momentum_error
from hydrostat.stepping import SDIRK2, KeepMomentum

TIMES = np.linspace(0.0, 2.0, 201)


def test_a_moving_average_keeps_lines_and_removes_whole_periods():
    line = 3.0 * TIMES[:, None]
    np.testing.assert_allclose(measures.moving_average(line, TIMES, 0.1)[10:-10], line[10:-10], atol=1e-12)
    wave = np.sin(2.0 * np.pi * TIMES / 0.11)  # a window of 11 rows is one period
    assert np.abs(measures.moving_average(wave, TIMES, 0.11)[10:-10]).max() < 1e-12


def test_speeds_of_even_motion():
    points = np.stack([3.0 * TIMES, 4.0 * TIMES, 0.0 * TIMES], -1)
    np.testing.assert_allclose(measures.speed(points, TIMES), 5.0)
    np.testing.assert_allclose(measures.speed_over(points, TIMES, 0.075), 5.0)


@pytest.mark.parametrize(
    ("flags", "row"), [([0, 1, 0, 1, 1], 3), ([1, 1], 0), ([1, 0], None), ([0, 0, 1], 2)]
)  # fmt: skip
def test_the_row_from_which_a_condition_holds(flags, row):
    assert measures.stays_from(np.array(flags, bool)) == row


def test_directions_and_points_along_a_polygon():
    np.testing.assert_allclose(measures.direction(90.0, 90.0), [0.0, 1.0, 0.0], atol=1e-15)
    corners = np.array([[[0.0, 0, 0], [1.0, 0, 0], [1.0, 2.0, 0]]])
    found = measures.points_along(np.repeat(corners, 3, 0), np.array([0.25, 0.75, 1.0]))
    np.testing.assert_allclose(found, [[0.5, 0, 0], [1.0, 1.0, 0], [1.0, 2.0, 0]], atol=1e-8)
    assert measures.rms(np.array([[[3.0, 4.0]], [[0.0, 5.0]]])) == pytest.approx([5.0])


def test_momentum_changes_by_the_impulse_of_water_and_weight():
    """Beating arms in water: what no impulse explains is of higher order, since the stages are found again but for
    the correction of the twist; a stepper that does not keep momentum leaves a thousand times as much."""
    system = hs.System(hs.robots.octopus(2, 2), [hs.Water()])
    rest = system.rest()
    rates = 5.0 * np.random.default_rng(3).normal(size=rest.v.shape)
    start = rest._replace(v=jnp.asarray(rates), base_twist=jnp.array([0.3, -0.2, 0.5, 0.1, -0.06, 0.04]))
    kept, bare = (
        momentum_error(hs.simulate(system, None, 0.05, 5e-3, state=start, stepper=stepper))
        for stepper in (KeepMomentum(SDIRK2()), SDIRK2())
    )
    assert kept <= 1e-3 * bare
    assert 1e-6 < bare < 1e-4
    arm = hs.System(hs.robots.octopus_arm(3))
    with pytest.raises(InputError, match="free base"):
        momentum_error(hs.Trajectory.of_states(arm, arm.rest()))
