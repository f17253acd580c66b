"""Swimming with all arms: they open slowly and close fast, and differences between them steer (Kang et al. 2012).

An octopus that closes its arms goes mantle first, along the z of its body. An arm that beats more than those across
pushes its side of the body forward, so that the body turns away from it.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy, BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.errors import InputError, shown
from hydrostat.lie import SE3, small
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

_PITCH = 0.8  # rad, by which a body is pitched up from its course before it has learned more
_PITCHES = (-1.5, 1.5)  # rad, bounds of the elevation of its axis
_STEEP = 0.26  # sine of the angle from the vertical below which a course is too steep for it to hold its height
_BALANCE = 0.31  # share of its swing by which an arm swings less, for each arm that is missing across


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


class SwimMemory(NamedTuple):
    """The memory of a swimming octopus."""

    learned: Float[Array, " 2"]
    """Shift of the arms' swing that has been learned, about the body's x and y."""
    start: Float[Array, " 3"]
    """Position at which it began [m]."""
    rise: Float[Array, ""]
    """Mean speed upwards over about a beat [m/s]."""
    pitch: Float[Array, ""]
    """Elevation of the body's axis that has been learned to stay on the course [rad]."""


class SwimController(Controller):
    """A controller that beats towards a direction; the middle of each arm's swing follows the body's error of attitude.

    What goes wrong for long, as by muscles of unequal strength, is learned (`trim`). Where it holds its course, the
    body is pitched up from it by as much as its thrust must carry its weight: the elevation of its axis follows the
    error of height from the line on which it is to swim, its rate, and its integral.
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
    begin_beats: Float[Array, ""]
    """Number of beats over which the swing grows to its full size at the start."""
    strength: Float[Array, " a"]
    """Swing of each arm over that of the strongest."""
    course: Float[Array, " 3"]
    """Gains of the elevation on the error of height [rad/m], on its rate [rad s/m] and on its integral [rad/(s m)]; all
    0: the body's axis points in the direction of swimming."""

    def init(self, observation: Observation) -> SwimMemory:
        """The memory at the start: nothing is learned."""
        zero = jnp.zeros(())
        elevation = jnp.arcsin(self.direction[2])
        return SwimMemory(jnp.zeros(2), observation.pose.position, zero, jnp.minimum(elevation + _PITCH, _PITCHES[1]))

    def __call__(self, time, observation: Observation, memory: SwimMemory):
        """The control of the present moment of the beat, each arm about its own middle."""
        aim, memory = self._course(observation, memory)
        error = lean(observation.pose, aim)
        learned = _bounded(memory.learned + self.trim * observation.period * error, self.most)
        shift = _bounded(self.steer * error - self.calm * observation.twist[:2] + learned, self.most)
        middle = shift[0] * jnp.sin(self.yaws) - shift[1] * jnp.cos(self.yaws)
        now = time + 0.5 * observation.period
        begun = jnp.clip(now / (self.begin_beats * self.beat.period_s), 0.0, 1.0)
        swung = middle + self.strength * begun * self.beat.closed(now)
        activation = self.beat(swung, self.anatomy)
        # Nothing is to be learned of an error that it does all it can about.
        full = jnp.sum((self.steer * error) ** 2) >= self.most**2
        return Control(activation=activation), memory._replace(learned=jnp.where(full, memory.learned, learned))

    def _course(self, observation: Observation, memory: SwimMemory) -> tuple[Float[Array, " 3"], SwimMemory]:
        """The direction in which the body's axis is to point, and the memory with what it has learned of its pitch."""
        of_height, of_rate, of_integral = self.course
        pose, dt = observation.pose, observation.period
        up = jnp.array([0.0, 0.0, 1.0])
        level = self.direction - self.direction[2] * up
        size = jnp.sqrt(jnp.sum(level**2))
        level = level / jnp.maximum(size, 1e-9)
        # How far it is below the line of its course, and how fast it rises from that, as the mean of about a beat.
        moved = pose.position - memory.start
        low = self.direction[2] * jnp.dot(moved, level) - size * moved[2]
        velocity = small.matvec(pose.rotation, observation.twist[3:])
        rising = size * velocity[2] - self.direction[2] * jnp.dot(velocity, level)
        rise = memory.rise + jnp.minimum(dt / self.beat.period_s, 1.0) * (rising - memory.rise)
        pitch = memory.pitch + of_integral * dt * low
        desired = pitch + of_height * low - of_rate * rise
        bounded = jnp.clip(desired, *_PITCHES)
        pitch = jnp.where(bounded == desired, jnp.clip(pitch, *_PITCHES), memory.pitch)
        aim = jnp.cos(bounded) * level + jnp.sin(bounded) * up
        held = jnp.any(self.course != 0.0) & (size > _STEEP)
        return jnp.where(held, aim, self.direction), memory._replace(rise=rise, pitch=pitch)


class Swim(Recipe):
    """Swims in a direction, mantle first: all arms open slowly and close fast, unequally where it steers.

        Swim(direction=(1.0, 0.0, 1.0))

    The beat is that of `robots.octopus(pitch_deg=40.0)`, the swimmer of the catalogue, whose arms point down at rest;
    an octopus whose arms point sideways is not carried by it.
    """

    beat: Beat
    direction: Float[Array, " 3"]
    gains: Float[Array, " 4"]
    course: Float[Array, " 3"]
    begin_beats: float

    def __init__(
        self,
        direction=(0.0, 0.0, 1.0),
        *,
        closed_loop: bool = True,
        hold_course: bool = False,
        swing: float = 0.53,
        stiffen: float = 0.32,
        last: float = 0.185,
        period: float = 0.18,
        ratio: float = 1.2,
        steer: float = 1.6,
        calm: float = 0.02,
        trim: float = 1.9,
        most: float = 0.9,
        course=(15.0, 10.0, 2.0),
        begin_beats: float = 3.0,
    ):
        """**Arguments:** `direction`: in the world, of any length; `closed_loop`: whether it observes its
        pose, and steers; `hold_course`: whether it stays at the height of a straight course from where it is, pitched
        up as its weight asks; `swing`, `stiffen`, `last`, `period` [s], `ratio`: as those of `Beat`; `steer`, `calm`,
        `trim`, `most`, `course`, `begin_beats`: as those of `SwimController`. Beat and gains were found by an
        evolution strategy that asked octopuses without three neighbouring arms, their muscles wrong by 5 %, to rise
        fast and to lean little, in water with added mass.
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
        self.course = jnp.asarray(course if closed_loop and hold_course else (0.0, 0.0, 0.0), float)
        self.begin_beats = errors.number("begin_beats", begin_beats, above=0.0)
        self.gains = jnp.stack([jnp.asarray(gain, float) for gain in (*gains, errors.number("most", most, least=0.0))])

    def attach(self, system: System, dt: float) -> SwimController:
        """The controller that swims with the system's robot."""
        del dt
        plan = BodyPlan.of(system)
        begin = jnp.asarray(self.begin_beats, float)
        steer, calm, trim, most = self.gains
        return SwimController(
            anatomy=plan.anatomy,
            beat=self.beat,
            yaws=plan.yaws,
            direction=self.direction,
            steer=steer,
            calm=calm,
            trim=trim,
            most=most,
            begin_beats=begin,
            strength=balanced(plan.yaws),
            course=self.course,
        )


def _bounded(vector: Float[Array, " 2"], most) -> Float[Array, " 2"]:
    """The vector, shortened to a length where it is longer."""
    return vector * jnp.minimum(1.0, most / jnp.maximum(jnp.sqrt(jnp.sum(vector**2)), 1e-9))


def balanced(yaws: Float[Array, " a"]) -> Float[Array, " a"]:
    """The swing of each arm over that of the strongest: less for arms across from which others are missing.

    With u the direction of an arm and m the sum of those of all, which is zero for arms evenly around a body, the
    thrust of equal swings would turn a body about the horizontal across m. Swings of 1 - k u m, k as found by trying,
    leave what feedback corrects.
    """
    directions = jnp.stack([jnp.cos(yaws), jnp.sin(yaws)], -1)
    return jnp.clip(1.0 - _BALANCE * directions @ jnp.sum(directions, 0), 0.0, 1.0)


def lean(pose: SE3, aim: Float[Array, " 3"]) -> Float[Array, " 2"]:
    """The rotation about the body's x and y that brings its z to a direction [rad]."""
    there = pose.rotation.T @ aim
    across = jnp.sqrt(there[0] ** 2 + there[1] ** 2)
    angle = jnp.arctan2(across, there[2])
    return angle * jnp.stack([-there[1], there[0]]) / jnp.maximum(across, 1e-9)
