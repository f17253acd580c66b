"""Commands made of commands: one after the other, several at once, and another one for each arm."""

import jax.numpy as jnp

from hydrostat.control.base import Recipe
from hydrostat.control.commands.base import Command, CommandController, Number, attached
from hydrostat.control.commands.holding import Release
from hydrostat.errors import InputError, shown
from hydrostat.system import System


class Sequence(Command):
    """One command after the other."""

    commands: tuple[Command, ...]
    duration: Number

    def __init__(self, *commands: Command):
        self.commands = _checked("a sequence", commands)
        self.duration = jnp.sum(jnp.stack([command.duration for command in commands]))

    def activation(self, time, anatomy):
        """The activation of the command whose turn it is; the last command goes on."""
        begin, total = 0.0, anatomy.relaxed()
        for i, command in enumerate(self.commands):
            last = i == len(self.commands) - 1
            now = (time >= begin) & ((time < begin + command.duration) | last)
            total = total + jnp.where(now, command.activation(time - begin, anatomy), 0.0)
            begin = begin + command.duration
        return total

    def take(self, time, anatomy):
        """The grip of the command whose turn it is."""
        return self._in_turn("take", time, anatomy)

    def grip(self, time, anatomy):
        """The grip of the command whose turn it is."""
        return self._in_turn("grip", time, anatomy)

    def _in_turn(self, name: str, time, anatomy):
        begin, total = 0.0, jnp.zeros(anatomy.count)
        for command in self.commands:
            now = (time >= begin) & (time < begin + command.duration)
            total = total + jnp.where(now, getattr(command, name)(time - begin, anatomy), 0.0)
            begin = begin + command.duration
        return total


class Parallel(Command):
    """Several commands at once; activations add up to at most 1."""

    commands: tuple[Command, ...]
    duration: Number

    def __init__(self, *commands: Command):
        self.commands = _checked("parallel commands", commands)
        self.duration = jnp.max(jnp.stack([command.duration for command in commands]))

    def activation(self, time, anatomy):
        """The sum of the commands' activations."""
        parts = [command.activation(time, anatomy) for command in self.commands]
        return jnp.clip(sum(parts[1:], start=parts[0]), 0.0, 1.0)

    def take(self, time, anatomy):
        """The grip of segments that any of the commands asks to hold."""
        return jnp.max(jnp.stack([command.take(time, anatomy) for command in self.commands]), 0)

    def grip(self, time, anatomy):
        """The grip of segments that any of the commands asks to hold."""
        return jnp.max(jnp.stack([command.grip(time, anatomy) for command in self.commands]), 0)


class PerArm(Recipe):
    """Another command for each arm, in the order of the arms; None for an arm that does nothing.

    PerArm(Reach(), None, Bend(0.2, 1.0), None)
    """

    commands: tuple[Command, ...]

    def __init__(self, *commands: Command | None):
        self.commands = _checked("commands per arm", tuple(Release(1.0) if one is None else one for one in commands))

    def attach(self, system: System, dt: float) -> CommandController:
        """The controller that gives each arm its command."""
        del dt
        count = system.robot.count
        if len(self.commands) != count:
            raise InputError(f"`PerArm` must have one command for each of {count} arms; got {len(self.commands)}")
        return attached(self.commands, system)


def _checked(what: str, commands: tuple) -> tuple[Command, ...]:
    """Refuse anything but at least one command."""
    if not commands:
        raise InputError(f"{what} must hold at least one command; got none")
    for command in commands:
        if not isinstance(command, Command):
            raise InputError(f"{what} must hold commands alone, such as Reach(); got {shown(command)}")
    return commands
