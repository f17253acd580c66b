"""Swimming with all arms: they open slowly and close fast, and what they do unequally steers (Kang et al. 2012).

An octopus that closes its arms goes mantle first, along the z of its body. An arm that beats more than those across
pushes its side of the body forward, so that the body turns away from it.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.control.commands import Anatomy
from hydrostat.control.nerves import AbstractBrain, Felt, Wanted
from hydrostat.lie import SE3

_MOUTH, _BACK = 0, 2  # longitudinal muscles on the side of the mouth, and on the other


class Beat(eqx.Module):
    """One beat of all arms."""

    swing: Float[Array, ""]
    """Activation of longitudinal muscles, of one side to close the arm, of the other to open it, graded."""
    stiffen: Float[Array, ""]
    """Of all muscles besides, the radial ones twice as much."""
    last: Float[Array, ""]
    """Up to where the arm swings by itself, as a fraction of it; the rest trails."""
    period_s: Float[Array, ""]
    """[s]"""
    ratio: Float[Array, ""]
    """How much faster arms close than they open."""

    @staticmethod
    def of(swing: float, stiffen: float, last: float, period_s: float, ratio: float) -> "Beat":
        """From plain numbers."""
        return Beat(*(jnp.asarray(x, float) for x in (swing, stiffen, last, period_s, ratio)))

    def closed(self, time) -> Float[Array, ""]:
        """How far arms shall be closed at a time, from -1, open, to 1: it begins closed."""
        phase = jnp.mod(time / self.period_s, 1.0)
        opens = self.ratio / (1.0 + self.ratio)
        opening = jnp.cos(jnp.pi * phase / opens)
        closing = -jnp.cos(jnp.pi * (phase - opens) / (1.0 - opens))
        return jnp.where(phase < opens, opening, closing)

    def __call__(self, closed: Float[Array, " a"], anatomy: Anatomy) -> Float[Array, "a n m"]:
        """What muscles do in arms that shall be closed so far."""
        there = anatomy.inside(0.0, self.last) * anatomy.grade
        side = self.swing * closed[:, None] * there
        still = jnp.broadcast_to(self.stiffen, side.shape)
        zero = jnp.zeros_like(side)
        sides = [jnp.maximum(side, 0.0), zero, jnp.maximum(-side, 0.0), zero]
        parts = [still + one for one in sides] + [2.0 * still]
        return jnp.stack(parts + [zero] * (anatomy.columns - len(parts)), -1)


class Swim(AbstractBrain):
    """Beats towards a direction; arms close and open about a middle that differs by how far the body is off its course.

    What goes wrong for long, as by muscles of unequal strength, is learned (`trim`).
    """

    anatomy: Anatomy
    beat: Beat
    yaws: Float[Array, " a"]
    """Where the arms point on the body [rad]."""
    aim: Float[Array, " 3"]
    """Where to, as a unit vector."""
    steer: Float[Array, ""]
    """By how much of its swing the middle of an arm moves for a radian off the course; 0: open loop."""
    calm: Float[Array, ""]
    """And for a radian a second [s]."""
    trim: Float[Array, ""]
    """And for a radian that lasts a second [1/s]."""
    most: Float[Array, ""]
    """Up to how much it moves."""

    def begin(self, felt: Felt) -> Float[Array, " 2"]:
        """Nothing is learned."""
        del felt
        return jnp.zeros(2)

    def decide(self, time, dt, felt: Felt, memory: Float[Array, " 2"]):
        """Where in its beat it is, each arm about its own middle."""
        assert felt.pose is not None
        assert felt.twist is not None
        error = lean(felt.pose, self.aim)
        learned = _bounded(memory + self.trim * dt * error, self.most)
        wish = _bounded(self.steer * error - self.calm * felt.twist[:2] + learned, self.most)
        middle = wish[0] * jnp.sin(self.yaws) - wish[1] * jnp.cos(self.yaws)
        activation = self.beat(middle + self.beat.closed(time + 0.5 * dt), self.anatomy)
        # Nothing is to be learned of an error that it does all it can about.
        full = jnp.sum((self.steer * error) ** 2) >= self.most**2
        return Wanted(activation, jnp.zeros(activation.shape[:2])), jnp.where(full, memory, learned)


def _bounded(vector: Float[Array, " 2"], most) -> Float[Array, " 2"]:
    """No longer than that."""
    return vector * jnp.minimum(1.0, most / jnp.maximum(jnp.sqrt(jnp.sum(vector**2)), 1e-9))


def lean(pose: SE3, aim: Float[Array, " 3"]) -> Float[Array, " 2"]:
    """The turn about the body's x and y that brings its z to an aim [rad]."""
    there = pose.rotation.T @ aim
    across = jnp.sqrt(there[0] ** 2 + there[1] ** 2)
    angle = jnp.arctan2(across, there[2])
    return angle * jnp.stack([-there[1], there[0]]) / jnp.maximum(across, 1e-9)


class Escape(AbstractBrain):
    """Jets one after another, arms closed behind the body."""

    anatomy: Anatomy
    beat: Beat
    """How arms are kept closed."""
    arms: int = eqx.field(static=True)
    burst_s: Float[Array, ""]
    """How long the mantle presses [s]."""
    pause_s: Float[Array, ""]
    """Until it does again [s]."""
    delay_s: Float[Array, ""]
    """Until the first jet, while arms close [s]."""
    power: Float[Array, ""]
    """From 0, no jet, to 1."""

    def begin(self, felt: Felt):
        """Nothing is remembered."""
        del felt
        return ()

    def decide(self, time, dt, felt: Felt, memory):
        """Arms closed, and the jet by the clock."""
        del felt
        now = time + 0.5 * dt - self.delay_s
        on = (now >= 0.0) & (jnp.mod(now, self.burst_s + self.pause_s) < self.burst_s)
        activation = self.beat(jnp.ones(self.arms), self.anatomy)
        return Wanted(activation, jnp.zeros(activation.shape[:2]), jnp.where(on, self.power, 0.0)), memory
