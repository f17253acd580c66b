"""Contact of arms with the obstacles around them, with a free ball and with each other, as row functions."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.robot import split
from hydrostat.mechanics.state import nodes_of
from hydrostat.results.rows import Centreline, Row
from hydrostat.surroundings import Ball, Obstacles, Sphere, contact_with_shapes
from hydrostat.surroundings.pairs import closest_points
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
    reaction: Float[Array, "shapes 3"]
    """Force of all nodes on each shape, friction included, in world axes [N]."""


def shape_contacts(system: System, row: Row) -> ShapeContact:
    """Contact with each obstacle, for `Trajectory.derived`: forces on all contact nodes and depths of penetration."""
    around = system.part(Obstacles)
    if around is None:
        raise InputError("`shape_contacts` needs a system with `Obstacles`; it has none")
    nodes = nodes_of(system.robot, row.state.robot)
    each = [contact_with_shapes(around.law, nodes, [shape]) for shape in around.shapes]
    force = jnp.stack([small.norm(touch.force) for touch, _ in each])
    depth = jnp.stack([touch.penetration for touch, _ in each]) / nodes.radius
    reaction = jnp.concatenate([on_shape.force for _, on_shape in each])
    return ShapeContact(nodes.position, nodes.radius, force, depth, reaction)


class BallContact(NamedTuple):
    """Contact of all arms with the first free ball."""

    place: Float[Array, "nodes 3"]
    """Points of the arms that are nearest to the ball [m], node after node, arm after arm."""
    normal: Float[Array, "nodes 3"]
    """Unit vectors from the nodes into the ball."""
    pressure: Float[Array, " nodes"]
    """Force of each node on the ball along its normal [N]."""
    force: Float[Array, "nodes 3"]
    """Whole force of each node on the ball, friction included, in world axes [N]."""
    depth: Float[Array, ""]
    """The deepest penetration [m]; 0 where nothing touches."""


def ball_contact(system: System, row: Row) -> BallContact:
    """Contact with the first free ball, for `Trajectory.derived`: where and how hard each contact node touches it."""
    ball = system.part(Ball)
    if ball is None:
        raise InputError("`ball_contact` needs a system with a `Ball`; it has none")
    nodes, at = nodes_of(system.robot, row.state.robot), system.part_state(row.state, Ball).ball
    touch, _ = contact_with_shapes(ball.law, nodes, [Sphere(at.position, ball.radius, at.velocity, at.spin)])
    inward = at.position - nodes.position
    normal = inward / jnp.maximum(small.norm(inward), 1e-12)[:, None]
    force = -touch.force
    return BallContact(
        place=nodes.position + nodes.radius[:, None] * normal,
        normal=normal,
        pressure=small.dot(force, normal),
        force=force,
        depth=jnp.max(touch.penetration),
    )


_FINE = 6  # points of each segment, between which an arm counts as a straight cone


def arm_gaps(system: System, row: Row) -> Float[Array, "a a"]:
    """The least gap between the skins of each two arms as they are drawn, for `Trajectory.derived` [m]; negative where
    they are in each other. Zero for an arm and itself.

    The axes are taken finely, so that it is no measure of the contact's own capsules but of the arms.
    """
    arms = split(system.robot, Centreline(_FINE)(system, row))
    gaps = [[jnp.zeros(())] * len(arms) for _ in arms]
    for i, one in enumerate(arms):
        for j in range(i):
            other = arms[j]
            gaps[i][j] = gaps[j][i] = _gap((one.pose.position, one.radius), (other.pose.position, other.radius))
    return jnp.stack([jnp.stack(some) for some in gaps])


def _gap(first, second) -> Float[Array, ""]:
    """The least gap of two polygons of cones, each (points, radii).

    Where axes are closest, and at the corners: of parallel cones the gap is least at an end.
    """
    (p, r), (q, w) = first, second

    def of_piece(start, end, r_start, r_end):
        def of_other(begin, stop, w_start, w_end):
            def gap(first, second, s_most: float, t_most: float):
                at = closest_points(jnp.stack([*first, *second]))
                radii = r_start + s_most * at.s * (r_end - r_start) + w_start + t_most * at.t * (w_end - w_start)
                return small.norm(at.separation) - radii

            one, two = (start, end), (begin, stop)
            corners = jnp.minimum(gap((start, start), two, 0.0, 1.0), gap(one, (begin, begin), 1.0, 0.0))
            return jnp.minimum(gap(one, two, 1.0, 1.0), corners)

        return jnp.min(jax.vmap(of_other)(q[:-1], q[1:], w[:-1], w[1:]))

    return jnp.min(jax.vmap(of_piece)(p[:-1], p[1:], r[:-1], r[1:]))
