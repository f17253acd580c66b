"""Suckers: springs with dampers between nodes of an arm and the points that they hold.

A sucker holds by a stalk from the node's centre to the point of touch, whose rest length is what it was when it took
hold: nothing jumps then, the force is along the stalk, and none of its moment is lost.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes
from hydrostat.surroundings.shapes import direction, scalar

STIFFNESS = 98.0
"""Of a sucker of 5 mm and 10 kPa on a stalk of 2 mm [N/m]: Tramacere et al. 2014 for the tissue."""
DAMPING = 0.5
"""[N s/m], assumed: little for a load of 50 g, enough for the arm."""
SUCTION = 100e3
"""Pressure below that of the water [Pa]: Kier and Smith 2002 measured as much near the surface, and more."""
_WIDTH = 0.7  # of a sucker over that of the arm, assumed


class SuckerLaw(eqx.Module):
    """What the suckers of an arm can do."""

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"), default=STIFFNESS)
    """[N/m]"""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False), default=DAMPING)
    """[N s/m]"""
    reach: Float[Array, ""] = eqx.field(converter=scalar("reach", positive=False), default=1e-3)
    """Gap within which a sucker takes hold [m]."""
    suction: Float[Array, ""] = eqx.field(converter=scalar("suction"), default=SUCTION)
    """[Pa]"""

    def pull_off(self, radius: Float[Array, " n"]) -> Float[Array, " n"]:
        """The force at which a sucker of a node of some radius lets go [N]."""
        return self.suction * jnp.pi * (_WIDTH * radius) ** 2


class Suckers(AbstractSurroundings):
    """Suckers that hold points of the surroundings, one for each node that does."""

    law: SuckerLaw
    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    anchor: Float[Array, "n 3"]
    """What it holds, in the world [m]."""
    velocity: Float[Array, "n 3"]
    """Of that [m/s]."""
    rest: Float[Array, " n"]
    """Length of the stalk without force [m]."""

    @property
    def abrupt(self) -> bool:
        """They take hold and let go between steps."""
        return False

    def forces(self, nodes: Nodes) -> NodeForces:
        """The pull on every node."""
        stalk = self.anchor - nodes.position
        length = small.norm(stalk)
        along = stalk / jnp.maximum(length, 1e-9)[:, None]
        stretch = self.held * self.law.stiffness * (length - self.rest)
        damping = self.held * self.law.damping
        force = stretch[:, None] * along + damping[:, None] * (self.velocity - nodes.velocity)
        outer = along[:, :, None] * along[:, None, :]
        sideways = jnp.maximum(stretch / jnp.maximum(length, 1e-9), 0.0)[:, None, None]
        own = (self.held * self.law.stiffness)[:, None, None]
        n = len(nodes.radius)
        return NodeForces(
            force,
            jnp.zeros_like(force),
            _linear_block(own * outer + sideways * (jnp.eye(3) - outer), n),
            _linear_block(damping[:, None, None] * jnp.eye(3), n),
        )

    def tension(self, nodes: Nodes) -> Float[Array, " n"]:
        """The pull along each stalk, negative where it is squeezed [N]."""
        return self.held * self.law.stiffness * (small.norm(self.anchor - nodes.position) - self.rest)


def _linear_block(matrix, n: int) -> Float[Array, "n 6 6"]:
    """A matrix that acts on displacements only, among (angular, linear)."""
    zero = jnp.zeros((n, 3, 3))
    return jnp.concatenate([jnp.concatenate([zero, zero], -1), jnp.concatenate([zero, matrix], -1)], -2)


def touch_points(centre, radius, nodes: Nodes) -> tuple[Float[Array, "n 3"], Float[Array, " n"]]:
    """The points of a ball that are next to each node, and the gaps between [m]."""
    away = nodes.position - centre
    unit = _directions(away)
    return centre + radius * unit, small.norm(away) - radius - nodes.radius


def _directions(away: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
    """Unit vectors along, upwards where there is no direction."""
    return jax.vmap(lambda u: direction(u, jnp.array([0.0, 0.0, 1.0])))(away)
