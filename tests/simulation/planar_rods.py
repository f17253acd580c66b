"""A Nitinol rod of planar arcs with 20 g at its tip, and the module of the host's loop."""

import importlib

import jax.numpy as jnp

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3
from hydrostat.mechanics.model import ArmModel, make_arm_model
from hydrostat.mechanics.robot import single_arm
from hydrostat.segments import StrainSegment
from hydrostat.system import System

# In its package the function of that name stands before the module.
simulate_module = importlib.import_module("hydrostat.simulation.simulate")
HORIZONTAL = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))


def rod(count: int) -> ArmModel:
    arm = Arm(
        StrainSegment(jnp.full(count, 0.3), ("bend_y",)),
        Section(jnp.full(count, 1e-3), jnp.full(count, 1e-3)),
        Material(*(jnp.full(count, value) for value in (60e9, 0.3, 6450.0, 0.0))),
        HORIZONTAL,
    )
    return make_arm_model(arm, lumps=[(1.0, 0.02)], load_places=[1.0])


def rod_system(count: int) -> System:
    return System(single_arm(rod(count)))
