"""Contact of arms with themselves and each other, with what may touch within a step worked out once for it.

A capsule joins two consecutive nodes. Once a step every capsule chooses the nearest of those further along its arm, and
of every other arm, and where on both they touch. Forces come in pairs, so no momentum is made.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, on_displacements, shares
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.pairs import closest_points

_CLEAR = 1e-9  # m, below which two points have no direction from one to the other


class OwnContact(AbstractForces):
    """The forces of all pairs that touch where the nodes are expected at a step's end, and what resists another motion.

    Pairs couple four nodes, which a step's operator cannot hold. So each node is held to the velocity it is expected to
    have by what its pairs' stiffness k and damping c come to during the step, c + k dt, and never by less: it takes
    part in the motion as if it were a little heavier while it touches, and forces between parts at rest are those of
    the law. Held to its place instead, by k, it would leave the step with a velocity of the wrong sign.
    """

    expected: NodeForces
    velocity: Float[Array, "n 3"]
    """Of the nodes, as expected [m/s]."""

    @property
    def abrupt(self) -> bool:
        """It is linear during a step."""
        return False

    def by_arm(self, arms: int) -> "OwnContact":
        """What acts on each arm's own nodes."""
        return shares(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, at the axis: what friction turns is left out."""
        resisting = small.matvec(self.expected.damping[:, 3:, 3:], nodes.velocity - self.velocity)
        return self.expected._replace(force=self.expected.force - resisting)


class Pressed(NamedTuple):
    """What pairs of capsules do to the nodes of a chain of them."""

    force: Float[Array, "n 3"]
    """[N]"""
    resisting: Float[Array, "n 3 3"]
    """By how much each node is held to its expected velocity [N s/m]."""

    @staticmethod
    def nothing(count: int) -> "Pressed":
        """Nothing touches so many nodes."""
        return Pressed(jnp.zeros((count, 3)), jnp.zeros((count, 3, 3)))


def own_contact(law: ContactLaw, nodes: Nodes, neighbours: int, dt, rows: tuple[int, ...]) -> OwnContact:
    """The pairs that may touch with the nodes about here.

    **Arguments:** `dt`: how long the step is [s]; `neighbours`: how many places along an arm two capsules must be
    apart to touch; `rows`: how many nodes each arm has.
    """
    arms = len(rows)
    found = _between_arms(law, shares(nodes, arms), arms, neighbours, dt)
    found = jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), found)
    resisting = on_displacements(found.resisting)
    none = jnp.zeros_like(found.force)
    return OwnContact(NodeForces(found.force, none, jnp.zeros_like(resisting), resisting), nodes.velocity)


def body_contact(
    law: ContactLaw, nodes: Nodes, body: Nodes, apart: int, dt, along: np.ndarray
) -> tuple[OwnContact, OwnContact]:
    """What arms and the ball that carries them do to each other, on the nodes and on the ball.

    Along the line between their centres alone: wet skin slides on wet skin, and no angular momentum is made.

    **Arguments:** `body`: the ball as one node; `apart`: from which of its places on an arm can touch, those before
    being where it is attached; `along`: which place along its arm each node has.
    """
    away = nodes.position - body.position
    distance = jnp.maximum(small.norm(away), _CLEAR)
    normal = away / distance[:, None]
    out = small.dot(nodes.velocity - body.velocity, normal)
    free = (along >= apart).astype(float)
    f, k, c = (free * y for y in law.pressed(body.radius + nodes.radius - distance, out))
    force = f[:, None] * normal
    # As for pairs of capsules: each of the two is held by twice what the pair resists with.
    resisting = (2.0 * (c + dt * k))[:, None, None] * normal[:, :, None] * normal[:, None, :]

    def on(force, resisting, velocity):
        resisting = on_displacements(resisting)
        return OwnContact(NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(resisting), resisting), velocity)

    total = jnp.sum(force, 0, keepdims=True), jnp.sum(resisting, 0, keepdims=True)
    return on(force, resisting, nodes.velocity), on(-total[0], total[1], body.velocity)


def _between_arms(law: ContactLaw, chains: Nodes, arms: int, neighbours: int, dt) -> Pressed:
    """What all arms do to themselves and to each other, with the arm as leading axis; each pair by the same code."""
    first, second = (jnp.asarray(i) for i in np.triu_indices(arms))
    count = chains.radius.shape[1]
    further = np.triu(np.ones((count - 1, count - 1), bool), neighbours)
    at = jnp.arange(arms)

    def add(sums: Pressed, pair):
        i, j = pair
        a, b = (jax.tree.map(lambda y, k=k: jax.lax.dynamic_index_in_dim(y, k, 0, False), chains) for k in (i, j))
        possible = further | (i != j)

        def touching(sums):
            on_a, on_b = _touching(law, a, b, possible, dt)

            def with_both(y, of_a, of_b):
                to = [(at == k).reshape(-1, *(1,) * of_a.ndim) for k in (i, j)]
                return y + jnp.where(to[0], of_a, 0.0) + jnp.where(to[1], of_b, 0.0)

            return jax.tree.map(with_both, sums, on_a, on_b)

        # Most of the time arms are far from each other, and to see that costs a twentieth of the rest.
        return jax.lax.cond(_near(a, b, possible), touching, lambda sums: sums, sums), None

    nothing = jax.vmap(lambda _: Pressed.nothing(count))(at)
    return jax.lax.scan(add, nothing, (first, second))[0]


def _balls(chain: Nodes):
    """Balls that hold the capsules of a chain: their middles and radii."""
    start, end = chain.position[:-1], chain.position[1:]
    wide = jnp.maximum(chain.radius[:-1], chain.radius[1:])
    return 0.5 * (start + end), 0.5 * small.norm(end - start) + wide


def _near(first: Nodes, second: Nodes, possible):
    """Whether any two capsules of two chains may touch: each is within a ball about its middle."""
    (a, a_ball), (b, b_ball) = _balls(first), _balls(second)
    apart = a[:, None] - b[None]
    return jnp.any(possible & (small.dot(apart, apart) < (a_ball[:, None] + b_ball[None]) ** 2))


def _touching(law: ContactLaw, first: Nodes, second: Nodes, possible, dt) -> tuple[Pressed, Pressed]:
    """What the capsules of two chains do to each other, of those pairs that are possible."""
    count = len(first.radius) - 1
    a = [jnp.broadcast_to(y[:, None], (count, count, 3)) for y in (first.position[:-1], first.position[1:])]
    b = [jnp.broadcast_to(y[None], (count, count, 3)) for y in (second.position[:-1], second.position[1:])]
    near = jax.vmap(jax.vmap(closest_points))(jnp.stack([*a, *b], 2))
    (r, dr), (o, do) = ((x.radius[:-1], x.radius[1:] - x.radius[:-1]) for x in (first, second))
    radii = r[:, None] + near.s * dr[:, None] + o[None] + near.t * do[None]
    gap = small.norm(near.separation) - radii
    nearest = jnp.min(jnp.where(possible, gap, 1e9), 1, keepdims=True)
    # By ones and zeros, since what picks by index cannot be part of one machine function, and an arm is short.
    one = (possible & (gap <= nearest)).astype(float)
    # Capsules that meet at a node are often equally near, to the last bit: the first of them counts.
    earlier = jnp.sum(one[:, None, :] * np.tril(np.ones((count, count)), -1)[None], -1)
    one = jnp.where(earlier > 0.0, 0.0, one)

    def chosen(y):
        return jnp.sum(one.reshape(count, count, *(1,) * (y.ndim - 2)) * y, 1)

    s, t, separation = chosen(near.s), chosen(near.t), chosen(near.separation)
    zero = jnp.zeros((count, 1))
    real = jnp.sum(one, 1)

    def at_ends(which, at):
        low, high = which * (1.0 - at)[:, None], which * at[:, None]
        return jnp.concatenate([low, zero], 1) + jnp.concatenate([zero, high], 1)

    weights = at_ends(real[:, None] * jnp.eye(count), s), at_ends(one, t)
    normal = separation / jnp.maximum(small.norm(separation), _CLEAR)[:, None]

    def between(of_first, of_second):
        return small.matmul(weights[0], of_first) - small.matmul(weights[1], of_second)

    apart, velocity = between(first.position, second.position), between(first.velocity, second.velocity)
    out = small.dot(velocity, normal)
    slip = velocity - out[:, None] * normal
    f, k, c = law.pressed(chosen(radii) - small.dot(apart, normal), out)
    g = real * law.friction * f / jnp.sqrt(small.dot(slip, slip) + law.slip_speed**2)
    force = f[:, None] * normal - g[:, None] * slip
    nn = normal[:, :, None] * normal[:, None, :]
    damping = c[:, None, None] * nn + g[:, None, None] * (jnp.eye(3) - nn)
    resisting = (dt * k[:, None, None] * nn + damping).reshape(-1, 9)

    def on_nodes(weight, sign):
        held = small.matmul(2.0 * weight.T, resisting).reshape(-1, 3, 3)
        return Pressed(sign * small.matmul(weight.T, force), held)

    return on_nodes(weights[0], 1.0), on_nodes(weights[1], -1.0)
