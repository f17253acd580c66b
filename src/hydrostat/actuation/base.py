"""The interface of all actuators: a state of their own, and the forces that they exert on the robot during a step."""

import abc
from typing import Any

import equinox as eqx

from hydrostat.mechanics.robot import Inputs, PerArm, Robot


class AbstractActuator(eqx.Module):
    """One kind of actuator, for all arms of a robot."""

    def init(self, robot: Robot) -> Any:
        """The actuator's state at the start: a tree of arrays, empty where nothing of it evolves."""
        del robot
        return ()

    def advance(self, state, command: PerArm | None, dt) -> Any:
        """The actuator's state after dt [s] of a constant command; None where nothing is commanded."""
        del command, dt
        return state

    @abc.abstractmethod
    def apply(self, inputs: Inputs, command: PerArm | None, before, after, share) -> Inputs:
        """The inputs with the actuator's forces added, at some moment of a step.

        **Arguments:** `before`, `after`: its states at the step's begin and end; `share`: of the step that has passed.
        """
