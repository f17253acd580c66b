"""Controllers by the clock: playback of a table of controls, and decisions that are held for several steps."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.base import Controller, Recipe
from hydrostat.sensing import Observation
from hydrostat.system import Control, System


class Playback(Controller):
    """Controls from a table, one row for every step; the last row goes on.

    Playback(Control(tension=table))    # table: (steps, tendons)
    """

    control: Control
    """The table of controls, with the step as leading axis."""

    def __call__(self, time, observation: Observation, memory):
        """The row of the step that begins now."""
        rows = jax.tree.leaves(self.control)[0].shape[0]
        row = jnp.clip(jnp.round(time / observation.period).astype(int), 0, rows - 1)
        return jax.tree.map(lambda y: y[row], self.control), memory


class HeldMemory(NamedTuple):
    """The memory of a controller whose decisions are held."""

    controller: Any
    """Memory of the controller itself."""
    control: Control
    """The controller's last decision."""
    left: Float[Array, ""]
    """Number of steps for which it is still held."""


class ZeroOrderHold(Controller):
    """A controller with a zero-order hold: it decides once in `steps` steps, and its decision is held between.

    The controller is told its own period, so that its decisions are the same however finely the motion is stepped.
    """

    controller: Controller
    every: Float[Array, ""] = eqx.field(converter=lambda steps: jnp.asarray(steps, float))
    """Steps from one decision to the next."""

    def attach(self, system: System, dt: float) -> "ZeroOrderHold":
        """The same with its controller attached to the system, for its own period."""
        return ZeroOrderHold(self.controller.attach(system, float(self.every) * dt), self.every)

    def init(self, observation: Observation) -> HeldMemory:
        """The memory at the start: the first decision is due."""
        own = self._own(observation)
        inner = self.controller.init(own)
        shapes = jax.eval_shape(lambda: self.controller(jnp.zeros(()), own, inner)[0])
        return HeldMemory(inner, jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype), shapes), jnp.zeros(()))

    def __call__(self, time, observation: Observation, memory: HeldMemory):
        """A new decision for all steps of the hold, or the last one."""

        def decide():
            control, inner = self.controller(time, self._own(observation), memory.controller)
            return control, HeldMemory(inner, control, self.every - 1.0)

        def hold():
            return memory.control, memory._replace(left=memory.left - 1.0)

        return jax.lax.cond(memory.left < 0.5, decide, hold)

    def _own(self, observation: Observation) -> Observation:
        """The observation with the controller's own period."""
        return observation._replace(period=self.every * observation.period)


class AtRate(Recipe):
    """A controller that decides at a rate of its own, to the nearest whole number of steps."""

    controller: Controller
    period: float = eqx.field(static=True)
    """Period of the decisions [s]."""

    def attach(self, system: System, dt: float) -> Controller:
        """The controller, held for as many steps as its period takes."""
        every = steps_per_decision(self.period, dt)
        return hold(self.controller.attach(system, every * dt), every)


def at_rate(controller: Controller, rate: float) -> AtRate:
    """The controller with decisions at a rate [1/s] that are held between."""
    return AtRate(controller, 1.0 / errors.number("rate", rate, above=0.0, most=1e6))


def steps_per_decision(period: float, dt: float) -> int:
    """The number of steps of dt [s] in a controller's period [s], to the nearest; at least one."""
    return max(1, round(period / dt))


def hold(controller: Controller, every: int) -> Controller:
    """A controller that decides once in `steps` steps; the controller itself, where that is every step."""
    return controller if every == 1 else ZeroOrderHold(controller, every)
