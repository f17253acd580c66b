"""Steppers: from the state of an arm to its state a moment later."""

from hydrostat.stepping.base import AbstractStepper, State, Stepped
from hydrostat.stepping.linear_implicit import LinearImplicitEuler
from hydrostat.stepping.rk4 import RK4
from hydrostat.stepping.sdirk2 import SDIRK2

__all__ = ["RK4", "SDIRK2", "AbstractStepper", "LinearImplicitEuler", "State", "Stepped"]
