"""Contact of arms with themselves and each other, with the pairs that may touch within a step found once for it.

A capsule joins two consecutive nodes. Once a step all pairs of capsules are checked; those touch whose gap is less
than that of the pairs beside them, and where some are equally near they share one touch. The result does not depend on
how arms are numbered, nor on which end of an arm is the first. Forces come in pairs, so no momentum is made.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, on_displacements, shares
from hydrostat.surroundings.contact import ONSET, ContactLaw
from hydrostat.surroundings.pairs import closest_points

_CLEAR = 1e-9  # m, below which two points have no direction from one to the other
_FAR = 1e3  # m, the gap of pairs that cannot touch
# Difference of two gaps, over the sum of two radii, from where only the smaller counts. While a crossing passes a node
# the force is less than that of the smaller gap by up to max(y / (1 + exp(y))) = 0.28 times this and the stiffness.
_TIE = 1e-3
_ASIDE = 0.02  # what being off the middle of a capsule counts as gap, over the sum of two radii
_PULL = 0.04  # of the points of touch towards the middles of capsules along each other, over the same sum squared
_ALONG = 0.01  # squared sine of the angle from where capsules do not lie along each other
_CLIP = 60.0  # of exponents: what is so much farther does not count
_LEAST = 1e-100  # a divisor that is not zero
_BESIDE = _CLIP * _TIE + _ASIDE  # gap, over the sum of two radii, from where a pair takes no share of another's touch


class CapsuleContact(AbstractForces):
    """The forces of all pairs that touch at the positions expected at a step's end, with a resistance to other motions.

    Pairs couple four nodes, which a step's operator cannot hold. So each node is held to the velocity it is expected to
    have by what its pairs' stiffness k and damping c come to during the step, c + k dt, and never by less: it takes
    part in the motion as if it were a little heavier while it touches, and forces between parts at rest are those of
    the law. Held to its place instead, by k, it would leave the step with a velocity of the wrong sign.
    """

    push: Float[Array, "n 3"]
    """Force on nodes at rest [N]: that at the expected velocity, plus `resisting` times that velocity."""
    resisting: Float[Array, "n 3 3"]
    """Matrix that resists deviations of each node from its expected velocity [N s/m]."""

    @staticmethod
    def expected(
        force: Float[Array, "n 3"], resisting: Float[Array, "n 3 3"], velocity: Float[Array, "n 3"]
    ) -> "CapsuleContact":
        """The contact that exerts this force at the expected velocity of the nodes."""
        return CapsuleContact(force + small.matvec(resisting, velocity), resisting)

    @property
    def abrupt(self) -> bool:
        """Whether the forces are abrupt: no, they are linear during a step."""
        return False

    def by_arm(self, arms: int) -> "CapsuleContact":
        """The forces on each arm's own nodes."""
        return shares(self, arms)

    def outside(self) -> None:
        """The forces from outside the robot: none, as contact between arms is internal."""
        return None

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, at the axis: moments of friction are left out."""
        force = self.push - small.matvec(self.resisting, nodes.velocity)
        damping = on_displacements(self.resisting)
        return NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)


class Pressed(NamedTuple):
    """Forces of pairs of capsules on the nodes of a chain."""

    force: Float[Array, "n 3"]
    """Force on each node [N]."""
    resisting: Float[Array, "n 3 3"]
    """Matrix that resists deviations of each node from its expected velocity [N s/m]."""

    @staticmethod
    def nothing(count: int) -> "Pressed":
        """The zero forces on a chain of `count` nodes that nothing touches."""
        return Pressed(jnp.zeros((count, 3)), jnp.zeros((count, 3, 3)))


def capsule_contact(law: ContactLaw, nodes: Nodes, neighbours: int, dt, rows: tuple[int, ...]) -> CapsuleContact:
    """The contact forces of all pairs of capsules near these nodes.

    **Arguments:** `dt`: how long the step is [s]; `neighbours`: how many places along an arm two capsules must be
    apart to touch; `rows`: how many nodes each arm has.
    """
    chains, real = _chains(nodes, rows)
    found = _between_arms(law, chains, len(rows), neighbours, dt, real)
    found = jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), found)
    if real is not None:
        kept = np.concatenate([np.arange(count) + i * max(rows) for i, count in enumerate(rows)])
        found = jax.tree.map(lambda y: y[kept], found)
    return CapsuleContact.expected(found.force, found.resisting, nodes.velocity)


def _chains(nodes: Nodes, rows: tuple[int, ...]) -> tuple[Nodes, Bool[np.ndarray, "a c"] | None]:
    """The nodes with the arm as leading axis, and which of the capsules between them are real; None: all are.

    Arms that have fewer nodes than others are filled up with their last one, and capsules there touch nothing.
    """
    longest = max(rows)
    if min(rows) == longest:
        return shares(nodes, len(rows)), None
    counts = np.array(rows)[:, None]
    first = np.cumsum(counts) - np.array(rows)
    places = first[:, None] + np.minimum(np.arange(longest), counts - 1)
    return jax.tree.map(lambda y: y[places], nodes), np.arange(longest - 1) < counts - 1


def body_contact(
    law: ContactLaw, nodes: Nodes, body: Nodes, apart: int, dt, along: np.ndarray
) -> tuple[CapsuleContact, CapsuleContact]:
    """The contact forces between arms and the ball that carries them, on the nodes and on the ball.

    Along the line between their centres alone: wet skin slides on wet skin, and no angular momentum is made. Thin nodes
    are stiffer and touch sooner, as on the ground: with one law for all, the tip of an arm that swung against the body
    went in by more than half its radius.

    **Arguments:** `body`: the ball as one node; `apart`: from which of its places on an arm can touch, those before
    being where it is attached; `along`: which place along its arm each node has.
    """
    away = nodes.position - body.position
    distance = jnp.maximum(small.norm(away), _CLEAR)
    normal = away / distance[:, None]
    out = small.dot(nodes.velocity - body.velocity, normal)
    free = jnp.asarray(along >= apart, float)
    law = law.by_radius(nodes.radius, jnp.minimum(law.onset, ONSET * nodes.radius))
    f, k, c = (free * y for y in law.pressed(body.radius + nodes.radius - distance, out))
    force = f[:, None] * normal
    # As for pairs of capsules: each of the two is held by twice what the pair resists with.
    resisting = (2.0 * (c + dt * k))[:, None, None] * normal[:, :, None] * normal[:, None, :]

    total = jnp.sum(force, 0, keepdims=True), jnp.sum(resisting, 0, keepdims=True)
    return CapsuleContact.expected(force, resisting, nodes.velocity), CapsuleContact.expected(
        -total[0], total[1], body.velocity
    )


def _between_arms(law: ContactLaw, chains: Nodes, arms: int, neighbours: int, dt, real=None) -> Pressed:
    """The contact forces of all arms on themselves and on each other, with the arm as leading axis."""
    count = chains.radius.shape[1]
    further = np.triu(np.ones((count - 1, count - 1), bool), neighbours)
    at = jnp.arange(arms)
    ahead, first, second = _pairs(arms)

    def add(sums: Pressed, pair):
        i, j, near = pair

        def touching(sums):
            a, b = (jax.tree.map(lambda y, k=k: jax.lax.dynamic_index_in_dim(y, k, 0, False), chains) for k in (i, j))
            possible = (further | (i != j)) & near[:, None]
            if real is not None:
                here, there = (jnp.asarray(real)[k] for k in (i, j))
                possible = possible & here[:, None] & there[None]

            def with_both(y, of_a, of_b):
                to = [(at == k).reshape(-1, *(1,) * of_a.ndim) for k in (i, j)]
                return y + jnp.where(to[0], of_a, 0.0) + jnp.where(to[1], of_b, 0.0)

            return _touching(law, a, b, possible, near, dt, lambda on: jax.tree.map(with_both, sums, *on), sums)

        # Most of the time arms are far from each other, and to see that costs a twentieth of the rest.
        return jax.lax.cond(jnp.any(near), touching, lambda sums: sums, sums), None

    near = _near(chains, further, real)[ahead, first]
    nothing = jax.vmap(lambda _: Pressed.nothing(count))(at)
    return jax.lax.scan(add, nothing, (jnp.asarray(first), jnp.asarray(second), near))[0]


def _pairs(arms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of arms, and each arm with itself: how many places the second is ahead in a ring, the first, the
    second."""
    ahead, first = np.indices((arms // 2 + 1, arms)).reshape(2, -1)
    # Opposite arms are pairs only once.
    once = (2 * ahead < arms) | (first < arms // 2)
    ahead, first = ahead[once], first[once]
    return ahead, first, (first + ahead) % arms


def _near(chains: Nodes, further: Bool[np.ndarray, "c c"], real) -> Bool[Array, "t a c"]:
    """Whether each capsule of an arm may touch any of another one: each is within a ball about its middle.

    Row t is about every arm and the one that is t places after it, in a ring: all arms side by side, turn after turn.
    """
    arms = chains.radius.shape[0]
    start, end = chains.position[:, :-1], chains.position[:, 1:]
    middle = 0.5 * (start + end)
    wide = jnp.maximum(chains.radius[:, :-1], chains.radius[:, 1:])
    # Nearly touching is near: what counts as touch depends on the gaps of the pairs beside a pair.
    ball = 0.5 * small.norm(end - start) + wide + 0.5 * _BESIDE * jnp.mean(chains.radius, 1, keepdims=True)
    if real is not None:
        ball = jnp.where(real, ball, -_FAR)
    twice = jax.tree.map(lambda y: jnp.concatenate([y, y]), (middle, ball))

    def turn(_, t):
        possible = further | (t > 0)
        other, others = jax.tree.map(lambda y: jax.lax.dynamic_slice_in_dim(y, t, arms), twice)
        apart = middle[:, :, None] - other[:, None]
        reach = jnp.maximum(ball[:, :, None] + others[:, None], 0.0)
        return None, jnp.any(possible & (small.dot(apart, apart) < reach**2), 2)

    return jax.lax.scan(turn, None, jnp.arange(arms // 2 + 1))[1]


def _touching(law: ContactLaw, first: Nodes, second: Nodes, possible, near, dt, added, otherwise):
    """The result of `added` from the contact forces of two chains of capsules on each other, `otherwise` where they do
    not touch.

    **Arguments:** `possible`: the pairs that can touch; `near`: the capsules of the first chain that have some.
    """
    wide = jnp.mean(first.radius) + jnp.mean(second.radius)
    s, t = _closest(first, second, near, wide)
    separation, radii = (
        _between(s, t, first.position, second.position, -1.0),
        _between(s, t, first.radius, second.radius, 1.0),
    )
    distance = small.norm(separation)

    def pressed(_):
        velocity = _between(s, t, first.velocity, second.velocity, -1.0)
        normal = separation / jnp.maximum(distance, _CLEAR)[..., None]
        # Of capsules along each other, those count that lie side by side.
        ranked = distance - radii + _ASIDE * wide * ((s - 0.5) ** 2 + (t - 0.5) ** 2)
        share = _shares_of_touch(jnp.where(possible, ranked, _FAR), _TIE * wide)
        share = jnp.where(possible, share, 0.0)

        out = small.dot(velocity, normal)
        slip = velocity - out[..., None] * normal
        f, k, c = (share * y for y in law.pressed(radii - distance, out))
        g = law.friction * f / jnp.sqrt(small.dot(slip, slip) + law.slip_speed**2)
        force = f[..., None] * normal - g[..., None] * slip
        nn = normal[..., :, None] * normal[..., None, :]
        damping = c[..., None, None] * nn + g[..., None, None] * (jnp.eye(3) - nn)
        resisting = dt * k[..., None, None] * nn + damping

        def on_nodes(at, sign, axis):
            """The sums over each node of a chain, where `axis` is that of the capsules' partners."""

            def collected(y):
                weight = at.reshape(*at.shape, *(1,) * (y.ndim - 2))
                low, high = jnp.sum((1.0 - weight) * y, axis), jnp.sum(weight * y, axis)
                none = jnp.zeros_like(low[:1])
                return jnp.concatenate([low, none]) + jnp.concatenate([none, high])

            return Pressed(sign * collected(force), 2.0 * collected(resisting))

        return added((on_nodes(s, 1.0, 1), on_nodes(t, -1.0, 0)))

    # Near each other is not in touch: the bases of neighbouring arms always are near.
    return jax.lax.cond(jnp.any(possible & (distance < radii)), pressed, lambda _: otherwise, None)


def _between(s, t, of_first, of_second, sign: float):
    """The values at fractions s of the first chain's capsules plus or minus those at t of the second's."""
    return _along(s, of_first[:-1], of_first[1:]) + sign * jnp.swapaxes(
        _along(t.T, of_second[:-1], of_second[1:]), 0, 1
    )


def _closest(first: Nodes, second: Nodes, near, wide) -> tuple[Float[Array, "c d"], Float[Array, "c d"]]:
    """Where on the first and on the second chain each pair of capsules is closest, as fractions of the capsules, for
    those of the first chain that are near; for others their middles.

    Of capsules that lie along each other many points are equally close; a pull towards their middles, which vanishes
    for others, chooses the middle of the piece along which they do.
    """
    b = second.position[:-1], second.position[1:]
    w = b[1] - b[0]
    middles = jnp.full(len(w), 0.5), jnp.full(len(w), 0.5)

    def of_capsule(_, capsule):
        near, start, end = capsule

        def closest(_):
            a = [jnp.broadcast_to(y, w.shape) for y in (start, end)]
            u = a[1] - a[0]
            across, lengths = small.cross(u, w), small.dot(u, u) * small.dot(w, w)
            sine = small.dot(across, across) / jnp.maximum(lengths, _LEAST)
            pull = _PULL * wide * wide * jnp.maximum(1.0 - sine / _ALONG, 0.0) ** 2
            found = jax.vmap(closest_points)(jnp.stack([*a, *b], 1), pull)
            return found.s, found.t

        return None, jax.lax.cond(near, closest, lambda _: middles, None)

    return jax.lax.scan(of_capsule, None, (near, first.position[:-1], first.position[1:]))[1]


def _along(at: Float[Array, "c d"], low: Float[Array, "c *k"], high: Float[Array, "c *k"]) -> Float[Array, "c d *k"]:
    """The values at fractions of the capsules, interpolated between their ends."""
    at = at.reshape(*at.shape, *(1,) * (low.ndim - 1))
    return (1.0 - at) * low[:, None] + at * high[:, None]


def _shares_of_touch(gap: Float[Array, "c d"], width) -> Float[Array, "c d"]:
    """The weight of each pair of capsules: 1 for a local minimum of the gap, shared where pairs are equally near.

    A crossing near a node of an arm is one touch, though two capsules of that arm are equally near, and four pairs
    where it is near nodes of both arms. Let w = exp(-gap / width), relative to that of a pair: R is the sum over its
    two neighbours in the same row, C over those in the same column, and E over the four at its corners, each at most
    the product of the two beside it. The pair has the share 1 / n with

        n = 1 + max(R, C) + E + E / max(R, C).

    Where gaps are sums over rows and columns, as near a crossing, E = R C and n = (1 + R) (1 + C): the shares of all
    pairs add up to 1. Arms along each other touch in pairs on a diagonal, each a touch of its own; where the arms are
    shifted against each other it is a stair of twice as many pairs, with R = C = 1 and E = 0, which count half each:
    the force is one per length of a capsule.
    """
    rows, columns = gap.shape
    around = jnp.pad(gap, 1, constant_values=_FAR)

    def weight(i, j):
        nearer = gap - around[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]
        return jnp.exp(jnp.clip(nearer / width, -_CLIP, _CLIP))

    sides = [-1, 1]
    row, column = [weight(0, j) for j in sides], [weight(i, 0) for i in sides]
    corners = sum(
        jnp.minimum(weight(i, j), row[b] * column[a]) for a, i in enumerate(sides) for b, j in enumerate(sides)
    )
    larger = jnp.maximum(row[0] + row[1], column[0] + column[1])
    return 1.0 / (1.0 + larger + corners + corners / jnp.maximum(larger, _LEAST))
