"""Sensors that make no sense are refused in one sentence that names the argument."""

import jax
import jax.numpy as jnp
import pytest
from sensed_robots import row, system_of, truths_of

from hydrostat.errors import InputError
from hydrostat.sensing import Sensor, Sensors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": -0.1}, "`noise` must be a finite number at least 0; got -0.1"),
        ({"noise": "loud"}, "`noise` must be a number at least 0; got 'loud'"),
        ({"noise": jnp.asarray(-1.0)}, "`noise` must be a finite number at least 0; got -1.0"),
        ({"noise": jnp.zeros(3)}, r"`noise` must be one number; got an array of shape \(3,\)"),
        ({"bias": float("nan")}, "`bias` must be a finite number at least 0; got nan"),
        ({"rate": 0.0}, "`rate` must be a finite number above 0; got 0.0"),
        ({"rate": -2}, "`rate` must be a finite number above 0; got -2"),
        ({"delay": -0.1}, "`delay` must be a finite number at least 0; got -0.1"),
        ({"dropout": 1.5}, "`dropout` must be a finite number at least 0 and at most 1; got 1.5"),
        ({"turn_noise": -1.0}, "`turn_noise` must be"),
        ({"turn_bias": -1.0}, "`turn_bias` must be"),
        ({"rate_noise": -1.0}, "`rate_noise` must be"),
        ({"turn_rate_noise": -1.0}, "`turn_rate_noise` must be"),
        ({"offset": "left"}, "`offset` must be a number or an array of numbers; got 'left'"),
        ({"offset": (0.0, float("inf"))}, r"`offset` must be finite; got \(0.0, inf\)"),
    ],
)
def test_bad_errors_are_refused(options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        Sensor(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"touch": Sensor(bias=0.1)}, "`bias` has no meaning for `touch`; got 0.1"),
        ({"touch": Sensor(noise=1.5)}, "`touch.noise` must be a finite number at least 0 and at most 1; got 1.5"),
        ({"vision": Sensor(turn_noise=0.1)}, "`turn_noise` has no meaning for `vision`; got 0.1"),
        ({"tip": Sensor(rate_noise=0.1)}, "`rate_noise` has no meaning for `tip`; got 0.1"),
        ({"proprioception": Sensor(turn_bias=0.1)}, "`turn_bias` has no meaning for `proprioception`; got 0.1"),
        ({"tension": 0.1}, "`tension` must be a Sensor; got 0.1"),
        ({"seed": 0.5}, "`seed` must be a whole number; got 0.5"),
        ({"seed": True}, "`seed` must be a whole number; got True"),
        ({"seed": None}, "`seed` must be a whole number; got None"),
        ({"seed": "x"}, "`seed` must be a whole number; got 'x'"),
    ],
)
def test_what_a_sense_cannot_have_is_refused(options, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Sensors(**options)


def test_what_does_not_fit_the_system_is_refused():
    system = system_of()
    truth = row(truths_of(system, 1), 0)
    with pytest.raises(InputError, match=r"`pose.offset` must be a number or an array that broadcasts to \(3,\)"):
        Sensors(pose=Sensor(offset=(1.0, 2.0))).init(system, truth, 0.01)
    with pytest.raises(InputError, match=r"`delay` must be at most 100000 samples long; got 2000 s, 200000 samples"):
        Sensors(pose=Sensor(delay=2000.0)).init(system, truth, 0.01)
    late = Sensors(pose=Sensor(delay=0.1))
    with pytest.raises(InputError, match=r"`dt` must be a finite number above 0; got 0.0"):
        late.init(system, truth, 0.0)
    with pytest.raises(InputError, match="`dt` of sensors must be known before anything is compiled"):
        jax.jit(lambda dt: late.init(system, truth, dt))(0.01)
