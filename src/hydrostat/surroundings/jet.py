"""Jet propulsion: water that the mantle takes in slowly and presses out fast through its funnel."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, no_forces
from hydrostat.surroundings.shapes import scalar


class JetState(NamedTuple):
    """The state of the water in the mantle."""

    full: Float[Array, ""]
    """Share of the mantle that is full of water."""
    thrust: Float[Array, " 3"]
    """Thrust during the step that has ended, in world axes [N]."""


class Jet(AbstractSurroundings):
    """A mantle with a funnel.

    The thrust is that of the momentum that leaves, rho Q^2 / A. What the water in the mantle weighs is not counted.
    """

    touches = False
    volume: Float[Array, ""] = eqx.field(converter=scalar("volume"), default=40e-6)
    """Volume of a full mantle [m^3]; this and the three numbers below are assumed."""
    nozzle: Float[Array, ""] = eqx.field(converter=scalar("nozzle"), default=60e-6)
    """Area of the funnel's opening [m^2]."""
    burst_s: Float[Array, ""] = eqx.field(converter=scalar("burst_s"), default=0.25)
    """Time in which a full mantle empties at full effort [s]."""
    refill_s: Float[Array, ""] = eqx.field(converter=scalar("refill_s"), default=0.75)
    """Time in which an empty mantle fills [s]."""

    def init(self, environment: Environment) -> JetState:
        """The state of a full mantle."""
        if environment.water is None or environment.body is None:
            raise InputError("`Jet` needs `Water()` among the surroundings, and a robot with a body")
        return JetState(jnp.ones(()), jnp.zeros(3))

    def begin(self, state: JetState, place: Place, environment: Environment, commands: Commands, dt):
        """The thrust during the step, along the body's axis."""
        assert environment.water is not None
        assert place.body is not None
        full, thrust = self.press(state.full, commands.jet, environment.water.density, dt)
        push = thrust * place.body.tangent[0]
        return JetState(full, push), OnBody(Push(push), jnp.zeros(()))

    def press(self, full: Float[Array, ""], effort, density, dt) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The share of the mantle that is full after a step of dt [s], and the thrust during it [N].

        **Arguments:** `full`: share that was full; `effort`: from 0, refill, to 1, press with all force.
        """
        out = jnp.minimum(effort * dt / self.burst_s, full)
        flow = self.volume * out / dt
        refilled = jnp.where(effort > 0.0, 0.0, jnp.minimum(dt / self.refill_s, 1.0 - full))
        return full - out + refilled, density * flow**2 / self.nozzle


class Push(AbstractForces):
    """A constant force in world axes."""

    push: Float[Array, " 3"]
    """The force in world axes [N]."""

    @property
    def abrupt(self) -> bool:
        """Whether the force is abrupt: no, it does not depend on the motion."""
        return False

    def forces(self, nodes: Nodes) -> NodeForces:
        """The same force on every node."""
        return no_forces(nodes)._replace(force=jnp.broadcast_to(self.push, nodes.position.shape))
