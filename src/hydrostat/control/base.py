"""The interface of all controllers: from an observation and a memory to a control and a new memory."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.system import Control, System


class Controller(eqx.Module):
    """A controller decides once a step on a control. It is pure: its memory is passed in and returned.

    class Proportional(Controller):
        gain: float

        def __call__(self, time, observation, memory):
            return Control(tension=self.gain * ...), memory
    """

    def attach(self, system: System, dt: float) -> "Controller":
        """The same controller, prepared for a system that is stepped by dt [s], with all that it needs to know of the
        robot.

        Called once before a run. A controller that needs to know nothing returns itself.
        """
        del system, dt
        return self

    def init(self, observation: Observation) -> Any:
        """The memory at the start: a tree of arrays."""
        del observation
        return ()

    @abc.abstractmethod
    def __call__(self, time: Float[Array, ""], observation: Observation, memory: Any) -> tuple[Any, Any]:
        """The control for the step that begins at a time [s], and the new memory.

        Instead of a control that is held during the step it may give a function from time to control, which is then
        asked at every stage of the step.
        """


class Idle(Controller):
    """A controller that drives nothing: tendons are slack, muscles relaxed."""

    def __call__(self, time, observation, memory):
        """The control that drives nothing."""
        del time, observation
        return Control(), memory


class Constant(Controller):
    """A controller whose control is the same at all times."""

    control: Control

    def attach(self, system: System, dt: float) -> "Constant":
        """The same controller; `InputError` where the system cannot be driven by its control."""
        del dt
        system.check(self.control)
        return self

    def __call__(self, time, observation, memory):
        """The constant control."""
        del time, observation
        return self.control, memory


class Recipe(Controller):
    """A controller that is made without knowing the robot, and that runs once it is attached to a system.

    running = Crawl(heading=0.3).attach(system, dt)
    """

    @abc.abstractmethod
    def attach(self, system: System, dt: float) -> Controller:
        """The controller for the system's robot, for steps of dt [s]."""

    def __call__(self, time, observation, memory):
        """Refuse to run: the controller is not attached to a system yet."""
        del time, observation, memory
        name = type(self).__name__
        raise InputError(f"`{name}` does not know its robot yet; call what `{name}(...).attach(system, dt)` gives")
