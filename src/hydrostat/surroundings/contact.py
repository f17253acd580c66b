"""Contact with friction: the law at one point of touch, and an arm's nodes against the shapes around it.

Forces come with the positive semidefinite part of their linearisation, so that a step can be implicit in them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small, so3
from hydrostat.surroundings.shapes import AbstractShape, scalar


class Nodes(NamedTuple):
    """The material points that arms offer to their surroundings, in world axes, arm after arm and base to tip."""

    position: Float[Array, "n 3"]
    """[m]"""
    velocity: Float[Array, "n 3"]
    """[m/s]"""
    angular_velocity: Float[Array, "n 3"]
    """[rad/s]"""
    tangent: Float[Array, "n 3"]
    """Unit vector along the arm; contact does not use it."""
    radius: Float[Array, " n"]
    """[m]"""


class NodeContact(NamedTuple):
    """What contact does to each node, in world axes; 6 x 6 matrices are (angular, linear) about the node's centre."""

    force: Float[Array, "n 3"]
    """[N]"""
    torque: Float[Array, "n 3"]
    """About the node's centre [N m]."""
    stiffness: Float[Array, "n 6 6"]
    """K = -d(wrench)/d(displacement), positive semidefinite part; lower right block [N/m]."""
    damping: Float[Array, "n 6 6"]
    """C = -d(wrench)/d(twist), positive semidefinite part; lower right block [N s/m]."""
    penetration: Float[Array, " n"]
    """The deepest that anything is inside the node's surface [m]; 0 where nothing touches."""


class Reactions(NamedTuple):
    """What the nodes together do to each shape, in world axes."""

    force: Float[Array, "shapes 3"]
    """[N]"""
    torque: Float[Array, "shapes 3"]
    """About the shape's reference point [N m]."""


class PointContact(NamedTuple):
    """The force at one point of touch and its linearisation K = k n n^T, C = c n n^T + g (I - n n^T)."""

    force: Float[Array, " 3"]
    """[N]"""
    normal_stiffness: Float[Array, ""]
    """k [N/m]"""
    normal_damping: Float[Array, ""]
    """c [N s/m]"""
    friction_damping: Float[Array, ""]
    """g [N s/m]"""


class ContactLaw(eqx.Module):
    """A compliant, never attractive normal force and Coulomb friction, once continuously differentiable.

    With depth d, its rate d', slip velocity u and normal n the force is f n - mu f u / sqrt(u^2 + v^2), where
    f = k p(d) w(c d'). The onset p(d) = d^2 / (2 d_0) up to d_0, d - d_0 / 2 beyond, lets the stiffness grow from zero.
    The damping w(x) = 1 + x for x >= 0 is Hunt and Crossley's (1975); for x < 0 it is (1 + x / 2)^2 down to zero at
    x = -2, which has the same slope and never pulls. A ball of any mass that hits at speed V bounces with
    restitution 1 - 2/3 c V + O(V^2). A body held by friction below its limit creeps: with load ratio r = load / (mu f)
    at speed v r / sqrt(1 - r^2).
    """

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"))
    """k [N/m], for each node or pair that touches: twice the nodes make twice the stiffness of an arm."""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False))
    """c [s/m]"""
    friction: Float[Array, ""] = eqx.field(converter=scalar("friction", positive=False))
    """mu"""
    slip_speed: Float[Array, ""] = eqx.field(converter=scalar("slip_speed"))
    """v, the speed below which friction is viscous [m/s]."""
    onset: Float[Array, ""] = eqx.field(converter=scalar("onset"), default=1e-4)
    """d_0, the depth at which the stiffness is fully there [m]; assumed."""

    def at_point(self, depth, normal: Float[Array, " 3"], velocity: Float[Array, " 3"]) -> PointContact:
        """The force on a body at one point of touch.

        k and c are the exact derivatives of the normal force by depth and its rate. g = mu f / sqrt(u^2 + v^2) is the
        secant of friction: along the slip it exceeds the derivative by mu f u^2 / (u^2 + v^2)^(3/2), so that an
        implicit step cannot turn the slip round. Dropped, since they are not symmetric or not positive: the turning
        of the normal with position, -f dn/dx; the change of friction with f, mu u/|...| df/d(d, d').

        **Arguments:** `depth`: how deep the bodies are in each other, negative when apart [m]; `normal`: out of the
        other body, a unit vector or shorter; `velocity`: of the body relative to the other where they touch [m/s].
        """
        speed_out = small.dot(normal, velocity)
        slip = velocity - speed_out * normal

        # Normal force f = k p(d) w(x), x = c d', and its two derivatives.
        d = jnp.maximum(depth, 0.0)
        shallow = d < self.onset
        p = jnp.where(shallow, 0.5 * d * d / self.onset, d - 0.5 * self.onset)
        p_slope = jnp.where(shallow, d / self.onset, 1.0)
        x = -self.damping * speed_out
        half = jnp.maximum(1.0 + 0.5 * x, 0.0)
        closing = x >= 0.0
        w = jnp.where(closing, 1.0 + x, half * half)
        w_slope = jnp.where(closing, 1.0, half)
        f = self.stiffness * p * w

        # Friction -g u.
        g = self.friction * f / jnp.sqrt(small.dot(slip, slip) + self.slip_speed**2)
        return PointContact(
            f * normal - g * slip, self.stiffness * p_slope * w, self.stiffness * p * self.damping * w_slope, g
        )


class NodeSums(NamedTuple):
    """The parts of a node's wrench and matrices that add up over its points of touch, for levers r along normals."""

    force: Float[Array, "*n 3"]
    torque: Float[Array, "*n 3"]
    stiffness: Float[Array, "*n 3 3"]
    """Sum of k n n^T."""
    damping: Float[Array, "*n 3 3"]
    """Sum of c n n^T + g (I - n n^T)."""
    damping_lever: Float[Array, "*n 3"]
    """Sum of g r."""
    spin_damping: Float[Array, "*n 3 3"]
    """Sum of g (r^2 I - r r^T)."""

    @staticmethod
    def zeros(n: int) -> "NodeSums":
        """Nothing touches n nodes."""
        vectors, matrices = jnp.zeros((n, 3)), jnp.zeros((n, 3, 3))
        return NodeSums(vectors, vectors, matrices, matrices, vectors, matrices)

    @staticmethod
    def of_point(touch: PointContact, normal: Float[Array, " 3"], lever: Float[Array, " 3"]) -> "NodeSums":
        """One point of touch at a lever along the normal from the node's centre."""
        nn = normal[:, None] * normal
        g = touch.friction_damping
        across = g * (jnp.eye(3, dtype=nn.dtype) - nn)
        return NodeSums(
            force=touch.force,
            torque=jnp.cross(lever, touch.force),
            stiffness=touch.normal_stiffness * nn,
            damping=touch.normal_damping * nn + across,
            damping_lever=g * lever,
            spin_damping=so3.polynomial(lever, 0.0, 0.0, -g),
        )

    def contact(self, penetration) -> NodeContact:
        """The 6 x 6 matrices: with B = [-hat(r) | I], K = sum of B^T k n n^T B and C likewise; hat(r) n = 0."""
        zero = jnp.zeros_like(self.stiffness)
        coupling = so3.hat(self.damping_lever)
        stiffness = _blocks(zero, zero, zero, self.stiffness)
        damping = _blocks(self.spin_damping, coupling, -coupling, self.damping)
        return NodeContact(self.force, self.torque, stiffness, damping, penetration)


def contact_with_shapes(
    law: ContactLaw, nodes: Nodes, shapes: Sequence[AbstractShape]
) -> tuple[NodeContact, Reactions]:
    """The contact of nodes, each a ball of its radius, with shapes, and what the shapes feel.

    The point of touch is the node's own, centre - radius normal; slip is relative to the shape's material there, with
    the spin of both. The reaction acts at the same point, so momentum is conserved.
    """
    sums, penetration = NodeSums.zeros(len(nodes.radius)), jnp.zeros_like(nodes.radius)
    forces, torques = [], []
    for shape in shapes:
        touch, depth, moment = jax.vmap(_touch, in_axes=(None, None, 0))(law, shape, nodes)
        sums = jax.tree.map(jnp.add, sums, touch)
        penetration = jnp.maximum(penetration, depth)
        forces.append(-jnp.sum(touch.force, 0))
        torques.append(-jnp.sum(moment, 0))
    reactions = Reactions(*(jnp.reshape(jnp.asarray(parts), (-1, 3)) for parts in (forces, torques)))
    return sums.contact(penetration), reactions


def _touch(law: ContactLaw, shape: AbstractShape, node: Nodes) -> tuple[NodeSums, Array, Array]:
    """One node against one shape: what the node feels, the depth, and the moment about the shape's reference point."""
    surface = shape.distance_and_normal(node.position)
    lever = -node.radius * surface.normal
    point = node.position + lever
    velocity = node.velocity + jnp.cross(node.angular_velocity, lever) - shape.velocity_at(point)
    depth = node.radius - surface.distance
    touch = law.at_point(depth, surface.normal, velocity)
    moment = jnp.cross(point - shape.reference_point, touch.force)
    return NodeSums.of_point(touch, surface.normal, lever), depth, moment


def combined(*contacts: NodeContact) -> NodeContact:
    """Several contacts of the same nodes, as one."""
    total = jax.tree.map(lambda *parts: sum(parts[1:], start=parts[0]), *contacts)
    deepest = jnp.max(jnp.stack([contact.penetration for contact in contacts]), 0)
    return total._replace(penetration=deepest)


def _blocks(a, b, c, d) -> Float[Array, "*n 6 6"]:
    """The matrix [[a, b], [c, d]]."""
    return jnp.concatenate([jnp.concatenate([a, b], -1), jnp.concatenate([c, d], -1)], -2)
