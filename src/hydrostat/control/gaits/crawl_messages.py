"""Crawling by messages: a brain that plans strokes, and arms that lie down, work, recover and hold by themselves.

The brain tells an arm no more than what it is to do in the present half of a stroke, until when, and by what share. It
hears from the arms which of them hold, and hands over from one group of arms to the other when enough of them do.
"""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.control.gaits.alternate import Alternation, shares_by_turns
from hydrostat.control.gaits.base import Stroke, heading_of
from hydrostat.control.gaits.crawl_controller import CrawlController, CrawlMemory
from hydrostat.control.hierarchy.brain import Brain
from hydrostat.control.hierarchy.messages import NO_HOLD, Message, Orders, Report, failed
from hydrostat.control.hierarchy.motions import Drive, Moment, Motion
from hydrostat.sensing import Observation

_HOLD, _WORK, _RECOVER, _STROKE = range(4)  # indices of the motions


def _driven(activation: Float[Array, "a n m"], grip: Float[Array, "a n"]) -> Drive:
    """The drive of one arm, which is the only one of these arrays."""
    return Drive(activation[0], grip[0], jnp.zeros_like(grip[0]))


class Lying(Motion):
    """The arm lies down on the ground, takes hold of it and stays."""

    alternation: Alternation
    failure: ClassVar[int] = NO_HOLD
    latched: ClassVar[bool] = False
    rise: ClassVar[float] = 0.0

    def drive(self, now: Moment, anatomy):
        """The muscles that press the arm down."""
        del now, anatomy
        return _driven(*self.alternation.standing(1))

    def done(self, now: Moment, anatomy):
        """Whether the arm holds the ground."""
        del anatomy
        return jnp.any(now.feeling.held > 0.0)


class Half(Motion):
    """Half of a stroke by turns: the arm holds and works, and keeps what it has contracted when that is over; or it
    recovers, and lies down to take hold."""

    names: ClassVar = ("share",)
    defaults: ClassVar = (None,)
    failure: ClassVar[int] = NO_HOLD
    latched: ClassVar[bool] = False
    rise: ClassVar[float] = 0.0
    alternation: Alternation
    recovers: bool = eqx.field(static=True)
    """Whether it is the half in which the arm recovers."""

    def drive(self, now: Moment, anatomy):
        """The muscles of the half; the planned duration of the motion is half a period."""
        del anatomy
        group = jnp.full(1, 1.0 if self.recovers else 0.0)
        return _driven(*self.alternation(now.elapsed, 2.0 * now.duration, now.parameters[:1], group))

    def done(self, now: Moment, anatomy):
        """Whether the arm holds the ground, at the end of its work, or when it tries to take hold."""
        del anatomy
        asked = now.elapsed >= now.duration - self.alternation.lead_s if self.recovers else now.over
        return asked & jnp.any(now.feeling.held > 0.0)


class WholeStroke(Motion):
    """A whole stroke: the arm gathers itself to one side or to the other, takes hold, pushes and lets go."""

    names: ClassVar = ("share", "side")
    defaults: ClassVar = (None, 1.0)
    failure: ClassVar[int] = NO_HOLD
    rise: ClassVar[float] = 0.0
    stroke: Stroke
    """The stroke of an arm that gathers itself to the left, and of one that mirrors it."""

    def drive(self, now: Moment, anatomy):
        """The muscles of the stroke, to the left where the side is positive."""
        del anatomy
        gather = jnp.where(now.parameters[1] > 0.0, self.stroke.gather[0], self.stroke.gather[1])[None]
        stroke = eqx.tree_at(lambda stroke: stroke.gather, self.stroke, gather)
        return _driven(*stroke(now.elapsed, now.parameters[:1]))

    def done(self, now: Moment, anatomy):
        """Whether the arm has held the ground while it pushed."""
        del anatomy
        return (now.elapsed >= self.stroke.gather_s) & jnp.any(now.feeling.held > 0.0)


class CrawlBrainMemory(NamedTuple):
    """The memory of a brain that crawls."""

    plan: CrawlMemory
    """Path and strokes, as a crawl without messages remembers them."""
    began: Float[Array, ""]
    """Time at which the present half of a stroke begins [s]."""
    second: Bool[Array, ""]
    """Whether it is the second half of a stroke by turns."""
    turned: Float[Array, ""]
    """Heading of the body by which the shares of the stroke were found [rad]."""
    able: Float[Array, " a"]
    """Indicator of arms that held the ground when they were to: 1 for those."""
    lying: Bool[Array, ""]
    """Whether arms were told to lie down, before the first stroke or at the goal."""


class CrawlBrain(Brain):
    """The brain of a crawl: it decides twice a stroke at most, and hears from the arms whether they hold."""

    motions: tuple[Motion, ...]
    parameters: int = eqx.field(static=True)
    planner: CrawlController
    """Crawl without messages, which plans path, shares and strokes."""
    side: Float[Array, " a"]
    """Side to which each arm bends in a whole stroke: 1, or -1 for those that mirror the others."""
    ahead: Float[Array, ""]
    """Time of conduction: a message is sent by as much earlier [s]."""
    replaces: Bool[Array, ""] = eqx.field(converter=jnp.asarray)
    """Whether the others share the work of arms that have reported that they do not hold."""

    def init(self, observation: Observation) -> CrawlBrainMemory:
        """The memory at the start, when all arms of a stroke by turns lie down."""
        plan, no = self.planner.init(observation), jnp.zeros((), bool)
        able = jnp.ones(len(self.planner.yaws))
        # The half stroke before the first one ends when the first one is due.
        return CrawlBrainMemory(plan, plan.began, no, jnp.zeros(()), able, no)

    def __call__(self, time, observation: Observation, reports: Report, memory: CrawlBrainMemory):
        """The orders of a half stroke whose time has come, once arms hold that are to."""
        planner, period, plan = self.planner, observation.period, memory.plan
        held = jnp.where(reports.held > 0.0, 1.0, 0.0)
        # The time of the present half is over, and the arms that are to hold do, or have been waited for.
        turns = plan.alternating & (plan.strokes > 0) & ~plan.arrived
        duration = planner.stroke.duration
        over = time - memory.began + 0.5 * period >= jnp.where(turns, 0.5 * duration, duration) - self.ahead
        own = jnp.where(memory.second, 1.0 - planner.group, planner.group)
        may = planner.alternation.may_let_go(plan.by_turns, own, held, plan.waited)
        waits = over & turns & ~may
        goes = over & ~waits
        able = jnp.where(goes & turns & (own > 0.0), held, memory.able)
        # A new stroke, or the second half of one.
        fresh = goes & ~(turns & ~memory.second)
        begins = jnp.asarray(time, float) + self.ahead
        waited = plan.waited + jnp.where(waits, period, 0.0)
        same = plan._replace(waited=jnp.where(goes, 0.0, waited))
        new = planner.next_stroke(begins, observation.pose, plan)
        turned = jnp.where(planner.closed_loop, heading_of(observation.pose), 0.0)
        plan = jax.tree.map(lambda a, b: jnp.where(fresh, a, b), new, same)
        turned = jnp.where(fresh, turned, memory.turned)
        plan = plan._replace(
            by_turns=jnp.where(goes & plan.alternating, self._shared(plan, turned, able), plan.by_turns)
        )
        after = memory._replace(
            plan=plan,
            began=jnp.where(goes, begins, memory.began + jnp.where(waits, period, 0.0)),
            second=jnp.where(goes, turns & ~memory.second, memory.second),
            turned=turned,
            able=able,
        )
        # An arm that has said that it does not hold tells by itself when it does.
        unheard = (own > 0.0) & (held < 0.5) & ~failed(reports.status)
        return self._orders(begins, goes, fresh, waits & unheard, after, memory)

    def _shared(self, plan: CrawlMemory, turned, able) -> Float[Array, " a"]:
        """The shares of a stroke by turns, those of arms that do not hold taken by the others of their group."""
        planner = self.planner
        goal = plan.believed - plan.here
        direction = jnp.arctan2(goal[1], goal[0]) - turned
        size = jnp.max(jnp.abs(plan.by_turns))
        shares = size * shares_by_turns(direction, planner.yaws, planner.group, able)
        # Where all arms of a group fail, nobody can take over.
        return jnp.where(self.replaces & jnp.any(able < 0.5), shares, plan.by_turns)

    def _orders(self, begins, goes, fresh, asks, memory: CrawlBrainMemory, before: CrawlBrainMemory):
        """The messages of a decision, and the memory of what arms were told."""
        planner, plan = self.planner, memory.plan
        arms = len(planner.yaws)
        duration = planner.stroke.duration
        # Arms lie down before the first stroke by turns, and at the goal.
        rests = plan.alternating & ((plan.strokes == 0) | plan.arrived)
        lies = rests & ~before.lying
        strokes = goes & ~plan.arrived
        first = jnp.where(memory.second, planner.group, 1.0 - planner.group)
        motion = jnp.where(plan.alternating, jnp.where(first > 0.0, _WORK, _RECOVER), _STROKE)
        motion = jnp.where(lies, _HOLD, motion)
        share = jnp.where(plan.alternating, plan.by_turns, plan.share)
        seconds = jnp.where(plan.alternating, 0.5 * duration, jnp.where(plan.arrived, 0.0, duration))
        seconds = jnp.where(lies, planner.alternation.settle_s, seconds)
        present = lies | (strokes & (plan.alternating | (share > 0.0)))
        start = jnp.broadcast_to(begins, (arms,))
        message = Message(
            jnp.zeros(arms, int),
            motion,
            start,
            start + seconds,
            jnp.stack([share, self.side], -1)[:, : self.parameters],
        )
        return Orders(message, present, asks), memory._replace(lying=rests)


def crawl_brain(planner: CrawlController, mirrored: Bool[Array, " a"], ahead: float, replaces: bool) -> CrawlBrain:
    """The brain that crawls as a controller without messages does.

    **Arguments:** `planner`: that controller; `mirrored`: arms that mirror the others in a whole stroke; `ahead`: the
    time of conduction [s]; `replaces`: whether others share the work of arms that do not hold.
    """
    stroke, by_turns = planner.stroke, planner.alternation
    rows = stroke.gather.shape[0]
    first = [int(jnp.argmax(jnp.asarray(mirrored) == side)) if rows > 1 else 0 for side in (False, True)]
    sides = eqx.tree_at(lambda one: one.gather, stroke, jnp.stack([stroke.gather[i] for i in first]))
    motions = (Lying(by_turns), Half(by_turns, False), Half(by_turns, True), WholeStroke(sides))
    side = jnp.where(mirrored, -1.0, 1.0)
    return CrawlBrain(motions, 2, planner, side, jnp.asarray(ahead, float), replaces)
