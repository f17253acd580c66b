"""The interface of all steppers, and the result of a step."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Inputs, Robot
from hydrostat.mechanics.state import RobotState, inputs_at, moved, positions, velocities

__all__ = [
    "AbstractStepper",
    "InputFunction",
    "Stepped",
    "acting",
    "combine",
    "finite",
    "moved",
    "positions",
    "velocities",
]


class Stepped(NamedTuple):
    """The result of a step."""

    state: RobotState
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    """Number of iterations of all stages together; 0 for explicit steppers."""
    memory: Any = None
    """The stepper's memory for the next step."""


InputFunction = Callable[[Float[Array, ""], RobotState], Inputs]
"""The inputs of the mechanics as a function of time and state."""


class AbstractStepper(eqx.Module):
    """A time integrator; immutable, the state passes through."""

    order: ClassVar[int]
    """Global order of accuracy in the step."""

    def init(self, model: Robot, state: RobotState, inputs: Inputs, *, keep_momentum: bool = False) -> Any:
        """The stepper's memory before the first step from a state: what the next step needs of the one before.

        None for a stepper that remembers nothing, as here.
        """
        del model, state, inputs, keep_momentum

    @abc.abstractmethod
    def step(
        self,
        model: Robot,
        state: RobotState,
        time,
        dt,
        inputs: InputFunction,
        *,
        keep_momentum: bool = False,
        memory: Any = None,
    ) -> Stepped:
        """The state after one step of dt [s].

        **Arguments:** `keep_momentum`: whether the twist of a free base is corrected so that momentum changes by the
        impulse of external forces; see `KeepMomentum`. `memory`: what `init` or the step before gave; a step can be
        made without it, in more time.
        """


def acting(robot: Robot, state: RobotState, time, inputs: InputFunction) -> Inputs:
    """The inputs at a time and state, with a free body's pose as the origin of its coordinates."""
    return inputs_at(robot, state, inputs(time, state))


def combine(*terms) -> Coordinates:
    """The sum of (factor, coordinates) pairs."""
    return jax.tree.map(
        lambda *parts: sum(f * p for (f, _), p in zip(terms, parts, strict=True)), *(t for _, t in terms)
    )


def finite(state: RobotState) -> Bool[Array, ""]:
    """Whether every number of a state is one."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(y)) for y in jax.tree.leaves(state)]))
