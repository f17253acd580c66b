"""A level floor under arms and their body, and suckers that hold on to it."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import once
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes, copies, on_displacements, shares
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.suckers import SuckerLaw

_ONSET = 0.3  # of a node's radius


def _entries(*places) -> np.ndarray:
    """A matrix of 6 x 6 with entries (row, column, value)."""
    matrix = np.zeros((6, 6))
    for row, column, value in places:
        matrix[row, column] = value
    return matrix


# B^T diag(g, g, c) B of the lowest point of a ball, B = [-hat(-r z) | 1]: by powers of r in g, and c.
_SPIN = _entries((0, 0, 1.0), (1, 1, 1.0))
_COUPLING = _entries((0, 4, 1.0), (4, 0, 1.0), (1, 3, -1.0), (3, 1, -1.0))
_ACROSS = _entries((3, 3, 1.0), (4, 4, 1.0))
_UP = _entries((5, 5, 1.0))


class Floor(AbstractSurroundings):
    """A level plane, as nodes feel it during a step, each a ball of its radius."""

    law: ContactLaw
    """Its onset is that of each node."""
    height: Float[Array, ""]
    """[m]"""
    friction: Float[Array, " n"]
    """Per slip velocity, with the pressure that is expected during the step [N s/m]: so it is linear."""

    def by_arm(self, arms: int) -> "Floor":
        """The floor under each arm."""
        law = eqx.tree_at(lambda law: law.onset, copies(self.law, arms), shares(self.law.onset, arms))
        return Floor(law, copies(self.height, arms), shares(self.friction, arms))

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, each at its lowest point."""
        r, g = nodes.radius, self.friction
        f, k, c = self.law.pressed(self.height + r - nodes.position[:, 2], nodes.velocity[:, 2])
        force = jnp.concatenate([-g[:, None] * _slip(nodes), f[:, None]], 1)
        torque = r[:, None] * jnp.stack([force[:, 1], -force[:, 0], jnp.zeros_like(r)], 1)
        sizes = once((g, g * r, g * r * r, c))
        parts = zip(sizes, (_ACROSS, _COUPLING, _SPIN, _UP), strict=True)
        damping = sum((size[:, None, None] * matrix for size, matrix in parts), start=jnp.zeros((len(r), 6, 6)))
        return NodeForces(force, torque, once(k)[:, None, None] * _UP, damping)


def _slip(nodes: Nodes) -> Float[Array, "n 2"]:
    """The velocity of the lowest points along the floor."""
    turning = nodes.radius[:, None] * jnp.stack([-nodes.angular_velocity[:, 1], nodes.angular_velocity[:, 0]], 1)
    return nodes.velocity[:, :2] + turning


def floor(law: ContactLaw, height: Float[Array, ""], ahead: Nodes) -> Floor:
    """The floor during a step at whose end the nodes are about here.

    The stiffness of a node is fully there at a depth of 0.3 of its radius: soft where the arm is thick, and soon enough
    where it is thin. At a tenth, the light ends of arms made an octopus need a fourth more iterations.
    """
    law = eqx.tree_at(lambda law: law.onset, law, _ONSET * ahead.radius)
    depth, rise, slip = height + ahead.radius - ahead.position[:, 2], ahead.velocity[:, 2], _slip(ahead)
    f, _, _ = law.pressed(depth, rise)
    friction = law.friction * f / jnp.sqrt(small.dot(slip, slip) + law.slip_speed**2)
    return Floor(law, jnp.asarray(height), friction)


class Holds(eqx.Module):
    """Which nodes' suckers hold on to the floor, and where their centres were when they took hold."""

    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    anchor: Float[Array, "n 3"]
    """[m]"""

    @staticmethod
    def nowhere(count: int) -> "Holds":
        """None of so many nodes holds."""
        return Holds(jnp.zeros(count), jnp.zeros((count, 3)))

    def advance(self, law: SuckerLaw, height, nodes: Nodes, wanted: Float[Array, " n"]) -> "Holds":
        """After a step that ended with the nodes here: suckers let go by command or torn off, others take hold."""
        pull = self.held * small.norm(law.stiffness * (self.anchor - nodes.position) - law.damping * nodes.velocity)
        kept = self.held * wanted * jnp.where(pull > law.pull_off(nodes.radius), 0.0, 1.0)
        near = nodes.position[:, 2] - nodes.radius - height <= law.reach
        new = (1.0 - self.held) * wanted * jnp.where(near, 1.0, 0.0)
        return Holds(kept + new, jnp.where(new[:, None] > 0.0, nodes.position, self.anchor))


class Held(AbstractSurroundings):
    """Springs with dampers from nodes to the points of the floor that their suckers hold."""

    law: SuckerLaw
    holds: Holds

    @property
    def abrupt(self) -> bool:
        """They take hold and let go between steps."""
        return False

    def by_arm(self, arms: int) -> "Held":
        """What each arm holds."""
        return Held(copies(self.law, arms), shares(self.holds, arms))

    def forces(self, nodes: Nodes) -> NodeForces:
        """The pull on every node."""
        k, c = self.law.stiffness, self.law.damping
        held = self.holds.held[:, None]
        force = held * (k * (self.holds.anchor - nodes.position) - c * nodes.velocity)
        one = held[..., None] * jnp.eye(3)
        return NodeForces(force, jnp.zeros_like(force), on_displacements(k * one), on_displacements(c * one))
