"""All sensors of a robot: from the true observation to the one that a controller gets."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from hydrostat.errors import InputError, number, shown
from hydrostat.sensing import measurement, random_numbers
from hydrostat.sensing.base import Samples, Sensor, first_samples, sampled, zero
from hydrostat.sensing.observation import Observation
from hydrostat.system import System

FIELDS = {
    "proprioception": ("q", "v"),
    "touch": ("held", "taken"),
    "pose": ("pose", "twist"),
    "vision": ("objects",),
    "tip": ("tip",),
    "tension": ("tension",),
    "depth": ("depth",),
    "flow": ("flow",),
    "force": ("tip_force",),
}
"""The fields of an observation that each sense measures."""
_RATES = ("v", "twist")
_UNUSED = {
    "proprioception": ("turn_noise", "turn_bias", "turn_rate_noise"),
    "touch": ("bias", "offset", "rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
    "pose": (),
    "vision": ("rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
    "tip": ("rate_noise", "turn_rate_noise"),
    "tension": ("rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
    "depth": ("rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
    "flow": ("rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
    "force": ("rate_noise", "turn_noise", "turn_bias", "turn_rate_noise"),
}
"""The errors that a sense cannot have, and refuses."""


class SenseMemory(eqx.Module):
    """The memory of one imperfect sense; None where it needs nothing."""

    streams: tuple[Array, Array] | None
    """Streams of the sense's random numbers: of the noise, and of samples that are lost."""
    count: Int[Array, ""] | None
    """Number of observations so far."""
    bias: tuple
    """The constant error of each of its fields."""
    noise: tuple
    """The standard deviation of the noise of each of its fields; for touch the probability of a false reading."""
    samples: Samples | None


class SensorsMemory(NamedTuple):
    """The memories of all senses; None for those that are perfect."""

    proprioception: SenseMemory | None
    touch: SenseMemory | None
    pose: SenseMemory | None
    vision: SenseMemory | None
    tip: SenseMemory | None
    tension: SenseMemory | None
    depth: SenseMemory | None
    flow: SenseMemory | None
    force: SenseMemory | None


class Sensors(eqx.Module):
    """The sensors of a robot, each perfect by default.

        sensors = Sensors(pose=Sensor(noise=5e-3, rate=2.0, delay=0.2), seed=3)
        memory = sensors.init(system, truth, dt)
        observation, memory = sensors(time, truth, memory)

    The truth is what `observe` tells. Pure: through it go `jit`, `vmap`, `scan`; a seed gives the same errors always,
    and those of a sense do not depend on the other senses.
    """

    proprioception: Sensor
    """Proprioception of bends and lengths: errors are angles of a segment [rad], from end to end, and lengths over the
    rest length; `rate_noise` per second of the same."""
    touch: Sensor
    """Touch of the suckers: `noise` is the probability that a segment is read wrongly."""
    pose: Sensor
    """Pose of the body: position [m] in world axes and linear velocity [m/s] (`rate_noise`); attitude and angular
    velocity by `turn_noise`, `turn_bias` and `turn_rate_noise`."""
    vision: Sensor
    """Vision of free objects: position [m] in world axes."""
    tip: Sensor
    """Pose of the tips: position [m] in world axes; attitude by `turn_noise` and `turn_bias`."""
    tension: Sensor
    """Tension of the tendons [N]; the measured tension of a slack tendon may be negative."""
    depth: Sensor
    """Depth of the body [m], by the pressure of the water."""
    flow: Sensor
    """Flow past the body [m/s], as of an acoustic current meter."""
    force: Sensor | None
    """Force of contact on the tips [N]; None, the default, where there are no force sensors."""
    seed: Any
    """Seed of all random numbers."""

    def __init__(
        self,
        proprioception: Sensor | None = None,
        touch: Sensor | None = None,
        pose: Sensor | None = None,
        vision: Sensor | None = None,
        tip: Sensor | None = None,
        tension: Sensor | None = None,
        depth: Sensor | None = None,
        flow: Sensor | None = None,
        force: Sensor | None = None,
        seed: Any = 0,
    ):
        sensors = {
            "proprioception": proprioception, "touch": touch, "pose": pose, "vision": vision, "tip": tip,
            "tension": tension, "depth": depth, "flow": flow,
        }  # fmt: skip
        for name, sensor in sensors.items():
            setattr(self, name, _checked(name, Sensor() if sensor is None else sensor))
        self.force = None if force is None else _checked("force", force)
        kind = np.dtype(getattr(seed, "dtype", type(seed)))
        if np.ndim(seed) or not np.issubdtype(kind, np.integer):
            raise InputError(f"`seed` must be a whole number; got {shown(seed)}")
        self.seed = seed

    def init(self, system: System, truth: Observation, dt: float) -> SensorsMemory:
        """The memory at the start of a run.

        **Arguments:** `truth`: what perfect sensors tell at the start; `dt`: the time between calls [s], known before
        anything is compiled, since the lengths of buffers follow from it.
        """
        memories = []
        for index, (name, fields) in enumerate(FIELDS.items()):
            sensor = getattr(self, name)
            if sensor is None or sensor.perfect:
                memories.append(None)
                continue
            # Of each sense one stream for the constant errors, one for the noise, one for samples that are lost.
            streams = [random_numbers.stream(self.seed, 3 * index + i) for i in range(3)]
            values = {field: getattr(truth, field) for field in fields}
            memories.append(_start(name, sensor, system, values, _known(dt), streams))
        return SensorsMemory(*memories)

    def __call__(
        self, time: Float[Array, ""] | float, truth: Observation, memory: SensorsMemory
    ) -> tuple[Observation, SensorsMemory]:
        """The observation at a time [s], and the new memory."""
        told, memories = {}, []
        for (name, fields), own in zip(FIELDS.items(), memory, strict=True):
            if own is None:
                memories.append(None)
                continue
            values = tuple(getattr(truth, field) for field in fields)
            values, after = _told(name, getattr(self, name), own, time, values)
            told.update(zip(fields, values, strict=True))
            memories.append(after)
        return truth._replace(**told), SensorsMemory(*memories)


def _checked(name: str, sensor: Any) -> Sensor:
    """The sensor of a sense, refused where it has errors that the sense cannot have."""
    if not isinstance(sensor, Sensor):
        raise InputError(f"`{name}` must be a Sensor; got {shown(sensor)}")
    for unused in _UNUSED[name]:
        value = getattr(sensor, unused)
        if not zero(value):
            raise InputError(f"`{unused}` has no meaning for `{name}`; got {shown(value)}")
    if name == "touch" and not isinstance(sensor.noise, jax.Array):
        number("touch.noise", sensor.noise, least=0.0, most=1.0)
    return sensor


def _known(dt: Any) -> float:
    """The step as a float."""
    if isinstance(dt, Tracer):
        raise InputError("`dt` of sensors must be known before anything is compiled; got a traced value")
    return number("dt", float(dt) if isinstance(dt, jax.Array) else dt, above=0.0)


def _start(name: str, sensor: Sensor, system: System, values: dict, dt: float, streams: list) -> SenseMemory:
    """The memory of an imperfect sense."""
    bias, noise = [], []
    for field, value in values.items():
        rates = field in _RATES
        amounts = (sensor.rate_noise, sensor.turn_rate_noise) if rates else (sensor.noise, sensor.turn_noise)
        noise.append(measurement.errors_of(system, field, value, *amounts, f"{name}.noise"))
        if rates:
            bias.append(None)
            continue
        # Of the fields of a sense but one has a drawn error.
        scales = measurement.errors_of(system, field, value, sensor.bias, sensor.turn_bias, f"{name}.bias")
        offset = measurement.errors_of(system, field, value, sensor.offset, 0.0, f"{name}.offset")
        if scales is not None:
            scales = measurement.normal(streams[0], 0, scales)
        bias.append(measurement.added(scales, offset))
    random = bool(jax.tree.leaves(noise)) or not zero(sensor.dropout)
    count = jnp.asarray(0, int) if random else None
    memory = SenseMemory((streams[1], streams[2]) if random else None, count, tuple(bias), tuple(noise), None)
    if not sensor.holds:
        return memory
    # Until the first sample arrives the sense tells one of the start.
    first = _sample(name, memory, jax.tree.map(lambda y: jnp.asarray(y, y.dtype), tuple(values.values())))
    return SenseMemory(memory.streams, count, memory.bias, memory.noise, first_samples(sensor, first, dt))


def _told(name: str, sensor: Sensor, memory: SenseMemory, time, values: tuple) -> tuple[tuple, SenseMemory]:
    """The measurement of one sense at a time, and its new memory."""
    # The sample of the start has the number 0.
    count = None if memory.count is None else memory.count + 1
    memory = SenseMemory(memory.streams, count, memory.bias, memory.noise, memory.samples)
    told = _sample(name, memory, values)
    if memory.samples is None:
        return told, memory
    lost: Any = False
    if memory.streams is not None and not zero(sensor.dropout):
        lost = measurement.happens(sensor.dropout, random_numbers.uniform(memory.streams[1], count, 1)[0])
    told, samples = sampled(sensor, memory.samples, time, told, lost)
    return told, SenseMemory(memory.streams, count, memory.bias, memory.noise, samples)


def _sample(name: str, memory: SenseMemory, values: tuple) -> tuple:
    """The sample that is taken of the true values."""
    noise: tuple = (None,) * len(values)
    if memory.streams is not None and jax.tree.leaves(memory.noise):
        if name == "touch":
            u = measurement.uniform(memory.streams[0], memory.count, memory.noise)
            return measurement.flipped(memory.noise, u, values)
        noise = measurement.normal(memory.streams[0], memory.count, memory.noise)
    errors = [measurement.added(bias, own) for bias, own in zip(memory.bias, noise, strict=True)]
    return tuple(measurement.measured(value, error) for value, error in zip(values, errors, strict=True))
