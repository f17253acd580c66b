"""Foraging: an octopus crawls to its prey, takes it with one arm while others hold the ground, and brings it in.

It sees the prey. When that lies beside one of its arms, within reach of a sweep to the left or to the right, the arm
sweeps until its suckers have it. The other arms raise the body, this one draws the prey under it, and the body sinks on
it. Lengths were found by trying with arms of 0.24 m, and scale with the arms' length.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.feedback import Servo, ServoMemory
from hydrostat.control.gaits.alternate import groups_of, pull_and_push
from hydrostat.control.gaits.base import STROKES, Stroke, heading_of, mirrored, within_half_turn
from hydrostat.control.gaits.cover import PATIENCE, Cover, CoverMemory, cover
from hydrostat.control.gaits.crawl import CrawlController, CrawlMemory
from hydrostat.control.gaits.prey_course import TAKES_AT, TIMES, fetching
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import Control, System

_SPREAD = 0.11  # of the arm: how far from where it takes its prey that may lie, when the octopus has come
_ASIDE = 0.045  # m between the arm's middle and the prey, at most, of an arm of 0.24 m
_HOLDING = (0.45, 0.8)  # of the arms that hold the ground meanwhile
_FREE = 2  # arms on the side from which the prey comes, that rise out of its way


class TakingRange(NamedTuple):
    """The region in which an arm can take prey."""

    along: Float[Array, " 2"]
    """Range along the arm, from the middle of the body [m]."""
    beside: Float[Array, " 2"]
    """Range beside the arm [m]."""

    @property
    def best(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The middle of both ranges."""
        return jnp.mean(self.along), jnp.mean(self.beside)


class ForageMemory(NamedTuple):
    """The memory of a foraging octopus."""

    crawl: CrawlMemory
    course: ServoMemory
    arm: Int[Array, ""]
    """Index of the arm that takes the prey."""
    side: Float[Array, ""]
    """Side to which the arm sweeps: 1 for its left, -1 for its right."""
    start: Float[Array, " 2"]
    """Position at which the path began [m]."""
    there: Bool[Array, ""]
    """Whether the arm can take the prey."""
    cover: CoverMemory
    """How the prey comes under the mouth."""


class ForageController(Controller):
    """A controller that crawls to the prey, takes it and brings it in."""

    crawl: CrawlController
    """The crawl, whose path follows from the observed position of the prey."""
    fetch: Servo
    """The motion of an arm that takes prey on its left."""
    range: TakingRange
    hold: Float[Array, " n"]
    """Indicator of segments whose suckers hold the ground meanwhile, of arms that are not beside the one that
    fetches."""
    cover: Cover
    """How body and prey come together."""
    prey: int = eqx.field(static=True, default=0)
    """Index of the prey among the free objects."""

    def init(self, observation: Observation) -> ForageMemory:
        """The memory at the start: nothing is decided."""
        arm, side, _ = self._choice(observation)
        here = observation.pose.position[:2]
        crawl, fetch = self.crawl.init(observation), self.fetch.init(self._of_arm(observation, arm, side))
        return ForageMemory(crawl, fetch, arm, side, here, jnp.asarray(False), CoverMemory.fresh(len(self.crawl.yaws)))

    def __call__(self, time, observation: Observation, memory: ForageMemory):
        """The control of the crawl or of the fetch, and the new memory."""
        # Between strokes it checks whether an arm can take the prey.
        due = time - memory.crawl.began >= self.crawl.stroke.duration - 0.5 * observation.period
        arm, side, fits = self._choice(observation)
        there = memory.there | (due & fits)
        arm, side = (jnp.where(memory.there, *y) for y in ((memory.arm, arm), (memory.side, side)))
        path = jnp.stack([memory.start, self._goal(observation, arm, side)])
        crawl = eqx.tree_at(lambda crawl: crawl.path, self.crawl, path)
        crawling, crawled = crawl(time, observation, memory.crawl)
        clock, prey = memory.course.step * observation.period, observation.objects[self.prey]
        covering = self.cover.lowered(observation, memory.cover, clock, prey)
        covering = self.cover.shifted(observation, covering, clock, prey, self.crawl.yaws[arm], side)
        observed = self._of_arm(observation, arm, side)
        fetch = self.cover.carrying(self.fetch, observed.taken)
        # A plan that is displaced is one from which the shape differs by that.
        fetched, course = fetch(time, observed._replace(q=observed.q - self.cover.shape(covering.shift)), memory.course)
        assert fetched.activation is not None
        assert crawling.activation is not None
        assert fetched.take is not None
        assert crawling.grip is not None
        course = jax.tree.map(lambda new, old: jnp.where(there, new, old), course, memory.course)
        # The body stays up until the prey is under it; what keeps the prey from its place then pulls no harder.
        due = (clock < TIMES[6]) & (course.step * observation.period >= TIMES[6])
        waits = due & ~self.cover.beneath(observation, prey) & (covering.waited < PATIENCE)
        covering = covering._replace(waited=covering.waited + jnp.where(waits, observation.period, 0.0))
        course = course._replace(
            step=jnp.where(waits, memory.course.step, course.step),
            missing=jnp.where(covering.lain > 0.0, memory.course.missing, course.missing),
        )
        activation = jnp.where(side > 0.0, fetched.activation, mirrored(fetched.activation))
        arms = jnp.arange(len(self.crawl.yaws))
        one = (arms == arm)[:, None]
        # Itself, and those on the side from which the prey comes.
        aside = jnp.mod(side.astype(int) * (arms - arm), len(arms)) <= _FREE
        holding = jnp.where(aside, 0.0, self.crawl.working)[:, None] * self.hold
        raising, covering = self.cover.raised(observation, covering, clock, prey)
        others = jnp.where(aside[:, None, None], (1.0 - covering.eased) * self.cover.clear, raising)
        activation = jnp.where(one[..., None], covering.held_back * activation, others)
        control = Control(
            activation=jnp.where(there, activation, crawling.activation),
            grip=jnp.where(there, holding, crawling.grip),
            take=jnp.where(one & there, fetched.take, 0.0),
        )
        return control, ForageMemory(crawled, course, arm, side, memory.start, there, covering)

    def _of_arm(self, observation: Observation, arm, side) -> Observation:
        """The observation of one arm, mirrored where it sweeps to its right."""
        turn = jnp.concatenate([side[None], jnp.ones(observation.q.shape[-1] - 1)])
        return observation._replace(
            q=turn * observation.q[arm], v=turn * observation.v[arm], taken=observation.taken[arm]
        )

    def _choice(self, observation: Observation) -> tuple[Int[Array, ""], Float[Array, ""], Bool[Array, ""]]:
        """The arm that the prey lies beside best, on which side, and whether it can take it."""
        gap = observation.objects[self.prey, :2] - observation.pose.position[:2]
        angle = jnp.arctan2(gap[1], gap[0]) - heading_of(observation.pose) - self.crawl.yaws
        far = jnp.sqrt(jnp.sum(gap**2))
        along, left = far * jnp.cos(angle), far * jnp.sin(angle)
        beside = jnp.abs(left)
        (near, most), (least, widest) = self.range
        fits = (along >= near) & (along <= most) & (beside >= least) & (beside <= widest)
        best = self.range.best
        # The one whose best place for it has the direction in which it lies.
        off = jnp.abs(jnp.abs(within_half_turn(angle)) - jnp.arctan2(best[1], best[0]))
        arm = jnp.argmin(jnp.where(fits, off, off + jnp.pi))
        return arm, jnp.where(left[arm] >= 0.0, 1.0, -1.0), jnp.any(fits)

    def _goal(self, observation: Observation, arm, side) -> Float[Array, " 2"]:
        """The position of the body at which its prey would be at the best place beside an arm."""
        along, beside = self.range.best
        angle = heading_of(observation.pose) + self.crawl.yaws[arm] + side * jnp.arctan2(beside, along)
        return observation.objects[self.prey, :2] - jnp.hypot(along, beside) * jnp.stack(
            [jnp.cos(angle), jnp.sin(angle)]
        )


class Forage(Recipe):
    """Crawls to a free object, takes it with one arm and brings it to the mouth."""

    failed_suckers: tuple[int, ...] = eqx.field(static=True)
    prey: int = eqx.field(static=True)

    def __init__(self, *, failed_suckers=(), prey: int = 0):
        """**Arguments:** `failed_suckers`: arms whose suckers do not hold, by their numbers from 1; `prey`: which of
        the system's free objects it is, from 0.
        """
        self.failed_suckers, self.prey = tuple(failed_suckers), prey

    def stroke(self, system: System) -> Stroke:
        """The stroke with which a system's robot crawls."""
        return STROKES["push"](BodyPlan.of(system))

    @property
    def fetch_seconds(self) -> float:
        """The time that it takes to take the prey and bring it in [s]."""
        return TIMES[-1] + PATIENCE

    def attach(self, system: System, dt: float) -> ForageController:
        """The controller that forages with the system's robot; what the arm does is planned."""
        plan = BodyPlan.of(system)
        balls = [part for part in system.surroundings if isinstance(part, Ball)]
        if not plan.suckers or not 0 <= self.prey < len(balls):
            raise InputError("to forage, a system needs `Suckers()` and a `Ball(...)` among its surroundings")
        crawl = CrawlController(
            stroke=self.stroke(system),
            alternation=pull_and_push(plan),
            path=jnp.zeros((2, 2)),
            yaws=plan.yaws,
            group=groups_of(plan.yaws),
            working=plan.working(True, self.failed_suckers),
            near=jnp.zeros(()),
            closed_loop=True,
        )
        along = plan.ring + plan.arm_length * (TAKES_AT + np.array([-_SPREAD, _SPREAD]))
        ball = balls[self.prey]
        beside = ball.radius + plan.scale * np.array([0.0, _ASIDE])
        hold, fetch = plan.anatomy.within(*_HOLDING), fetching(system, plan, dt, ball.radius)
        onto = cover(system, plan, ball, fetch)
        return ForageController(crawl, fetch, TakingRange(along, beside), hold, onto, self.prey)
