"""What all actuators have in common: a state of their own, and what they do to the robot during a step."""

import abc
from typing import Any

import equinox as eqx

from hydrostat.mechanics.robot import Inputs, PerArm, Robot


class AbstractActuator(eqx.Module):
    """A kind of actuator of all arms of a robot."""

    def init(self, robot: Robot) -> Any:
        """Its state at the start: a tree of arrays, empty where nothing of it evolves."""
        del robot
        return ()

    def advance(self, state, command: PerArm | None, dt) -> Any:
        """Its state after dt [s] of a command that is held; None where nothing is commanded."""
        del command, dt
        return state

    @abc.abstractmethod
    def apply(self, inputs: Inputs, command: PerArm | None, before, after, share) -> Inputs:
        """The inputs with what it does, somewhere within a step.

        **Arguments:** `before`, `after`: its states at the step's begin and end; `share`: of the step that has passed.
        """
