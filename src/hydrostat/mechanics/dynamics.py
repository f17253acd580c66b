"""The equations of motion of an arm, in time linear in its segments.

`residual` is the recursive inverse dynamics: base to tip go poses, twists and accelerations, tip to base go wrenches.
`factor` and `solve` are the articulated recursion, the inverse of its derivative with respect to the accelerations.
A node at fraction s of a segment has the twist V = X V_base + J q', X = Ad(T^-1), and the acceleration
A = X A_base + J q'' + J' q' + ad(V) J q'. A free base is one more segment with six coordinates and tangent operator J.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.model import Inputs, Model, Places

# Scans over segments are unrolled by this much: fewer turns of the loop, more to fuse.
_UNROLL = 1
_UNROLL_ALL_UP_TO = 2


class Coordinates(NamedTuple):
    """One value per coordinate: positions, velocities, accelerations or forces of an arm."""

    q: Float[Array, "n k"]
    base: Float[Array, " 6"]
    """Of a free base: twist coordinates from where it was; zeros for a fixed base."""


class Points(NamedTuple):
    """Material points of segments, relative to their segment's base."""

    T: SE3
    X: Float[Array, "*points 6 6"]
    """Ad(T^-1): what a base twist is in the point's frame."""
    J: Float[Array, "*points 6 k"]
    Jv: Float[Array, "*points 6"]
    """J q'."""
    c: Float[Array, "*points 6"]
    """J' q'."""


class Motion(NamedTuple):
    """Where the bases of all segments are and how they move; a tip is appended."""

    T_world: SE3
    V: Float[Array, "n 6"]
    A: Float[Array, "n 6"]


class Factors(NamedTuple):
    """The articulated recursion's factors."""

    X_tip: Float[Array, "n 6 6"]
    J_tip: Float[Array, "n 6 k"]
    U: Float[Array, "n 6 k"]
    Dinv: Float[Array, "n k k"]
    base: Float[Array, "6 6"]
    """Inverse of the articulated inertia that a free base feels; zero for a fixed one."""
    J_base: Float[Array, "6 6"]


def _points_of(segment, q, v, s) -> Points:
    """One material point of one segment."""
    T = segment.pose(q, s)
    J = segment.jacobian(q, s)
    Jv, c = jax.jvp(lambda q: segment.twist(q, v, s), (q,), (v,))
    return Points(T, T.inverse().adjoint(), J, Jv, c)


def _grid(model: Model, q, v) -> Points:
    """The Gauss points of all segments and, last, their tips: arrays (n, g + 1)."""
    fractions = jnp.concatenate([model.fractions, jnp.ones(1)])
    per_point = jax.vmap(_points_of, (None, None, None, 0))
    return jax.vmap(per_point, (0, 0, 0, None))(model.arm.segments, q, v, fractions)


def _at(model: Model, q, v, places: Places) -> Points:
    """Chosen material points, an array of m."""
    segments = jax.tree.map(lambda x: x[places.segment], model.arm.segments)
    return jax.vmap(_points_of)(segments, q[places.segment], v[places.segment], places.fraction)


def _unroll(model: Model) -> int:
    return model.arm.count if model.arm.count <= _UNROLL_ALL_UP_TO else _UNROLL


def _base_motion(model: Model, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs):
    """Pose, twist and acceleration of the arm's base, and how it depends on a free base's coordinates."""
    if not model.free_base:
        return inputs.base_pose, inputs.base_twist, inputs.base_acceleration, jnp.eye(6)
    J = se3.tangent(x.base)
    twist, c = jax.jvp(lambda z: se3.tangent_times(z, v.base), (x.base,), (v.base,))
    return inputs.base_pose @ se3.exp(x.base), twist, small.matvec(J, a.base) + c, J


def _motion(model: Model, tips: Points, a, base) -> Motion:
    """Base to tip: poses, twists and accelerations of the segments' bases, the tip last (n + 1 of each)."""
    T0, V0, A0, _ = base
    Ja = small.matvec(tips.J, a) + tips.c

    def advance(carry, inputs):
        T, V, A = carry
        T_tip, X, Jv, Ja = inputs
        V_new = X @ V + Jv
        A_new = X @ A + Ja + bracket(V_new, Jv)
        return (T @ T_tip, V_new, A_new), (T, V, A)

    last, firsts = jax.lax.scan(advance, (T0, V0, A0), (tips.T, tips.X, tips.Jv, Ja), unroll=_unroll(model))
    return Motion(*jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), firsts, last))


def bracket(a: Float[Array, "*b 6"], b: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """ad(a) b."""
    w, v, x, y = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return jnp.concatenate([small.cross(w, x), small.cross(v, x) + small.cross(w, y)], -1)


def _momentum_bracket(V: Float[Array, "*b 6"], P: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """ad(V)^T P of a momentum P."""
    w, v, m, p = V[..., :3], V[..., 3:], P[..., :3], P[..., 3:]
    return jnp.concatenate([small.cross(m, w) + small.cross(p, v), small.cross(p, w)], -1)


def _node_wrench(inertia, points: Points, a, V_base, A_base, R_world, gravity):
    """The wrench that a body at a node needs for its motion, less its weight; in the node's frame."""
    V = jnp.einsum("...ij,...j->...i", points.X, V_base) + points.Jv
    A = jnp.einsum("...ij,...j->...i", points.X, A_base) + small.matvec(points.J, a) + points.c + bracket(V, points.Jv)
    weight = inertia[..., 3:] * jnp.einsum("...ji,j->...i", R_world, gravity)
    wrench = inertia * A - _momentum_bracket(V, inertia * V)
    return wrench - jnp.concatenate([jnp.zeros_like(weight), weight], -1)


def residual(model: Model, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> Coordinates:
    """What is missing for the accelerations a to be those of the motion: forces needed minus forces there."""
    grid = _grid(model, x.q, v.q)
    tips = jax.tree.map(lambda y: y[:, -1], grid)
    inner = jax.tree.map(lambda y: y[:, :-1], grid)
    base = _base_motion(model, x, v, a, inputs)
    motion = _motion(model, tips, a.q, base)

    # Wrenches at the Gauss points, gathered at their segment's base and on its coordinates.
    R_node = small.matmul(motion.T_world.rotation[:-1, None], inner.T.rotation)
    f = _node_wrench(
        model.inertia, inner, a.q[:, None], motion.V[:-1, None], motion.A[:-1, None], R_node, model.gravity
    )
    at_base = jnp.einsum("ngij,ngi->nj", inner.X, f)
    on_q = jnp.einsum("ngik,ngi->nk", inner.J, f)

    # Lumped masses and loads, wherever they sit.
    if model.lump_inertia.shape[0]:
        i = model.lumps.segment
        points = _at(model, x.q, v.q, model.lumps)
        R = small.matmul(motion.T_world.rotation[i], points.T.rotation)
        f = _node_wrench(model.lump_inertia, points, a.q[i], motion.V[i], motion.A[i], R, model.gravity)
        at_base = at_base.at[i].add(jnp.einsum("mij,mi->mj", points.X, f))
        on_q = on_q.at[i].add(jnp.einsum("mik,mi->mk", points.J, f))
    if model.loads.fraction.shape[0]:
        i = model.loads.segment
        points = _at(model, x.q, v.q, model.loads)
        R = small.matmul(motion.T_world.rotation[i], points.T.rotation)
        dead = jnp.einsum("mji,mcj->mci", R, inputs.force.reshape(-1, 2, 3)).reshape(-1, 6)
        f = -(dead + inputs.follower)
        at_base = at_base.at[i].add(jnp.einsum("mij,mi->mj", points.X, f))
        on_q = on_q.at[i].add(jnp.einsum("mik,mi->mk", points.J, f))

    # Elasticity, viscosity and generalised forces.
    on_q = on_q + model.stiffness * (x.q - model.rest) + model.damping * v.q - inputs.torque

    # Tip to base.
    def gather(F, inputs):
        X, J, f_base, f_q = inputs
        return X.T @ F + f_base, f_q + J.T @ F

    F0, on_q = jax.lax.scan(gather, jnp.zeros(6), (tips.X, tips.J, at_base, on_q), reverse=True, unroll=_unroll(model))
    on_q = jnp.where(model.arm.segments.free, on_q, a.q)

    if model.base_inertia is None:
        return Coordinates(on_q, a.base)
    T0, V0, A0, J = base
    own = Points(SE3.identity(), jnp.eye(6), jnp.zeros((6, 1)), jnp.zeros(6), jnp.zeros(6))
    F0 = F0 + _node_wrench(model.base_inertia, own, jnp.zeros(1), V0, A0, T0.rotation, model.gravity)
    return Coordinates(on_q, J.T @ F0)


def factor(model: Model, x: Coordinates, c_v, c_q) -> Factors:
    """Factor the mass matrix with c_v times damping and c_q times stiffness of the material added to its diagonal."""
    grid = _grid(model, x.q, jnp.zeros_like(x.q))
    tips = jax.tree.map(lambda y: y[:, -1], grid)
    inner = jax.tree.map(lambda y: y[:, :-1], grid)
    W = jnp.concatenate([inner.X, inner.J], -1)
    M = jnp.einsum("ngia,ngi,ngib->nab", W, model.inertia, W)
    if model.lump_inertia.shape[0]:
        points = _at(model, x.q, jnp.zeros_like(x.q), model.lumps)
        W = jnp.concatenate([points.X, points.J], -1)
        M = M.at[model.lumps.segment].add(jnp.einsum("mia,mi,mib->mab", W, model.lump_inertia, W))
    k = model.arm.coordinates
    locked = 1.0 - model.arm.segments.free
    diagonal = c_v * model.damping + c_q * model.stiffness + locked
    M = M.at[:, 6:, 6:].add(diagonal[:, :, None] * jnp.eye(k))
    W_tip = jnp.concatenate([tips.X, tips.J], -1)

    def eliminate(inertia, inputs):
        M, W = inputs
        M = M + W.T @ inertia @ W
        Dinv = small.inverse_positive(M[6:, 6:])
        U = M[:6, 6:]
        return M[:6, :6] - U @ Dinv @ U.T, (U, Dinv)

    inertia, (U, Dinv) = jax.lax.scan(eliminate, jnp.zeros((6, 6)), (M, W_tip), reverse=True, unroll=_unroll(model))
    base, J = jnp.zeros((6, 6)), jnp.eye(6)
    if model.base_inertia is not None:
        J = se3.tangent(x.base)
        base = small.inverse_positive(J.T @ (inertia + jnp.diag(model.base_inertia)) @ J)
    return Factors(tips.X, tips.J, U, Dinv, base, J)


def solve(factors: Factors, force: Coordinates, unroll: int = _UNROLL) -> Coordinates:
    """The accelerations that generalised forces cause, by the factors of `factor`."""
    unroll = factors.X_tip.shape[0] if factors.X_tip.shape[0] <= _UNROLL_ALL_UP_TO else unroll

    def gather(p, inputs):
        X, J, U, Dinv, r = inputs
        u = Dinv @ (r - J.T @ p)
        return X.T @ p + U @ u, u

    inputs = (factors.X_tip, factors.J_tip, factors.U, factors.Dinv, force.q)
    p, u = jax.lax.scan(gather, jnp.zeros(6), inputs, reverse=True, unroll=unroll)
    base = factors.base @ (force.base - factors.J_base.T @ p)

    def spread(A, inputs):
        X, J, U, Dinv, u = inputs
        a = u - Dinv @ (U.T @ A)
        return X @ A + J @ a, a

    inputs = (factors.X_tip, factors.J_tip, factors.U, factors.Dinv, u)
    _, a = jax.lax.scan(spread, factors.J_base @ base, inputs, unroll=unroll)
    return Coordinates(a, base)


def accelerations(model: Model, x: Coordinates, v: Coordinates, inputs: Inputs) -> Coordinates:
    """The accelerations of the motion: forward dynamics in linear time."""
    still = Coordinates(jnp.zeros_like(x.q), jnp.zeros(6))
    lacking = residual(model, x, v, still, inputs)
    return solve(factor(model, x, 0.0, 0.0), jax.tree.map(jnp.negative, lacking))
