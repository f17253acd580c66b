"""The central nervous system of an octopus: gaits that tell all arms together what to do.

An arm is pushed away from what it holds, so the body goes the other way: an octopus crawls against the sum of the
directions of the arms that push, whatever way its body faces (Levy et al. 2015). Each arm takes part by a share.

A stroke is data: what every muscle does while the arm gathers itself and while it pushes, when, and where suckers hold.
Gaits that differ only in that are one function, compiled once.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.commands import Anatomy
from hydrostat.control.nerves import AbstractBrain, Felt, Played, Wanted
from hydrostat.lie import SE3

_EFFORT = 1.5  # power of its length by which the activation of a stroke falls: measured, 0.4 of it takes it 0.57 as far
_AROUND = np.deg2rad(np.arange(-85.0, 86.0))  # from the way back, where arms that are lost make it crooked
_MIRRORED = np.array([0, 3, 2, 1, 4, 6, 5])  # muscles in whose places those of a mirrored arm are
_BESIDE = 0.05  # cosine of the angle from the way back, from where an arm is beside the body and does not push


class Stroke(eqx.Module):
    """Arms gather themselves, take hold of the ground, push, and let go."""

    gather: Float[Array, "#a n m"]
    """Activation of every muscle of an arm with a share of 1, of each arm or of all alike."""
    push: Float[Array, "#a n m"]
    grip: Float[Array, " n"]
    """1 for segments whose suckers hold during the push."""
    gather_s: Float[Array, ""]
    """[s]"""
    push_s: Float[Array, ""]
    """[s]"""
    rest_s: Float[Array, ""]
    """Until the next stroke [s]."""
    rise_s: Float[Array, ""]
    """Over which muscles contract and relax [s]: an arm that is shortened at once whips about."""
    length: Float[Array, ""]
    """How far one stroke takes an octopus at full shares, found by trying [m]."""

    @property
    def duration(self) -> Float[Array, ""]:
        """Of a stroke [s]."""
        return self.gather_s + self.push_s + self.rest_s

    def at_speed(self, speed: float) -> "Stroke":
        """The stroke with as long a rest as slows it down to a speed [m/s]; faster than without rest it cannot be."""
        rest = max(0.0, float(self.length) / speed - float(self.gather_s + self.push_s))
        return eqx.tree_at(lambda stroke: stroke.rest_s, self, jnp.asarray(rest))

    def __call__(self, time, share: Float[Array, " a"]) -> Wanted:
        """What the arms do at a time since the stroke began, each by its share."""
        ends = self.gather_s + self.push_s
        gathering = _during(time, 0.0, self.gather_s + self.rise_s, self.rise_s)
        pushing = _during(time, self.gather_s, ends, self.rise_s)
        activation = share[:, None, None] * (self.gather * gathering + self.push * pushing)
        on = jnp.where((time >= self.gather_s) & (time < ends), 1.0, 0.0)
        return Wanted(activation, on * jnp.where(share > 0.0, 1.0, 0.0)[:, None] * self.grip)


def _during(time, begin, end, rise):
    """1 from begin to end, with smooth ways up and down within."""
    up, down = (jnp.clip(t / rise, 0.0, 1.0) for t in (time - begin, end - time))
    least = jnp.minimum(up, down)
    return least * least * (3.0 - 2.0 * least)


def stiffened(anatomy: Anatomy, amount: float, last: float = 1.0) -> Float[Array, "n m"]:
    """All muscles contract, the radial ones twice as much, up to a fraction of the arm: it resists."""
    level = amount * anatomy.inside(0.0, last)
    return anatomy.muscles(jnp.repeat(level[:, None], 4, 1), 2.0 * level)


def shorten_and_push(anatomy: Anatomy, yaws: Float[Array, " a"]) -> Stroke:
    """Biology's way: an arm becomes shorter, takes hold, and becomes longer. The numbers were found by trying."""
    del yaws
    shorten, elongate, stiffen, press, first, last = 0.09, 0.12, 0.06, 0.06, 0.6, 0.8
    # What lies beyond the suckers that hold has nothing to do, and would whip about.
    near = anatomy.inside(0.0, last)
    gather = anatomy.muscles(jnp.repeat(shorten * near[:, None], 4, 1), jnp.zeros(anatomy.count))
    gather = gather + downwards(anatomy, press * anatomy.inside(0.0, 0.4))
    push = anatomy.muscles(jnp.zeros((anatomy.count, 4)), elongate * near) + stiffened(anatomy, stiffen, last)
    numbers = (0.9, 0.8, 0.0, 0.4, 0.049)
    return Stroke(gather[None], push[None], sucking(anatomy, first, last), *(jnp.asarray(x) for x in numbers))


def bend_and_straighten(anatomy: Anatomy, yaws: Float[Array, " a"]) -> Stroke:
    """The paper's way: an arm lies down in bends, takes hold, and becomes straight.

    With bends twice as strong the arm folds under the push.
    """
    bend, stiffen, first, last = 0.1, 0.4, 0.6, 0.8
    side = jnp.where(jnp.sin(yaws) >= 0.0, 1.0, -1.0)  # arms of both sides mirror each other
    level = bend * three_bends(anatomy) * side[:, None]
    gather = jax.vmap(lambda one: sideways(anatomy, one))(level)
    push = stiffened(anatomy, stiffen, last)
    numbers = (0.9, 0.8, 0.0, 0.4, 0.031)
    return Stroke(gather, push[None], sucking(anatomy, first, last), *(jnp.asarray(x) for x in numbers))


def three_bends(anatomy: Anatomy) -> Float[Array, " n"]:
    """How much of a bend to the left each segment has in an arm that lies in bends; graded."""
    return anatomy.grade * (anatomy.inside(0.05, 0.2) - anatomy.inside(0.2, 0.5) + anatomy.inside(0.5, 0.65))


def sideways(anatomy: Anatomy, level: Float[Array, " n"]) -> Float[Array, "n m"]:
    """Bends along the ground, to the left where the level is positive, with half as much of the radial muscles."""
    zero = jnp.zeros_like(level)
    sides = jnp.stack([zero, jnp.maximum(level, 0.0), zero, jnp.maximum(-level, 0.0)], -1)
    return anatomy.muscles(sides, 0.5 * jnp.abs(level))


def mirrored(activation: Float[Array, "*arms n m"]) -> Float[Array, "*arms n m"]:
    """What the muscles of a mirrored arm do: left and right change places."""
    return activation[..., _MIRRORED[: activation.shape[-1]]]


def downwards(anatomy: Anatomy, level: Float[Array, " n"]) -> Float[Array, "n m"]:
    """Bends to the ground: an arm that hovers above it, as one with unequal muscles may, has nothing to hold."""
    zero = jnp.zeros_like(level)
    return anatomy.muscles(jnp.stack([level, zero, zero, zero], -1), zero)


def sucking(anatomy: Anatomy, first: float, last: float) -> Float[Array, " n"]:
    """1 for segments between two fractions of the arm."""
    return jnp.where(anatomy.inside(first, last) > 0.5, 1.0, 0.0)


def standing(anatomy: Anatomy, grip: Float[Array, " a"], stiffen: float = 0.05, press: float = 0.06) -> Played:
    """All arms press themselves to the ground and hold it; `grip`: 1 for arms whose suckers work."""
    one = stiffened(anatomy, stiffen) + downwards(anatomy, press * anatomy.inside(0.0, 0.4))
    activation = jnp.repeat(one[None], len(grip), 0)
    return Played(activation[None], (grip[:, None] * sucking(anatomy, 0.5, 0.8))[None])


STROKES = {"push": shorten_and_push, "bend": bend_and_straighten}
"""Ways to crawl, by name."""


def shares_for(direction, yaws: Float[Array, " a"]) -> Float[Array, " a"]:
    """How much each arm pushes so that the body goes in a direction [rad]: those behind it, the more the further.

    Of all shares whose pushes add up to a direction, the smallest are the cosines of the arms' angles from some way
    back, where those are positive. Of an octopus with all its arms that is the way back itself; where arms are lost it
    is another, and it is looked for.
    """

    def shares(way):
        behind = -jnp.cos(yaws - way)
        return jnp.where(behind > _BESIDE, behind, 0.0)

    def off(way):
        share = shares(way)
        push = -jnp.sum(share * jnp.exp(1j * (yaws - direction)))
        return jnp.abs(jnp.angle(push)) + 1e-3 * jnp.abs(way - direction)

    ways = direction + _AROUND
    share = shares(ways[jnp.argmin(jax.vmap(off)(ways))])
    return share / jnp.maximum(jnp.max(share), 1e-9)


class OnTheWay(NamedTuple):
    """Where a crawl stands."""

    share: Float[Array, " a"]
    """Of the stroke that is on."""
    began: Float[Array, ""]
    """When that stroke began [s]."""
    believed: Float[Array, " 2"]
    """Where it will be after that stroke, if all goes as it should [m]."""
    leg: Int[Array, ""]
    """The waypoint that it makes for."""
    strokes: Int[Array, ""]
    """How many were begun."""
    arrived: Bool[Array, ""]
    """At the last waypoint."""


class Crawl(AbstractBrain):
    """Strokes along a path, each with the arms that push the body towards a point ahead, no further than it takes it.

    In closed loop it looks before every stroke where it is and how it is turned. In open loop it believes that every
    stroke has taken it where it should.
    """

    stroke: Stroke
    path: Float[Array, "k 2"]
    """Waypoints, from the start on [m]."""
    yaws: Float[Array, " a"]
    """Where the arms point on the body [rad]."""
    grip: Float[Array, " a"]
    """1 for arms whose suckers work, 0 for those whose suckers do not hold."""
    looks: Float[Array, ""]
    """1 for closed loop, 0 for open loop."""
    near: Float[Array, ""]
    """From a waypoint where it counts as reached [m]."""

    def begin(self, felt: Felt) -> OnTheWay:
        """The first stroke is due."""
        zero, none = jnp.zeros(()), jnp.zeros((), int)
        due = zero - self.stroke.duration
        return OnTheWay(jnp.zeros(len(self.yaws)), due, self.path[0], none + 1, none, zero > 1.0)

    def decide(self, time, dt, felt: Felt, memory: OnTheWay):
        """Where in its stroke it is, and which arms push in the next one."""
        assert felt.pose is not None
        due = time - memory.began >= self.stroke.duration - 0.5 * dt
        memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), self._next(time, felt.pose, memory), memory)
        wanted = self.stroke(time - memory.began, memory.share)
        return wanted._replace(grip=wanted.grip * self.grip[:, None]), memory

    def _next(self, time, pose: SE3, memory: OnTheWay) -> OnTheWay:
        """The stroke from here."""
        here = jnp.where(self.looks > 0.5, pose.position[:2], memory.believed)
        turned = self.looks * jnp.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])
        last = len(self.path) - 1
        reached = _length(self.path[memory.leg] - here) <= self.near
        # A waypoint that is on the way, and not its end, need only be passed.
        passed = self._along(memory.leg, here)[1] >= -self.near
        leg = jnp.minimum(memory.leg + (reached | passed), last)
        arrived = memory.arrived | (reached & (memory.leg == last))
        along, ahead_of = self._along(leg, here)
        end = self.path[leg]
        gap = end + along * jnp.clip(ahead_of + self.stroke.length, -_length(end - self.path[leg - 1]), 0.0) - here
        scale = jnp.minimum(_length(gap) / self.stroke.length, 1.0) * jnp.where(arrived, 0.0, 1.0)
        share = scale**_EFFORT * shares_for(jnp.arctan2(gap[1], gap[0]) - turned, self.yaws)
        ahead = here + scale * self.stroke.length * gap / jnp.maximum(_length(gap), 1e-9)
        return OnTheWay(share, jnp.asarray(time), ahead, leg, memory.strokes + jnp.where(arrived, 0, 1), arrived)

    def _along(self, leg: Int[Array, ""], here: Float[Array, " 2"]) -> tuple[Float[Array, " 2"], Float[Array, ""]]:
        """The direction of a leg, and how far beyond its end a point is along it [m]."""
        start, end = self.path[leg - 1], self.path[leg]
        along = (end - start) / jnp.maximum(_length(end - start), 1e-9)
        return along, jnp.dot(here - end, along)


def _length(vector: Float[Array, " 2"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(vector**2))
