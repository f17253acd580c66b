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
from hydrostat.control.gaits.cover import DWELLS, MISSES, PATIENCE, Cover, CoverMemory, cover
from hydrostat.control.gaits.crawl_controller import CrawlController, CrawlMemory
from hydrostat.control.gaits.prey_course import TAKES_AT, TIMES, fetching
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import Control, System

_SPREAD = 0.11  # of the arm: how far from where it takes its prey that may lie, when the octopus has come
_ASIDE = 0.045  # m between the arm's middle and the prey, at most, of an arm of 0.24 m
_HOLDING = (0.45, 0.8)  # of the arms that hold the ground meanwhile
_FREE = 2  # arms on the side from which the prey comes, that rise out of its way
_RISES_AT = (0.02, 0.08)  # m: how far beyond the tip of an arm of 0.24 m, and beside it, prey makes that rise
_RISES = 0.2  # of the activation of an arm that rises higher, beside the body
_RISES_OVER = 0.15  # of its distance then, over which the arm comes to be up
_CLEARLY = 0.25  # rad by which another arm, or the other side, must suit better: the body yaws at each stroke
_AHEAD = 1.5  # s from when an arm begins until it meets its prey: where that will be then is what counts
_SMOOTHS = 0.5  # s over which the velocity of the prey is seen
_ROUND = 0.17  # m from the surface of a rock, at which the body of an octopus with arms of 0.24 m goes round it
_EMPTY = 2.0  # s for which an arm that has swept holds nothing, until it is looked anew where the prey is


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
    empty: Float[Array, ""]
    """Time for which the arm that takes the prey has had nothing, though it has swept [s]."""
    seen: Float[Array, " 2"]
    """Where the prey was last seen on the ground [m]."""
    moves: Float[Array, " 2"]
    """Velocity of the prey on the ground, as seen over some time [m/s]."""


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
    reach: Float[Array, " 2"]
    """Distance of the prey from the middle of the body, and from the axis of an arm, below which that rises out of its
    way [m]."""
    rock: Float[Array, " 3"] | None = None
    """Centre of a rock on the ground, and the distance from it at which the body goes round it [m]."""
    prey: int = eqx.field(static=True, default=0)
    """Index of the prey among the free objects."""

    def init(self, observation: Observation) -> ForageMemory:
        """The memory at the start: nothing is decided."""
        return self._begun(observation, observation.objects[self.prey, :2], jnp.zeros(2))

    def _begun(self, observation: Observation, seen, moves) -> ForageMemory:
        """The memory of an octopus that sets out for its prey, which it has seen move."""
        arm, side, _ = self._choice(observation, moves)
        here = observation.pose.position[:2]
        crawl, fetch = self.crawl.init(observation), self.fetch.init(self._of_arm(observation, arm, side))
        fresh, zero = CoverMemory.fresh(len(self.crawl.yaws)), jnp.zeros(())
        return ForageMemory(crawl, fetch, arm, side, here, jnp.asarray(False), fresh, zero, seen, moves)

    def __call__(self, time, observation: Observation, memory: ForageMemory):
        """The control of the crawl or of the fetch, and the new memory."""
        memory = self._looked_anew(observation, self._watched(observation, memory))
        # Between strokes it checks whether an arm can take the prey.
        due = time - memory.crawl.began >= self.crawl.stroke.duration - 0.5 * observation.period
        moves = memory.moves
        arm, side, fits = self._choice(observation, moves)
        there = memory.there | (due & fits)
        stays = memory.there | (~fits & self._still_suits(observation, memory, arm, side))
        arm, side = (jnp.where(stays, *y) for y in ((memory.arm, arm), (memory.side, side)))
        path = jnp.stack(self._path_past(observation, memory.start, self._goal(observation, arm, side, moves)))
        crawl = eqx.tree_at(lambda crawl: crawl.path, self.crawl, path)
        crawling, crawled = crawl(time, observation, memory.crawl)
        clock, prey = memory.course.step * observation.period, observation.objects[self.prey]
        covering = self.cover.lowered(observation, memory.cover, clock, prey)
        covering = self.cover.shifted(observation, covering, clock, prey, self.crawl.yaws[arm], side)
        observed = self._of_arm(observation, arm, side)
        fetch = self.cover.carrying(self.fetch, observed.taken)
        # A plan that is displaced is one from which the shape differs by that.
        displaced = observed._replace(q=observed.q - self.cover.shape(covering))
        fetched, course = fetch(time, displaced, memory.course)
        pace = self.cover.pace(self.fetch, displaced, memory.course)
        course = course._replace(step=memory.course.step + pace * (course.step - memory.course.step))
        assert fetched.activation is not None
        assert crawling.activation is not None
        assert fetched.take is not None
        assert crawling.grip is not None
        course = jax.tree.map(lambda new, old: jnp.where(there, new, old), course, memory.course)
        course, covering = self._timed(observation, memory, course, covering)
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
            activation=jnp.where(there, activation, crawling.activation + self._rising(observation, crawled)),
            grip=jnp.where(there, holding, crawling.grip),
            take=jnp.where(one & there, fetched.take, 0.0),
        )
        new = memory._replace(crawl=crawled, course=course, arm=arm, side=side, there=there, cover=covering)
        return control, new

    def _watched(self, observation: Observation, memory: ForageMemory) -> ForageMemory:
        """The memory of where the prey is, and of how it moves."""
        now, share = observation.objects[self.prey, :2], observation.period / _SMOOTHS
        moves = memory.moves + (now - memory.seen) / _SMOOTHS - share * memory.moves
        return memory._replace(seen=now, moves=moves)

    def _path_past(self, observation: Observation, start, goal) -> tuple[Float[Array, " 2"], Float[Array, " 2"]]:
        """The begin and the end of the way, which leads past the rock where that is in the way: along the circle about
        it, on the side on which the goal lies nearer."""
        if self.rock is None:
            return start, goal
        here, centre, clear = observation.pose.position[:2], self.rock[:2], self.rock[2]
        ahead, off = goal - here, centre - here
        share = jnp.clip(jnp.sum(off * ahead) / jnp.maximum(jnp.sum(ahead**2), 1e-12), 0.0, 1.0)
        away = here + share * ahead - centre
        far = jnp.sqrt(jnp.sum(away**2))
        aside = jnp.stack([-off[1], off[0]]) / jnp.maximum(jnp.sqrt(jnp.sum(off**2)), 1e-9)
        out = jnp.where(far > 1e-6, away / jnp.maximum(far, 1e-9), aside)
        blocked = (far < clear) & (share < 1.0) & (jnp.sum(off * ahead) > 0.0)
        return jnp.where(blocked, here, start), jnp.where(blocked, centre + clear * out, goal)

    def _looked_anew(self, observation: Observation, memory: ForageMemory) -> ForageMemory:
        """The memory, or a new one once the arm has had nothing for some time though it has swept: it goes for its
        prey anew, from where it is, with the arm that suits it then."""
        swept = memory.there & (memory.course.step * observation.period >= TIMES[2])
        held = jnp.max(observation.taken[memory.arm]) > 0.5
        lost = swept & ~held & ~self.cover.at_mouth(observation, observation.objects[self.prey])
        empty = jnp.where(lost, memory.empty + observation.period, 0.0)
        anew = empty > _EMPTY
        kept = memory._replace(empty=empty)
        fresh = self._begun(observation, memory.seen, memory.moves)
        return jax.tree.map(lambda new, old: jnp.where(anew, new, old), fresh, kept)

    def _timed(
        self, observation: Observation, memory: ForageMemory, course: ServoMemory, covering: CoverMemory
    ) -> tuple[ServoMemory, CoverMemory]:
        """The memories of the course and of what brings the prey under the mouth, with the clock of the course."""
        period = observation.period
        before, clock = memory.course.step * period, course.step * period
        # The body stays up until the prey rests under it; what keeps the prey from its place then pulls no harder.
        due = (before < TIMES[6]) & (clock >= TIMES[6])
        waits = due & (covering.under < DWELLS) & (covering.waited < PATIENCE)
        # Where it has come down beside its prey, it rises, and the prey is brought under it anew.
        rises = (clock >= TIMES[-1]) & (covering.missed > MISSES)
        step = jnp.where(waits, memory.course.step, course.step)
        missing = jnp.where(covering.lain > 0.0, memory.course.missing, course.missing)
        covering = covering._replace(
            waited=jnp.where(rises, 0.0, covering.waited + jnp.where(waits, period, 0.0)),
            missed=jnp.where(rises, 0.0, covering.missed),
        )
        return course._replace(step=jnp.where(rises, TIMES[5] / period, step), missing=missing), covering

    def _rising(self, observation: Observation, crawl: CrawlMemory) -> Float[Array, "a n m"]:
        """The activations of arms that rise out of the way of prey before them, and have no part in the stroke.

        The body yaws at each stroke: an arm on the ground would knock prey away, and prey rolls far.
        """
        far, angle = self._bearings(observation)
        (reach, clear), off = self.reach, within_half_turn(angle)
        lateral = jnp.where(jnp.cos(off) > 0.0, far * jnp.abs(jnp.sin(off)), far) / clear
        level = jnp.clip((reach - far) / (_RISES_OVER * reach), 0.0, 1.0) * jnp.clip(2.0 - 2.0 * lateral, 0.0, 1.0)
        works = jnp.where(crawl.alternating, crawl.by_turns, crawl.share) != 0.0
        return jnp.where(works, 0.0, _RISES * level)[:, None, None] * self.cover.clear

    def _of_arm(self, observation: Observation, arm, side) -> Observation:
        """The observation of one arm, mirrored where it sweeps to its right."""
        turn = jnp.concatenate([side[None], jnp.ones(observation.q.shape[-1] - 1)])
        return observation._replace(
            q=turn * observation.q[arm], v=turn * observation.v[arm], taken=observation.taken[arm]
        )

    def _choice(
        self, observation: Observation, moves: Float[Array, " 2"] | float = 0.0
    ) -> tuple[Int[Array, ""], Float[Array, ""], Bool[Array, ""]]:
        """The arm that the prey will lie beside best, on which side, and whether it can take it."""
        far, angle = self._bearings(observation, moves)
        along, left = far * jnp.cos(angle), far * jnp.sin(angle)
        beside = jnp.abs(left)
        (near, most), (least, widest) = self.range
        fits = (along >= near) & (along <= most) & (beside >= least) & (beside <= widest)
        best = self.range.best
        # The one whose best place for it has the direction in which it lies.
        off = jnp.abs(jnp.abs(within_half_turn(angle)) - jnp.arctan2(best[1], best[0]))
        arm = jnp.argmin(jnp.where(fits, off, off + jnp.pi))
        return arm, _side(left[arm]), jnp.any(fits)

    def _expected_place(self, observation: Observation, moves) -> Float[Array, " 2"]:
        """Where the prey will be on the ground when an arm that begins now meets it, if it moves on as it does [m]."""
        return observation.objects[self.prey, :2] + _AHEAD * moves

    def _bearings(
        self, observation: Observation, moves: Float[Array, " 2"] | float = 0.0
    ) -> tuple[Float[Array, ""], Float[Array, " a"]]:
        """The distance of the prey on the ground [m], and its azimuth from each arm's [rad]."""
        gap = self._expected_place(observation, moves) - observation.pose.position[:2]
        angle = jnp.arctan2(gap[1], gap[0]) - heading_of(observation.pose) - self.crawl.yaws
        return jnp.sqrt(jnp.sum(gap**2)), angle

    def _still_suits(self, observation: Observation, memory: ForageMemory, arm, side) -> Bool[Array, ""]:
        """Whether the arm and the side for which it came so far suit the prey hardly less than others."""
        angle, (along, beside) = self._bearings(observation, memory.moves)[1], self.range.best

        def off(arm, side):
            return jnp.abs(within_half_turn(angle[arm] - side * jnp.arctan2(beside, along)))

        return off(memory.arm, memory.side) < off(arm, side) + _CLEARLY

    def _goal(self, observation: Observation, arm, side, moves: Float[Array, " 2"] | float = 0.0) -> Float[Array, " 2"]:
        """The position of the body at which its prey would be at the best place beside an arm."""
        along, beside = self.range.best
        angle = heading_of(observation.pose) + self.crawl.yaws[arm] + side * jnp.arctan2(beside, along)
        return self._expected_place(observation, moves) - jnp.hypot(along, beside) * jnp.stack(
            [jnp.cos(angle), jnp.sin(angle)]
        )


def _side(left):
    """1 for what is not negative, else -1."""
    return jnp.where(left >= 0.0, 1.0, -1.0)


class Forage(Recipe):
    """Crawls to a free object, takes it with one arm and brings it to the mouth."""

    failed_suckers: tuple[int, ...] = eqx.field(static=True)
    prey: int = eqx.field(static=True)
    rock: tuple[float, float, float] | None = eqx.field(static=True)

    def __init__(self, *, failed_suckers=(), prey: int = 0, rock=None):
        """**Arguments:** `failed_suckers`: arms whose suckers do not hold, by their numbers from 1; `prey`: which of
        the system's free objects it is, from 0; `rock`: what the octopus goes round, x and y of its centre on the
        ground and its radius [m].
        """
        self.failed_suckers, self.prey = tuple(failed_suckers), prey
        self.rock = None if rock is None else (float(rock[0]), float(rock[1]), float(rock[2]))

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
        beyond, aside = _RISES_AT
        reach = jnp.stack([plan.ring + plan.arm_length + beyond * plan.scale, aside * plan.scale]) + ball.radius
        rock = self.rock and jnp.array([*self.rock[:2], self.rock[2] + _ROUND * plan.scale])
        return ForageController(crawl, fetch, TakingRange(along, beside), hold, onto, reach, rock, self.prey)
