"""Steppers: from the state of a robot, and of a whole system, to its state a moment later."""

from hydrostat.stepping.base import AbstractStepper, InputFunction, Stepped
from hydrostat.stepping.linear_implicit import LinearImplicitEuler
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.reference import Reference
from hydrostat.stepping.rk4 import RK4
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.stepping.step import default_stepper, step

__all__ = [
    "RK4",
    "SDIRK2",
    "AbstractStepper",
    "InputFunction",
    "KeepMomentum",
    "LinearImplicitEuler",
    "Reference",
    "Stepped",
    "default_stepper",
    "step",
]
