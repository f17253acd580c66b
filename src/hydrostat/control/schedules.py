"""Quantities that follow the clock: smooth changes from value to value, and tensions of tendons by such a schedule."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.control.base import Controller
from hydrostat.errors import InputError, listed, shown
from hydrostat.mechanics.model import slack
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


class LimbSchedule(Controller):
    """Tensions of the tendons of one limb of several, and a force at its tip, that follow schedules.

    LimbSchedule("grasper", force=SmoothSchedule([5.0], [2.0], [[5.0, 0.0, 0.0]]))
    """

    limb: str = eqx.field(static=True)
    """Name of the limb."""
    tension: SmoothSchedule | None = None
    """Tension of each of its tendons over time [N]; None where they are slack."""
    force: SmoothSchedule | None = None
    """Force over time in world axes [N], at the limb's last place for loads; None where nothing pulls."""
    shapes: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    """Numbers of tendons and of places for loads of all limbs, known when attached."""
    index: int = eqx.field(static=True, default=-1)
    """Which of the limbs it is, known when attached."""

    def attach(self, system: System, dt: float) -> "LimbSchedule":
        """The same for the limbs of a system; `InputError` where it has no such limb."""
        del dt
        robot = system.robot
        if self.limb not in robot.names or not isinstance(robot.arms, tuple):
            raise InputError(f"`limb` must be one of {listed(robot.names) or 'no names'}; got {shown(self.limb)}")
        counts = [len(slack(arm)) for arm in robot.each]
        shapes = tuple((count, arm.loads.fraction.shape[0]) for count, arm in zip(counts, robot.each, strict=True))
        own = LimbSchedule(self.limb, self.tension, self.force, shapes, robot.names.index(self.limb))
        if self.force is not None and not shapes[own.index][1]:
            raise InputError(f"{self.limb} has no place for loads; build the robot with `load_places=[1.0]`")
        system.check(own.control(0.0))
        return own

    def control(self, time) -> Control:
        """The control at a time [s]."""
        values: dict = {}
        if self.tension is not None:
            each = [jnp.zeros(count) for count, _ in self.shapes]
            each[self.index] = self.tension(time)
            values["tension"] = tuple(each)
        if self.force is not None:
            loads = [jnp.zeros((count, 6)) for _, count in self.shapes]
            loads[self.index] = loads[self.index].at[-1, 3:].set(self.force(time))
            values["load"] = tuple(loads)
        return Control(**values)

    def __call__(self, time, observation, memory):
        """The schedules at the begin of the step, held during it."""
        del observation
        return self.control(time), memory
