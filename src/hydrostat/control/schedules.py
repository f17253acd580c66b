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
    arms: int | None = eqx.field(static=True)

    def __call__(self, time) -> Control:
        tension = self.schedule(time)
        return Control(tension=tension if self.arms is None else jnp.broadcast_to(tension, (self.arms, *tension.shape)))


class ScheduledTension(Controller):
    """Tensions of tendons that follow a schedule, within steps as well."""

    schedule: SmoothSchedule
    """Tension of each tendon over time [N]."""
    arms: int | None = eqx.field(static=True, default=None)
    """Number of equal arms that all get these tensions; None for a single arm."""

    def attach(self, system: System, dt: float) -> "ScheduledTension":
        """The same; refused in a sentence where the system has another number of tendons."""
        del dt
        system.check(_Tension(self.schedule, self.arms)(0.0))
        return self

    def __call__(self, time, observation, memory):
        """The schedule as a function of time."""
        del time, observation
        return _Tension(self.schedule, self.arms), memory


class _Load(eqx.Module):
    """The control at a time."""

    tension: SmoothSchedule
    load: SmoothSchedule

    def __call__(self, time) -> Control:
        return Control(tension=self.tension(time), load=self.load(time).reshape(-1, 6))


class ScheduledLoad(Controller):
    """Dead loads on a single arm, and tensions of its tendons, that follow schedules, within steps as well."""

    tension: SmoothSchedule
    """Tension of each tendon over time [N]."""
    load: SmoothSchedule
    """Moments [N m] and forces [N] over time, of all places for loads one after another, six numbers for each."""

    def attach(self, system: System, dt: float) -> "ScheduledLoad":
        """The same; refused in a sentence where the system has another number of tendons or of places for loads."""
        del dt
        system.check(_Load(self.tension, self.load)(0.0))
        return self

    def __call__(self, time, observation, memory):
        """The schedules as a function of time."""
        del time, observation
        return _Load(self.tension, self.load), memory
