"""Commands with feedback: the arm reaches for a point, or fetches what it holds, whatever load and current do.

They plan a course of shapes when they are attached, and follow it by proprioception (`control.feedback`).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.feedback import (
    Course,
    KnownArm,
    Table,
    make_servo,
    planned_activation,
    shape_to_point,
    tabulated,
)
from hydrostat.control.timing import hold, steps_per_decision
from hydrostat.control.tip_correction import fastest_rate, tip_correction
from hydrostat.errors import InputError, shown
from hydrostat.lie import small
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import System

_FETCHES_AT = 0.55  # of the arm: where it holds what it fetches
_MOUTH = (0.02, 0.125)  # of the arm: how far before and beside the base the held place is brought
_SETTLING = 8.0  # 1/s: integral gain over the tissue's stiffness, for segments that are stiff for their mass
_EASY = 0.45  # activation that a plan may need: beyond, drag bends thin segments that muscles cannot hold
_SLOWEST = 2.0  # over the duration that was asked for, of a plan that is slowed down
_BLOCKS = 2  # in which a plan is worked out: most are not slowed down, and are over after the first
_SAMPLES = 64  # of a plan, by which it is judged how fast muscles can follow it
_TAKES = 0.1  # s, from when on suckers hold the object


class ReachTo(Recipe):
    """The tip of a single arm goes to a point, by feedback of the observed shape.

    ReachTo((0.15, 0.05, 0.1), seconds=1.5)
    """

    target: Float[Array, " 3"]
    """Target of the tip in the world [m]."""
    seconds: float
    """Duration of the motion [s], longer where muscles could not follow it."""
    rate: float
    stiffen: float
    period: float
    smoothing: float
    """Time constant over which noise of the observed shape is averaged out [s]."""
    delay: float
    """Age of the observed shape [s]."""
    sees_tip: bool
    """Whether the seen tip corrects the plan once the motion is over."""
    known: KnownArm | None

    def __init__(
        self,
        target,
        seconds: float = 2.0,
        *,
        rate: float = 16.0,
        stiffen: float = 0.1,
        period: float = 5e-3,
        smoothing: float = 0.0,
        delay: float = 0.0,
        sees_tip: bool = False,
        known: KnownArm | None = None,
    ):
        """**Arguments:** `target`: in the world [m]; `seconds`: how long the motion takes, up to twice as long where
        muscles would need more than 0.45 of their strength for it; `rate`: how fast errors fade [1/s], at most, and
        slower where a delay asks for it; `stiffen`: co-contraction of all muscles; `period`: from one decision to the
        next [s]; `smoothing`: time constant over which noise of the observed shape is averaged out [s], 0 where there
        is none; `delay`: age of the observed shape [s]; `sees_tip`: whether the seen tip corrects the plan once the
        motion is over, which takes out constant errors of the observed shape; `known`: the arm as the controller knows
        it, the system's own in still water when not given.
        """
        self.target = jnp.asarray(target, float)
        if self.target.shape != (3,):
            raise InputError(f"`target` must be three numbers; got {shown(target)}")
        self.seconds, self.rate, self.stiffen, self.period, self.smoothing = _checked(
            seconds, rate, stiffen, period, smoothing
        )
        self.delay, self.sees_tip = errors.number("delay", delay, least=0.0), bool(sees_tip)
        self.known = known

    def attach(self, system: System, dt: float) -> Controller:
        """The servo along a course from the straight arm to one whose tip is at the target."""
        known = _known("ReachTo", self.known, system)
        bent = shape_to_point(known.arm.arm, self.target)
        none = jnp.zeros((2, len(bent)))
        times = jnp.array([0.0, self.seconds])
        course = Course(times, jnp.stack([jnp.zeros_like(bent), bent]), none, jnp.zeros(2))
        slower = course._replace(times=times * self._slowdown(known, course, dt))
        # Of one length whatever the pace, so that another target is not another function to compile.
        return _servo(system, known, slower, _SLOWEST * self.seconds, dt, self, self.delay, self.sees_tip, _SETTLING)

    def _slowdown(self, known: KnownArm, course: Course, dt: float) -> float:
        """The factor by which a course takes longer, so that muscles can follow it.

        Forces of inertia and drag go with the square of the pace, those that hold the shape do not.
        """
        period = steps_per_decision(self.period, dt) * dt
        apart = max(period, self.seconds / _SAMPLES)
        begins = apart * jnp.arange(int(np.ceil(self.seconds / apart)) + 2)
        needed = np.asarray(planned_activation(known, tabulated(known, course, begins, period), self.stiffen))
        moving, still = max(needed.max() - needed[-1], 0.0), needed[-1]
        return float(np.clip(np.sqrt(moving / max(_EASY - still, 0.1)), 1.0, _SLOWEST))


class FetchTo(Recipe):
    """A single arm takes hold of the free object beneath it, where there is one, and brings it beside its mouth.

    Without an object it is the tip that is brought there. The controller counts the load's mass with the arm's: drawn
    as if it were light, the load would swing for seconds.
    """

    seconds: float
    """Duration of the motion, from when the object is held [s]."""
    rate: float
    stiffen: float
    period: float
    smoothing: float
    """Time constant over which noise of the observed shape is averaged out [s]."""
    known: KnownArm | None

    def __init__(
        self,
        seconds: float = 6.0,
        *,
        rate: float = 6.5,
        stiffen: float = 0.3,
        period: float = 4e-3,
        smoothing: float = 0.0,
        known: KnownArm | None = None,
    ):
        """**Arguments:** as those of `ReachTo`."""
        self.seconds, self.rate, self.stiffen, self.period, self.smoothing = _checked(
            seconds, rate, stiffen, period, smoothing
        )
        self.known = known

    def attach(self, system: System, dt: float) -> Controller:
        """The servo along a course that waits for a touch and then brings the segment that holds beside the base."""
        known = _known("FetchTo", self.known, system)
        arm, ball = known.arm.arm, system.part(Ball)
        n = arm.count
        count = n if ball is None else max(1, round(_FETCHES_AT * n))
        axis = arm.T_world_base.rotation[:, 2]
        up = jnp.array([0.0, 0.0, 1.0])
        side = small.cross(up, axis)
        size = small.norm(side)
        side = jnp.where(size > 1e-6, side / jnp.maximum(size, 1e-6), jnp.array([0.0, 1.0, 0.0]))
        point = arm.T_world_base.position + arm.length * (_MOUTH[0] * axis + _MOUTH[1] * side)
        straight = arm.straight()
        bent = straight.at[:count].set(shape_to_point(arm.first(count), point))
        grip = jnp.asarray(np.arange(n) == count - 1, float)
        ends = _TAKES + self.seconds
        course = Course(
            jnp.array([0.0, _TAKES, ends]),
            jnp.stack([straight, straight, bent]),
            jnp.stack([grip] * 3),
            jnp.array([0.0, 0.0 if ball is None else 1.0, 0.0]),
        )
        if ball is not None:
            known = known.carrying(count / n, ball.mass, ball.volume)
        return _servo(system, known, course, ends, dt, self)


def _checked(seconds, rate, stiffen, period, smoothing) -> tuple[float, float, float, float, float]:
    """The numbers that both commands have, within their bounds."""
    return (
        errors.number("seconds", seconds, above=0.0),
        errors.number("rate", rate, above=0.0),
        errors.number("stiffen", stiffen, least=0.0, most=0.5),
        errors.number("period", period, above=0.0),
        errors.number("smoothing", smoothing, least=0.0),
    )


def _known(name: str, known: KnownArm | None, system: System) -> KnownArm:
    """The arm as the controller knows it."""
    if not system.robot.single:
        raise InputError(f"`{name}` is for a single arm; {system.robot.name} has {system.robot.count}")
    Anatomy.of(system.robot)  # refuses arms without muscles
    return KnownArm.of(system) if known is None else known


def _servo(
    system: System,
    known: KnownArm,
    course: Course,
    seconds: float,
    dt: float,
    command,
    delay: float = 0.0,
    sees_tip: bool = False,
    settling: float = 0.0,
) -> Controller:
    """The servo along a course, deciding at its own pace; after the course it holds the last shape."""
    every = steps_per_decision(command.period, dt)
    period = every * dt
    table = _table(known, course, period, int(np.ceil(seconds / period)) + 2)
    over = jnp.ceil(course.times[-1] / period) + 1.0
    sight = tip_correction(known.arm.arm, table.shape[-1], over) if sees_tip else None
    rate = command.rate
    if delay:
        rate = min(rate, fastest_rate(delay + 0.5 * period, float(np.max(np.asarray(system.muscles.lag)))))
    options = {"rate": rate, "stiffen": command.stiffen, "smoothing": command.smoothing, "sight": sight}
    options["settling"] = settling
    suckers, late = system.part(Suckers) is not None, round(delay / period)
    return hold(make_servo(known, table, suckers=suckers, late=late, **options), every)


def _table(known: KnownArm, course: Course, period: float, steps: int) -> Table:
    """A course in some steps, worked out in blocks, which are compiled once, up to its end, and repeated from there."""
    parts, block = [], -(-steps // _BLOCKS)
    for first in range(0, steps, block):
        parts.append(tabulated(known, course, period * jnp.arange(first, first + block), period))
        if period * (first + block - 1) > course.times[-1] + period:
            break
    rows = np.minimum(np.arange(steps), block * len(parts) - 1)
    return jax.tree.map(lambda *blocks: jnp.asarray(np.concatenate(blocks)[rows]), *parts)
