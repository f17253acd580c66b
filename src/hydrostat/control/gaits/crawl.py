"""Crawling: strokes along a path, each with the arms that push the body towards a point ahead."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat import errors
from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.gaits.base import STROKES, Stroke, heading_of, shares_for
from hydrostat.errors import InputError, shown
from hydrostat.lie import SE3
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

NEAR = 0.01
"""Distance from its goal at which an octopus with arms of 0.24 m has arrived [m]; it scales with the arms' length."""
_EFFORT = 1.5  # power of its length by which the activation of a stroke falls: measured, 0.4 of it takes it 0.57 as far
_ENDLESS = 1e3  # m: farther than anybody crawls


class CrawlMemory(NamedTuple):
    """The memory of a crawl."""

    share: Float[Array, " a"]
    """Share of every arm in the present stroke."""
    began: Float[Array, ""]
    """Time at which that stroke began [s]."""
    believed: Float[Array, " 2"]
    """Expected position of the body on its path after that stroke [m]."""
    leg: Int[Array, ""]
    """Index of the present waypoint."""
    strokes: Int[Array, ""]
    """Number of strokes that were begun."""
    arrived: Bool[Array, ""]
    """Whether the last waypoint is reached."""
    origin: Float[Array, " 2"]
    """Position of the path's origin in the world [m]."""


class CrawlController(Controller):
    """Strokes along a path, each with the arms that push the body towards a point ahead, no further than it takes it.

    In closed loop it observes its pose before every stroke. In open loop it assumes that every stroke has taken it to
    the expected position.
    """

    stroke: Stroke
    path: Float[Array, "k 2"]
    """Waypoints, from the start on [m]."""
    yaws: Float[Array, " a"]
    """Azimuths of the arms on the body [rad]."""
    working: Float[Array, " a"]
    """Indicator of arms whose suckers work: 1 for those, 0 for those whose suckers do not hold."""
    near: Float[Array, ""]
    """Distance from a waypoint at which it counts as reached [m]."""
    closed_loop: Bool[Array, ""] = eqx.field(converter=jnp.asarray)
    """Whether the loop is closed; an array, so that closed and open loop are one function to compile."""
    relative: bool = eqx.field(static=True, default=False)
    """Whether the path begins at the body's position at the start; else it is one in the world."""
    suckers: bool = eqx.field(static=True, default=True)
    """Whether the robot has suckers."""

    def init(self, observation: Observation) -> CrawlMemory:
        """The memory at the start: the first stroke is due."""
        zero, none = jnp.zeros(()), jnp.zeros((), int)
        origin = observation.pose.position[:2] if self.relative else jnp.zeros(2)
        due = zero - self.stroke.duration
        return CrawlMemory(jnp.zeros(len(self.yaws)), due, self.path[0], none + 1, none, zero > 1.0, origin)

    def __call__(self, time, observation: Observation, memory: CrawlMemory):
        """The control of the present moment of the stroke, and at its end the shares of the next one."""
        due = time - memory.began >= self.stroke.duration - 0.5 * observation.period
        new = self._next(time, observation.pose, memory)
        memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), new, memory)
        activation, grip = self.stroke(time - memory.began, memory.share)
        return Control(activation=activation, grip=grip * self.working[:, None] if self.suckers else None), memory

    def _next(self, time, pose: SE3, memory: CrawlMemory) -> CrawlMemory:
        """The memory of the stroke that begins at this position."""
        here = jnp.where(self.closed_loop, pose.position[:2] - memory.origin, memory.believed)
        turned = jnp.where(self.closed_loop, heading_of(pose), 0.0)
        last = len(self.path) - 1
        reached = _length(self.path[memory.leg] - here) <= self.near
        # A waypoint before the last need only be passed.
        passed = self._along(memory.leg, here)[1] >= -self.near
        leg = jnp.minimum(memory.leg + (reached | passed), last)
        arrived = memory.arrived | (reached & (memory.leg == last))
        along, ahead_of = self._along(leg, here)
        end = self.path[leg]
        gap = end + along * jnp.clip(ahead_of + self.stroke.length, -_length(end - self.path[leg - 1]), 0.0) - here
        scale = jnp.minimum(_length(gap) / self.stroke.length, 1.0) * jnp.where(arrived, 0.0, 1.0)
        share = scale**_EFFORT * shares_for(jnp.arctan2(gap[1], gap[0]) - turned, self.yaws)
        ahead = here + scale * self.stroke.length * gap / jnp.maximum(_length(gap), 1e-9)
        strokes = memory.strokes + jnp.where(arrived, 0, 1)
        return CrawlMemory(share, jnp.asarray(time), ahead, leg, strokes, arrived, memory.origin)

    def _along(self, leg: Int[Array, ""], here: Float[Array, " 2"]) -> tuple[Float[Array, " 2"], Float[Array, ""]]:
        """The direction of a leg, and the distance of a point beyond its end along it [m]."""
        start, end = self.path[leg - 1], self.path[leg]
        along = (end - start) / jnp.maximum(_length(end - start), 1e-9)
        return along, jnp.dot(here - end, along)


def _length(vector: Float[Array, " 2"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(vector**2))


class AbstractCrawl(Recipe):
    """The common part of crawling in a direction and walking along waypoints."""

    gait: eqx.AbstractVar[str]
    speed: eqx.AbstractVar[float | None]
    suckers: eqx.AbstractVar[bool]
    failed_suckers: eqx.AbstractVar[tuple[int, ...]]
    closed_loop: eqx.AbstractVar[bool]
    near: eqx.AbstractVar[float | None]

    def stroke(self, system: System) -> Stroke:
        """The stroke with which a system's robot crawls: its length, its duration."""
        stroke = STROKES[self.gait](BodyPlan.of(system))
        return stroke if self.speed is None else stroke.at_speed(self.speed)

    def _controller(self, system: System, path, relative: bool) -> CrawlController:
        """The controller along a path."""
        plan = BodyPlan.of(system)
        near = NEAR * plan.scale if self.near is None else self.near
        return CrawlController(
            stroke=self.stroke(system),
            path=jnp.asarray(path, float),
            yaws=plan.yaws,
            working=plan.working(self.suckers, self.failed_suckers),
            near=jnp.asarray(near, float),
            closed_loop=self.closed_loop,
            relative=relative,
            suckers=plan.suckers,
        )


def _checked(gait, speed, near) -> tuple[str, float | None, float | None]:
    """The name of a stroke, a speed and a tolerance, within their bounds."""
    return (
        errors.choice("gait", gait, tuple(STROKES)),
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
    ):
        """**Arguments:** `heading`: from the world's x axis [rad]; `distance` [m], without end when not given; `gait`:
        push, as animals do, or bend, as in the paper; `closed_loop`: whether it observes its pose before each stroke;
        `speed`: [m/s], as fast as it can when not given; `suckers`: whether it uses them; `failed_suckers`: arms whose
        suckers do not hold, by their numbers from 1; `near`: from its end, where it has arrived [m].
        """
        self.heading = jnp.asarray(errors.number("heading", heading), float)
        far = _ENDLESS if distance is None else errors.number("distance", distance, above=0.0, most=_ENDLESS)
        self.distance = jnp.asarray(far, float)
        self.gait, self.speed, self.near = _checked(gait, speed, near)
        self.closed_loop, self.suckers, self.failed_suckers = bool(closed_loop), bool(suckers), tuple(failed_suckers)

    def attach(self, system: System, dt: float) -> CrawlController:
        """The controller that crawls from where the body is."""
        del dt
        ahead = jnp.stack([jnp.cos(self.heading), jnp.sin(self.heading)])
        return self._controller(system, jnp.stack([jnp.zeros(2), self.distance * ahead]), relative=True)


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

    def attach(self, system: System, dt: float) -> CrawlController:
        """The controller that walks along the waypoints."""
        del dt
        return self._controller(system, self.waypoints, relative=False)
