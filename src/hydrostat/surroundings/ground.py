"""A level ground under arms and their body."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, shares
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, Together
from hydrostat.surroundings.contact import ONSET, ContactLaw
from hydrostat.surroundings.shapes import finite

GROUND = ContactLaw(stiffness=80.0, damping=200.0, friction=0.5, slip_speed=0.005, onset=1e-3)
"""The contact law of a soft ground without bounce; all numbers are assumed."""
_STILL = 1e-9  # m/s, below which the secant of the damping is its slope


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


class GroundForces(AbstractForces):
    """The contact of nodes, each a ball of its radius, with a level plane during a step.

    Elastic pressure follows the depth; damping and friction are linear in the velocity. They only take energy, are the
    law's own to the first order of the step, and an implicit step finds its root in half the iterations: with the law
    itself, whose force is a product of depth and velocity, Newton's method jumped to and fro between the two sides of a
    light tip's touch. While a node is torn off the ground, its pull lasts for one step at most.

    The secant of damping is that of the depth and the velocity expected at the step's end. That of friction is by the
    pressure at its begin: a light tip that falls on the ground is expected to be far within it at the end, with many
    times the pressure that it will have, and friction by that nails it to the place.
    """

    law: ContactLaw
    """The elastic contact law, with a stiffness and an onset for each node."""
    height: Float[Array, "*arm"]
    """Height of the plane [m]."""
    damping: Float[Array, "*arm n"]
    """Normal force per velocity [N s/m]."""
    friction: Float[Array, "*arm n"]
    """Friction per slip velocity [N s/m]."""

    def by_arm(self, arms: int) -> "GroundForces":
        """The ground under each arm's own nodes."""

        def per_node(one: GroundForces):
            return one.law.stiffness, one.law.onset, one.damping, one.friction

        return eqx.tree_at(per_node, copies(self, arms), shares(per_node(self), arms))

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, each at its lowest point."""
        r, c, g = nodes.radius, self.damping, self.friction
        f, k, _ = self.law.pressed(self.height + r - nodes.position[:, 2], jnp.zeros_like(r))
        normal = f - c * nodes.velocity[:, 2]
        force = jnp.concatenate([-g[:, None] * _slip(nodes), normal[:, None]], 1)
        torque = r[:, None] * jnp.stack([force[:, 1], -force[:, 0], jnp.zeros_like(r)], 1)
        sizes = g, g * r, g * r * r, c
        parts = zip(sizes, (_ACROSS, _COUPLING, _SPIN, _UP), strict=True)
        damping = sum((size[:, None, None] * matrix for size, matrix in parts), start=jnp.zeros((len(r), 6, 6)))
        return NodeForces(force, torque, k[:, None, None] * _UP, damping)


def _slip(nodes: Nodes) -> Float[Array, "n 2"]:
    """The velocity of the lowest points along the floor."""
    turning = nodes.radius[:, None] * jnp.stack([-nodes.angular_velocity[:, 1], nodes.angular_velocity[:, 0]], 1)
    return nodes.velocity[:, :2] + turning


class Ground(AbstractSurroundings):
    """A level ground that arms and their body rest on."""

    height: Float[Array, ""] = eqx.field(converter=finite("height"), default=0.0)
    """Height of the ground [m]."""
    law: ContactLaw = GROUND
    soft: bool = eqx.field(static=True, default=True)
    """Whether the onset of a node is 0.3 of its radius, instead of that of the law, and thin nodes are stiffer.

    Nodes thinner than half the thickest one have the law's stiffness times the ratio of the two: one load presses each
    of them in by the same share of its radius. With the same stiffness for all, the weight of an octopus on the tip of
    one arm pressed that in by more than half of its radius.

    The onset is soft where the arm is thick, and soon enough where it is thin. At a tenth, the light ends of arms made
    an octopus need a fourth more iterations.
    """

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """The contact forces of the ground on all nodes, and on the body."""
        del environment, commands
        ahead = place.ahead(dt)
        under: list[AbstractForces] = [self.under(place.nodes, ahead.nodes)]
        if place.body is not None and ahead.body is not None:
            under.append(OnBody(self.under(place.body, ahead.body), ahead.body.radius[0]))
        return state, Together(tuple(under))

    def under(self, now: Nodes, ahead: Nodes) -> GroundForces:
        """The ground's contact during a step, from the nodes at its begin and those expected at its end."""
        if self.soft:
            law = self.law.by_radius(ahead.radius, ONSET * ahead.radius)
        else:
            each = tuple(jnp.broadcast_to(y, ahead.radius.shape) for y in (self.law.stiffness, self.law.onset))
            law = eqx.tree_at(lambda law: (law.stiffness, law.onset), self.law, each)
        depth, rise = self._depth(ahead), ahead.velocity[:, 2]
        f, _, _ = law.pressed(depth, rise)
        elastic, _, slope = law.pressed(depth, jnp.zeros_like(rise))
        slow = jnp.abs(rise) < _STILL
        damping = jnp.where(slow, slope, (elastic - f) / jnp.where(slow, 1.0, rise))
        pressure, _, _ = law.pressed(self._depth(now), now.velocity[:, 2])
        slip = _slip(ahead)
        friction = law.friction * pressure / jnp.sqrt(small.dot(slip, slip) + law.slip_speed**2)
        return GroundForces(law, self.height, damping, friction)

    def _depth(self, nodes: Nodes) -> Float[Array, " n"]:
        """How deep nodes are in the ground [m]."""
        return self.height + nodes.radius - nodes.position[:, 2]
