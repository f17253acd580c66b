"""Suckers: springs with dampers between nodes of an arm and what they hold, the ground or a free object."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, on_displacements, shares
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place
from hydrostat.surroundings.shapes import scalar

STIFFNESS = 98.0
"""Of a sucker of 5 mm and 10 kPa on a stalk of 2 mm [N/m]: Tramacere et al. 2014 for the tissue."""
DAMPING = 0.5
"""[N s/m], assumed."""
SUCTION = 100e3
"""Pressure below that of the water [Pa]: Kier and Smith 2002 measured as much near the surface, and more."""
_WIDTH = 0.7  # of a sucker over that of the arm, assumed


class Attachment(NamedTuple):
    """Which contact nodes' suckers hold something."""

    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    anchor: Float[Array, "n 3"]
    """Where: of the ground, the node's centre when it took hold, in the world; of an object, in its own axes [m]."""
    pull: Float[Array, " n"]
    """How hard each sucker is pulled [N]."""

    @staticmethod
    def nowhere(count: int) -> "Attachment":
        """None of so many nodes holds."""
        return Attachment(jnp.zeros(count), jnp.zeros((count, 3)), jnp.zeros(count))


class Suckers(AbstractSurroundings):
    """Suckers on the arms, which take hold of the ground and of free objects within their reach when they are told to.

    Whatever pulls a node and what it holds apart by d, along or across, is resisted with k d + c d'. A sucker lets go
    by command, or when it is pulled harder than its suction holds.
    """

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"), default=STIFFNESS)
    """[N/m]"""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False), default=DAMPING)
    """[N s/m]"""
    reach: Float[Array, ""] = eqx.field(converter=scalar("reach", positive=False), default=1e-3)
    """Gap within which a sucker takes hold [m]."""
    suction: Float[Array, ""] = eqx.field(converter=scalar("suction"), default=SUCTION)
    """[Pa]"""

    def pull_off(self, radius: Float[Array, " n"]) -> Float[Array, " n"]:
        """The force at which a sucker of a node of some radius lets go [N]."""
        return self.suction * jnp.pi * (_WIDTH * radius) ** 2

    def init(self, environment: Environment) -> Attachment:
        """Nothing is held."""
        return Attachment.nowhere(environment.count)

    def begin(self, state: Attachment, place: Place, environment: Environment, commands: Commands, dt):
        """Suckers let go of the ground by command or torn off, others take hold of it."""
        del dt
        if environment.ground is None:
            return state, None
        nodes = place.nodes
        kept = state.held * commands.grip * jnp.where(state.pull > self.pull_off(nodes.radius), 0.0, 1.0)
        near = nodes.position[:, 2] - nodes.radius - environment.ground.height <= self.reach
        new = (1.0 - state.held) * commands.grip * jnp.where(near, 1.0, 0.0)
        held, anchor = kept + new, jnp.where(new[:, None] > 0.0, nodes.position, state.anchor)
        forces = GroundGrip(self.stiffness, self.damping, held, anchor)
        return Attachment(held, anchor, state.pull), forces

    def finish(self, state: Attachment, forces, place: Place, environment: Environment, dt) -> Attachment:
        """How hard they are pulled now."""
        del environment, dt
        if forces is None:
            return state
        return state._replace(pull=small.norm(forces.forces(place.nodes).force))


class GroundGrip(AbstractForces):
    """Springs with dampers from nodes to the points of the ground that their suckers hold."""

    stiffness: Float[Array, "*arm"]
    damping: Float[Array, "*arm"]
    held: Float[Array, "*arm n"]
    anchor: Float[Array, "*arm n 3"]

    @property
    def abrupt(self) -> bool:
        """They take hold and let go between steps."""
        return False

    def by_arm(self, arms: int) -> "GroundGrip":
        """What each arm holds."""
        own = shares((self.held, self.anchor), arms)
        return eqx.tree_at(lambda one: (one.held, one.anchor), copies(self, arms), own)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The pull on every node."""
        k, c = self.stiffness, self.damping
        held = self.held[:, None]
        force = held * (k * (self.anchor - nodes.position) - c * nodes.velocity)
        one = held[..., None] * jnp.eye(3)
        return NodeForces(force, jnp.zeros_like(force), on_displacements(k * one), on_displacements(c * one))
