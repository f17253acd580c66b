"""From a robot to the model that the mechanics works on."""

import jax.numpy as jnp

from hydrostat.errors import InputError, choice
from hydrostat.mechanics.model import GRAVITY, Model, Wires, make_model
from hydrostat.robots.build import Robot

WIRE_STIFFNESS = 2.0e5
"""EA of the wires that are driven by their length [N]: steel cable of some 1.6 mm, assumed."""
WIRE_DAMPING_TIME = 1e-3
"""Ratio of a wire's damping to its stiffness [s], assumed."""


def robot_model(
    robot: Robot,
    *,
    gravity=GRAVITY,
    drive: str = "tension",
    wire_stiffness: float = WIRE_STIFFNESS,
    **options,
) -> Model:
    """The model of a robot with its lumped masses, friction and wires, or with the plates of its platforms.

    **Arguments:** `drive`: what the motors hold, the wires' tension or their length; `wire_stiffness`: tension per
    relative stretch of wires that are driven by their length [N]; `options`: as those of `make_model`.
    """
    choice("drive", drive, ("tension", "length"))
    lumps = zip(robot.masses.places, robot.masses.mass, robot.masses.inertia, strict=True)
    wires = None
    if len(robot.tendons.ends_at):
        stiffness = damping = None
        if drive == "length":
            rest = jnp.sum(robot.tendons.along_segments(robot.arm, robot.arm.straight()), -1)
            stiffness = wire_stiffness / rest
            damping = WIRE_DAMPING_TIME * stiffness
        wires = Wires(robot.tendons, stiffness, damping)
    elif drive == "length":
        raise InputError(f"{robot.name} has no tendons to drive; add [[tendon]] tables")
    if robot.plates is not None:
        return make_model(robot.arm, gravity=gravity, lumps=list(lumps), plates=robot.plates, **options)
    if robot.muscles is not None:
        options = {"tissue": robot.tissue, "muscles": robot.muscles, "constant_volume": True, **options}
    return make_model(robot.arm, gravity=gravity, lumps=list(lumps), friction=robot.friction, wires=wires, **options)
