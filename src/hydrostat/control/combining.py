"""Controllers made of controllers: one after another, and several at once."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.base import Controller
from hydrostat.errors import InputError, listed
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

_NAMES = ("tension", "length", "activation", "torque", "leg_force", "grip", "take", "jet", "fins", "pump", "nozzle",
          "load", "follower", "base")  # fmt: skip
_NO_ZERO = ("length", "base")  # of which 0 does not mean that nothing is set
_HELD = ("grip", "take")


class ThenMemory(NamedTuple):
    """The memories of two controllers, one of which follows the other."""

    first: Any
    second: Any


class Then(Controller):
    """One controller for some seconds, and then another, whose time begins there.

    Then(Turn(1.0), 10.0, Crawl(heading=1.0))
    """

    first: Controller
    seconds: Float[Array, ""]
    second: Controller

    def __init__(self, first: Controller, seconds: float, second: Controller):
        self.first, self.second = first, second
        self.seconds = jnp.asarray(errors.number("seconds", seconds, above=0.0), float)

    def attach(self, system: System, dt: float) -> "Then":
        """The same with both controllers attached."""
        both = (self.first.attach(system, dt), self.second.attach(system, dt))
        return eqx.tree_at(lambda one: (one.first, one.second), self, both)

    def init(self, observation: Observation) -> ThenMemory:
        """The memories of both; the second one begins anew until its time has come."""
        return ThenMemory(self.first.init(observation), self.second.init(observation))

    def __call__(self, time, observation: Observation, memory: ThenMemory):
        """The control of the controller whose turn it is."""
        later = time >= self.seconds - 0.5 * observation.period
        first, first_memory = self.first(time, observation, memory.first)
        second, begun = self.second(jnp.maximum(time - self.seconds, 0.0), observation, memory.second)
        # Until its time has come, the second controller begins with every step anew from what is observed then.
        fresh = self.second.init(observation)
        second_memory = jax.tree.map(lambda new, old: jnp.where(later, new, old), begun, fresh)
        return _chosen(later, second, first), ThenMemory(first_memory, second_memory)


class Combined(Controller):
    """Several controllers at once: activations and forces add up, activations to at most 1; suckers hold what any of
    them holds.
    """

    controllers: tuple[Controller, ...]

    def __init__(self, *controllers: Controller):
        if not controllers:
            raise InputError("`Combined` must have at least one controller; got none")
        self.controllers = controllers

    def attach(self, system: System, dt: float) -> "Combined":
        """The same with all controllers attached."""
        return Combined(*(controller.attach(system, dt) for controller in self.controllers))

    def init(self, observation: Observation) -> tuple:
        """The memories of all controllers."""
        return tuple(controller.init(observation) for controller in self.controllers)

    def __call__(self, time, observation: Observation, memory: tuple):
        """The sum of the controllers' controls."""
        each = [one(time, observation, own) for one, own in zip(self.controllers, memory, strict=True)]
        values = {name: _summed(name, [getattr(control, name) for control, _ in each]) for name in _NAMES}
        return Control(**values), tuple(after for _, after in each)


def _summed(name: str, values: list) -> Any:
    """The sum of several controls; None for fields that none of them sets."""
    set_ = [value for value in values if value is not None]
    if len(set_) < 2:
        return set_[0] if set_ else None
    if name in _NO_ZERO:
        raise InputError(f"`{name}` must be set by one of the combined controllers; {len(set_)} of them set it")
    if name in _HELD:
        return jax.tree.map(lambda *y: jnp.max(jnp.stack(y), 0), *set_)
    total = jax.tree.map(lambda *y: sum(y[1:], start=y[0]), *set_)
    return jax.tree.map(lambda y: jnp.clip(y, 0.0, 1.0), total) if name in ("activation", "jet") else total


def _chosen(condition, one: Control, other: Control) -> Control:
    """One control where a condition holds, else the other; a field that only one of them sets is 0 in the other."""
    odd = [name for name in _NO_ZERO if (getattr(one, name) is None) != (getattr(other, name) is None)]
    if odd:
        raise InputError(f"controllers that follow each other must both set {listed(odd)}, or neither of them")

    def choose(name: str):
        a, b = getattr(one, name), getattr(other, name)
        if a is None and b is None:
            return None
        a, b = (jax.tree.map(jnp.zeros_like, other) if value is None else value for value, other in ((a, b), (b, a)))
        return jax.tree.map(lambda a, b: jnp.where(condition, a, b), a, b)

    return Control(**{name: choose(name) for name in _NAMES})
