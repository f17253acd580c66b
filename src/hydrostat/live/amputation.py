"""Systems with other parts or fewer arms, and the states that go with them."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import Robot
from hydrostat.surroundings.hand import Hand
from hydrostat.surroundings.objects import ObjectState
from hydrostat.surroundings.suckers import Attachment
from hydrostat.system import State, System


def rebuilt(system: System, robot: Robot, surroundings: tuple, gains: Any) -> System:
    """The system with another robot and other surroundings, in the same field of gravity.

    **Arguments:** `gains`: of the muscles of that robot.
    """
    muscular = any(np.size(leaf) for leaf in jax.tree.leaves(gains))
    tiring = system.muscles.fatigue
    own = gains if muscular else None
    return System(robot, surroundings, gravity=system.gravity, muscle_gains=own, fatigue=tiring)


def with_hand(system: System) -> System:
    """The system with a hand among its surroundings that holds nothing yet."""
    nodes = sum(arm.arm.count * max(len(arm.skin_at), 1) for arm in system.robot.each)
    return rebuilt(system, system.robot, (*system.surroundings, Hand(np.zeros(nodes))), system.muscles.gains)


def with_hand_state(state: State) -> State:
    """A state of the system without the hand as one of that with it."""
    return state._replace(surroundings=(*state.surroundings, ()))


def lose_arm(system: System, state: State, arm: int) -> tuple[System, State]:
    """The system and its state without one of its equal arms, by its number from 0; all else is as it was."""
    robot = system.robot
    if not isinstance(robot.mounts, SE3) or robot.count < 2:
        raise InputError(f"an arm can be lost where there are several equal ones; {robot.name} has {robot.count}")
    if not 0 <= arm < robot.count:
        raise InputError(f"`arm` must be one of the arms 0 to {robot.count - 1}; got {arm}")
    kept = np.delete(np.arange(robot.count), arm)
    nodes = np.arange(system.environment.count).reshape(robot.count, -1)[kept].reshape(-1)
    mounts = jax.tree.map(lambda y: np.asarray(y)[kept], robot.mounts)
    names = tuple(robot.names[i] for i in kept) if len(robot.names) == robot.count else robot.names
    fewer = Robot(
        robot.arms, mounts, robot.T_world_body, robot.gravity, robot.base_inertia, robot.body, names, robot.name
    )
    parts = tuple(_part_without(part, nodes) for part in system.surroundings)
    new = rebuilt(system, fewer, parts, np.asarray(system.muscles.gains)[kept])
    first = jax.tree.map(np.asarray, new.rest())
    each = zip(state.surroundings, first.surroundings, strict=True)
    left = state._replace(
        q=np.asarray(state.q)[kept],
        v=np.asarray(state.v)[kept],
        activation=np.asarray(state.activation)[kept],
        fatigue=None if state.fatigue is None else np.asarray(state.fatigue)[kept],
        surroundings=tuple(_state_without(own, rest, nodes, system.environment.count) for own, rest in each),
    )
    return new, left


def _part_without(part: Any, nodes: np.ndarray) -> Any:
    """A part of the surroundings for the contact nodes that are left."""
    if isinstance(part, Hand):
        return eqx.tree_at(lambda one: one.grip, part, np.asarray(part.grip)[nodes])
    return part


def _state_without(own: Any, rest: Any, nodes: np.ndarray, count: int) -> Any:
    """The state of a part for the contact nodes that are left; what cannot be told apart by nodes begins anew."""
    if isinstance(own, Attachment):
        return jax.tree.map(lambda y: np.asarray(y)[nodes], own)
    if isinstance(own, ObjectState):
        # After the nodes of all arms comes that of the body, where there is one.
        body = np.arange(count, len(np.asarray(own.attachment.held)))
        kept = np.concatenate([nodes, body])
        return own._replace(attachment=jax.tree.map(lambda y: np.asarray(y)[kept], own.attachment))
    same = [np.shape(leaf) for leaf in jax.tree.leaves(own)] == [np.shape(leaf) for leaf in jax.tree.leaves(rest)]
    return own if same else rest
