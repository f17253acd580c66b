"""Rigid motions. Twists and wrenches are (angular, linear), in the body frame unless a name says otherwise."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small, so3
from hydrostat.lie._stumpff import stumpff


class SE3(eqx.Module):
    """A pose, or a stack of poses: `T_world_tip = T_world_base @ T_base_tip`.

    Rotation and position are kept apart; the 4 x 4 matrix exists only where somebody asks for it.
    """

    rotation: Float[Array, "*batch 3 3"]
    position: Float[Array, "*batch 3"]

    @staticmethod
    def identity(batch: tuple[int, ...] = ()) -> "SE3":
        """The motion that moves nothing, or a stack of them."""
        return SE3(jnp.broadcast_to(jnp.eye(3), (*batch, 3, 3)), jnp.zeros((*batch, 3)))

    @staticmethod
    def from_matrix(matrix: Float[Array, "*batch 4 4"]) -> "SE3":
        """The pose of a homogeneous matrix."""
        return SE3(matrix[..., :3, :3], matrix[..., :3, 3])

    def as_matrix(self) -> Float[Array, "*batch 4 4"]:
        """The homogeneous matrix."""
        upper = jnp.concatenate([self.rotation, self.position[..., None]], -1)
        lower = jnp.broadcast_to(jnp.array([0.0, 0.0, 0.0, 1.0], upper.dtype), (*upper.shape[:-2], 1, 4))
        return jnp.concatenate([upper, lower], -2)

    def __matmul__(self, other: "SE3") -> "SE3":
        return SE3(small.matmul(self.rotation, other.rotation), self.apply(other.position))

    def __getitem__(self, index) -> "SE3":
        """One pose of a stack, or a slice of it."""
        return SE3(self.rotation[index], self.position[index])

    def apply(self, point: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
        """The outer frame's coordinates of a point that is known in this pose's own frame."""
        return small.matvec(self.rotation, point) + self.position

    def inverse(self) -> "SE3":
        """The motion back."""
        transposed = jnp.swapaxes(self.rotation, -1, -2)
        return SE3(transposed, -small.matvec(transposed, self.position))

    def adjoint(self) -> Float[Array, "*batch 6 6"]:
        """The matrix Ad(T) that carries a twist from this pose's own frame to the outer frame."""
        zero = jnp.zeros_like(self.rotation)
        lower = small.matmul(so3.hat(self.position), self.rotation)
        return _blocks(self.rotation, zero, lower, self.rotation)

    def log(self) -> Float[Array, "*batch 6"]:
        """The twist whose `exp` this pose is, with an angle of at most pi."""
        w = so3.log(self.rotation)
        left_inverse = so3.polynomial(w, 1.0, -0.5, so3.inverse_coefficient(small.dot(w, w)))
        return jnp.concatenate([w, small.matvec(left_inverse, self.position)], -1)


def exp(twist: Float[Array, "*batch 6"]) -> SE3:
    """The motion that a constant body twist makes in unit time."""
    w, v = twist[..., :3], twist[..., 3:]
    _, c1, c2, c3 = stumpff(small.dot(w, w), 3)
    return SE3(so3.polynomial(w, 1.0, c1, c2), small.matvec(so3.polynomial(w, 1.0, c2, c3), v))


def ad(twist: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6 6"]:
    """The matrix of the Lie bracket: ad(a) b = [a, b]. Wrenches follow its transpose."""
    w, v = so3.hat(twist[..., :3]), so3.hat(twist[..., 3:])
    return _blocks(w, jnp.zeros_like(w), v, w)


def tangent(twist: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6 6"]:
    """The tangent operator: the body twist that exp(twist) has when `twist` changes is tangent(twist) d twist.

    SE(3) is SO(3) over the dual numbers, so the coupling block is the derivative of SO(3)'s operator along the
    linear part; with c_k' = (k c_(k+2) - c_(k+1)) / 2 it closes in Stumpff functions.
    """
    return _tangent(twist, stumpff(small.dot(twist[..., :3], twist[..., :3]), 5))


def _tangent(twist: Float[Array, "*batch 6"], c) -> Float[Array, "*batch 6 6"]:
    """`tangent`, from the Stumpff functions c_0 to c_5."""
    w, v = twist[..., :3], twist[..., 3:]
    _, _, c2, c3, c4, c5 = c
    wv = small.dot(w, v)
    block = so3.polynomial(w, 1.0, -c2, c3)
    # hat(w) hat(v) + hat(v) hat(w) = w v^T + v w^T - 2 (w.v) I
    outer = w[..., :, None] * v[..., None, :]
    symmetric = outer + jnp.swapaxes(outer, -1, -2) - 2.0 * wv[..., None, None] * jnp.eye(3, dtype=twist.dtype)
    coupling = (
        c3[..., None, None] * symmetric
        - c2[..., None, None] * so3.hat(v)
        + so3.polynomial(w, 0.0, wv * (c3 - 2.0 * c4), wv * (3.0 * c5 - c4))
    )
    return _blocks(block, jnp.zeros_like(block), coupling, block)


def tangent_times(twist: Float[Array, "*batch 6"], rate: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6"]:
    """tangent(twist) rate by vector products, without the matrix: the body twist that a rate of the twist makes."""
    w, v, x, y = twist[..., :3], twist[..., 3:], rate[..., :3], rate[..., 3:]
    _, _, c2, c3, c4, c5 = (c[..., None] for c in stumpff(small.dot(w, w), 5))
    wv = small.dot(w, v)[..., None]
    wx = small.cross(w, x)
    wwx = small.cross(w, wx)
    angular = x - c2 * wx + c3 * wwx
    wy, vx = small.cross(w, y), small.cross(v, x)
    coupling = (
        c3 * (small.cross(w, vx) + small.cross(v, wx)) - c2 * vx + wv * ((c3 - 2.0 * c4) * wx + (3.0 * c5 - c4) * wwx)
    )
    linear = y - c2 * wy + c3 * small.cross(w, wy)
    return jnp.concatenate([angular, coupling + linear], -1)


def motion(twist: Float[Array, " 6"], rate: Float[Array, " 6"]):
    """exp(twist), tangent(twist), tangent(twist) rate, and how fast that changes while the twist does at the same rate.

    All from one set of Stumpff functions. With (w, v) the twist, (x, y) its rate, g = w.x, and a dot for the change:
    (w x x)' = 0, (w x y + v x x)' = 0, c_2' = -g e_1 and c_3' = g e_2 with e_1 = c_3 - 2 c_4 and e_2 = 3 c_5 - c_4.
    """
    w, v, x, y = twist[:3], twist[3:], rate[:3], rate[3:]
    c = stumpff(small.dot(w, w), 7)
    _, c1, c2, c3, c4, c5, c6, c7 = c
    g, wv = small.dot(w, x), small.dot(w, v)
    e1, e2 = c3 - 2.0 * c4, 3.0 * c5 - c4
    wx, u = small.cross(w, x), small.cross(w, y) + small.cross(v, x)
    wwx, xwx = small.cross(w, wx), small.cross(x, wx)
    turn, outer = e1 * wx + e2 * wwx, small.cross(w, u) + small.cross(v, wx)
    angular = x - c2 * wx + c3 * wwx
    linear = y - c2 * u + c3 * outer + wv * turn
    angular_rate = g * turn + c3 * xwx
    linear_rate = (
        g * (e1 * u + e2 * outer)
        + c3 * (small.cross(x, u) + small.cross(y, wx))
        + (small.dot(x, v) + small.dot(w, y)) * turn
        + wv * (g * ((5.0 * c5 - c4 - 8.0 * c6) * wx + (15.0 * c7 - 7.0 * c6 + c5) * wwx) + e2 * xwx)
    )
    wv_cross = small.cross(w, v)
    position = v + c2 * wv_cross + c3 * small.cross(w, wv_cross)
    return (
        SE3(so3.polynomial(w, 1.0, c1, c2), position),
        _tangent(twist, c[:6]),
        jnp.concatenate([angular, linear]),
        jnp.concatenate([angular_rate, linear_rate]),
    )


def tangent_inverse(twist: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6 6"]:
    """The inverse of `tangent`, for angles below one full turn."""
    forward = tangent(twist)
    inverse = so3.tangent_inverse(twist[..., :3])
    coupling = -small.matmul(small.matmul(inverse, forward[..., 3:, :3]), inverse)
    return _blocks(inverse, jnp.zeros_like(inverse), coupling, inverse)


def _blocks(a, b, c, d) -> Float[Array, "*batch 6 6"]:
    """The 6 x 6 matrix [[a, b], [c, d]]."""
    return jnp.concatenate([jnp.concatenate([a, b], -1), jnp.concatenate([c, d], -1)], -2)
