"""Strokes of all arms together: activations while arms contract and while they push.

An arm is pushed away from what it holds, so the body goes in the opposite direction: an octopus crawls against the sum
of the directions of the arms that push, whatever direction its body faces (Levy et al. 2015). Each arm takes part by a
share.

A stroke is data: what every muscle does while the arm gathers itself and while it pushes, when, and where suckers hold.
Gaits that differ only in that are one function, compiled once. Activations and times of strokes were found by trying
with arms of 0.24 m; the lengths that they lead to scale with the arm's length.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.control.anatomy import Anatomy, BodyPlan
from hydrostat.lie import SE3

_AROUND = np.deg2rad(np.arange(-85.0, 86.0))  # rad, from the backward direction, where lost arms deflect it
_MIRRORED = np.array([0, 3, 2, 1, 4, 6, 5])  # muscles in whose places those of a mirrored arm are
_BESIDE = 0.05  # cosine of the angle from backward at which an arm is beside the body and does not push


class Stroke(eqx.Module):
    """A stroke: arms gather themselves, take hold of the ground, push, and let go."""

    gather: Float[Array, "#a n m"]
    """Activation of every muscle of an arm with a share of 1, of each arm or of all alike."""
    push: Float[Array, "#a n m"]
    grip: Float[Array, " n"]
    """1 for segments whose suckers hold during the push."""
    gather_s: Float[Array, ""]
    """Duration of the gathering [s]."""
    push_s: Float[Array, ""]
    """Duration of the push [s]."""
    rest_s: Float[Array, ""]
    """Rest until the next stroke [s]."""
    rise_s: Float[Array, ""]
    """Time over which muscles contract and relax [s]: an arm that is shortened at once whips about."""
    length: Float[Array, ""]
    """Displacement of the body by one stroke at full shares, found by trying [m]."""

    @property
    def duration(self) -> Float[Array, ""]:
        """The duration of a stroke [s]."""
        return self.gather_s + self.push_s + self.rest_s

    def at_speed(self, speed) -> "Stroke":
        """The stroke with a rest so long that the body moves at a speed [m/s], which cannot exceed that without
        rest."""
        rest = jnp.maximum(0.0, self.length / speed - (self.gather_s + self.push_s))
        return eqx.tree_at(lambda stroke: stroke.rest_s, self, rest)

    def __call__(self, time, share: Float[Array, " a"]) -> tuple[Float[Array, "a n m"], Float[Array, "a n"]]:
        """Activation and grip of the arms at a time since the stroke began, each by its share."""
        ends = self.gather_s + self.push_s
        gathering = window(time, 0.0, self.gather_s + self.rise_s, self.rise_s)
        pushing = window(time, self.gather_s, ends, self.rise_s)
        activation = share[:, None, None] * (self.gather * gathering + self.push * pushing)
        on = jnp.where((time >= self.gather_s) & (time < ends), 1.0, 0.0)
        return activation, on * jnp.where(share > 0.0, 1.0, 0.0)[:, None] * self.grip


def window(time, begin, end, rise):
    """A window that is 1 from begin to end, with smooth rise and fall within."""
    up, down = (jnp.clip(t / rise, 0.0, 1.0) for t in (time - begin, end - time))
    least = jnp.minimum(up, down)
    return least * least * (3.0 - 2.0 * least)


def stiffened(anatomy: Anatomy, amount: float | Float[Array, ""], last: float = 1.0) -> Float[Array, "n m"]:
    """All muscles contract, the radial ones twice as much, up to a fraction of the arm: it resists."""
    level = amount * anatomy.inside(0.0, last)
    return anatomy.muscles(jnp.repeat(level[:, None], 4, 1), 2.0 * level)


def shorten_and_push(plan: BodyPlan) -> Stroke:
    """The stroke of animals: an arm becomes shorter, takes hold, and becomes longer. The numbers were found by
    trying."""
    anatomy = plan.anatomy
    shorten, elongate, stiffen, press, first, last = 0.09, 0.12, 0.06, 0.06, 0.6, 0.8
    # What lies beyond the suckers that hold has nothing to do, and would whip about.
    near = anatomy.inside(0.0, last)
    gather = anatomy.muscles(jnp.repeat(shorten * near[:, None], 4, 1), jnp.zeros(anatomy.count))
    gather = gather + downwards(anatomy, press * anatomy.inside(0.0, 0.4))
    push = anatomy.muscles(jnp.zeros((anatomy.count, 4)), elongate * near) + stiffened(anatomy, stiffen, last)
    numbers = (0.9, 0.8, 0.0, 0.4, 0.049 * plan.scale)
    return Stroke(gather[None], push[None], anatomy.within(first, last), *(jnp.asarray(x) for x in numbers))


def bend_and_straighten(plan: BodyPlan) -> Stroke:
    """The paper's stroke: an arm lies down in bends, takes hold, and becomes straight.

    With bends twice as strong the arm folds under the push.
    """
    anatomy = plan.anatomy
    bend, stiffen, first, last = 0.1, 0.4, 0.6, 0.8
    side = jnp.where(jnp.sin(plan.yaws) >= 0.0, 1.0, -1.0)  # arms of both sides mirror each other
    level = bend * three_bends(anatomy) * side[:, None]
    gather = jax.vmap(lambda one: sideways(anatomy, one))(level)
    push = stiffened(anatomy, stiffen, last)
    numbers = (0.9, 0.8, 0.0, 0.4, 0.031 * plan.scale)
    return Stroke(gather, push[None], anatomy.within(first, last), *(jnp.asarray(x) for x in numbers))


def three_bends(anatomy: Anatomy) -> Float[Array, " n"]:
    """The share of each segment in a bend to the left, in an arm that lies in bends; graded."""
    return anatomy.grade * (anatomy.inside(0.05, 0.2) - anatomy.inside(0.2, 0.5) + anatomy.inside(0.5, 0.65))


def sideways(anatomy: Anatomy, level: Float[Array, " n"]) -> Float[Array, "n m"]:
    """Bends along the ground, to the left where the level is positive, with half as much of the radial muscles."""
    zero = jnp.zeros_like(level)
    sides = jnp.stack([zero, jnp.maximum(level, 0.0), zero, jnp.maximum(-level, 0.0)], -1)
    return anatomy.muscles(sides, 0.5 * jnp.abs(level))


def mirrored(activation: Float[Array, "*arms n m"]) -> Float[Array, "*arms n m"]:
    """The activation of a mirrored arm: left and right change places."""
    return activation[..., _MIRRORED[: activation.shape[-1]]]


def downwards(anatomy: Anatomy, level: Float[Array, " n"]) -> Float[Array, "n m"]:
    """Bends to the ground: an arm that hovers above it, as one with unequal muscles may, has nothing to hold."""
    zero = jnp.zeros_like(level)
    return anatomy.muscles(jnp.stack([level, zero, zero, zero], -1), zero)


STROKES = {"push": shorten_and_push, "bend": bend_and_straighten}
"""Strokes for crawling, by name: each is a function of a body plan."""


def shares_for(direction, yaws: Float[Array, " a"]) -> Float[Array, " a"]:
    """The share of each arm in the push, so that the body moves in a direction [rad]: arms behind it, the more the
    further.

    Of all shares whose pushes add up to a direction, the smallest are the cosines of the arms' angles from some
    backward direction, where those are positive. With all arms that is the opposite of the direction itself; where arms
    are lost it is another, which is found by search.
    """

    def shares(heading):
        behind = -jnp.cos(yaws - heading)
        return jnp.where(behind > _BESIDE, behind, 0.0)

    def off(heading):
        share = shares(heading)
        along, aside = (-jnp.sum(share * part(yaws - direction)) for part in (jnp.cos, jnp.sin))
        return jnp.abs(jnp.arctan2(aside, along)) + 1e-3 * jnp.abs(heading - direction)

    headings = direction + _AROUND
    share = shares(headings[jnp.argmin(jax.vmap(off)(headings))])
    return share / jnp.maximum(jnp.max(share), 1e-9)


def within_half_turn(angle):
    """The same direction as an angle from -pi to pi [rad]."""
    return jnp.arctan2(jnp.sin(angle), jnp.cos(angle))


def heading_of(pose: SE3) -> Float[Array, ""]:
    """The azimuth of the body's x axis on the ground [rad]."""
    return jnp.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])
