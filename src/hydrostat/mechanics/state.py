"""The mechanical state of a robot, on which steppers work."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.dynamics import motions_of
from hydrostat.mechanics.motion import (
    Coordinates,
    all_nodes,
    base_motion,
    body_node,
    like_coordinates,
    without_masses,
)
from hydrostat.mechanics.nodes import NodeFamily, Nodes
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, joined, no_inputs


class RobotState(NamedTuple):
    """Coordinates and their rates, and pose and twist of a free body."""

    q: PerArm
    """Generalised coordinates (n, k)."""
    v: PerArm
    """Rates of the coordinates (n, k)."""
    base_pose: SE3
    base_twist: Float[Array, " 6"]
    """Body twist of a free body."""


def rest_state(robot: Robot, q=None) -> RobotState:
    """The state of the robot at rest in a configuration, by default the unstressed one."""
    rest = joined(robot, [arm.rest for arm in robot.each])
    q = rest if q is None else jax.tree.map(lambda y: jnp.asarray(y, float), q)
    return RobotState(q, jax.tree.map(jnp.zeros_like, q), robot.T_world_body, jnp.zeros(6))


def positions(state: RobotState) -> Coordinates:
    """The coordinates of a state; those of a free body are relative to its present pose."""
    return Coordinates(state.q, jnp.zeros(6))


def velocities(state: RobotState) -> Coordinates:
    """The rates of a state."""
    return Coordinates(state.v, state.base_twist)


def moved(robot: Robot, state: RobotState, x: Coordinates, v: Coordinates) -> RobotState:
    """The state with new coordinates and rates; a free body's coordinates become its new pose."""
    if not robot.free_base:
        return RobotState(x.q, v.q, state.base_pose, state.base_twist)
    twist = small.matvec(se3.tangent(x.base), v.base)
    return RobotState(x.q, v.q, state.base_pose @ se3.exp(x.base), twist)


def inputs_at(robot: Robot, state: RobotState, inputs: Inputs | None = None) -> Inputs:
    """The inputs with a free body's pose as the origin of its coordinates.

    Without inputs nothing acts, and a body that is fixed or prescribed is where the state has it.
    """
    if inputs is None:
        still = no_inputs(robot)._replace(base_pose=state.base_pose)
        return still if robot.free_base else still._replace(base_twist=state.base_twist)
    return inputs._replace(base_pose=state.base_pose) if robot.free_base else inputs


def nodes_of(robot: Robot, state: RobotState, inputs: Inputs | None = None, family: NodeFamily = "contact") -> Nodes:
    """The nodes of a family of all arms, arm after arm."""
    light = without_masses(robot)
    at = inputs_at(robot, state, inputs)
    _, motions = motions_of(light, positions(state), velocities(state), like_coordinates(robot), at, weight=False)
    return all_nodes(light, motions, positions(state), family)


def body_of(robot: Robot, state: RobotState, inputs: Inputs | None = None) -> Nodes:
    """The body as one node, with the radius of its shape."""
    at = inputs_at(robot, state, inputs)
    node = body_node(base_motion(robot, positions(state), velocities(state), like_coordinates(robot), at))
    return node if robot.body is None else node._replace(radius=robot.body.radius[None])
