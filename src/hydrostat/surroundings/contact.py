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
from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings.shapes import AbstractShape, optional_scalar, scalar

ONSET = 0.3
"""Onset of the contact of soft nodes, over their radius."""
_THICK = 0.5  # of the radius of the thickest node, below which contact becomes stiffer


class NodeContact(NamedTuple):
    """The contact forces on each node: `NodeForces` with the depth of the contact."""

    force: Float[Array, "n 3"]
    """[N]"""
    torque: Float[Array, "n 3"]
    """Moment about the node's centre [N m]."""
    stiffness: Float[Array, "n 6 6"]
    """K = -d(wrench)/d(displacement), positive semidefinite part; lower right block [N/m]."""
    damping: Float[Array, "n 6 6"]
    """C = -d(wrench)/d(twist), positive semidefinite part; lower right block [N s/m]."""
    penetration: Float[Array, " n"]
    """The largest depth of contact of the node [m]; 0 where nothing touches it."""


class Reactions(NamedTuple):
    """The reaction of all nodes on each shape, in world axes."""

    force: Float[Array, "shapes 3"]
    """[N]"""
    torque: Float[Array, "shapes 3"]
    """Moment about the shape's reference point [N m]."""


class PointContact(NamedTuple):
    """The force at one point of touch and its linearisation K = k n n^T, C = c n n^T + g (I - n n^T)."""

    force: Float[Array, " 3"]
    """[N]"""
    normal_stiffness: Float[Array, ""]
    """Normal stiffness k [N/m]."""
    normal_damping: Float[Array, ""]
    """Normal damping c [N s/m]."""
    friction_damping: Float[Array, ""]
    """Tangential damping g of friction [N s/m]."""


class ContactLaw(eqx.Module):
    """A compliant, never attractive normal force and Coulomb friction, once continuously differentiable.

    With depth d, its rate d', slip velocity u and normal n the force is f n - mu f u / sqrt(u^2 + v^2), where f = k
    p(d) w(c d'). The onset p(d) = d^2 / (2 d_0) up to d_0, d - d_0 / 2 beyond, lets the stiffness grow from zero.
    The damping w(x) = 1 + x for x >= 0 is Hunt and Crossley's (1975); for x < 0 it is (1 + x / 2)^2 down to zero at
    x = -2, which has the same slope and never pulls. With a relaxation time tau, c / (1 + c p / tau) takes the
    place of c: what is deep in soft tissue is damped by its stiffness times that time, and not by ever more. A ball
    of any mass that hits at speed V bounces with restitution 1 - 2/3 c V + O(V^2). A body held by friction below
    its limit creeps: with load ratio r = load / (mu f) at speed v r / sqrt(1 - r^2).
    """

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"))
    """Normal stiffness k [N/m] of each node or pair that touches: twice the nodes make twice the stiffness of an
    arm."""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False))
    """Hunt and Crossley's damping c [s/m]."""
    friction: Float[Array, ""] = eqx.field(converter=scalar("friction", positive=False))
    """Coefficient of friction mu."""
    slip_speed: Float[Array, ""] = eqx.field(converter=scalar("slip_speed"))
    """Slip speed v below which friction is viscous [m/s]."""
    onset: Float[Array, ""] = eqx.field(converter=scalar("onset"), default=1e-4)
    """Onset d_0, the depth from which the stiffness is constant [m]; assumed."""
    relaxation: Float[Array, ""] | None = eqx.field(converter=optional_scalar("relaxation"), default=None)
    """Relaxation time tau that damping tends to where contact is deep [s]; None where it grows with depth."""

    def at_point(self, depth, normal: Float[Array, " 3"], velocity: Float[Array, " 3"]) -> PointContact:
        """The force on a body at one point of touch.

        k and c are the exact derivatives of the normal force by depth and its rate. g = mu f / sqrt(u^2 + v^2) is the
        secant of friction: along the slip it exceeds the derivative by mu f u^2 / (u^2 + v^2)^(3/2), so that an
        implicit step cannot turn the slip round. Dropped, since they are not symmetric or not positive: the turning
        of the normal with position, f dn/dx, and the change of friction with f, mu u df / sqrt(u^2 + v^2).

        **Arguments:** `depth`: how deep the bodies are in each other, negative when apart [m]; `normal`: out of the
        other body, a unit vector or shorter; `velocity`: of the body relative to the other where they touch [m/s].
        """
        speed_out = small.dot(normal, velocity)
        slip = velocity - speed_out * normal
        f, k, c = self.pressed(depth, speed_out)
        # Friction -g u.
        g = self.friction * f / jnp.sqrt(small.dot(slip, slip) + self.slip_speed**2)
        return PointContact(f * normal - g * slip, k, c, g)

    def pressed(self, depth, speed_out):
        """The normal force f = k p(d) w(x), x = c d', and its derivatives by depth and by its rate."""
        d = jnp.maximum(depth, 0.0)
        shallow = d < self.onset
        p = jnp.where(shallow, 0.5 * d * d / self.onset, d - 0.5 * self.onset)
        p_slope = jnp.where(shallow, d / self.onset, 1.0)
        # The share by which damping is less than c, and with which it falls as depth grows.
        eased = jnp.zeros(())
        if self.relaxation is not None:
            eased = self.damping * p / (self.relaxation + self.damping * p)
        damping = self.damping * (1.0 - eased)
        x = -damping * speed_out
        half = jnp.maximum(1.0 + 0.5 * x, 0.0)
        closing = x >= 0.0
        w = jnp.where(closing, 1.0 + x, half * half)
        w_slope = jnp.where(closing, 1.0, half)
        stiff = self.stiffness
        by_depth = w - eased * x * w_slope
        return stiff * p * w, stiff * p_slope * by_depth, stiff * p * damping * w_slope

    def by_radius(self, radius: Float[Array, " n"], onset: Float[Array, " n"]) -> "ContactLaw":
        """The law of each of several nodes, whose onset is given [m], and of which thin ones are stiffer.

        Nodes thinner than half the thickest one have the law's stiffness times the ratio of the two: one load presses
        each of them in by the same share of its radius.
        """
        stiffer = jnp.maximum(_THICK * jnp.max(radius) / radius, 1.0)
        return eqx.tree_at(lambda law: (law.stiffness, law.onset), self, (self.stiffness * stiffer, onset))


SOFT = ContactLaw(stiffness=100.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=1e-3)
"""Soft; all assumed. A sphere of 5 mm and 10 kPa has some 50 N/m."""


class NodeSums(NamedTuple):
    """Sums over the contact points of a node, each with a lever r along its normal n."""

    force: Float[Array, "*n 3"]
    torque: Float[Array, "*n 3"]
    stiffness: Float[Array, "*n 3 3"]
    """Sum of k n n^T."""
    damping: Float[Array, "*n 3 3"]
    """Sum of (c - g) n n^T."""
    friction: Float[Array, "*n"]
    """Sum of g."""
    friction_lever: Float[Array, "*n 3"]
    """Sum of g r."""
    friction_spin: Float[Array, "*n 3 3"]
    """Sum of g r r^T."""

    @staticmethod
    def zeros(n: int) -> "NodeSums":
        """The sums of n nodes that nothing touches."""
        scalars, vectors, matrices = jnp.zeros(n), jnp.zeros((n, 3)), jnp.zeros((n, 3, 3))
        return NodeSums(vectors, vectors, matrices, matrices, scalars, vectors, matrices)

    @staticmethod
    def of_point(touch: PointContact, normal: Float[Array, " 3"], lever: Float[Array, ""]) -> "NodeSums":
        """The sums of one contact point at `lever` times the normal from the node's centre."""
        nn = normal[:, None] * normal
        g = touch.friction_damping
        return NodeSums(
            force=touch.force,
            torque=lever * small.cross(normal, touch.force),
            stiffness=touch.normal_stiffness * nn,
            damping=(touch.normal_damping - g) * nn,
            friction=g,
            friction_lever=(g * lever) * normal,
            friction_spin=(g * lever * lever) * nn,
        )

    def contact(self, penetration: Float[Array, " n"]) -> NodeContact:
        """The 6 x 6 matrices B^T K B and B^T C B with B = [-hat(r) | I], the point's velocity per node's twist.

        Since hat(r) n = 0, K is all linear, and C is g (r^2 I - r r^T), g hat(r) and C itself.
        """
        identity, zero = jnp.eye(3, dtype=self.force.dtype), jnp.zeros_like(self.stiffness)
        g, g_r2 = self.friction[:, None, None], jnp.trace(self.friction_spin, axis1=-2, axis2=-1)[:, None, None]
        coupling = so3.hat(self.friction_lever)
        stiffness = _blocks(zero, zero, zero, self.stiffness)
        damping = _blocks(g_r2 * identity - self.friction_spin, coupling, -coupling, g * identity + self.damping)
        return NodeContact(self.force, self.torque, stiffness, damping, penetration)


def contact_with_shapes(
    law: ContactLaw, nodes: Nodes, shapes: Sequence[AbstractShape]
) -> tuple[NodeContact, Reactions]:
    """The contact of nodes, each a ball of its radius, with shapes, and the reactions on the shapes.

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
    none = jnp.zeros((0, 3))
    reactions = Reactions(*(jnp.stack(each) if each else none for each in (forces, torques)))
    return sums.contact(penetration), reactions


def _touch(law: ContactLaw, shape: AbstractShape, node: Nodes) -> tuple[NodeSums, Array, Array]:
    """One node against one shape: the sums of its contact, its depth, and the moment about the shape's reference
    point."""
    surface = shape.distance_and_normal(node.position)
    arm = -node.radius * surface.normal
    point = node.position + arm
    velocity = node.velocity + small.cross(node.angular_velocity, arm) - shape.velocity_at(point)
    depth = node.radius - surface.distance
    touch = law.at_point(depth, surface.normal, velocity)
    moment = small.cross(point - shape.reference_point, touch.force)
    return NodeSums.of_point(touch, surface.normal, -node.radius), depth, moment


def _blocks(a, b, c, d) -> Float[Array, "*n 6 6"]:
    """The matrix [[a, b], [c, d]]."""
    return jnp.concatenate([jnp.concatenate([a, b], -1), jnp.concatenate([c, d], -1)], -2)
