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

from hydrostat.errors import number, whole
from hydrostat.lie import small
from hydrostat.surroundings.contact import ContactLaw, NodeContact, Nodes, NodeSums
from hydrostat.surroundings.shapes import direction, perpendicular

# Pull of the points of touch towards the middles of their capsules, over the squared sum of radii. It widens a gap by
# at most a quarter of this share of that sum, and lets the points of touch of two capsules that lie along each other
# wander from end to end, instead of jumping, while one end comes closer than the other by this share of that sum.
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


class Closest(NamedTuple):
    """The points of two straight pieces of line that are closest to each other."""

    s: Float[Array, ""]
    """Fraction of the first from its start."""
    t: Float[Array, ""]
    """Fraction of the second from its start."""
    separation: Float[Array, " 3"]
    """From the point of the second to that of the first [m]."""


def find_candidates(pairs: CapsulePairs, nodes: Nodes, capacity: int, margin) -> Candidates:
    """The pairs whose bounding balls are nearest to each other.

    Complete until two nodes have come closer by the margin: search again after margin / (2 speed) seconds, with the
    speed of the fastest node.

    **Arguments:** `capacity`: how many pairs to keep; `margin`: gap of two balls up to which a pair must be kept [m].
    """
    capacity = whole("capacity", capacity, least=1, most=10**6)
    if isinstance(margin, int | float):
        margin = number("margin", margin, least=0.0)
    # Ball about each capsule; the last node of an arm starts none, and what stands in its row is never read.
    ahead = jnp.roll(nodes.position, -1, 0)
    middle = 0.5 * (nodes.position + ahead)
    ball = 0.5 * small.norm(ahead - nodes.position) + jnp.maximum(nodes.radius, jnp.roll(nodes.radius, -1))
    gap = small.norm(middle[pairs.first] - middle[pairs.second]) - ball[pairs.first] - ball[pairs.second]
    kept = min(capacity, len(pairs.first))
    # In single precision the search for the smallest is fast.
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
    ends = jnp.stack([candidates.first, candidates.first + 1, candidates.second, candidates.second + 1], -1)
    quads = Nodes(*(part[ends] for part in nodes))
    loads, depth = jax.vmap(_touch, in_axes=(None, 0))(law, quads)
    sums = jax.tree.map(lambda zero, load: zero.at[ends].add(load), NodeSums.zeros(len(nodes.radius)), loads)
    deepest = jnp.zeros_like(nodes.radius).at[ends].max(depth[:, None])
    return sums.contact(deepest)


def closest_points(start_a, end_a, start_b, end_b, pull=0.0, lean_a=0.0, lean_b=0.0) -> Closest:
    """The closest points of two straight pieces of line, of any direction and length, also zero.

    Minimises |separation|^2 / 2 + pull ((s - 1/2)^2 + (t - 1/2)^2) / 2 - lean_a s - lean_b t, a convex quadratic, over
    the unit square: s with t free, then t for that s, then s for that t, each within bounds, is its exact minimum. With
    a pull the points are unique and continuous even where the pieces are parallel.

    **Arguments:** ends [m], each of shape 3; `pull`, `lean_a`, `lean_b` [m^2].
    """
    u, w, apart = end_a - start_a, end_b - start_b, start_a - start_b
    a, b, c = small.dot(u, u) + pull, small.dot(u, w), small.dot(w, w) + pull
    e, f = 0.5 * pull + lean_a - small.dot(u, apart), 0.5 * pull + lean_b + small.dot(w, apart)
    determinant = a * c - b * b
    parallel = determinant <= 0.0
    s = jnp.where(parallel, 0.5, (c * e + b * f) / jnp.where(parallel, 1.0, determinant))
    t = jnp.clip((f + b * jnp.clip(s, 0.0, 1.0)) / jnp.where(c == 0.0, 1.0, c), 0.0, 1.0)
    s = jnp.clip((e + b * t) / jnp.where(a == 0.0, 1.0, a), 0.0, 1.0)
    return Closest(s, t, apart + s * u - t * w)


def capsule_gap(ends: Float[Array, "4 3"], radii: Float[Array, " 4"]) -> tuple[Closest, Array, Array]:
    """The gap of two tapered capsules, the points where they are closest, and the normal from the second to the first.

    gap(s, t) = D - r_a(s) - r_b(t), D^2 = |separation|^2 + pull, is minimised over s and t, so the gradient of the gap
    by the ends is the normal, separation / D, times the weights of the ends: force and depth belong to one potential.
    Its stationary point is that of the quadratic with lean D times taper; one correction of D leaves an error of order
    taper^4, since the gap is stationary.

    **Arguments:** `ends`: of the first, then of the second [m]; `radii`: there [m].
    """
    total = 0.5 * jnp.sum(radii)
    pull = _PULL * total * total
    near = closest_points(*ends, pull)
    reach, _ = _reach_and_normal(ends, near, pull)
    near = closest_points(*ends, pull, reach * (radii[1] - radii[0]), reach * (radii[3] - radii[2]))
    reach, normal = _reach_and_normal(ends, near, pull)
    return near, normal, reach - _between(radii[:2], near.s) - _between(radii[2:], near.t)


def _reach_and_normal(ends, near: Closest, pull) -> tuple[Array, Array]:
    """D and separation / D; where the axes cross, a unit vector across both."""
    square = small.dot(near.separation, near.separation) + pull * ((near.s - 0.5) ** 2 + (near.t - 0.5) ** 2)
    across = jnp.cross(ends[1] - ends[0], ends[3] - ends[2])
    instead = direction(across, perpendicular(ends[1] - ends[0]))
    crossing = square < math.sqrt(jnp.finfo(square.dtype).tiny)
    reach = jnp.sqrt(jnp.where(crossing, 1.0, square))
    normal = jnp.where(crossing, instead, near.separation / reach)
    return jnp.where(crossing, small.dot(near.separation, instead), reach), normal


def _touch(law: ContactLaw, quad: Nodes) -> tuple[NodeSums, Array]:
    """One pair of capsules: the loads on its four end nodes, and the depth."""
    near, normal, gap = jax.lax.optimization_barrier(capsule_gap(quad.position, quad.radius))
    # Levers from the points of the axes to the one point of touch, which divides the separation as the radii do.
    radius_a, radius_b = _between(quad.radius[:2], near.s), _between(quad.radius[2:], near.t)
    share = radius_a / (radius_a + radius_b)
    lever_a, lever_b = -share * near.separation, (1.0 - share) * near.separation

    # Velocity of the first relative to the second there.
    velocity_a, velocity_b = _between(quad.velocity[:2], near.s), _between(quad.velocity[2:], near.t)
    spin_a, spin_b = _between(quad.angular_velocity[:2], near.s), _between(quad.angular_velocity[2:], near.t)
    velocity = velocity_a + jnp.cross(spin_a, lever_a) - velocity_b - jnp.cross(spin_b, lever_b)
    touch, lever_a, lever_b = jax.lax.optimization_barrier((law.at_point(-gap, normal, velocity), lever_a, lever_b))

    # Each side's load in the proportions of its weights; the matrices twice, to majorise the coupling.
    load_a = NodeSums.of_point(touch, normal, lever_a)
    load_b = NodeSums.of_point(touch._replace(force=-touch.force), normal, lever_b)
    weights = jnp.stack([1.0 - near.s, near.s, 1.0 - near.t, near.t])
    sides = jax.tree.map(lambda a, b: jnp.stack([a, a, b, b]), load_a, load_b)
    times = NodeSums(1.0, 1.0, 2.0, 2.0, 2.0, 2.0)
    loads = jax.tree.map(lambda x, k: k * jnp.reshape(weights, (4,) + (1,) * (x.ndim - 1)) * x, sides, times)
    return loads, -gap


def _between(pair, fraction) -> Array:
    """The value at a fraction of the way from the first to the second."""
    return (1.0 - fraction) * pair[0] + fraction * pair[1]
