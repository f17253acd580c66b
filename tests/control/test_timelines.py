"""Controllers by the clock: ramps, and timelines with even and uneven times."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat import Control
from hydrostat.control import Ramp, Timeline
from hydrostat.errors import InputError

TABLE = np.array([[0.0, 1.0], [2.0, 3.0], [6.0, 3.0]])


@pytest.mark.parametrize("times", [(0.0, 1.0, 2.0), (0.0, 0.5, 2.0), (-1.0, 0.0, 1.0)])
def test_a_timeline_is_straight_between_its_times_and_held_outside(times):
    line = Timeline(times, Control(tension=TABLE), Control(load=[[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))
    for time in (*np.linspace(times[0] - 1.0, times[-1] + 1.0, 31), *times):
        control = line.at(jnp.asarray(time))
        expected = [np.interp(time, times, column) for column in TABLE.T]
        np.testing.assert_allclose(control.tension, expected, atol=1e-10)
        assert control.load.shape == (1, 6)


def test_within_steps_it_is_a_function_of_time():
    line = Timeline((0.0, 1.0), Control(length=TABLE[:2]), continuous=True)
    function, memory = line(0.0, None, ())
    assert memory == ()
    np.testing.assert_allclose(function(0.25).length, [0.5, 1.5])


def test_a_ramp_rises_with_minimum_jerk_and_stays():
    ramp = Ramp(Control(tension=[2.0, 4.0]), 2.0)
    shares = [float(ramp(jnp.asarray(t), None, ())[0].tension[0]) / 2.0 for t in (0.0, 1.0, 2.0, 3.0)]
    np.testing.assert_allclose(shares, [0.0, 0.5, 1.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ((0.0, 1.0), "`control` must have 2 rows, one for each time; got [3]"),
        ((0.0, 2.0, 1.0), "`times` must increase from each to the next"),
        (((0.0, 1.0),), "`times` must be a list of numbers"),
    ],
)
def test_tables_that_do_not_fit_are_refused(times, message):
    with pytest.raises(InputError) as error:
        Timeline(times, Control(tension=TABLE))
    assert message in str(error.value)
