"""Water: drag and lift on the pieces of an arm, buoyancy, and added mass.

The force on a piece of a slender body follows the cross-flow principle: the flow across it and the flow along it act
apart, each with the square of its speed,

    F = 1/2 rho d l (C_n |u_n| u_n + pi C_t |u_t| u_t),

u being the velocity of the water relative to the piece. That is drag and lift with coefficients that depend on the
incidence, C_D = C_n sin^3 + pi C_t cos^3 and C_L = C_n sin^2 cos - pi C_t cos^2 sin, without their table; and it can
only take energy from what moves through still water. Buoyancy acts as weight does, and added mass is part of the
inertia: see `mechanics.buoyancy` and `mechanics.added_mass`.
"""

from typing import ClassVar

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, Entrained, NodeForces, Nodes, copies, on_displacements
from hydrostat.mechanics.robot import BodyShape
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, Together
from hydrostat.surroundings.hull_drag import HullDrag

DENSITY = 1022.0
"""Density of sea water [kg/m^3], after Yekutieli et al. 2005."""
NORMAL = 1.013
"""Drag coefficient across, on the projected area d l (the same source)."""
TANGENTIAL = 0.0256
"""Drag coefficient along, on the wetted area pi d l (the same source)."""
ADDED_MASS = 1.0
"""Added-mass coefficient of a cylinder that moves across its axis (Lamb, Hydrodynamics, art. 68)."""


class Water(AbstractForces, AbstractSurroundings):
    """Still water, or a current that is the same everywhere: drag, buoyancy and, where asked for, added mass.

    It acts along the arms, at their flow nodes, and needs no contact nodes.
    """

    acts_at: ClassVar = "flow"
    touches: ClassVar[bool] = False

    density: Float[Array, ""]
    normal: Float[Array, ""]
    tangential: Float[Array, ""]
    current: Float[Array, " 3"]
    """Velocity of the water [m/s]."""
    added_mass: Float[Array, ""] | None
    """Mass of the water that an arm carries along across its axis, over that of the water it displaces; a ball carries
    along half as much, a hull what its shape says. None: none."""

    def __init__(
        self,
        density: ArrayLike = DENSITY,
        normal: ArrayLike = NORMAL,
        tangential: ArrayLike = TANGENTIAL,
        current=(0.0, 0.0, 0.0),
        added_mass: ArrayLike | None = None,
    ):
        self.density, self.normal, self.tangential = (jnp.asarray(x, float) for x in (density, normal, tangential))
        self.current = jnp.asarray(current, float)
        self.added_mass = None if added_mass is None else jnp.asarray(added_mass, float)

    @property
    def abrupt(self) -> bool:
        """Whether the forces are abrupt: no, drag changes as slowly as velocities do."""
        return False

    def entrained(self) -> Entrained | None:
        """The water that arms and body carry along."""
        return None if self.added_mass is None else Entrained(self.added_mass * self.density, self.current)

    def displaced(self) -> Float[Array, ""]:
        """The density of the water that arms and body displace."""
        return self.density

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """Drag on the arms, and on the body that carries them."""
        del place, commands, dt
        if environment.body is None:
            return state, self
        body = environment.body
        drag = BodyDrag(self, body) if body.hull is None else HullDrag(body.hull, self.density, self.current)
        return state, Together((self, OnBody(drag, body.radius)))

    def by_arm(self, arms: int) -> "Water":
        """The same water, for each arm."""
        return copies(self, arms)

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


class BodyDrag(AbstractForces):
    """Drag on a body, as on a ball."""

    water: Water
    body: BodyShape

    @property
    def abrupt(self) -> bool:
        """Whether the force is abrupt: no, it changes as slowly as velocities do."""
        return False

    def forces(self, nodes: Nodes) -> NodeForces:
        """The drag on the body, against its motion through the water and with the square of its speed."""
        flow = self.water.current - nodes.velocity
        speed = small.norm(flow)
        drag = 0.5 * self.water.density * self.body.drag * jnp.pi * self.body.radius**2
        unit = flow / jnp.maximum(speed, 1e-12)[:, None]
        linear = (drag * speed)[:, None, None] * (jnp.eye(3) + unit[:, :, None] * unit[:, None, :])
        force, damping = drag * speed[:, None] * flow, on_displacements(linear)
        return NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)
