"""Material points of segments: where they are in their segment, and how they move with its coordinates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from hydrostat.bodies import Arm
from hydrostat.lie import SE3, small
from hydrostat.mechanics.model import Places


class Points(NamedTuple):
    """Material points of segments, relative to their segment's base."""

    T: SE3
    J: Float[Array, "*points 6 k"]
    """Body twist per rate of the segment's coordinates."""
    Jv: Float[Array, "*points 6"]
    """The twist J q' of the point."""
    c: Float[Array, "*points 6"]
    """The bias J' q' of the point."""


def points_at(arm: Arm, q, v, fractions: Float[Array, " d"]) -> Points:
    """The material points at the same fractions of every segment (n, d), stored so that they are computed once."""

    def of_segment(segment, q, v):
        return jax.vmap(lambda s: segment.point(q, v, s))(fractions)

    return Points(*jax.vmap(of_segment)(arm.segments, q, v))


def points_of(arm: Arm, q, v, places: Places) -> Points:
    """The material points at some places (m)."""
    if not places.fraction.shape[0]:
        # Nothing to trace.
        none = jnp.zeros((0, 6))
        return Points(SE3(jnp.zeros((0, 3, 3)), jnp.zeros((0, 3))), jnp.zeros((0, 6, q.shape[-1])), none, none)
    segments, q, v = jax.tree.map(lambda y: y[places.segment], (arm.segments, q, v))
    return Points(*jax.vmap(lambda segment, q, v, s: segment.point(q, v, s))(segments, q, v, places.fraction))


def carried_twist(T: SE3, V: Float[Array, "... 6"]) -> Float[Array, "... 6"]:
    """Ad(T^-1) V: the twist V of a base as the twist of the point T that is rigidly joined to it."""
    w, v = V[..., :3], V[..., 3:]
    turned = jnp.swapaxes(T.rotation, -1, -2)
    return jnp.concatenate([small.matvec(turned, w), small.matvec(turned, v + small.cross(w, T.position))], -1)


def gathered_wrench(T: SE3, F: Float[Array, "... 6"]) -> Float[Array, "... 6"]:
    """Ad(T^-1)^T F: a wrench on the point T as the same wrench on its base."""
    force = small.matvec(T.rotation, F[..., 3:])
    return jnp.concatenate([small.matvec(T.rotation, F[..., :3]) + small.cross(T.position, force), force], -1)


def bracket(a: Float[Array, "... 6"], b: Float[Array, "... 6"]) -> Float[Array, "... 6"]:
    """The Lie bracket, ad(a) b."""
    w, v, x, y = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return jnp.concatenate([small.cross(w, x), small.cross(v, x) + small.cross(w, y)], -1)


def gyroscopic(V: Float[Array, "... 6"], P: Float[Array, "... 6"]) -> Float[Array, "... 6"]:
    """-ad(V)^T P: the rate at which the momentum P of a body turns with it."""
    w, v, m, p = V[..., :3], V[..., 3:], P[..., :3], P[..., 3:]
    return jnp.concatenate([small.cross(w, m) + small.cross(v, p), small.cross(w, p)], -1)


def projected(J: Float[Array, "... 6 k"], f: Float[Array, "... 6"]) -> Float[Array, "... k"]:
    """The generalised forces J^T f of a wrench on a point."""
    return small.matvec(jnp.swapaxes(J, -1, -2), f)


def wrench_in_axes(R: Float[Array, "... 3 3"], moment, force) -> Float[Array, "... 6"]:
    """A wrench in the axes R, from one in world axes."""
    turned = jnp.swapaxes(R, -1, -2)
    return jnp.concatenate([small.matvec(turned, moment), small.matvec(turned, force)], -1)


def matrix_in_axes(R: Float[Array, "n 3 3"], S: Float[Array, "n 6 6"]) -> Float[Array, "n 6 6"]:
    """A matrix from twists to wrenches in the axes R, from one in world axes."""
    turned = jnp.swapaxes(R, -1, -2)
    rows = [[small.matmul(turned, small.matmul(S[:, i : i + 3, j : j + 3], R)) for j in (0, 3)] for i in (0, 3)]
    return jnp.concatenate([jnp.concatenate(row, -1) for row in rows], -2)


def membership(count: int, segment: Int[Array, " m"]) -> Float[Array, "m n"]:
    """The indicator of the segment that each place is on, 1 there and 0 on the others."""
    return (segment[:, None] == jnp.arange(count)).astype(float)


def collected(member: Float[Array, "m n"], values: Float[Array, "m *shape"]) -> Float[Array, "n *shape"]:
    """The sum of the places' values over each segment."""
    weights = member.reshape(*member.shape, *(1,) * (values.ndim - 1))
    return jnp.sum(weights * values[:, None], 0)
