"""Contact by tangent planes, found once for a step.

Finding what is near, and how far, costs more than the law of contact itself. Within a step nodes move little: each sees
every shape as the plane that touches it nearest to the node.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, shares
from hydrostat.surroundings.contact import ContactLaw, NodeContact, NodeSums, PointContact
from hydrostat.surroundings.shapes import AbstractShape


class Planes(AbstractForces):
    """The m tangent planes of each of n nodes, which it must not pass."""

    law: ContactLaw
    normal: Float[Array, "*arm n m 3"]
    """Unit vectors towards the node."""
    offset: Float[Array, "*arm n m"]
    """Distance of the plane from the world's origin along its normal [m]."""
    velocity: Float[Array, "*arm n m 3"]
    """Velocity of the material there [m/s]."""
    share: Float[Array, "*arm n m"]
    """Share of the law's stiffness that counts; 0 where there is no plane."""

    friction: Float[Array, "*arm n m"]
    """Friction per slip velocity at the pressure that is expected during the step [N s/m], so that it is linear."""

    def by_arm(self, arms: int) -> "Planes":
        """The planes of each arm's own nodes."""
        own = shares((self.normal, self.offset, self.velocity, self.share, self.friction), arms)
        return eqx.tree_at(
            lambda one: (one.normal, one.offset, one.velocity, one.share, one.friction), copies(self, arms), own
        )

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, each a ball of its radius."""
        return NodeForces(*self.contact(nodes)[:4])

    def contact(self, nodes: Nodes) -> NodeContact:
        """The contact of every node."""
        depth, velocity = _approach(nodes, self.normal, self.offset, self.velocity)
        out = small.dot(self.normal, velocity)
        f, k, c = (self.share * y for y in self.law.pressed(depth, out))
        slip = velocity - out[..., None] * self.normal
        force = f[..., None] * self.normal - self.friction[..., None] * slip
        lever = jnp.broadcast_to(-nodes.radius[:, None], depth.shape)
        touch = PointContact(force, k, c, self.friction)
        sums = jax.vmap(jax.vmap(NodeSums.of_point))(touch, self.normal, lever)
        deepest = jnp.max(jnp.where(self.share > 0.0, depth, 0.0), 1, initial=0.0)
        return jax.tree.map(lambda y: jnp.sum(y, 1), sums).contact(deepest)


def _approach(nodes: Nodes, normal, offset, velocity):
    """The depth of each node behind each of its planes, and the velocity of its skin relative to the plane."""
    r = nodes.radius[:, None]
    skin = nodes.velocity[:, None] + small.cross(nodes.angular_velocity[:, None], -r[..., None] * normal)
    return r - small.dot(normal, nodes.position[:, None]) + offset, skin - velocity


def planes(law: ContactLaw, nodes: Nodes, shapes: Sequence[AbstractShape]) -> Planes:
    """The tangent planes of shapes at the nodes' positions."""
    seen = [_of_shape(shape, nodes) for shape in shapes]
    normal, offset, velocity, share = (jnp.stack(part, 1) for part in zip(*seen, strict=True))
    depth, relative = _approach(nodes, normal, offset, velocity)
    expected = jax.vmap(jax.vmap(law.at_point))(depth, normal, relative)
    return Planes(law, normal, offset, velocity, share, share * expected.friction_damping)


def _of_shape(shape: AbstractShape, nodes: Nodes):
    """The plane that touches a shape nearest to each node."""
    surface = jax.vmap(shape.distance_and_normal)(nodes.position)
    velocity = jax.vmap(shape.velocity_at)(surface.closest)
    return surface.normal, small.dot(surface.normal, surface.closest), velocity, jnp.ones_like(nodes.radius)
