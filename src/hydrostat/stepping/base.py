"""What every stepper offers, and the state it steps."""

import abc
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.dynamics import motions_of
from hydrostat.mechanics.model import AnyModel, Inputs
from hydrostat.mechanics.motion import (
    Coordinates,
    PerArm,
    all_nodes,
    branches,
    joined,
    like_coordinates,
    without_masses,
)
from hydrostat.mechanics.nodes import Nodes


class State(NamedTuple):
    """What is integrated: coordinates and their rates, and the base where it moves freely."""

    q: PerArm
    """Coordinates (n, k); of several arms, a tuple of arrays."""
    v: PerArm
    """Their rates."""
    base_pose: SE3
    base_twist: Float[Array, " 6"]
    """Body twist of a free base."""


class Stepped(NamedTuple):
    """A step's result."""

    state: State
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    """Of all stages together; 0 for explicit steppers."""


InputFunction = Callable[[Float[Array, ""], State], Inputs]
"""What acts on the arm at a time and in a state."""


class AbstractStepper(eqx.Module):
    """A way to advance the state; immutable, the state passes through."""

    order: ClassVar[int]
    """Global order of accuracy in the step."""

    @abc.abstractmethod
    def step(self, model: AnyModel, state: State, time, dt, inputs: InputFunction) -> Stepped:
        """The state after one step of dt [s]."""


def rest_state(model: AnyModel, q=None) -> State:
    """The robot at rest in a configuration, the unstressed one when not given."""
    rest = joined(model, [arm.rest for arm in branches(model)])
    q = rest if q is None else jax.tree.map(lambda y: jnp.asarray(y, float), q)
    return State(q, jax.tree.map(jnp.zeros_like, q), model.T_world_body, jnp.zeros(6))


def positions(state: State) -> Coordinates:
    """The coordinates of a state, a free base counted from where it is."""
    return Coordinates(state.q, jnp.zeros(6))


def velocities(state: State) -> Coordinates:
    """The rates of a state."""
    return Coordinates(state.v, state.base_twist)


def moved(model: AnyModel, state: State, x: Coordinates, v: Coordinates) -> State:
    """The state with new coordinates and rates; a free base's coordinates become its new pose."""
    if not model.free_base:
        return State(x.q, v.q, state.base_pose, state.base_twist)
    twist = small.matvec(se3.tangent(x.base), v.base)
    return State(x.q, v.q, state.base_pose @ se3.exp(x.base), twist)


def acting(model: AnyModel, state: State, time, inputs: InputFunction) -> Inputs:
    """The inputs at a time and state, with a free base's pose as the origin of its coordinates."""
    given = inputs(time, state)
    if model.free_base:
        given = given._replace(base_pose=state.base_pose)
    if given.surroundings is not None:
        nodes = nodes_of(model, positions(state), velocities(state), given)
        given = given._replace(surroundings=given.surroundings.prepare(nodes))
    return given


def nodes_of(model: AnyModel, x: Coordinates, v: Coordinates, inputs: Inputs) -> Nodes:
    """The nodes of all arms that meet the surroundings."""
    light = without_masses(model)
    _, motions = motions_of(light, x, v, like_coordinates(model), inputs, weight=False)
    return all_nodes(light, motions, x)


def combine(*terms) -> Coordinates:
    """The sum of (factor, coordinates) pairs."""
    return jax.tree.map(
        lambda *parts: sum(f * p for (f, _), p in zip(terms, parts, strict=True)), *(t for _, t in terms)
    )


def finite(state: State) -> Bool[Array, ""]:
    """Whether every number of a state is one."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(y)) for y in jax.tree.leaves(state)]))
