"""Swimming with all arms: they open slowly and close fast, and differences between them steer (Kang et al. 2012).

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
    """Activation of all muscles besides; that of the radial ones is twice as large."""
    last: Float[Array, ""]
    """Fraction of the arm that swings actively; the rest trails."""
    period_s: Float[Array, ""]
    """Period of a beat [s]."""
    ratio: Float[Array, ""]
    """Ratio of the speeds of closing and opening."""

    @staticmethod
    def of(swing: float, stiffen: float, last: float, period_s: float, ratio: float) -> "Beat":
        """The beat of plain numbers."""
        return Beat(*(jnp.asarray(x, float) for x in (swing, stiffen, last, period_s, ratio)))

    def closed(self, time) -> Float[Array, ""]:
        """The phase of the arms at a time, from -1, open, to 1, closed: a beat begins closed."""
        phase = jnp.mod(time / self.period_s, 1.0)
        opens = self.ratio / (1.0 + self.ratio)
        opening = jnp.cos(jnp.pi * phase / opens)
        closing = -jnp.cos(jnp.pi * (phase - opens) / (1.0 - opens))
        return jnp.where(phase < opens, opening, closing)

    def __call__(self, closed: Float[Array, " a"], anatomy: Anatomy) -> Float[Array, "a n m"]:
        """The activations of arms at a phase; the muscles on the mouth's side come first."""
        there = anatomy.inside(0.0, self.last) * anatomy.grade
        side = self.swing * closed[:, None] * there
        still = jnp.broadcast_to(self.stiffen, side.shape)
        zero = jnp.zeros_like(side)
        sides = [jnp.maximum(side, 0.0), zero, jnp.maximum(-side, 0.0), zero]
        parts = [still + one for one in sides] + [2.0 * still]
        return jnp.stack(parts + [zero] * (anatomy.columns - len(parts)), -1)


class SwimController(Controller):
    """A controller that beats towards a direction; the middle of each arm's swing follows the body's error of attitude.

    What goes wrong for long, as by muscles of unequal strength, is learned (`trim`); its memory is what is learned.
    """

    anatomy: Anatomy
    beat: Beat
    yaws: Float[Array, " a"]
    """Azimuths of the arms on the body [rad]."""
    direction: Float[Array, " 3"]
    """Direction of swimming, a unit vector."""
    steer: Float[Array, ""]
    """Gain on the error of attitude: shift of the middle of an arm's swing, over the swing, per radian; 0: open
    loop."""
    calm: Float[Array, ""]
    """Gain on the rate of that error [s]."""
    trim: Float[Array, ""]
    """Gain on the integral of that error [1/s]."""
    most: Float[Array, ""]
    """Bound of the shift."""

    def init(self, observation: Observation) -> Float[Array, " 2"]:
        """The memory at the start: the integral of the error is zero."""
        del observation
        return jnp.zeros(2)

    def __call__(self, time, observation: Observation, memory: Float[Array, " 2"]):
        """The control of the present moment of the beat, each arm about its own middle."""
        error = lean(observation.pose, self.direction)
        learned = _bounded(memory + self.trim * observation.period * error, self.most)
        shift = _bounded(self.steer * error - self.calm * observation.twist[:2] + learned, self.most)
        middle = shift[0] * jnp.sin(self.yaws) - shift[1] * jnp.cos(self.yaws)
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
        """**Arguments:** `direction`: in the world, of any length; `closed_loop`: whether it observes its
        attitude, and steers; `swing`, `stiffen`, `last`, `period` [s], `ratio`: as those of `Beat`; `steer`, `calm`,
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
    """The rotation about the body's x and y that brings its z to a direction [rad]."""
    there = pose.rotation.T @ aim
    across = jnp.sqrt(there[0] ** 2 + there[1] ** 2)
    angle = jnp.arctan2(across, there[2])
    return angle * jnp.stack([-there[1], there[0]]) / jnp.maximum(across, 1e-9)
