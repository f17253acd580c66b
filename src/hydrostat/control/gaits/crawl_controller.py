"""The controller of a crawl: strokes along a path, each with the arms that push the body towards a point ahead."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.base import Controller
from hydrostat.control.gaits.alternate import Alternation, shares_by_turns
from hydrostat.control.gaits.base import Stroke, heading_of, shares_for
from hydrostat.lie import SE3
from hydrostat.sensing import Observation
from hydrostat.system import Control

_EFFORT = 1.5  # power of its length by which the activation of a stroke falls: measured, 0.4 of it takes it 0.57 as far
_STALLED = 0.33  # of the expected advance, below which a gait changes


class CrawlMemory(NamedTuple):
    """The memory of a crawl."""

    share: Float[Array, " a"]
    """Share of every arm in the push of the present stroke."""
    by_turns: Float[Array, " a"]
    """Share of every arm in a stroke by turns, positive for arms that pull, negative for arms that push."""
    alternating: Bool[Array, ""]
    """Whether arms work by turns."""
    handed_over: Bool[Array, ""]
    """Whether the first group of arms has let go in the present stroke by turns."""
    waited: Float[Array, ""]
    """Time for which that stroke has waited for arms to take hold [s]."""
    here: Float[Array, " 2"]
    """Position on the path at which the present stroke began [m]."""
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
    alternation: Alternation
    path: Float[Array, "k 2"]
    """Waypoints, from the start on [m]."""
    yaws: Float[Array, " a"]
    """Azimuths of the arms on the body [rad]."""
    group: Float[Array, " a"]
    """Group of every arm in strokes by turns, 0 or 1."""
    working: Float[Array, " a"]
    """Indicator of arms whose suckers work: 1 for those, 0 for those whose suckers do not hold."""
    near: Float[Array, ""]
    """Distance from a waypoint at which it counts as reached [m]."""
    closed_loop: Bool[Array, ""] = eqx.field(converter=jnp.asarray)
    """Whether the loop is closed; an array, so that closed and open loop are one function to compile."""
    alternating: Bool[Array, ""] = eqx.field(converter=jnp.asarray, default=False)
    """Whether arms work by turns from the first stroke on."""
    relative: bool = eqx.field(static=True, default=False)
    """Whether the path begins at the body's position at the start; else it is one in the world."""
    suckers: bool = eqx.field(static=True, default=True)
    """Whether the robot has suckers."""

    def init(self, observation: Observation) -> CrawlMemory:
        """The memory at the start: the first stroke is due."""
        zero, none = jnp.zeros(()), jnp.zeros((), int)
        origin = observation.pose.position[:2] if self.relative else jnp.zeros(2)
        # Before arms work by turns, all of them lie down and take hold.
        due = jnp.where(self.alternating, self.alternation.settle_s, 0.0) - self.stroke.duration
        still = jnp.zeros(len(self.yaws))
        return CrawlMemory(
            still,
            still,
            self.alternating,
            zero > 1.0,
            zero,
            self.path[0],
            due,
            self.path[0],
            none + 1,
            none,
            zero > 1.0,
            origin,
        )

    def __call__(self, time, observation: Observation, memory: CrawlMemory):
        """The control of the present moment of the stroke, and at its end the shares of the next one."""
        held = jnp.max(observation.held, -1) if self.suckers else jnp.ones_like(self.yaws)
        due, memory = self._clock(time, observation.period, held, memory)
        new = self.next_stroke(time, observation.pose, memory)
        memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), new, memory)
        since = time - memory.began
        together = self.stroke(since, memory.share)
        by_turns = self.alternation(since, self.stroke.duration, memory.by_turns, self.group)
        still = (memory.strokes == 0) | memory.arrived
        by_turns = _where(still, self.alternation.standing(len(self.yaws)), by_turns)
        activation, grip = _where(memory.alternating, by_turns, together)
        return Control(activation=activation, grip=grip * self.working[:, None] if self.suckers else None), memory

    def _clock(self, time, period, held, memory: CrawlMemory) -> tuple[Bool[Array, ""], CrawlMemory]:
        """Whether the next stroke is due, and the memory of a stroke whose clock stands while arms take hold."""
        turns = memory.alternating & (memory.strokes > 0) & ~memory.arrived
        duration = self.stroke.duration
        since = time - memory.began + 0.5 * period
        over = [
            self.alternation.may_let_go(memory.by_turns, own, held, memory.waited)
            for own in (1.0 - self.group, self.group)
        ]
        at_half = turns & ~memory.handed_over & (since >= 0.5 * duration)
        at_end = since >= duration
        waits = (at_half & ~over[1]) | (at_end & turns & ~over[0])
        memory = memory._replace(
            began=memory.began + jnp.where(waits, period, 0.0),
            handed_over=memory.handed_over | (at_half & over[1]),
            # It waits anew for each of the two groups.
            waited=jnp.where(waits, memory.waited + period, jnp.where(at_half, 0.0, memory.waited)),
        )
        return at_end & ~waits, memory

    def next_stroke(self, time, pose: SE3, memory: CrawlMemory) -> CrawlMemory:
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
        direction = jnp.arctan2(gap[1], gap[0]) - turned
        share = scale**_EFFORT * shares_for(direction, self.yaws)
        ahead = here + scale * self.stroke.length * gap / jnp.maximum(_length(gap), 1e-9)
        strokes = memory.strokes + jnp.where(arrived, 0, 1)
        by_turns = scale**_EFFORT * shares_by_turns(direction, self.yaws, self.group)
        alternating = memory.alternating | (self.closed_loop & self._stalled(here, memory))
        began = jnp.asarray(time)
        none = jnp.zeros(())
        return CrawlMemory(
            share, by_turns, alternating, none > 1.0, none, here, began, ahead, leg, strokes, arrived, memory.origin
        )

    def _stalled(self, here: Float[Array, " 2"], memory: CrawlMemory) -> Bool[Array, ""]:
        """Whether the stroke that ends took the body less far than a third of what was expected."""
        expected = memory.believed - memory.here
        far = _length(expected)
        return (memory.strokes > 0) & (jnp.dot(here - memory.here, expected) < _STALLED * far * far) & (far > self.near)

    def _along(self, leg: Int[Array, ""], here: Float[Array, " 2"]) -> tuple[Float[Array, " 2"], Float[Array, ""]]:
        """The direction of a leg, and the distance of a point beyond its end along it [m]."""
        start, end = self.path[leg - 1], self.path[leg]
        along = (end - start) / jnp.maximum(_length(end - start), 1e-9)
        return along, jnp.dot(here - end, along)


def _where(condition, yes: tuple, no: tuple) -> tuple:
    """One of two pairs of arrays."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _length(vector: Float[Array, " 2"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(vector**2))
