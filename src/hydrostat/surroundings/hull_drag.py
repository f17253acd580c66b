"""Drag on the hull of a swimming body: along its axis, and across it strip by strip.

The strips lie along a spheroid of half length a and radius b, at x_i = a cos(i pi / (n + 1)); with the weights
w_i = a pi sin^2(i pi / (n + 1)) / (n + 1) the sum of 2 b w_i f(x_i) is the integral of its diameter times f, exact for
polynomials f of degree 2 n - 1 (Gauss and Chebyshev, second kind). The water at the velocity u relative to a strip
pushes with

    F = 1/2 rho C_c 2 b w_i (|u_n| + u_0) u_n,

u_n being the part of u across the axis; along the axis it is 1/2 rho C_a pi b^2 (|u_t| + u_0) u_t. The part with u_0
is linear drag. A hull takes energy from whatever moves it through still water, also when it turns across its axis; a
turn about the axis itself it does not resist.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies import Hull
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, at_levers

_STRIPS = 6
_ANGLES = np.pi * np.arange(1, _STRIPS + 1) / (_STRIPS + 1)


class HullDrag(AbstractForces):
    """The drag of water on a hull."""

    hull: Hull
    density: Float[Array, ""]
    """Density of the water [kg/m^3]."""
    current: Float[Array, " 3"]
    """Velocity of the water [m/s]."""

    @property
    def abrupt(self) -> bool:
        """Whether the force is abrupt: no, it changes as slowly as velocities do."""
        return False

    def forces(self, nodes: Nodes) -> NodeForces:
        """The drag on the body, which is a node with axes of its own."""
        assert nodes.rotation is not None
        R, hull = nodes.rotation[0], self.hull
        axis = R[:, 2]
        centre = small.matvec(R, hull.centre)
        levers = centre + hull.half_length * jnp.asarray(np.cos(_ANGLES))[:, None] * axis
        spin = jnp.broadcast_to(nodes.angular_velocity[0], levers.shape)
        flow = self.current - nodes.velocity[0] - small.cross(spin, levers)
        across = flow - small.dot(flow, jnp.broadcast_to(axis, flow.shape))[:, None] * axis
        widths = hull.radius * hull.half_length * jnp.asarray(np.sin(_ANGLES) ** 2 * np.pi / (_STRIPS + 1))
        force, damping = _resistance(
            self.density * hull.cross_drag * widths, hull.slow, across, jnp.eye(3) - _outer(axis, axis)
        )
        # Along the axis, at the centre.
        lengthwise = small.dot(self.current - nodes.velocity[0] - small.cross(nodes.angular_velocity[0], centre), axis)
        area = 0.5 * self.density * hull.axial_drag * jnp.pi * hull.radius**2
        own, own_damping = _resistance(area[None], hull.slow, (lengthwise * axis)[None], _outer(axis, axis))
        both = ((levers, centre[None]), (force, own), (damping, own_damping))
        return at_levers(*(jnp.concatenate(pair) for pair in both))


def _resistance(
    factor: Float[Array, " p"], slow, flow: Float[Array, "p 3"], plane: Float[Array, "3 3"]
) -> tuple[Float[Array, "p 3"], Float[Array, "p 3 3"]]:
    """The forces factor (|u| + u_0) u of flows u within a plane or line, and their derivatives by u."""
    speed = small.norm(flow)
    unit = flow / jnp.maximum(speed, 1e-12)[:, None]
    along = unit[:, :, None] * unit[:, None, :]
    force = (factor * (speed + slow))[:, None] * flow
    return force, factor[:, None, None] * ((speed + slow)[:, None, None] * plane + speed[:, None, None] * along)


def _outer(a: Float[Array, " 3"], b: Float[Array, " 3"]) -> Float[Array, "3 3"]:
    return a[:, None] * b[None, :]
