"""Contact of arms with each other and with themselves, by capsules between consecutive nodes.

A capsule is named by its node nearer to the base: capsule i joins nodes i and i + 1, and its radius runs linearly
between theirs.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from hydrostat.errors import InputError, number, whole
from hydrostat.lie import small
from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings.contact import ContactLaw, NodeContact, NodeSums
from hydrostat.surroundings.shapes import ROUNDING, direction, perpendicular

Scalar = Float[Array, ""] | float

# Pull of the points of touch towards the middles of their capsules, over the squared sum of radii. Where two capsules
# touch it widens the gap by up to a quarter of this share of that sum, and where they lie along each other it lets the
# point of touch wander from end to end, instead of jumping, while one end comes closer by this share of that sum.
_PULL = 0.04


class CapsulePairs(eqx.Module):
    """All pairs of capsules that may touch, for arms of given numbers of nodes."""

    first: Int[Array, " p"]
    second: Int[Array, " p"]

    def __init__(self, nodes_per_arm: Sequence[int], neighbours: int):
        """Pairs of different arms, and of one arm if they are more than `neighbours` places apart.

        **Arguments:** `nodes_per_arm`: at least 2 each; `neighbours`: at least 1, since capsules next to each other
        share a node. Capsules n places apart are n - 1 lengths apart when the arm is straight: choose n so that this
        is more than the sum of their radii.
        """
        neighbours = whole("neighbours", neighbours, least=1, most=10**6)
        if not nodes_per_arm:
            raise InputError("`nodes_per_arm` must name at least one arm; got none")
        counts = [whole(f"nodes_per_arm[{i}]", n, least=2, most=10**6) for i, n in enumerate(nodes_per_arm)]
        ends = np.cumsum(counts)
        capsules = np.concatenate([np.arange(end - n, end - 1) for n, end in zip(counts, ends, strict=True)])
        i, j = np.triu_indices(len(capsules), 1)
        first, second = capsules[i], capsules[j]
        same_arm = np.searchsorted(ends, first, "right") == np.searchsorted(ends, second, "right")
        allowed = ~same_arm | (second - first > neighbours)
        self.first, self.second = jnp.asarray(first[allowed]), jnp.asarray(second[allowed])


class Candidates(NamedTuple):
    """The pairs of capsules that are looked at until the next search."""

    first: Int[Array, " c"]
    second: Int[Array, " c"]
    overflow: Int[Array, ""]
    """How many pairs within the margin did not find a place; contact is complete only if this is 0."""


class CapsuleGap(NamedTuple):
    """How two capsules lie to each other."""

    gap: Float[Array, ""]
    """Distance of their surfaces [m], negative where they are in each other."""
    normal: Float[Array, " 3"]
    """From the second to the first; a unit vector, or up to a hundredth shorter where they touch off their middles."""
    s: Float[Array, ""]
    """Fraction of the first from its start, where they are closest."""
    t: Float[Array, ""]
    """Fraction of the second from its start."""


class Closest(NamedTuple):
    """The points of two straight pieces of line that are closest to each other."""

    s: Float[Array, ""]
    """Fraction of the first from its start."""
    t: Float[Array, ""]
    """Fraction of the second from its start."""
    separation: Float[Array, " 3"]
    """From the point of the second to that of the first [m]."""


def find_candidates(pairs: CapsulePairs, nodes: Nodes, capacity: int, margin) -> Candidates:
    """The pairs that are nearest to each other, by the distance of their axes less their larger radii.

    It holds every pair that can touch until two nodes have come closer by the margin: search again within
    margin / (2 speed) seconds, with the speed of the fastest node.

    **Arguments:** `capacity`: how many pairs to keep; `margin`: gap up to which a pair must be kept [m].
    """
    capacity = whole("capacity", capacity, least=1, most=10**6)
    if isinstance(margin, int | float):
        margin = number("margin", margin, least=0.0)
    near = jax.vmap(closest_points)(nodes.position[_ends(pairs.first, pairs.second)])
    # The last node of an arm starts no capsule, and what stands in its row is never read.
    larger = jnp.maximum(nodes.radius, jnp.roll(nodes.radius, -1))
    gap = small.norm(near.separation) - larger[pairs.first] - larger[pairs.second]
    kept = min(capacity, len(pairs.first))
    # In single precision, which is enough to choose by, the compiler has a fast way to the smallest.
    _, nearest = jax.lax.top_k(-gap.astype(jnp.float32), kept)
    overflow = jnp.maximum(jnp.sum(gap < margin) - kept, 0)
    return Candidates(pairs.first[nearest], pairs.second[nearest], overflow)


def contact_between_capsules(law: ContactLaw, nodes: Nodes, candidates: Candidates) -> NodeContact:
    """The contact of all candidate pairs, as loads on the end nodes of their capsules.

    The two forces of a pair are equal, opposite and on one point between the surfaces; each goes to the two end nodes
    of its capsule as weight times force and weight times torque, weights 1 - s and s: both momenta are conserved. The
    matrices are the block diagonal 2 weight B^T K B that majorises the pair's own, which couples four nodes: an
    implicit step is stable with it, and conserves momentum as far as it is iterated with the forces themselves.
    """
    ends = _ends(candidates.first, candidates.second)
    quads = Nodes(*(part[ends] for part in nodes))
    loads, depth = jax.vmap(_touch, in_axes=(None, 0))(law, quads)
    # Loads apart from matrices, so that who uses only the loads does not pay for the matrices.
    n = len(nodes.radius)
    sums = NodeSums(*_summed(loads[:2], ends, n), *_summed(loads[2:], ends, n))
    deepest = jnp.zeros_like(nodes.radius).at[ends].max(depth[:, None])
    return sums.contact(deepest)


def _summed(parts: Sequence[Array], ends: Int[Array, "p 4"], n: int) -> list[Array]:
    """The sums over each node of parts of shape (p, 2, 2, ...), by one table of them all: one pass is the cheapest."""
    shapes = [part.shape[3:] for part in parts]
    widths = [math.prod(shape) for shape in shapes]
    columns = [part.reshape(ends.size, width) for part, width in zip(parts, widths, strict=True)]
    table = jnp.concatenate(columns, -1)
    rows = jnp.zeros((n, sum(widths))).at[ends.reshape(-1)].add(table)
    split = jnp.split(rows, np.cumsum(widths)[:-1], -1)
    return [part.reshape(n, *shape) for part, shape in zip(split, shapes, strict=True)]


def closest_points(
    ends: Float[Array, "4 3"], pull: Scalar = 0.0, lean_a: Scalar = 0.0, lean_b: Scalar = 0.0
) -> Closest:
    """The closest points of two straight pieces of line, of any direction and length, also zero.

    Minimises |separation|^2 / 2 + pull ((s - 1/2)^2 + (t - 1/2)^2) / 2 - lean_a s - lean_b t, a convex quadratic, over
    the unit square: s with t free, then t for that s, then s for that t, each within bounds, is its exact minimum. With
    a pull the points are unique and continuous even where the pieces are parallel.

    **Arguments:** `ends`: start and end of the first, then of the second [m]; `pull`, `lean_a`, `lean_b`: [m^2].
    """
    u, w, apart = ends[1] - ends[0], ends[3] - ends[2], ends[0] - ends[2]
    a, b, c = small.dot(u, u) + pull, small.dot(u, w), small.dot(w, w) + pull
    e, f = 0.5 * pull + lean_a - small.dot(u, apart), 0.5 * pull + lean_b + small.dot(w, apart)
    determinant = a * c - b * b
    parallel = determinant <= 0.0
    s = jnp.where(parallel, 0.5, (c * e + b * f) / jnp.where(parallel, 1.0, determinant))
    t = jnp.clip((f + b * jnp.clip(s, 0.0, 1.0)) / jnp.where(c == 0.0, 1.0, c), 0.0, 1.0)
    s = jnp.clip((e + b * t) / jnp.where(a == 0.0, 1.0, a), 0.0, 1.0)
    return Closest(s, t, apart + s * u - t * w)


def capsule_gap(ends: Float[Array, "4 3"], radii: Float[Array, " 4"]) -> CapsuleGap:
    """The gap of two capsules whose radii run linearly from end to end, and where it is.

    gap(s, t) = D - r_a(s) - r_b(t), with D^2 = |separation|^2 plus the pull's term, is minimised over s and t. So its
    gradient by the ends is the normal, separation / D, times the weights of the ends: normal force and depth belong to
    one potential, and the force is continuous even where two capsules lie along each other. The minimum is that of
    `closest_points` with lean D times taper; one correction of D leaves a gap right to the sixth power of the taper.

    **Arguments:** `ends`: of the first, then of the second [m]; `radii`: there [m].
    """
    total = 0.5 * jnp.sum(radii)
    pull = _PULL * total * total
    # Where the axes cross, a unit vector across both stands for the normal. (`small.cross` costs a third more here.)
    across = direction(jnp.cross(ends[1] - ends[0], ends[3] - ends[2]), perpendicular(ends[1] - ends[0]))
    near = closest_points(ends, pull)
    reach, _ = _reach_and_normal(near, pull, across, ROUNDING * total)
    near = closest_points(ends, pull, reach * (radii[1] - radii[0]), reach * (radii[3] - radii[2]))
    reach, normal = _reach_and_normal(near, pull, across, ROUNDING * total)
    gap = reach - _between(radii[:2], near.s) - _between(radii[2:], near.t)
    return CapsuleGap(gap, normal, near.s, near.t)


def _reach_and_normal(near: Closest, pull, instead, least) -> tuple[Array, Array]:
    """D and separation / D, or another normal where D is no more than `least`."""
    square = small.dot(near.separation, near.separation) + pull * ((near.s - 0.5) ** 2 + (near.t - 0.5) ** 2)
    short = square <= least * least
    reach = jnp.sqrt(jnp.where(short, 1.0, square))
    normal = jnp.where(short, instead, near.separation / reach)
    return jnp.where(short, small.dot(near.separation, instead), reach), normal


def _touch(law: ContactLaw, quad: Nodes) -> tuple[NodeSums, Array]:
    """One pair of capsules: the loads on the end nodes of both (side, end, ...), and the depth."""
    gap, normal, s, t = capsule_gap(quad.position, quad.radius)

    # The point of touch divides the line between the closest points of the axes as the radii do.
    a, b = Nodes(*(_between(part[:2], s) for part in quad)), Nodes(*(_between(part[2:], t) for part in quad))
    reach, total = gap + a.radius + b.radius, a.radius + b.radius
    lever_a, lever_b = -reach * a.radius / total, reach * b.radius / total
    spin = lever_a * a.angular_velocity - lever_b * b.angular_velocity
    velocity = a.velocity - b.velocity + small.cross(spin, normal)
    touch = law.at_point(-gap, normal, velocity)

    # Each side's load in the proportions of its weights; the matrices twice, to majorise the coupling.
    sums = jax.vmap(lambda sign, lever: NodeSums.of_point(touch._replace(force=sign * touch.force), normal, lever))(
        jnp.array([1.0, -1.0]), jnp.stack([lever_a, lever_b])
    )
    weights = jnp.stack([1.0 - s, s, 1.0 - t, t]).reshape(2, 2)
    loads = jax.tree.map(lambda x: x[:, None] * weights.reshape(2, 2, *(1 for _ in x.shape[1:])), sums)
    matrices = jax.tree.map(lambda x: 2.0 * x, loads)
    return matrices._replace(force=loads.force, torque=loads.torque), -gap


def _ends(first: Int[Array, " p"], second: Int[Array, " p"]) -> Int[Array, "p 4"]:
    """The nodes at the ends of pairs of capsules."""
    return jnp.stack([first, first + 1, second, second + 1], -1)


def _between(pair, fraction) -> Array:
    """The value at a fraction of the way from the first to the second."""
    return (1.0 - fraction) * pair[0] + fraction * pair[1]
