"""What all controllers have in common: from an observation and a memory to a control and a new memory."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.system import Control, System


class Controller(eqx.Module):
    """Decides once a step what is set; pure, what it remembers is handed through.

    class Proportional(Controller):
        gain: float

        def __call__(self, time, observation, memory):
            return Control(tension=self.gain * ...), memory
    """

    def attach(self, system: System, dt: float) -> "Controller":
        """The same controller, made for a system that is stepped by dt [s]: what it needs to know of the robot.

        Called once before a run. A controller that needs to know nothing returns itself.
        """
        del system, dt
        return self

    def init(self, observation: Observation) -> Any:
        """What it remembers at the start: a tree of arrays."""
        del observation
        return ()

    @abc.abstractmethod
    def __call__(self, time: Float[Array, ""], observation: Observation, memory: Any) -> tuple[Any, Any]:
        """What is set for the step that begins at a time [s], and what is remembered.

        Instead of a control that is held during the step it may give a function from time to control, which is then
        asked at every stage of the step.
        """


class Idle(Controller):
    """Sets nothing: tendons are slack, muscles relaxed."""

    def __call__(self, time, observation, memory):
        """Nothing."""
        del time, observation
        return Control(), memory


class Constant(Controller):
    """Sets the same at all times."""

    control: Control

    def attach(self, system: System, dt: float) -> "Constant":
        """The same; refused in a sentence where the system cannot be driven so."""
        del dt
        system.check(self.control)
        return self

    def __call__(self, time, observation, memory):
        """The same."""
        del time, observation
        return self.control, memory


class Recipe(Controller):
    """A controller that is made without knowing the robot, and becomes one that runs when it is attached to a system.

    running = Crawl(heading=0.3).attach(system, dt)
    """

    @abc.abstractmethod
    def attach(self, system: System, dt: float) -> Controller:
        """The controller that does so with the system's robot, for steps of dt [s]."""

    def __call__(self, time, observation, memory):
        """Refused: it does not know its robot yet."""
        del time, observation, memory
        name = type(self).__name__
        raise InputError(f"`{name}` does not know its robot yet; call what `{name}(...).attach(system, dt)` gives")
