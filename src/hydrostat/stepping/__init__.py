"""Steppers: from the state of a robot to its state a moment later, and simulations made of many steps."""

from hydrostat.stepping.base import AbstractStepper, InputFunction, State, Stepped, rest_state
from hydrostat.stepping.linear_implicit import LinearImplicitEuler
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.real_time import RealTime
from hydrostat.stepping.reference import Reference
from hydrostat.stepping.rk4 import RK4
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.stepping.simulation import AbstractController, Constant, Rows, Simulation

__all__ = [
    "RK4",
    "SDIRK2",
    "AbstractController",
    "AbstractStepper",
    "Constant",
    "InputFunction",
    "KeepMomentum",
    "LinearImplicitEuler",
    "RealTime",
    "Reference",
    "Rows",
    "Simulation",
    "State",
    "Stepped",
    "rest_state",
]
