"""Kinematics of an arm: poses of its segments, and their Jacobians.

Everything is written for one arm; `jax.vmap` makes the batch.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.lie import SE3, small

# Chains up to this long are unrolled, so that a batch of them compiles to one fused loop over the batch.
_UNROLL_UP_TO = 8
# Shapes of a large batch that are worked on together: their intermediate results fit the cache.
_PIECE = 1024


def segment_poses(arm: Arm, q: Float[Array, "n k"]) -> SE3:
    """The world poses of the base and of the end of every segment, n + 1 of them."""
    T_base_end = jax.vmap(lambda segment, q: segment.pose(q, 1.0))(arm.segments, q)

    def advance(T_world_base, T_base_end):
        T_world_end = T_world_base @ T_base_end
        return T_world_end, T_world_end

    unroll = arm.count if arm.count <= _UNROLL_UP_TO else 4
    _, ends = jax.lax.scan(advance, arm.T_world_base, T_base_end, unroll=unroll)
    return jax.tree.map(lambda base, ends: jnp.concatenate([base[None], ends]), arm.T_world_base, ends)


def tip_pose(arm: Arm, q: Float[Array, "n k"]) -> SE3:
    """The world pose of the arm's tip."""
    T_base_end = jax.vmap(lambda segment, q: segment.pose(q, 1.0))(arm.segments, q)

    def advance(T_world_base, T_base_end):
        return T_world_base @ T_base_end, None

    unroll = arm.count if arm.count <= _UNROLL_UP_TO else 4
    T_world_tip, _ = jax.lax.scan(advance, arm.T_world_base, T_base_end, unroll=unroll)
    return T_world_tip


def tip_poses(arm: Arm, q: Float[Array, "batch n k"]) -> SE3:
    """The world poses of the tips of a large batch of shapes, a cache-sized piece at a time.

    The same as `jax.vmap(tip_pose)`, and several times faster on a CPU from some ten thousand shapes on.
    """
    return jax.lax.map(lambda q: tip_pose(arm, q), q, batch_size=_PIECE)


def node_poses(arm: Arm, q: Float[Array, "n k"], fractions: Float[Array, " g"]) -> SE3:
    """The world poses of the material points at these fractions of every segment, as a stack (n, g)."""
    T_world_base = segment_poses(arm, q)[:-1]

    def of_segment(segment, q, T_world_base):
        return jax.vmap(lambda s: T_world_base @ segment.pose(q, s))(fractions)

    return jax.vmap(of_segment)(arm.segments, q, T_world_base)


def centreline(arm: Arm, q: Float[Array, "n k"], points_per_segment: int = 16) -> SE3:
    """World poses along the whole arm, base first, evenly spaced in each segment: a stack of n g + 1."""
    fractions = jnp.linspace(0.0, 1.0, points_per_segment + 1)[1:]
    nodes = node_poses(arm, q, fractions)
    return jax.tree.map(
        lambda base, nodes: jnp.concatenate([base[None], nodes.reshape(-1, *nodes.shape[2:])]),
        arm.T_world_base,
        nodes,
    )


def pose_at(arm: Arm, q: Float[Array, "n k"], distance: Float[Array, ""], ends: SE3 | None = None) -> SE3:
    """The world pose of the material point at a distance along the rest arm [m]; beyond the tip its arc goes on.

    **Arguments:** `ends`: what `segment_poses` gave, where it is known already.
    """
    T_world_base = segment_poses(arm, q) if ends is None else ends
    marks = jnp.cumsum(arm.segments.length)
    index = jnp.clip(jnp.searchsorted(marks, distance, side="left"), 0, arm.count - 1)
    segment = jax.tree.map(lambda x: x[index], arm.segments)
    fraction = 1.0 + (distance - marks[index]) / segment.length
    return T_world_base[index] @ segment.pose(q[index], fraction)


def body_jacobians(arm: Arm, q: Float[Array, "n k"]) -> Float[Array, "n 6 n k"]:
    """The body Jacobians of all segment ends: entry [i, :, j, :] is the twist of end i per rate of segment j.

    The child's Jacobian is the parent's, carried along by Ad(T^-1), with the segment's own block added.
    """
    T_base_end = jax.vmap(lambda segment, q: segment.pose(q, 1.0))(arm.segments, q)
    J_own = jax.vmap(lambda segment, q: segment.jacobian(q, 1.0))(arm.segments, q)

    def advance(J_parent, inputs):
        T_base_end, J_own, index = inputs
        J = jnp.einsum("ab,bjk->ajk", T_base_end.inverse().adjoint(), J_parent)
        J = J.at[:, index, :].set(J_own)
        return J, J

    start = jnp.zeros((6, arm.count, arm.coordinates))
    _, J = jax.lax.scan(advance, start, (T_base_end, J_own, jnp.arange(arm.count)))
    return J


def tip_body_jacobian(arm: Arm, q: Float[Array, "n k"]) -> Float[Array, "6 n k"]:
    """The body Jacobian of the tip: its twist, in its own frame, per rate of every coordinate."""
    T_world_end = segment_poses(arm, q)
    T_world_tip = T_world_end[-1]
    J_own = jax.vmap(lambda segment, q: segment.jacobian(q, 1.0))(arm.segments, q)
    T_tip_end = jax.vmap(lambda T_world_end: T_world_tip.inverse() @ T_world_end)(T_world_end[1:])
    return jnp.moveaxis(small.matmul(T_tip_end.adjoint(), J_own), 0, 1)


def to_world(T_world_node: SE3, J_body: Float[Array, "6 *columns"]) -> Float[Array, "6 *columns"]:
    """A Jacobian whose rows are the node's angular and linear velocity in world axes, from the body Jacobian."""
    angular = jnp.tensordot(T_world_node.rotation, J_body[:3], 1)
    linear = jnp.tensordot(T_world_node.rotation, J_body[3:], 1)
    return jnp.concatenate([angular, linear])


def tip_world_jacobian(arm: Arm, q: Float[Array, "n k"]) -> Float[Array, "6 n k"]:
    """The tip's angular velocity and the velocity of its point, both in world axes, per rate of every coordinate."""
    return to_world(tip_pose(arm, q), tip_body_jacobian(arm, q))
