"""A single arm that swings the object that its suckers hold, and lets go when that flies off in a good direction."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import STANDARD_LENGTH
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.commands.base import Command
from hydrostat.control.commands.combined import Parallel, Sequence
from hydrostat.control.commands.contractions import Bend, Stiffen
from hydrostat.control.commands.holding import Grasp
from hydrostat.control.commands.whipping import BACK, SHARE, Whip
from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, System

_SWINGS = 0.05  # m/s: speed above which an object is taken to be swung
_WATCHES = 0.02  # s: time constant with which its velocity is seen
_SEES = 5e-3  # s: the same for a whip, whose load changes its course within 50 ms
_FORESEEN = 0.07  # m, of an arm of 0.24 m: the least foreseen range that may be the farthest
_GROWS = 3.0  # 1/s, over itself: the growth of the foreseen range below which a whip lets go
_DRAGGED = 1.12  # of the weight in water: that with the drag against a rise
_EASES = 0.1  # s in which muscles relax after the throw
_LONG = 1e3  # s: longer than any throw


class ThrowMemory(NamedTuple):
    """The memory of an arm that throws."""

    command: tuple
    """Memory of the swing."""
    seen: Float[Array, " 3"]
    """Last seen position of the object [m]."""
    velocity: Float[Array, " 3"]
    """Velocity of the object, as seen [m/s]."""
    release: Float[Array, ""]
    """Time at which suckers let go [s]; 1000 s before they do."""
    low: Float[Array, ""]
    """Height of the object when it was seen first [m]."""
    foreseen: Float[Array, ""]
    """The range that was foreseen last [m]."""


class Flight(eqx.Module):
    """What is known of an object's flight in water."""

    gravity: Float[Array, ""]
    """Acceleration downwards, added mass counted, and the drag on the way up by and large [m/s^2]."""
    drag: Float[Array, ""]
    """Deceleration over the square of the speed [1/m]."""

    @staticmethod
    def of(ball: Ball, system: System) -> "Flight":
        """The flight of a ball in the water of a system, or in air."""
        water = system.part(Water)
        density = jnp.zeros(()) if water is None else water.density
        moved = ball.mass + 0.5 * density * ball.volume
        weight = (ball.mass - density * ball.volume) * small.norm(system.gravity)
        drag = 0.5 * density * ball.drag * jnp.pi * ball.radius**2
        return Flight(jnp.maximum(_DRAGGED * weight / moved, 1e-2), jnp.maximum(drag / moved, 1e-6))

    def range(self, height, velocity: Float[Array, " 3"]) -> Float[Array, ""]:
        """The level distance to where it is down again, from a height [m] above that."""
        rise, level = velocity[2], jnp.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
        time = (rise + jnp.sqrt(rise**2 + 2.0 * self.gravity * jnp.maximum(height, 0.0))) / self.gravity
        return jnp.log1p(self.drag * level * time) / self.drag


class ThrowController(Controller):
    """The controller of a throw: a swing, and a release by what is seen of the object."""

    swing: Controller
    begins: Float[Array, ""]
    """Time from which suckers may let go by what is seen [s]."""
    latest: Float[Array, ""]
    """Time at which suckers let go at the latest [s]."""
    slope: Float[Array, ""]
    """Rise over level distance of the object's motion below which suckers let go."""
    flight: Flight | None
    """The object's flight, where suckers let go by what is foreseen of it."""
    least: Float[Array, ""]
    """The least foreseen range at which suckers let go [m]."""

    def init(self, observation: Observation) -> ThrowMemory:
        """The memory at the start: the object is at rest, and held when suckers touch it."""
        seen, none = observation.objects[0], jnp.zeros(())
        return ThrowMemory(self.swing.init(observation), seen, jnp.zeros(3), jnp.asarray(_LONG), seen[2], none)

    def __call__(self, time, observation: Observation, memory: ThrowMemory):
        """The swing with suckers that hold, until the object flies off in a good direction."""
        control, command = self.swing(time, observation, memory.command)
        seen, period = observation.objects[0], observation.period
        share = jnp.minimum(period / (_WATCHES if self.flight is None else _SEES), 1.0)
        velocity = memory.velocity + share * ((seen - memory.seen) / period - memory.velocity)
        level = jnp.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
        foreseen = memory.foreseen
        if self.flight is None:
            good = (level > _SWINGS) & (velocity[2] < self.slope * level)
        else:
            foreseen = self.flight.range(seen[2] - memory.low, velocity)
            # Velocity is seen late: when the range is the farthest, what is foreseen of it still grows.
            good = (foreseen > self.least) & (foreseen - memory.foreseen < _GROWS * period * foreseen)
        good = (time > self.begins) & good
        late = time >= self.latest - 0.5 * period
        release = jnp.where(good | late, jnp.minimum(memory.release, time), memory.release)
        left = jnp.clip(1.0 - (time - release) / _EASES, 0.0, 1.0)
        holds = time < release
        control = Control(
            activation=jnp.where(holds, 1.0, left) * control.activation,
            take=None if control.take is None else jnp.where(holds, 1.0, 0.0) * control.take,
            grip=control.grip,
        )
        return control, ThrowMemory(command, seen, velocity, release, memory.low, foreseen)


class Throw(Recipe):
    """A single arm takes hold of a free object beneath it, swings it up and back, or whips it aside, and lets go.

    Errors of the muscles' gains make a swing faster or slower: an arm that lets go by the clock throws upwards or down.
    This one sees the object. It lets go of what it swings when that rises no steeper than an angle, and of what it
    whips, for objects that are too heavy to be swung up, when the range that it foresees hardly grows any more.
    """

    swing: Command
    elevation: float | None
    """Angle above the horizon below which the object is let go [rad]; None for by the clock alone."""
    settle: float
    """Time before the swing, in which the arm takes hold and stiffens [s]."""
    latest: float
    """Time after the swing began at which suckers let go at the latest [s]."""
    whip: bool
    """Whether the object is whipped aside instead of swung up."""

    def __init__(
        self,
        place: tuple[float, float],
        amount: float = 1.0,
        share: float | None = None,
        *,
        elevation: float | None = np.deg2rad(35.0),
        settle: float = 0.3,
        latest: float = 1.5,
        whip: bool = False,
    ):
        """**Arguments:** `place`: the fractions of the arm between which suckers hold; `amount`: activation of the
        swing; `share`: of the arm, from its base, that moves, by default 0.4 in a swing and the whip's own in a whip;
        `elevation`: angle above the horizon below which the object is let go [rad], None for by the clock alone;
        `settle`: time before the swing, in which the arm takes hold [s]; `latest`: time after it began at which suckers
        let go at the latest [s]; `whip`: whether it whips the object aside, for which it becomes longer and turns while
        it takes hold.
        """
        self.elevation = None if elevation is None else errors.number("elevation", elevation, least=-1.5, most=1.5)
        self.settle = errors.number("settle", settle, above=0.0)
        self.latest = errors.number("latest", latest, above=0.0)
        self.whip = bool(whip)
        moved: Command
        if whip:
            moved = Whip(0.5 * (place[0] + place[1]), SHARE if share is None else share, amount)
        else:
            last = 0.4 if share is None else share
            moved = Sequence(Stiffen(0.2, self.settle), Bend(amount, _LONG, 0.0, last, np.pi))
        self.swing = Parallel(moved, Grasp(_LONG, *place))

    def attach(self, system: System, dt: float) -> ThrowController:
        """The controller that throws the first of the system's free objects."""
        if not system.robot.single:
            raise InputError(f"`Throw` is for a single arm; {system.robot.name} has {system.robot.count}")
        swing = self.swing.attach(system, dt)
        ball = system.part(Ball)
        if ball is None:
            raise InputError("to throw, a system needs a `Ball(...)` among its surroundings")
        begins = jnp.asarray(_LONG if self.elevation is None else BACK if self.whip else self.settle)
        latest, slope = jnp.asarray(self.settle + self.latest), jnp.tan(jnp.asarray(self.elevation or 0.0))
        flight = Flight.of(ball, system) if self.whip else None
        least = _FORESEEN * system.robot.arm.length / STANDARD_LENGTH
        return ThrowController(swing, begins, latest, slope, flight, least)
