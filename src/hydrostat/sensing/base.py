"""One sensor: its errors, its sampling, and its delayed samples."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from hydrostat.errors import InputError, number, shown

MOST_SAMPLES = 100_000
"""The largest number of delayed samples."""
# Where a sampling time lies in the middle of two steps the earlier one is taken, whatever the rounding of the time.
_TIE = 1e-6
# The time of samples from before the run, earlier than any other but finite, so that there always is a latest one.
_LONG_AGO = -1e300


class Sensor(eqx.Module):
    """A sensor and its errors; perfect by default.

    A sample is the truth plus the bias plus noise; the noise belongs to the sample and stays while that is held.
    The amounts may be traced arrays, so that one can map over them or differentiate by them; a plain 0 costs nothing.
    """

    noise: Any
    """Standard deviation of the white noise of a sample, in the unit of the sense; for touch, the probability that a
    segment is read wrongly."""
    bias: Any
    """Standard deviation of the constant error that is drawn once for a run, in the same unit."""
    dropout: Any
    """The probability that a sample is lost and the last one stays."""
    offset: Any
    """A known constant error, a number or an array that broadcasts to the quantity; it adds to the drawn one."""
    rate_noise: Any
    """Noise of the rates of the quantity, per second: they come from sensors of their own, as a gyroscope, and are not
    differences of noisy samples."""
    turn_noise: Any
    """Noise of the attitude of a pose, as that of a rotation vector in its own axes [rad]."""
    turn_bias: Any
    """Standard deviation of the constant error of the attitude of a pose that is drawn once for a run [rad]."""
    turn_rate_noise: Any
    """Noise of the angular velocity [rad/s]."""
    rate: float | None = eqx.field(static=True)
    """Sampling rate [Hz]."""
    delay: float = eqx.field(static=True)
    """Delay of a sample [s]."""

    def __init__(
        self,
        noise=0.0,
        bias=0.0,
        rate: float | None = None,
        delay: float = 0.0,
        dropout=0.0,
        *,
        offset=0.0,
        rate_noise=0.0,
        turn_noise=0.0,
        turn_bias=0.0,
        turn_rate_noise=0.0,
    ):
        """**Arguments:** `noise`, `bias`: standard deviations of the white noise of each sample and of the error that
        is drawn once for a run, in the unit of the sense; `rate`: how often it samples [Hz], at the multiples of
        1/rate, each at the step next to it; None, or a rate above that of the steps: at every step; `delay`: how old a
        sample is when it arrives [s], rounded to whole steps; until the first one arrives the one of the start is
        told; `dropout`: the probability that a sample is lost, all of the sense at once, and the last one stays;
        `offset`: a known constant error; `rate_noise`: of the rates of the quantity; `turn_noise`, `turn_bias` [rad],
        `turn_rate_noise` [rad/s]: of attitude and angular velocity, for poses.
        """
        self.noise = _amount("noise", noise)
        self.bias = _amount("bias", bias)
        self.dropout = _amount("dropout", dropout, most=1.0)
        self.offset = _offset(offset)
        self.rate_noise = _amount("rate_noise", rate_noise)
        self.turn_noise = _amount("turn_noise", turn_noise)
        self.turn_bias = _amount("turn_bias", turn_bias)
        self.turn_rate_noise = _amount("turn_rate_noise", turn_rate_noise)
        self.rate = None if rate is None else number("rate", rate, above=0.0)
        self.delay = number("delay", delay, least=0.0)

    @property
    def perfect(self) -> bool:
        """Whether the sensor is perfect."""
        amounts = (self.noise, self.bias, self.offset, self.rate_noise, self.turn_noise, self.turn_bias)
        return all(map(zero, (*amounts, self.turn_rate_noise))) and not self.holds

    @property
    def holds(self) -> bool:
        """Whether the observed sample may be older than the present."""
        return self.rate is not None or self.delay > 0.0 or not zero(self.dropout)


def zero(amount: Any) -> bool:
    """Whether an amount is known to be nothing before anything is compiled; arrays of JAX never are."""
    return not isinstance(amount, jax.Array) and not np.any(amount)


def _amount(name: str, value: Any, most: float | None = None) -> Any:
    """A standard deviation or a probability: a float, or an array of JAX as it is."""
    if isinstance(value, jax.Array):
        if value.shape != ():
            raise InputError(f"`{name}` must be one number; got an array of shape {value.shape}")
        if not isinstance(value, Tracer):
            number(name, float(value), least=0.0, most=most)
        return value
    return number(name, value, least=0.0, most=most)


def _offset(value: Any) -> Any:
    """A known error: a float, or an array."""
    if isinstance(value, Tracer):
        return value
    try:
        numbers = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"`offset` must be a number or an array of numbers; got {shown(value)}") from None
    if not np.all(np.isfinite(numbers)):
        raise InputError(f"`offset` must be finite; got {shown(value)}")
    return value if isinstance(value, jax.Array) else numbers


class Samples(eqx.Module):
    """The last sample that has arrived and those that are delayed, in a ring."""

    values: Any
    """The samples, with the place in the ring as leading axis."""
    times: Float[Array, " m"]
    """Time at which each sample was taken [s]."""
    place: Int[Array, ""]
    """Place of the next sample."""
    tick: Int[Array, ""]
    """The number of the last sampling time that has passed."""
    dt: float = eqx.field(static=True)
    """Time between calls [s]."""


def first_samples(sensor: Sensor, value: Any, dt: float) -> Samples:
    """The samples at the start: all the same.

    **Arguments:** `dt`: the time between calls [s].
    """
    # In flight is what was sampled in the steps of the delay, one more where a run starts between sampling times; and
    # one has arrived.
    steps = round(sensor.delay / dt)
    flying = steps if _every_step(sensor, dt) else min(steps, math.ceil(steps * dt * (sensor.rate or 0.0)) + 1)
    if flying > MOST_SAMPLES:
        raise InputError(
            f"`delay` must be at most {MOST_SAMPLES} samples long; got {sensor.delay:g} s, {flying} samples"
        )
    ring = jax.tree.map(lambda y: jnp.repeat(y[None], flying + 1, 0), value)
    start = jnp.asarray(np.iinfo(np.int64).min, int)
    return Samples(ring, jnp.full(flying + 1, _LONG_AGO), jnp.asarray(0, int), start, dt)


def sampled(sensor: Sensor, samples: Samples, time, value: Any, lost: Any) -> tuple[Any, Samples]:
    """The sample that arrives at a time [s], and the ring with the present sample, if one is taken.

    **Arguments:** `value`: the sample that would be taken now; `lost`: whether it would be lost.
    """
    dt = samples.dt
    # A sampling time belongs to the step that is next to it.
    tick = samples.tick
    due = jnp.asarray(True)
    if not _every_step(sensor, dt):
        tick = jnp.floor((time + 0.5 * dt) * sensor.rate + _TIE).astype(int)
        due = tick > samples.tick
    kept = jnp.logical_and(due, jnp.logical_not(lost))
    place = samples.place
    ring = jax.tree.map(lambda y, new: y.at[place].set(jnp.where(kept, new, y[place])), samples.values, value)
    times = samples.times.at[place].set(jnp.where(kept, time, samples.times[place]))
    # The youngest of those that are as old as the delay, within half a step.
    until = time - (round(sensor.delay / dt) - 0.5) * dt
    latest = jnp.argmax(jnp.where(times <= until, times, -jnp.inf))
    arrived = jax.tree.map(lambda y: y[latest], ring)
    place = jnp.where(kept, (place + 1) % times.shape[0], place)
    return arrived, Samples(ring, times, place, jnp.maximum(tick, samples.tick), dt)


def _every_step(sensor: Sensor, dt: float) -> bool:
    """Whether there is a sample at every step."""
    return sensor.rate is None or sensor.rate * dt >= 1.0 - _TIE
