"""Contact of arms with each of the obstacles around them, as a row function of trajectories."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.state import nodes_of
from hydrostat.results.rows import Row
from hydrostat.surroundings import Obstacles, contact_with_shapes
from hydrostat.system import System


class ShapeContact(NamedTuple):
    """Contact of all arms with each shape of `Obstacles`."""

    position: Float[Array, "nodes 3"]
    """Positions of the nodes that can touch, arm after arm [m]."""
    radius: Float[Array, " nodes"]
    """Radius of the arm at each node [m]."""
    force: Float[Array, "shapes nodes"]
    """Contact force of each shape on each node [N]."""
    depth: Float[Array, "shapes nodes"]
    """Depth of penetration over the local radius; negative while apart."""


def shape_contacts(system: System, row: Row) -> ShapeContact:
    """Contact with each obstacle, for `Trajectory.derived`: forces on all contact nodes and depths of penetration."""
    around = system.part(Obstacles)
    if around is None:
        raise InputError("`shape_contacts` needs a system with `Obstacles`; it has none")
    nodes = nodes_of(system.robot, row.state.robot)
    each = [contact_with_shapes(around.law, nodes, [shape])[0] for shape in around.shapes]
    force = jnp.stack([small.norm(touch.force) for touch in each])
    depth = jnp.stack([touch.penetration for touch in each]) / nodes.radius
    return ShapeContact(nodes.position, nodes.radius, force, depth)
