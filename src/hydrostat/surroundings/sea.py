"""The world of an octopus: water, a floor that its suckers hold, its own arms, and its body in all that."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
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


class OnMantle(AbstractSurroundings):
    """What acts on the body during a step."""

    mantle: Mantle
    water: Water
    floor: Floor | None

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
        """Drag, and the floor."""
        flow = self.water.current - body.velocity
        speed = small.norm(flow)
        drag = 0.5 * self.water.density * self.mantle.drag * jnp.pi * self.mantle.radius**2
        unit = flow / jnp.maximum(speed, 1e-12)[:, None]
        linear = (drag * speed)[:, None, None] * (jnp.eye(3) + unit[:, :, None] * unit[:, None, :])
        force, damping = drag * speed[:, None] * flow, on_displacements(linear)
        found = NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)
        if self.floor is None:
            return found
        below = self.floor.forces(_ball(self.mantle, body))
        return jax.tree.map(jnp.add, found, below)


def _ball(mantle: Mantle, body: Nodes) -> Nodes:
    """The body as a node of its radius."""
    return body._replace(radius=mantle.radius[None])


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

    def begin(self, count: int) -> Holds:
        """So many nodes, none of which holds on to anything."""
        return Holds.nowhere(count)

    def advance(self, state: Holds, nodes: Nodes, wanted: Float[Array, " n"], dt) -> Holds:
        """The world for a step that begins with the nodes here.

        **Arguments:** `wanted`: 1 for suckers that shall hold, 0 for those that shall not.
        """
        del dt
        if self.suckers is None or self.floor is None:
            return state
        return state.advance(self.suckers, self.floor, nodes, wanted)

    def around(self, state: Holds, ahead: Nodes, dt, body: Nodes) -> AbstractSurroundings:
        """What arms and body meet during a step of dt [s] at whose end the nodes are about here."""
        parts: list[AbstractSurroundings] = [self.water]
        below = None
        if self.floor is not None:
            parts.append(floor(self.law, self.floor, ahead))
            below = floor(self.law, self.floor, nodes_ahead(_ball(self.mantle, body), dt))
            if self.suckers is not None:
                parts.append(Held(self.suckers, state))
        if self.neighbours is not None:
            parts.append(own_contact(self.law, ahead, self.neighbours, dt, self.arms))
        parts.append(OnMantle(self.mantle, self.water, below))
        return Together(tuple(parts))
