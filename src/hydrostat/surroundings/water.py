"""Water: drag and lift on the pieces of an arm, and added mass.

The force on a piece of a slender body follows the cross-flow principle: the flow across it and the flow along it act
apart, each with the square of its speed,

    F = 1/2 rho d l (C_n |u_n| u_n + pi C_t |u_t| u_t),

u being the velocity of the water relative to the piece. That is drag and lift with coefficients that depend on the
incidence, C_D = C_n sin^3 + pi C_t cos^3 and C_L = C_n sin^2 cos - pi C_t cos^2 sin, without their table; and it can
only take energy from what moves through still water.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes, on_displacements

DENSITY = 1022.0
"""Of sea water [kg/m^3], after Yekutieli et al. 2005."""
NORMAL = 1.013
"""Drag coefficient across, on the projected area d l (the same source)."""
TANGENTIAL = 0.0256
"""Drag coefficient along, on the wetted area pi d l (the same source)."""


class Water(AbstractSurroundings):
    """Still water, or a current that is the same everywhere."""

    density: Float[Array, ""]
    normal: Float[Array, ""]
    tangential: Float[Array, ""]
    current: Float[Array, " 3"]
    """Velocity of the water [m/s]."""

    def __init__(self, density=DENSITY, normal=NORMAL, tangential=TANGENTIAL, current=(0.0, 0.0, 0.0)):
        self.density, self.normal, self.tangential = (jnp.asarray(x, float) for x in (density, normal, tangential))
        self.current = jnp.asarray(current, float)

    @property
    def abrupt(self) -> bool:
        """Drag changes as slowly as velocities do."""
        return False

    def forces(self, nodes: Nodes) -> NodeForces:
        """Drag and lift on every node, with their damping for implicit steps."""
        relative = self.current - nodes.velocity
        along = small.dot(relative, nodes.tangent)
        flow_t = along[:, None] * nodes.tangent
        flow_n = relative - flow_t
        area = self.density * nodes.radius * nodes.length  # 1/2 rho d l
        across = area * self.normal * small.norm(flow_n)
        lengthwise = area * jnp.pi * self.tangential * jnp.abs(along)
        force = across[:, None] * flow_n + lengthwise[:, None] * flow_t
        # d(|u| u)/du = |u| (1 + u u^T / |u|^2): twice as much along the flow as across it.
        outer_t = nodes.tangent[:, :, None] * nodes.tangent[:, None, :]
        speed = jnp.maximum(small.norm(flow_n), 1e-12)
        unit = flow_n / speed[:, None]
        own = unit[:, :, None] * unit[:, None, :]
        linear = across[:, None, None] * (jnp.eye(3) - outer_t + own) + 2.0 * lengthwise[:, None, None] * outer_t
        damping = on_displacements(linear)
        return NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)


class Together(AbstractSurroundings):
    """Several surroundings at once."""

    parts: tuple[AbstractSurroundings, ...]

    @property
    def abrupt(self) -> bool:
        """Whether any of them is."""
        return any(part.abrupt for part in self.parts)

    def prepare(self, nodes: Nodes) -> "Together":
        """All of them, readied."""
        return Together(tuple(part.prepare(nodes) for part in self.parts))

    def after(self, elapsed) -> "Together":
        """All of them, into a step."""
        return Together(tuple(part.after(elapsed) for part in self.parts))

    def forces(self, nodes: Nodes) -> NodeForces:
        """The sums of their forces."""
        each = [part.forces(nodes) for part in self.parts]
        return jax.tree.map(lambda *values: sum(values[1:], start=values[0]), *each)
