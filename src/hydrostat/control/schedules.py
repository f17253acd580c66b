"""Quantities that follow the clock: smooth changes from value to value, and tensions of tendons by such a schedule."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.control.base import Controller
from hydrostat.errors import InputError
from hydrostat.system import Control, System


def smooth_step(share):
    """From 0 to 1 with speed and acceleration zero at both ends; 0 before and 1 after."""
    s = jnp.clip(share, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


class SmoothSchedule(eqx.Module):
    """A vector over time that changes smoothly, from rest to rest, and stays as it is in between.

        SmoothSchedule(starts=[0.0, 2.0], durations=[1.0, 0.5], changes=[[70.0, 0.0], [-70.0, 6.0]])

    It is zero before the first change. It can be the motion of `Obstacles`, or the tensions of `ScheduledTension`.
    """

    starts: Float[Array, " m"]
    """When the changes begin [s]."""
    durations: Float[Array, " m"]
    """How long each of them takes [s]."""
    changes: Float[Array, "m k"]
    """Changes of the vector."""

    def __init__(self, starts: Sequence[float], durations: Sequence[float], changes):
        self.starts, self.durations, self.changes = (jnp.asarray(y, float) for y in (starts, durations, changes))
        if self.changes.ndim != 2 or not len(self.starts) == len(self.durations) == len(self.changes):
            raise InputError(
                f"a schedule needs a start, a duration and a vector for each change; got {len(self.starts)} starts, "
                f"{len(self.durations)} durations and changes of shape {self.changes.shape}"
            )

    def __call__(self, time) -> Float[Array, " k"]:
        """The vector at a time."""
        shares = smooth_step((time - self.starts) / self.durations)
        return jnp.sum(shares[:, None] * self.changes, 0)


class _Tension(eqx.Module):
    """The control at a time."""

    schedule: SmoothSchedule

    def __call__(self, time) -> Control:
        return Control(tension=self.schedule(time))


class ScheduledTension(Controller):
    """Tensions of tendons that follow a schedule, within steps as well."""

    schedule: SmoothSchedule
    """Tension of each tendon over time [N]."""

    def attach(self, system: System, dt: float) -> "ScheduledTension":
        """The same; refused in a sentence where the system has another number of tendons."""
        del dt
        system.check(Control(tension=self.schedule(0.0)))
        return self

    def __call__(self, time, observation, memory):
        """The schedule as a function of time."""
        del time, observation
        return _Tension(self.schedule), memory
