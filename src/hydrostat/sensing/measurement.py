"""The errors of measured values: how large they are in the units of an observation, and how they change it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import SE3, small, so3
from hydrostat.mechanics.robot import joined, split
from hydrostat.segments import AbstractSegment
from hydrostat.sensing import random_numbers
from hydrostat.sensing.base import zero
from hydrostat.system import System

_ANGLES = ("bend_x", "bend_y", "twist", "turn_x", "turn_y", "turn_z")
"""The coordinates that are angles of a segment, or angles over its length."""


class PoseError(NamedTuple):
    """An error of a pose, or of several."""

    turn: Float[Array, "*batch 3"] | None
    """The rotation vector from the true attitude to the measured one, in the true one's axes [rad]."""
    shift: Float[Array, "*batch 3"] | None
    """Error of the position, in world axes [m]."""


def errors_of(system: System, field: str, value: Any, amount: Any, turn: Any, named: str) -> Any:
    """Errors of a field of an observation, of an amount in the unit of its sense; None where there are none.

    **Arguments:** `value`: what the errors are of; `amount`, `turn`: of the quantity, and of the attitude or angular
    velocity in it; `named`: what the amount is called in messages.
    """
    if field in ("q", "v"):
        if zero(amount):
            return None
        robot = system.robot
        each = zip(robot.each, split(robot, value), strict=True)
        known = [(coordinate_units(arm.arm.segments)[:, : y.shape[-1]], y) for arm, y in each]
        return joined(robot, [units * _spread(amount, y, named) for units, y in known])
    if isinstance(value, SE3):
        turning = None if zero(turn) else _spread(turn, value.position, named)
        shift = None if zero(amount) else _spread(amount, value.position, named)
        return None if turning is None and shift is None else PoseError(turning, shift)
    if field == "twist":
        if zero(amount) and zero(turn):
            return None
        halves = _spread(turn, value[..., :3], named), _spread(amount, value[..., 3:], named)
        return jnp.concatenate(halves, -1)
    return None if zero(amount) else jax.tree.map(lambda y: _spread(amount, y, named), value)


def coordinate_units(segments: AbstractSegment) -> Float[Array, "n k"]:
    """The change of the coordinates for one radian between the ends of a segment, or one rest length of its own.

    Bends and twists are angles, all else is length over rest length. A locked coordinate has no error.
    """
    angle = np.array([mode in _ANGLES for mode in segments.modes])
    worth = jnp.where(angle, 1.0, segments.length[:, None]) / segments.scale[:, None]
    return jnp.where(segments.free, worth, 0.0)


def _spread(amount: Any, like: Array, named: str) -> Array:
    """An amount for every component."""
    try:
        return jnp.broadcast_to(jnp.asarray(amount, float), like.shape)
    except ValueError:
        message = f"`{named}` must be a number or an array that broadcasts to {like.shape}; got {jnp.shape(amount)}"
        raise InputError(message) from None


def uniform(state: Array, turn: Any, like: Any) -> Any:
    """Numbers that are uniform between 0 and 1, for every number of a tree."""
    leaves = jax.tree.leaves(like)
    return _as_tree(like, random_numbers.uniform(state, turn, sum(leaf.size for leaf in leaves)))


def normal(state: Array, turn: Any, scales: Any) -> Any:
    """Normal numbers of zero mean and the given standard deviations, in a tree such as these."""
    leaves = jax.tree.leaves(scales)
    u = random_numbers.uniform(state, turn, 2 * sum(leaf.size for leaf in leaves))
    return jax.tree.map(jnp.multiply, scales, _as_tree(scales, random_numbers.normal(u)))


def _as_tree(like: Any, values: Array) -> Any:
    """Numbers in a row as the leaves of a tree."""
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([0, *(leaf.size for leaf in leaves)])
    each = zip(leaves, ends[:-1], ends[1:], strict=True)
    return jax.tree.unflatten(structure, [values[a:b].reshape(leaf.shape) for leaf, a, b in each])


def happens(chance: Any, u: Array) -> Array:
    """Whether an event of some probability happens, by a number that is uniform between 0 and 1."""
    return u < chance


def flipped(chances: Any, u: Any, values: Any) -> Any:
    """Values of 0 or 1, each flipped with its probability."""
    return jax.tree.map(lambda p, u, y: jnp.where(happens(p, u), 1.0 - y, y), chances, u, values)


def added(one: Any, other: Any) -> Any:
    """The sum of two errors of the same quantity, each of which may be None."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, PoseError):
        return PoseError(*(added(a, b) for a, b in zip(one, other, strict=True)))
    return jax.tree.map(jnp.add, one, other)


def measured(value: Any, error: Any) -> Any:
    """A value with its error; rotations stay rotations."""
    if error is None:
        return value
    if isinstance(value, SE3):
        turn, shift = error
        rotation = value.rotation if turn is None else small.matmul(value.rotation, so3.exp(turn))
        return SE3(rotation, value.position if shift is None else value.position + shift)
    return jax.tree.map(jnp.add, value, error)
