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
"""Stiffness of a sucker of 5 mm and 10 kPa on a stalk of 2 mm [N/m]: Tramacere et al. 2014 for the tissue."""
DAMPING = 0.5
"""Damping of a sucker [N s/m], assumed."""
SUCTION = 100e3
"""Pressure below that of the water [Pa]: Kier and Smith 2002 measured as much near the surface, and more."""
_WIDTH = 0.7  # of a sucker over that of the arm, assumed


class Attachment(NamedTuple):
    """The attachment of contact nodes by their suckers."""

    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    anchor: Float[Array, "n 3"]
    """The point that each sucker holds [m]: on the ground, the node's centre when it took hold, in the world; on an
    object, in its own axes."""
    pull: Float[Array, " n"]
    """Tension of each sucker [N]."""

    @staticmethod
    def nowhere(count: int) -> "Attachment":
        """The attachment of nodes none of which holds."""
        return Attachment(jnp.zeros(count), jnp.zeros((count, 3)), jnp.zeros(count))


class Suckers(AbstractSurroundings):
    """Suckers on the arms, which take hold of the ground and of free objects within their reach when they are told to.

    Whatever pulls a node and what it holds apart by d, along or across, is resisted with k d + c d'. A sucker lets go
    by command, or when it is pulled harder than its suction holds.
    """

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"), default=STIFFNESS)
    """Stiffness k of a sucker [N/m]."""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False), default=DAMPING)
    """Damping c of a sucker [N s/m]."""
    reach: Float[Array, ""] = eqx.field(converter=scalar("reach", positive=False), default=1e-3)
    """Gap within which a sucker takes hold [m]."""
    suction: Float[Array, ""] = eqx.field(converter=scalar("suction"), default=SUCTION)
    """Suction, pressure below that of the water [Pa]."""

    def pull_off(self, radius: Float[Array, " n"]) -> Float[Array, " n"]:
        """The force at which a sucker of a node of some radius lets go [N]."""
        return self.suction * jnp.pi * (_WIDTH * radius) ** 2

    def init(self, environment: Environment) -> Attachment:
        """The attachment at the start: nothing is held."""
        return Attachment.nowhere(environment.count)

    def begin(self, state: Attachment, place: Place, environment: Environment, commands: Commands, dt):
        """The events at the begin of a step: suckers let go of the ground by command or by being torn off, others take
        hold."""
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
        """The attachment at the end of a step, with the tension of each sucker."""
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
        """Whether the forces are abrupt: no, suckers take hold and let go between steps."""
        return False

    def by_arm(self, arms: int) -> "GroundGrip":
        """The suckers of each arm's own nodes."""
        own = shares((self.held, self.anchor), arms)
        return eqx.tree_at(lambda one: (one.held, one.anchor), copies(self, arms), own)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces of the suckers on every node."""
        k, c = self.stiffness, self.damping
        held = self.held[:, None]
        force = held * (k * (self.anchor - nodes.position) - c * nodes.velocity)
        one = held[..., None] * jnp.eye(3)
        return NodeForces(force, jnp.zeros_like(force), on_displacements(k * one), on_displacements(c * one))
