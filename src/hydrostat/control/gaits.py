"""The central nervous system of an octopus: gaits that tell all arms together what to do.

An arm is pushed away from what it holds, so the body goes the other way: an octopus crawls against the sum of the
directions of the arms that push (Levy et al. 2015). Each arm takes part by a share of 0 to 1.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.control.commands import Anatomy
from hydrostat.control.nerves import AbstractBrain, Felt, Wanted

_BESIDE = 0.05  # cosine of the angle from the way back, from where an arm is beside the body and does not push


class Push(eqx.Module):
    """One stroke of a crawl: arms shorten, take hold of the ground, become longer, and let go."""

    shorten: Float[Array, ""]
    """Activation of the longitudinal muscles."""
    elongate: Float[Array, ""]
    """Activation of the radial muscles."""
    stiffen: Float[Array, ""]
    """Of all muscles besides, the radial ones twice as much."""
    shorten_s: Float[Array, ""]
    """[s]"""
    push_s: Float[Array, ""]
    """[s]"""
    rest_s: Float[Array, ""]
    """Until the next stroke [s]."""
    rise_s: Float[Array, ""]
    """Over which muscles contract and relax [s]: an arm that is shortened at once whips about."""
    first: Float[Array, ""]
    """Where suckers hold, as fractions of the arm."""
    last: Float[Array, ""]

    @staticmethod
    def usual() -> "Push":
        """A stroke that works; found by trying."""
        numbers = (0.15, 0.2, 0.1, 0.9, 0.8, 0.0, 0.4, 0.6, 0.8)
        return Push(*(jnp.asarray(number) for number in numbers))

    @property
    def duration(self) -> Float[Array, ""]:
        """Of a stroke [s]."""
        return self.shorten_s + self.push_s + self.rest_s

    def __call__(self, time, share: Float[Array, " a"], anatomy: Anatomy) -> Wanted:
        """What the arms do at a time since the stroke began, each by its share."""
        pushes = self.shorten_s + self.push_s
        short = self.shorten * share[:, None] * _during(time, 0.0, self.shorten_s + self.rise_s, self.rise_s)
        on = share[:, None] * _during(time, self.shorten_s, pushes, self.rise_s)
        stiff = self.stiffen * on
        # What lies beyond the suckers that hold has nothing to do, and would whip about.
        near = anatomy.inside(0.0, self.last)
        longitudinal = jnp.repeat(((short + stiff) * near)[..., None], 4, -1)
        radial = (self.elongate * on + 2.0 * stiff) * near
        activation = jnp.concatenate([longitudinal, radial[..., None]], -1)
        pushing = (time >= self.shorten_s) & (time < pushes)
        holding = pushing & (share[:, None] > 0.0) & (anatomy.inside(self.first, self.last) > 0.5)
        return Wanted(activation, jnp.where(holding, 1.0, 0.0))


def _during(time, begin, end, rise):
    """1 from begin to end, with smooth ways up and down within."""
    up, down = (jnp.clip(t / rise, 0.0, 1.0) for t in (time - begin, end - time))
    least = jnp.minimum(up, down)
    return least * least * (3.0 - 2.0 * least)


class Crawl(AbstractBrain):
    """Strokes one after another, always with the same shares of the arms."""

    anatomy: Anatomy
    stroke: Push
    share: Float[Array, " a"]
    grip: Float[Array, " a"]
    """1 for arms whose suckers work, 0 for those whose suckers do not hold."""

    def begin(self, felt: Felt):
        """Nothing is remembered."""
        del felt
        return ()

    def decide(self, time, dt, felt: Felt, memory):
        """Where in its stroke it is."""
        del felt, dt
        wanted = self.stroke(jnp.mod(time, self.stroke.duration), self.share, self.anatomy)
        return wanted._replace(grip=wanted.grip * self.grip[:, None]), memory


def shares_for(direction, yaws: Float[Array, " a"]) -> Float[Array, " a"]:
    """How much each arm pushes so that the body goes in a direction [rad]: those behind it, the more the further."""
    behind = -jnp.cos(yaws - direction)
    return jnp.where(behind > _BESIDE, behind / jnp.max(behind), 0.0)
