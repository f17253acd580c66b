"""Crawling in a direction and walking along waypoints, by strokes that push the body towards a point ahead."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Recipe
from hydrostat.control.gaits.alternate import ALTERNATIONS, Alternation, groups_of, pull_and_push
from hydrostat.control.gaits.base import STROKES, Stroke
from hydrostat.control.gaits.crawl_controller import CrawlController
from hydrostat.control.gaits.crawl_messages import crawl_brain
from hydrostat.control.hierarchy import HierarchyController, Nerves, attached
from hydrostat.errors import InputError, shown
from hydrostat.system import System

NEAR = 0.01
"""Distance from its goal at which an octopus with arms of 0.24 m has arrived [m]; it scales with the arms' length."""
_ENDLESS = 1e3  # m: farther than anybody crawls


class AbstractCrawl(Recipe):
    """The common part of crawling in a direction and walking along waypoints."""

    gait: eqx.AbstractVar[str]
    speed: eqx.AbstractVar[float | None]
    suckers: eqx.AbstractVar[bool]
    failed_suckers: eqx.AbstractVar[tuple[int, ...]]
    closed_loop: eqx.AbstractVar[bool]
    near: eqx.AbstractVar[float | None]
    nerves: eqx.AbstractVar[Nerves | None]

    def stroke(self, system: System) -> Stroke:
        """The stroke with which a system's robot crawls: its length, its duration."""
        plan = BodyPlan.of(system)
        stroke = STROKES.get(self.gait, STROKES["push"])(plan)
        if self.gait in ALTERNATIONS:
            by_turns = self.alternation(plan)
            parts = (by_turns.length, by_turns.period_s - stroke.push_s)
            stroke = eqx.tree_at(lambda stroke: (stroke.length, stroke.gather_s), stroke, parts)
        return stroke if self.speed is None else stroke.at_speed(self.speed)

    def alternation(self, plan: BodyPlan) -> Alternation:
        """The stroke by turns: that of the gait, or the one to which another gait changes."""
        return ALTERNATIONS.get(self.gait, pull_and_push)(plan)

    def _controller(self, system: System, dt: float, path, relative: bool) -> CrawlController | HierarchyController:
        """The controller along a path, by messages where there are nerves."""
        planner = self._planner(system, path, relative)
        if self.nerves is None:
            return planner
        ahead = dt * self.nerves.steps(dt)
        brain = crawl_brain(planner, jnp.sin(planner.yaws) < 0.0, ahead, self.closed_loop)
        return attached(brain, self.nerves, system, dt, planner.working)

    def _planner(self, system: System, path, relative: bool) -> CrawlController:
        """The controller along a path that drives all muscles itself."""
        plan = BodyPlan.of(system)
        near = NEAR * plan.scale if self.near is None else self.near
        return CrawlController(
            stroke=self.stroke(system),
            alternation=self.alternation(plan),
            path=jnp.asarray(path, float),
            yaws=plan.yaws,
            group=groups_of(plan.yaws),
            working=plan.working(self.suckers, self.failed_suckers),
            near=jnp.asarray(near, float),
            closed_loop=self.closed_loop,
            alternating=self.gait in ALTERNATIONS,
            relative=relative,
            suckers=plan.suckers,
        )


def _checked(gait, speed, near) -> tuple[str, float | None, float | None]:
    """The name of a stroke, a speed and a tolerance, within their bounds."""
    return (
        errors.choice("gait", gait, (*ALTERNATIONS, *STROKES)),
        None if speed is None else errors.number("speed", speed, above=0.0),
        None if near is None else errors.number("near", near, least=0.0),
    )


class Crawl(AbstractCrawl):
    """Crawls in a direction over the ground, for a distance or without end.

    Crawl(heading=0.3)
    """

    heading: Float[Array, ""]
    """Heading, from the world's x axis [rad]."""
    distance: Float[Array, ""]
    """Distance to go [m]."""
    gait: str = eqx.field(static=True)
    speed: float | None
    closed_loop: bool = eqx.field(static=True)
    suckers: bool = eqx.field(static=True)
    failed_suckers: tuple[int, ...] = eqx.field(static=True)
    near: float | None
    nerves: Nerves | None

    def __init__(
        self,
        heading: float = 0.0,
        distance: float | None = None,
        *,
        gait: str = "push",
        closed_loop: bool = True,
        speed: float | None = None,
        suckers: bool = True,
        failed_suckers=(),
        near: float | None = None,
        nerves: Nerves | None = None,
    ):
        """**Arguments:** `heading`: from the world's x axis [rad]; `distance` [m], without end when not given; `gait`:
        push, as animals do, bend, as in the paper, alternate, by turns, or outer, by turns with suckers at the
        segments 17 to 19 of 20, as in the paper; `closed_loop`: whether it observes its pose
        before each stroke, and alternates once a stroke took it hardly anywhere; `speed`: [m/s], as fast as it can when
        not given; `suckers`: whether it uses them; `failed_suckers`: arms whose suckers do not hold, by their numbers
        from 1; `near`: from its end, where it has arrived [m]; `nerves`: those by which a brain sends messages to arms
        that do the rest by themselves, without when not given.
        """
        self.heading = jnp.asarray(errors.number("heading", heading), float)
        far = _ENDLESS if distance is None else errors.number("distance", distance, above=0.0, most=_ENDLESS)
        self.distance = jnp.asarray(far, float)
        self.gait, self.speed, self.near = _checked(gait, speed, near)
        self.closed_loop, self.suckers, self.failed_suckers = bool(closed_loop), bool(suckers), tuple(failed_suckers)
        self.nerves = nerves

    def attach(self, system: System, dt: float) -> CrawlController | HierarchyController:
        """The controller that crawls from where the body is."""
        ahead = jnp.stack([jnp.cos(self.heading), jnp.sin(self.heading)])
        return self._controller(system, dt, jnp.stack([jnp.zeros(2), self.distance * ahead]), relative=True)


class Walk(AbstractCrawl):
    """Crawls along waypoints on the ground, and observes its pose before every stroke.

    Walk([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
    """

    waypoints: Float[Array, "k 2"]
    """Waypoints x, y in the world [m]."""
    gait: str = eqx.field(static=True)
    speed: float | None
    closed_loop: bool = eqx.field(static=True)
    suckers: bool = eqx.field(static=True)
    failed_suckers: tuple[int, ...] = eqx.field(static=True)
    near: float | None
    nerves: Nerves | None

    def __init__(
        self,
        waypoints,
        *,
        gait: str = "push",
        closed_loop: bool = True,
        speed: float | None = None,
        suckers: bool = True,
        failed_suckers=(),
        near: float | None = None,
        nerves: Nerves | None = None,
    ):
        """**Arguments:** `waypoints`: x, y of each in the world, from where the body starts [m]; the others as those of
        `Crawl`.
        """
        points = jnp.asarray(waypoints, float)
        if points.ndim != 2 or points.shape[0] < 2 or points.shape[1] != 2:
            raise InputError(f"`waypoints` must be at least two points x, y; got {shown(waypoints)}")
        self.waypoints = points
        self.gait, self.speed, self.near = _checked(gait, speed, near)
        self.closed_loop, self.suckers, self.failed_suckers = bool(closed_loop), bool(suckers), tuple(failed_suckers)
        self.nerves = nerves

    def attach(self, system: System, dt: float) -> CrawlController | HierarchyController:
        """The controller that walks along the waypoints."""
        return self._controller(system, dt, self.waypoints, relative=False)
