"""A hand that holds an arm at one of its contact nodes by a spring: how a user pushes and pulls a robot."""

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, on_displacements, shares
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place
from hydrostat.surroundings.shapes import scalar, vector


def _indicator(values: ArrayLike) -> Float[Array, " n"]:
    """The values as an array."""
    return jnp.asarray(values, float)


class Hand(AbstractForces, AbstractSurroundings):
    """A spring with a damper from a point of the world to contact nodes: F = g (k (p - x) - c v) on a node at x.

    Its arrays may be changed between the steps of a simulation, without anything being compiled anew.
    """

    grip: Float[Array, " n"] = eqx.field(converter=_indicator)
    """Indicator g of the contact nodes of all arms that are held, arm after arm: 1 for a node that is, 0 else."""
    point: Float[Array, " 3"] = eqx.field(converter=vector("point"), default=(0.0, 0.0, 0.0))
    """Position p of the hand in the world [m]."""
    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness", positive=False), default=0.0)
    """Stiffness k [N/m]."""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False), default=0.0)
    """Damping c [N s/m]."""

    @property
    def abrupt(self) -> bool:
        """Whether the forces are abrupt: no, stiffness and damping are constant."""
        return False

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """The spring, evaluated wherever the nodes are within the step."""
        del place, environment, commands, dt
        return state, self

    def by_arm(self, arms: int) -> "Hand":
        """The springs to each arm's own nodes."""
        return eqx.tree_at(lambda one: one.grip, copies(self, arms), shares(self.grip, arms))

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""
        grip = self.grip[:, None]
        force = grip * (self.stiffness * (self.point - nodes.position) - self.damping * nodes.velocity)
        each = self.grip[:, None, None] * jnp.eye(3)
        none = jnp.zeros_like(force)
        return NodeForces(force, none, on_displacements(self.stiffness * each), on_displacements(self.damping * each))
