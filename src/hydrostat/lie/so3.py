"""Rotations: 3 x 3 matrices and rotation vectors."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.lie._stumpff import stumpff

# Below tan(angle / 4)^2 = 0.02 the logarithm uses its power series: twelve terms leave less than 1e-20.
_LOG_SERIES_BELOW = 0.02
_LOG_SERIES_TERMS = 12
# hat of the unit vectors.
_HATS = np.array([np.cross(np.eye(3)[i], np.eye(3)).T for i in range(3)])


def hat(w: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """The skew matrix of a vector: hat(w) u = w x u."""
    x, y, z = (w[..., i, None, None] * _HATS[i].astype(w.dtype) for i in range(3))
    return x + y + z


def vee(W: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3"]:
    """The vector of a skew matrix, the inverse of `hat`; of any other matrix, that of its skew part."""
    return 0.5 * jnp.stack([W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], -1)


def polynomial(w: Float[Array, "*batch 3"], a, b, c) -> Float[Array, "*batch 3 3"]:
    """The matrix a I + b hat(w) + c hat(w)^2, from which exp and the tangent operators are made.

    With hat(w)^2 = w w^T - |w|^2 I. Sums of constant matrices: putting nine scalars in their places takes a CPU three
    times as long, since it asks of each where it belongs.
    """
    diagonal = a - c * small.dot(w, w)
    skew = hat(jnp.asarray(b)[..., None] * w)
    outer = (jnp.asarray(c)[..., None] * w)[..., :, None] * w[..., None, :]
    return diagonal[..., None, None] * np.eye(3, dtype=w.dtype) + skew + outer


def exp(w: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """The rotation by |w| about w: I + sin t/t hat(w) + (1 - cos t)/t^2 hat(w)^2."""
    _, c1, c2 = stumpff(small.dot(w, w), 2)
    return polynomial(w, 1.0, c1, c2)


def tangent(w: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """The tangent operator T(w) with exp(w)^T d exp(w) = hat(T(w) dw): body angular velocity from the rate of w."""
    _, _, c2, c3 = stumpff(small.dot(w, w), 3)
    return polynomial(w, 1.0, -c2, c3)


def tangent_inverse(w: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """The inverse of `tangent`, for angles below one full turn, where it ends to exist."""
    return polynomial(w, 1.0, 0.5, inverse_coefficient(small.dot(w, w)))


def inverse_coefficient(x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """(1 - t/2 cot(t/2)) / t^2 of x = t^2, without cancellation: (c_3 - 2 c_4) / (2 c_2)."""
    _, _, c2, c3, c4 = stumpff(x, 4)
    return (c3 - 2.0 * c4) / (2.0 * c2)


def log(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3"]:
    """The rotation vector of a rotation, of angle 0 to pi; exact near both ends.

    Through the unit quaternion, whose largest component is found first (Shepperd 1978), and then
    angle = 4 atan(tan(angle / 4)), which is well conditioned up to half a turn.
    """
    quaternion = to_quaternion(R)
    w, xyz = quaternion[..., :1], quaternion[..., 1:]
    quarter = jnp.sum(xyz * xyz, -1, keepdims=True) / (1.0 + w) ** 2
    return 4.0 * _arctan_ratio(quarter) / (1.0 + w) * xyz


def to_quaternion(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 4"]:
    """The unit quaternion (w, x, y, z) with w >= 0 of a rotation."""
    diagonal = jnp.stack([R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], -1)
    trace = jnp.sum(diagonal, -1, keepdims=True)
    # Four times each squared component; the largest is at least 1.
    squares = jnp.concatenate([1.0 + trace, 1.0 + 2.0 * diagonal - trace], -1)
    largest = jnp.argmax(squares, -1, keepdims=True)

    yz, xz, xy = (R[..., 2, 1], R[..., 1, 2]), (R[..., 0, 2], R[..., 2, 0]), (R[..., 1, 0], R[..., 0, 1])
    wx, wy, wz = yz[0] - yz[1], xz[0] - xz[1], xy[0] - xy[1]
    sx, sy, sz = yz[0] + yz[1], xz[0] + xz[1], xy[0] + xy[1]
    ww, xx, yy, zz = (squares[..., i] for i in range(4))
    # Row k is four times component k times the quaternion.
    rows = jnp.stack(
        [
            jnp.stack([ww, wx, wy, wz], -1),
            jnp.stack([wx, xx, sz, sy], -1),
            jnp.stack([wy, sz, yy, sx], -1),
            jnp.stack([wz, sy, sx, zz], -1),
        ],
        -2,
    )
    row = jnp.take_along_axis(rows, largest[..., None], -2)[..., 0, :]
    scale = jnp.take_along_axis(squares, largest, -1)
    quaternion = row / (2.0 * jnp.sqrt(scale))
    return jnp.where(quaternion[..., :1] < 0.0, -quaternion, quaternion)


def _arctan_ratio(s2: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """atan(s) / s as a function of s^2, smooth at zero."""
    # As in `stumpff`, both branches hold on either side of the switch.
    near = s2 < _LOG_SERIES_BELOW
    low, high = 0.5 * _LOG_SERIES_BELOW, 1.5 * _LOG_SERIES_BELOW
    s2_near, s2_far = jnp.where(s2 < high, s2, high), jnp.where(s2 > low, s2, low)
    series = jnp.zeros_like(s2)
    for j in range(_LOG_SERIES_TERMS, -1, -1):
        series = 1.0 / (2 * j + 1) - s2_near * series
    s = jnp.sqrt(s2_far)
    return jnp.where(near, series, jnp.arctan(s) / s)
