"""The interface of all commands, and the controller that a command becomes on a robot."""

import abc
from collections.abc import Sequence as Row

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.base import Controller, Recipe
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import Control, System

Number = Float[Array, ""]
"""Numbers are kept as arrays, so that another amount or duration is not another function to compile, and so that
derivatives can be taken by them."""
RISE = 0.1
"""Time over which an activation comes and goes [s]."""


class Command(Recipe):
    """A motion of one arm, and how long it takes; on a robot of several arms all of them do the same.

    A command says what muscles and suckers do at a time since it began, whatever the arm does meanwhile.
    """

    duration: eqx.AbstractVar[Number]
    """Duration of the command [s]."""

    @abc.abstractmethod
    def activation(self, time, anatomy: Anatomy) -> Float[Array, "n m"]:
        """The activation of every muscle at a time since the command began [s]; none before and after it."""

    def take(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """Command of each segment's suckers on free objects: 1 to hold them, 0 to let go."""
        del time
        return jnp.zeros(anatomy.count)

    def grip(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """Command of each segment's suckers on the ground: 1 to hold it, 0 to let go."""
        del time
        return jnp.zeros(anatomy.count)

    def attach(self, system: System, dt: float) -> "CommandController":
        """The controller that gives the command to every arm of a robot."""
        del dt
        return attached((self,), system)


class CommandController(Controller):
    """The controller that gives commands to the arms of a robot, with their values in the middle of each step."""

    commands: tuple[Command, ...]
    """The command of all arms, or one for each."""
    anatomies: tuple[Anatomy, ...]
    """The anatomy of all arms, or one for each."""
    count: int | None = eqx.field(static=True)
    """Number of equal arms, which are a leading axis; None for a single arm, and for unequal arms, which are a tuple.
    """
    unequal: bool = eqx.field(static=True)
    suckers: bool = eqx.field(static=True)
    """Whether the robot has suckers."""

    def __call__(self, time, observation: Observation, memory):
        """The value of the commands in the middle of the step."""
        middle = time + 0.5 * observation.period

        def of_arms(name: str):
            commands, anatomies = self.commands, self.anatomies
            if self.count is not None and len(commands) == 1:
                # Equal arms that do the same are worked out once.
                one = getattr(commands[0], name)(middle, anatomies[0])
                return jnp.broadcast_to(one, (self.count, *one.shape))
            rows = max(len(commands), len(anatomies))
            commands, anatomies = (many * rows if len(many) == 1 else many for many in (commands, anatomies))
            parts = [getattr(c, name)(middle, anatomy) for c, anatomy in zip(commands, anatomies, strict=True)]
            if self.unequal:
                return tuple(parts)
            return parts[0] if self.count is None else jnp.stack(parts)

        if not self.suckers:
            return Control(activation=of_arms("activation")), memory
        return Control(activation=of_arms("activation"), take=of_arms("take"), grip=of_arms("grip")), memory


def attached(commands: Row[Command], system: System) -> CommandController:
    """The controller that gives one command to all arms of a system's robot, or to each its own."""
    robot = system.robot
    unequal = isinstance(robot.arms, tuple)
    anatomies = tuple(Anatomy.of(arm) for arm in robot.each) if unequal else (Anatomy.of(robot),)
    if len(commands) not in (1, robot.count):
        raise InputError(f"commands for each arm of {robot.name} must be {robot.count}; got {len(commands)}")
    count = robot.count if robot.equal else None
    return CommandController(tuple(commands), anatomies, count, unequal, system.part(Suckers) is not None)


def envelope(time, duration, rise: Number | float = RISE):
    """The envelope of a command: 1 during it, with soft ends."""
    rise = jnp.minimum(rise, 0.5 * duration)
    return jnp.clip(time / rise, 0.0, 1.0) * jnp.clip((duration - time) / rise, 0.0, 1.0)


def checked_part(
    amount, duration, first, last, least: float = 0.0, most: float = 1.0
) -> tuple[Number, Number, Number, Number]:
    """The parameters that most commands have, checked against their bounds."""
    size, span, begin, end = (
        errors.number("amount", amount, least=least, most=most),
        errors.number("duration", duration, above=0.0, most=1e4),
        errors.number("first", first, least=0.0, most=1.0),
        errors.number("last", last, least=0.0, most=1.0),
    )
    if isinstance(begin, float) and isinstance(end, float) and not begin < end:
        raise InputError(f"`first` must be below `last`, both fractions of the arm; got {begin:g} and {end:g}")
    return jnp.asarray(size, float), jnp.asarray(span, float), jnp.asarray(begin, float), jnp.asarray(end, float)


def checked(name: str, value, **bounds) -> Number:
    """A number within its bounds, as an array."""
    return jnp.asarray(errors.number(name, value, **bounds), float)


def part(first_segment: int, last_segment: int, segments: int) -> tuple[float, float]:
    """The fractions of the arm from the begin of one segment to the end of another, counted from 1."""
    last = errors.whole("last_segment", last_segment, least=1, most=segments)
    first = errors.whole("first_segment", first_segment, least=1, most=last)
    return (first - 1) / segments, last / segments
