"""Contact of an arm with itself, with what may touch within a step worked out once for it.

A capsule joins two consecutive nodes. Once a step every capsule chooses the nearest of those further along the arm, and
where on both they touch. Forces come in pairs, so no momentum is made.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes, on_displacements
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.pairs import closest_points

_CLEAR = 1e-9  # m, below which two points have no direction from one to the other


class OwnContact(AbstractSurroundings):
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

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, at the axis: what friction turns is left out."""
        resisting = small.matvec(self.expected.damping[:, 3:, 3:], nodes.velocity - self.velocity)
        return self.expected._replace(force=self.expected.force - resisting)


def _on_nodes(size: Float[Array, "p n"], matrices: Float[Array, "p 3 3"]) -> Float[Array, "n 6 6"]:
    """The sums over the pairs of each node, as matrices that act on displacements only."""
    return on_displacements(small.matmul(size.T, matrices.reshape(-1, 9)).reshape(-1, 3, 3))


def own_contact(law: ContactLaw, nodes: Nodes, neighbours: int, dt) -> OwnContact:
    """The pairs that may touch with the nodes about here.

    **Arguments:** `dt`: how long the step is [s]; `neighbours`: how many places along the arm two capsules must be
    apart to touch.
    """
    count = len(nodes.radius)
    vector, matrix = jnp.zeros((count, 3)), jnp.zeros((count, 6, 6))
    nothing = NodeForces(vector, vector, matrix, matrix)
    # Most of the time an arm is far from itself, and to see that costs a twentieth of the rest.
    found = jax.lax.cond(
        _near(nodes, neighbours), lambda nodes: _touching(law, nodes, neighbours, dt), lambda _: nothing, nodes
    )
    return OwnContact(found, nodes.velocity)


def _near(nodes: Nodes, neighbours: int):
    """Whether any two capsules may touch: each is within a ball about its middle."""
    start, end = nodes.position[:-1], nodes.position[1:]
    middle, ball = 0.5 * (start + end), 0.5 * small.norm(end - start)
    ball = ball + jnp.maximum(nodes.radius[:-1], nodes.radius[1:])
    apart = middle[:, None] - middle[None]
    possible = np.triu(np.ones((len(middle), len(middle)), bool), neighbours)
    return jnp.any(possible & (small.dot(apart, apart) < (ball[:, None] + ball[None]) ** 2))


def _touching(law: ContactLaw, nodes: Nodes, neighbours: int, dt) -> NodeForces:
    """The forces of all pairs, with what resists them."""
    count = len(nodes.radius) - 1
    start, end = nodes.position[:-1], nodes.position[1:]
    first = [jnp.broadcast_to(y[:, None], (count, count, 3)) for y in (start, end)]
    second = [jnp.broadcast_to(y[None], (count, count, 3)) for y in (start, end)]
    near = jax.vmap(jax.vmap(closest_points))(jnp.stack([*first, *second], 2))
    r, dr = nodes.radius[:-1], nodes.radius[1:] - nodes.radius[:-1]
    radii = r[:, None] + near.s * dr[:, None] + r[None] + near.t * dr[None]
    gap = small.norm(near.separation) - radii
    i, j = np.arange(count)[:, None], np.arange(count)[None]
    possible = j >= i + neighbours
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
    eye = jnp.eye(count)

    def ends(which, at):
        low, high = which * (1.0 - at)[:, None], which * at[:, None]
        return jnp.concatenate([low, zero], 1) + jnp.concatenate([zero, high], 1)

    weights = ends(real[:, None] * eye, s) - ends(one, t)
    normal = separation / jnp.maximum(small.norm(separation), _CLEAR)[:, None]
    apart, velocity = small.matmul(weights, nodes.position), small.matmul(weights, nodes.velocity)
    out = small.dot(velocity, normal)
    slip = velocity - out[:, None] * normal
    f, k, c = law.pressed(chosen(radii) - small.dot(apart, normal), out)
    g = real * law.friction * f / jnp.sqrt(small.dot(slip, slip) + law.slip_speed**2)
    force = small.matmul(weights.T, f[:, None] * normal - g[:, None] * slip)
    size = 2.0 * jnp.abs(weights)
    nn = normal[:, :, None] * normal[:, None, :]
    damping = c[:, None, None] * nn + g[:, None, None] * (jnp.eye(3) - nn)
    resisting = _on_nodes(size, dt * k[:, None, None] * nn + damping)
    return NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(resisting), resisting)
