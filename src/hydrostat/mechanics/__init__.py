"""Mechanics of chains of segments, written once for all of them.

A `Model` is an arm with its masses and forces, a `Branched` several arms on one body, a `Crown` equal ones; `Inputs`
are what acts on them.
"""

from hydrostat.mechanics import dynamics, energy, kinematics, statics
from hydrostat.mechanics.model import (
    Branched,
    Crown,
    Inputs,
    Model,
    Wires,
    make_branched,
    make_crown,
    make_model,
    no_inputs,
)
from hydrostat.mechanics.nodes import AbstractSurroundings, AbstractWires, NodeForces, Nodes
from hydrostat.mechanics.statics import equilibrium, vibrations

__all__ = [
    "AbstractSurroundings",
    "AbstractWires",
    "Branched",
    "Crown",
    "Inputs",
    "Model",
    "NodeForces",
    "Nodes",
    "Wires",
    "dynamics",
    "energy",
    "equilibrium",
    "kinematics",
    "make_branched",
    "make_crown",
    "make_model",
    "no_inputs",
    "statics",
    "vibrations",
]
