"""Swimming with all arms: they open slowly and close fast, and what they do unequally steers (Kang et al. 2012).

An octopus that closes its arms goes mantle first, along the z of its body. An arm that beats more than those across
pushes its side of the body forward, so that the body turns away from it.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy, BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.errors import InputError, shown
from hydrostat.lie import SE3
from hydrostat.sensing import Observation
from hydrostat.system import Control, System


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
        """What muscles do in arms that shall be closed so far; those of the mouth's side come first."""
        there = anatomy.inside(0.0, self.last) * anatomy.grade
        side = self.swing * closed[:, None] * there
        still = jnp.broadcast_to(self.stiffen, side.shape)
        zero = jnp.zeros_like(side)
        sides = [jnp.maximum(side, 0.0), zero, jnp.maximum(-side, 0.0), zero]
        parts = [still + one for one in sides] + [2.0 * still]
        return jnp.stack(parts + [zero] * (anatomy.columns - len(parts)), -1)


class SwimController(Controller):
    """Beats towards a direction; arms close and open about a middle that differs by how far the body is off its course.

    What goes wrong for long, as by muscles of unequal strength, is learned (`trim`); its memory is what is learned.
    """

    anatomy: Anatomy
    beat: Beat
    yaws: Float[Array, " a"]
    """Where the arms point on the body [rad]."""
    direction: Float[Array, " 3"]
    """Where to, as a unit vector."""
    steer: Float[Array, ""]
    """By how much of its swing the middle of an arm moves for a radian off the course; 0: open loop."""
    calm: Float[Array, ""]
    """And for a radian a second [s]."""
    trim: Float[Array, ""]
    """And for a radian that lasts a second [1/s]."""
    most: Float[Array, ""]
    """Up to how much it moves."""

    def init(self, observation: Observation) -> Float[Array, " 2"]:
        """Nothing is learned."""
        del observation
        return jnp.zeros(2)

    def __call__(self, time, observation: Observation, memory: Float[Array, " 2"]):
        """Where in its beat it is, each arm about its own middle."""
        error = lean(observation.pose, self.direction)
        learned = _bounded(memory + self.trim * observation.period * error, self.most)
        wish = _bounded(self.steer * error - self.calm * observation.twist[:2] + learned, self.most)
        middle = wish[0] * jnp.sin(self.yaws) - wish[1] * jnp.cos(self.yaws)
        activation = self.beat(middle + self.beat.closed(time + 0.5 * observation.period), self.anatomy)
        # Nothing is to be learned of an error that it does all it can about.
        full = jnp.sum((self.steer * error) ** 2) >= self.most**2
        return Control(activation=activation), jnp.where(full, memory, learned)


class Swim(Recipe):
    """Swims in a direction, mantle first: all arms open slowly and close fast, unequally where it steers.

    Swim(direction=(1.0, 0.0, 1.0))
    """

    beat: Beat
    direction: Float[Array, " 3"]
    gains: Float[Array, " 4"]

    def __init__(
        self,
        direction=(0.0, 0.0, 1.0),
        *,
        closed_loop: bool = True,
        swing: float = 0.15,
        stiffen: float = 0.3,
        last: float = 0.35,
        period: float = 1.0,
        ratio: float = 3.0,
        steer: float = 2.0,
        calm: float = 0.2,
        trim: float = 2.0,
        most: float = 0.6,
    ):
        """**Arguments:** `direction`: in the world, of any length; `closed_loop`: whether it feels how the body is
        turned, and steers; `swing`, `stiffen`, `last`, `period` [s], `ratio`: as those of `Beat`; `steer`, `calm`,
        `trim`, `most`: as those of `SwimController`, found by trying.
        """
        self.beat = Beat.of(
            errors.number("swing", swing, least=0.0, most=1.0),
            errors.number("stiffen", stiffen, least=0.0, most=0.5),
            errors.number("last", last, above=0.0, most=1.0),
            errors.number("period", period, above=0.0),
            errors.number("ratio", ratio, above=0.0),
        )
        vector = jnp.asarray(direction, float)
        if vector.shape != (3,):
            raise InputError(f"`direction` must be three numbers; got {shown(direction)}")
        self.direction = vector / jnp.sqrt(jnp.sum(vector**2))
        gains = [errors.number(*gain) for gain in (("steer", steer), ("calm", calm), ("trim", trim))]
        gains = gains if closed_loop else [0.0] * 3
        self.gains = jnp.stack([jnp.asarray(gain, float) for gain in (*gains, errors.number("most", most, least=0.0))])

    def attach(self, system: System, dt: float) -> SwimController:
        """The controller that swims with the system's robot."""
        del dt
        plan = BodyPlan.of(system)
        return SwimController(plan.anatomy, self.beat, plan.yaws, self.direction, *self.gains)


def _bounded(vector: Float[Array, " 2"], most) -> Float[Array, " 2"]:
    """The vector, shortened to a length where it is longer."""
    return vector * jnp.minimum(1.0, most / jnp.maximum(jnp.sqrt(jnp.sum(vector**2)), 1e-9))


def lean(pose: SE3, aim: Float[Array, " 3"]) -> Float[Array, " 2"]:
    """The turn about the body's x and y that brings its z to an aim [rad]."""
    there = pose.rotation.T @ aim
    across = jnp.sqrt(there[0] ** 2 + there[1] ** 2)
    angle = jnp.arctan2(across, there[2])
    return angle * jnp.stack([-there[1], there[0]]) / jnp.maximum(across, 1e-9)
