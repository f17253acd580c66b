"""A reach whose muscles follow from a planned bend that travels from the base of an arm to its tip."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.feedback import KnownArm, Table, make_servo
from hydrostat.control.profiles import minimum_jerk
from hydrostat.control.timing import hold, steps_per_decision
from hydrostat.errors import InputError
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import System

_FADES = (0.85, 1.25)  # of the wave's time: from when to when what is left of the bend near the tip is straightened
_PREPARED = 0.8  # of the preparation: when the arm is bent, and begins to settle


class ReachAlong(Recipe):
    """A bend travels from the base of a single arm to its tip, and the arm ends up straight.

    The plan is a bump of curvature, angle / (h L) cos^2(pi (s - c) / 2 h) at the fraction s of an arm of length L,
    whose middle c goes from h to `end` as a motion of minimum jerk. Inverse dynamics, with drag and the water that is
    carried along, say what muscles must exert; what they do is corrected by proprioception (`control.feedback.Servo`).

        ReachAlong(azimuth=0.3, duration=2.5, prepare=1.5)
    """

    azimuth: float
    """Azimuth of the bend [rad]."""
    angle: float
    """Bend of the whole arm before the reach [rad]."""
    duration: float
    """Time until the bend has reached its end [s]."""
    prepare: float
    """Time to bend before [s]."""
    half_width: float
    """Half of the length of the bent part, as a fraction of the arm."""
    end: float
    """Where the bend goes, as a fraction of the arm."""
    rate: float
    stiffen: float
    period: float
    known: KnownArm | None

    def __init__(
        self,
        azimuth: float = 0.0,
        angle: float = np.deg2rad(120.0),
        *,
        duration: float = 2.5,
        prepare: float = 1.5,
        half_width: float = 0.2,
        end: float = 0.86,
        rate: float = 16.0,
        stiffen: float = 0.2,
        period: float = 5e-3,
        known: KnownArm | None = None,
    ):
        """**Arguments:** `azimuth`: towards which the arm bends [rad]; `angle`: by how much [rad]; `duration`: of the
        whole command, of which `prepare` is for bending [s]; `half_width`, `end`: half the length of the bend, and
        where it goes, as fractions of the arm; `rate`: how fast errors fade [1/s]; `stiffen`: co-contraction;
        `period`: from one decision to the next [s]; `known`: the arm as the controller knows it, the system's own in
        still water when not given.
        """
        self.azimuth = errors.number("azimuth", azimuth)
        self.angle = errors.number("angle", angle, least=0.0, most=np.pi)
        self.duration = errors.number("duration", duration, above=0.0)
        self.prepare = errors.number("prepare", prepare, above=0.0, most=0.99 * self.duration)
        self.half_width = errors.number("half_width", half_width, least=0.05, most=0.5)
        self.end = errors.number("end", end, least=self.half_width, most=1.5)
        self.rate = errors.number("rate", rate, above=0.0)
        self.stiffen = errors.number("stiffen", stiffen, least=0.0, most=0.5)
        self.period = errors.number("period", period, above=0.0)
        self.known = known

    def attach(self, system: System, dt: float) -> Controller:
        """The servo along the travelling bend; afterwards it holds the straight arm."""
        if not system.robot.single:
            raise InputError(f"`ReachAlong` is for a single arm; {system.robot.name} has {system.robot.count}")
        Anatomy.of(system.robot)  # refuses arms without muscles
        known = KnownArm.of(system) if self.known is None else self.known
        every = steps_per_decision(self.period, dt)
        period, wave = every * dt, self.duration - self.prepare
        begins = period * jnp.arange(int(np.ceil((self.prepare + _FADES[1] * wave) / period)) + 2)
        plan = jnp.array([self.azimuth, self.angle, self.prepare, wave, self.half_width, self.end])
        table = _tabulated(known, plan, begins + period, jnp.asarray(system.muscles.lag))
        suckers = system.part(Suckers) is not None
        return hold(make_servo(known, table, rate=self.rate, stiffen=self.stiffen, suckers=suckers), every)


def _shape(arm: Arm, plan: Float[Array, " 6"], time) -> Float[Array, "n k"]:
    """The planned coordinates at a time since the begin [s]."""
    azimuth, angle, prepare, wave, half, end = plan
    share = (time - prepare) / wave
    middle = half + (end - half) * minimum_jerk(jnp.clip(share, 0.0, 1.0))
    size = minimum_jerk(jnp.clip(time / (_PREPARED * prepare), 0.0, 1.0))
    left = 1.0 - minimum_jerk(jnp.clip((share - _FADES[0]) / (_FADES[1] - _FADES[0]), 0.0, 1.0))
    length = arm.segments.length
    place = (jnp.cumsum(length) - 0.5 * length) / jnp.sum(length)
    off = jnp.clip((place - middle) / half, -1.0, 1.0)
    curvature = size * left * angle / (half * jnp.sum(length)) * jnp.cos(0.5 * jnp.pi * off) ** 2
    # A coordinate times the segment's scale is its angle.
    turn = curvature * length / arm.segments.scale
    parts = {"bend_x": -jnp.sin(azimuth) * turn, "bend_y": jnp.cos(azimuth) * turn}
    return jnp.stack([parts.get(mode, jnp.zeros_like(turn)) for mode in arm.segments.modes], -1)


@quick_jit
def _tabulated(known: KnownArm, plan: Float[Array, " 6"], times: Float[Array, " steps"], lag) -> Table:
    """The plan at these times [s], with forces that are commanded earlier by the muscles' lag."""
    arm = known.arm.arm

    def shape(time):
        return _shape(arm, plan, time)

    def rate(time):
        return jax.jvp(shape, (time,), (jnp.ones_like(time),))

    def at(time):
        q, v = rate(time)
        (q_ahead, v_ahead), (_, a_ahead) = jax.jvp(rate, (time + lag,), (jnp.ones_like(time),))
        none = jnp.zeros(())
        return Table(q, v, known.needed(q_ahead, v_ahead, a_ahead), jnp.zeros(len(q)), none)

    return jax.lax.map(at, times)
