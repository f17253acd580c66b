"""Foraging: an octopus crawls to its prey, takes it with one arm while others hold the ground, and brings it in.

It sees the prey. When that lies beside one of its arms, within reach of a sweep to the left or to the right, the arm
sweeps until its suckers have it, and follows a course of shapes to the mouth, as an arm that fetches by itself does.
Lengths were found by trying with arms of 0.24 m, and scale with the arms' length.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.feedback import Course, KnownArm, Servo, ServoMemory, make_servo, shape_to_point, tabulated
from hydrostat.control.gaits.alternate import groups_of, pull_and_push
from hydrostat.control.gaits.base import STROKES, Stroke, heading_of, mirrored, within_half_turn
from hydrostat.control.gaits.crawl import CrawlController, CrawlMemory
from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import Control, System

_TAKES_AT = 0.55  # of the arm: where it takes its prey
_BRINGS = 0.6  # of the arm: what it brings to the mouth, as it holds its prey about there
_TAKING = (0.35, 0.75)  # of the arm: where its suckers may take it
_SPREAD = 0.11  # of the arm: how far from there the prey may lie, when the octopus has come
_ASIDE = 0.045  # m between the arm's middle and the prey, at most, of an arm of 0.24 m
_SWEEP = 0.065  # m, to the side, until suckers have the prey, of an arm of 0.24 m
_TIMES = (0.0, 0.8, 2.3, 2.8, 6.3, 7.5)  # s: calm down, sweep, hold, bring, stay
_MOUTH = (0.04, 0.135, 0.07)  # of the arm: how far before, beside and above its base the held place is brought
_UPWARDS = (-0.2, -0.1, 1.0)  # ahead, beside, above: where the arm points there, lest its end comes under the body
_MOST = 0.1  # rad s, that errors may sum up to: prey at the mouth is in the way of the last of the course
_HOLDING = (0.3, 0.8)  # of the arms that hold the ground meanwhile


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
    prey: int = eqx.field(static=True, default=0)
    """Index of the prey among the free objects."""

    def init(self, observation: Observation) -> ForageMemory:
        """The memory at the start: nothing is decided."""
        arm, side, _ = self._choice(observation)
        here = observation.pose.position[:2]
        crawl, fetch = self.crawl.init(observation), self.fetch.init(self._of_arm(observation, arm, side))
        return ForageMemory(crawl, fetch, arm, side, here, jnp.asarray(False))

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
        fetching, course = self.fetch(time, self._of_arm(observation, arm, side), memory.course)
        assert fetching.activation is not None
        assert crawling.activation is not None
        assert fetching.take is not None
        assert crawling.grip is not None
        course = jax.tree.map(lambda new, old: jnp.where(there, new, old), course, memory.course)
        activation = jnp.where(side > 0.0, fetching.activation, mirrored(fetching.activation))
        arms = jnp.arange(len(self.crawl.yaws))
        one = (arms == arm)[:, None]
        aside = jnp.mod(arms - arm + 1, len(arms)) <= 2  # itself, and those beside it
        holding = jnp.where(aside, 0.0, self.crawl.working)[:, None] * self.hold
        control = Control(
            activation=jnp.where(there, jnp.where(one[..., None], activation, 0.0), crawling.activation),
            grip=jnp.where(there, holding, crawling.grip),
            take=jnp.where(one & there, fetching.take, 0.0),
        )
        return control, ForageMemory(crawled, course, arm, side, memory.start, there)

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
        return _TIMES[-1]

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
        along = plan.ring + plan.arm_length * (_TAKES_AT + np.array([-_SPREAD, _SPREAD]))
        beside = balls[self.prey].radius + plan.scale * np.array([0.0, _ASIDE])
        hold = plan.anatomy.within(*_HOLDING)
        return ForageController(crawl, _fetching(system, plan, dt), TakingRange(along, beside), hold, self.prey)


def _fetching(system: System, plan: BodyPlan, dt: float) -> Servo:
    """The arm that takes the prey: it sweeps to its left, waits for a touch, and curls to the mouth."""
    known = KnownArm.of(system)
    arm, n, length = known.arm.arm, plan.anatomy.count, plan.arm_length
    base, along, up = arm.T_world_base.position, arm.T_world_base.rotation[:, 2], jnp.array([0.0, 0.0, 1.0])
    left = small.cross(up, along)
    still = jnp.zeros((n, arm.coordinates))

    def shape(part, ahead, aside, above, direction=None):
        point, count = base + ahead * along + aside * left + above * up, max(1, round(part * n))
        return still.at[:count].set(shape_to_point(arm.first(count), point, direction))

    swept = shape(_TAKES_AT, 0.95 * _TAKES_AT * length, _SWEEP * plan.scale, 0.0)
    upwards = _UPWARDS[0] * along + _UPWARDS[1] * left + _UPWARDS[2] * up
    ahead, aside, above = (share * length for share in _MOUTH)
    home = shape(_BRINGS, ahead, aside, above, upwards / small.norm(upwards))
    grip = plan.anatomy.inside(*_TAKING)
    course = Course(
        jnp.asarray(_TIMES),
        jnp.stack([still, still, swept, swept, home, home]),
        jnp.stack([grip] * 6),
        jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    )
    begins = dt * jnp.arange(max(round(_TIMES[-1] / dt), 1))
    return make_servo(known, tabulated(known, course, begins, dt), rate=6.5, stiffen=0.2, most=_MOST)
