"""Mechanics of chains of segments, written once for all kinds of segment.

An `ArmModel` is an arm with its masses and forces, a `Robot` a body with arms; `Inputs` are its loads, actuation and
surroundings.
"""

from hydrostat.mechanics import dynamics, energy, kinematics, planar, statics
from hydrostat.mechanics.model import GRAVITY, ArmModel, Wires, make_arm_model
from hydrostat.mechanics.nodes import AbstractForces, AbstractWires, NodeForces, Nodes
from hydrostat.mechanics.robot import (
    BodyShape,
    Inputs,
    Robot,
    arms_in_world,
    equal_arms,
    no_inputs,
    single_arm,
    unequal_arms,
)
from hydrostat.mechanics.statics import equilibrium, vibrations

__all__ = [
    "GRAVITY",
    "AbstractForces",
    "AbstractWires",
    "ArmModel",
    "BodyShape",
    "Inputs",
    "NodeForces",
    "Nodes",
    "Robot",
    "Wires",
    "arms_in_world",
    "dynamics",
    "energy",
    "equal_arms",
    "equilibrium",
    "kinematics",
    "make_arm_model",
    "no_inputs",
    "planar",
    "single_arm",
    "statics",
    "unequal_arms",
    "vibrations",
]
