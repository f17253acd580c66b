"""The world of an octopus: water, a floor that its suckers hold, its own arms, and its body in all that."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes, copies, on_displacements
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.floor import Floor, Held, Holds, floor
from hydrostat.surroundings.own import own_contact
from hydrostat.surroundings.shapes import scalar
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.water import Together, Water
from hydrostat.surroundings.world import BALL_DRAG, nodes_ahead


class Mantle(eqx.Module):
    """The body of an octopus as the water and the floor meet it: a ball about the body's origin."""

    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    drag: Float[Array, ""] = eqx.field(converter=scalar("drag", positive=False), default=BALL_DRAG)
    """On the area of its shadow."""


class Jet(eqx.Module):
    """Water that the mantle takes in slowly and presses out fast through its funnel.

    The thrust is that of the momentum that leaves, rho Q^2 / A. What the water in the mantle weighs is not counted.
    """

    volume: Float[Array, ""] = eqx.field(converter=scalar("volume"))
    """Of a full mantle [m^3]."""
    nozzle: Float[Array, ""] = eqx.field(converter=scalar("nozzle"))
    """Area of the funnel's opening [m^2]."""
    burst_s: Float[Array, ""] = eqx.field(converter=scalar("burst_s"))
    """In which a full mantle empties at full command [s]."""
    refill_s: Float[Array, ""] = eqx.field(converter=scalar("refill_s"))
    """In which an empty mantle fills [s]."""

    def press(self, left: Float[Array, ""], wanted, density, dt) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The water that is left after a step of dt [s], and the thrust during it [N].

        **Arguments:** `left`: share of the mantle that was full; `wanted`: from 0, refill, to 1, press with all force.
        """
        out = jnp.minimum(wanted * dt / self.burst_s, left)
        flow = self.volume * out / dt
        refilled = jnp.where(wanted > 0.0, 0.0, jnp.minimum(dt / self.refill_s, 1.0 - left))
        return left - out + refilled, density * flow**2 / self.nozzle


class OnMantle(AbstractSurroundings):
    """What acts on the body during a step."""

    mantle: Mantle
    water: Water
    floor: Floor | None
    push: Float[Array, " 3"]
    """Of a jet, in world axes [N]."""

    @property
    def abrupt(self) -> bool:
        """As its floor."""
        return self.floor is not None

    def by_arm(self, arms: int) -> "OnMantle":
        """It does not act on arms."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """None on the nodes of arms."""
        vector, matrix = jnp.zeros_like(nodes.position), jnp.zeros((len(nodes.radius), 6, 6))
        return NodeForces(vector, vector, matrix, matrix)

    def on_body(self, body: Nodes) -> NodeForces:
        """Drag, the jet, and the floor."""
        flow = self.water.current - body.velocity
        speed = small.norm(flow)
        drag = 0.5 * self.water.density * self.mantle.drag * jnp.pi * self.mantle.radius**2
        unit = flow / jnp.maximum(speed, 1e-12)[:, None]
        linear = (drag * speed)[:, None, None] * (jnp.eye(3) + unit[:, :, None] * unit[:, None, :])
        force, damping = drag * speed[:, None] * flow + self.push, on_displacements(linear)
        found = NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)
        if self.floor is None:
            return found
        below = self.floor.forces(_ball(self.mantle, body))
        return jax.tree.map(jnp.add, found, below)


def _ball(mantle: Mantle, body: Nodes) -> Nodes:
    """The body as a node of its radius."""
    return body._replace(radius=mantle.radius[None])


class SeaState(NamedTuple):
    """What goes on from step to step."""

    holds: Holds
    left: Float[Array, ""]
    """Share of the mantle that is full of water."""
    push: Float[Array, " 3"]
    """Of the jet during the step, in world axes [N]."""

    @property
    def held(self) -> Float[Array, " n"]:
        """1 where a sucker holds, else 0."""
        return self.holds.held


class Sea(eqx.Module):
    """What is around an octopus."""

    water: Water
    law: ContactLaw
    mantle: Mantle
    floor: Float[Array, ""] | None = None
    """Height of a level floor [m]; None for open water."""
    suckers: SuckerLaw | None = None
    arms: int = eqx.field(static=True, default=8)
    neighbours: int | None = eqx.field(static=True, default=None)
    """How many places along an arm two of its parts must be apart to touch; None where arms touch nothing of their own
    kind."""
    jet: Jet | None = None

    def begin(self, count: int) -> SeaState:
        """So many nodes, none of which holds on to anything, and a full mantle."""
        return SeaState(Holds.nowhere(count), jnp.ones(()), jnp.zeros(3))

    def advance(
        self, state: SeaState, nodes: Nodes, wanted: Float[Array, " n"], dt, *, pose: SE3, jet: Float[Array, ""] | None
    ) -> SeaState:
        """The world for a step that begins with the nodes here.

        **Arguments:** `wanted`: 1 for suckers that shall hold, 0 for those that shall not; `pose`: of the body; `jet`:
        how hard the mantle shall press, 0 to 1.
        """
        if self.suckers is not None and self.floor is not None:
            state = state._replace(holds=state.holds.advance(self.suckers, self.floor, nodes, wanted))
        if self.jet is not None and jet is not None:
            left, thrust = self.jet.press(state.left, jet, self.water.density, dt)
            state = state._replace(left=left, push=thrust * pose.rotation[:, 2])
        return state

    def around(self, state: SeaState, ahead: Nodes, dt, body: Nodes) -> AbstractSurroundings:
        """What arms and body meet during a step of dt [s] at whose end the nodes are about here."""
        parts: list[AbstractSurroundings] = [self.water]
        below = None
        if self.floor is not None:
            parts.append(floor(self.law, self.floor, ahead))
            below = floor(self.law, self.floor, nodes_ahead(_ball(self.mantle, body), dt))
            if self.suckers is not None:
                parts.append(Held(self.suckers, state.holds))
        if self.neighbours is not None:
            parts.append(own_contact(self.law, ahead, self.neighbours, dt, self.arms))
        parts.append(OnMantle(self.mantle, self.water, below, state.push))
        return Together(tuple(parts))
