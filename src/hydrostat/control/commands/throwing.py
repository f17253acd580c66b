"""A single arm that swings the object that its suckers hold, and lets go when that flies off in a good direction."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.commands.base import Command
from hydrostat.control.commands.combined import Parallel, Sequence
from hydrostat.control.commands.contractions import Bend, Stiffen
from hydrostat.control.commands.holding import Grasp
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import Control, System

_SWINGS = 0.05  # m/s: speed above which an object is taken to be swung
_WATCHES = 0.02  # s: time constant with which its velocity is seen
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


class ThrowController(Controller):
    """The controller of a throw: a swing, and a release by what is seen of the object."""

    swing: Controller
    begins: Float[Array, ""]
    """Time at which the swing begins [s]."""
    latest: Float[Array, ""]
    """Time at which suckers let go at the latest [s]."""
    slope: Float[Array, ""]
    """Rise over level distance of the object's motion below which suckers let go."""

    def init(self, observation: Observation) -> ThrowMemory:
        """The memory at the start: the object is at rest, and held when suckers touch it."""
        return ThrowMemory(self.swing.init(observation), observation.objects[0], jnp.zeros(3), jnp.asarray(_LONG))

    def __call__(self, time, observation: Observation, memory: ThrowMemory):
        """The swing with suckers that hold, until the object flies off in a good direction."""
        control, command = self.swing(time, observation, memory.command)
        seen, period = observation.objects[0], observation.period
        share = jnp.minimum(period / _WATCHES, 1.0)
        velocity = memory.velocity + share * ((seen - memory.seen) / period - memory.velocity)
        level = jnp.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
        good = (time > self.begins) & (level > _SWINGS) & (velocity[2] < self.slope * level)
        late = time >= self.latest - 0.5 * period
        release = jnp.where(good | late, jnp.minimum(memory.release, time), memory.release)
        left = jnp.clip(1.0 - (time - release) / _EASES, 0.0, 1.0)
        holds = time < release
        control = Control(
            activation=jnp.where(holds, 1.0, left) * control.activation,
            take=None if control.take is None else jnp.where(holds, 1.0, 0.0) * control.take,
            grip=control.grip,
        )
        return control, ThrowMemory(command, seen, velocity, release)


class Throw(Recipe):
    """A single arm takes hold of a free object beneath it, swings it up and back, and lets go.

    Errors of the muscles' gains make a swing faster or slower: an arm that lets go by the clock throws upwards or down.
    This one sees the object and lets go when it rises no steeper than an angle.
    """

    swing: Command
    elevation: float
    """Angle above the horizon below which the object is let go [rad]."""
    settle: float
    """Time before the swing, in which the arm takes hold and stiffens [s]."""
    latest: float
    """Time after the swing began at which suckers let go at the latest [s]."""

    def __init__(
        self,
        place: tuple[float, float],
        amount: float = 1.0,
        share: float = 0.4,
        *,
        elevation: float = np.deg2rad(35.0),
        settle: float = 0.3,
        latest: float = 1.5,
    ):
        """**Arguments:** `place`: the fractions of the arm between which suckers hold; `amount`: activation of the
        swing; `share`: of the arm, from its base, that bends; `elevation`: angle above the horizon below which the
        object is let go [rad]; `settle`: time before the swing, in which the arm takes hold [s]; `latest`: time after
        it began at which suckers let go at the latest [s].
        """
        self.elevation = errors.number("elevation", elevation, least=-1.5, most=1.5)
        self.settle = errors.number("settle", settle, above=0.0)
        self.latest = errors.number("latest", latest, above=0.0)
        bend = Bend(amount, _LONG, 0.0, share, np.pi)
        self.swing = Parallel(Sequence(Stiffen(0.2, self.settle), bend), Grasp(_LONG, *place))

    def attach(self, system: System, dt: float) -> ThrowController:
        """The controller that throws the first of the system's free objects."""
        if not system.robot.single:
            raise InputError(f"`Throw` is for a single arm; {system.robot.name} has {system.robot.count}")
        swing = self.swing.attach(system, dt)
        if system.part(Ball) is None:
            raise InputError("to throw, a system needs a `Ball(...)` among its surroundings")
        begins, latest = jnp.asarray(self.settle), jnp.asarray(self.settle + self.latest)
        return ThrowController(swing, begins, latest, jnp.tan(jnp.asarray(self.elevation)))
