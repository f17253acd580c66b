"""Products of tiny vectors and matrices, as sums over an axis: a library call costs more than the arithmetic."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

_LEVI_CIVITA = np.cross(np.eye(3)[:, None], np.eye(3)).transpose(2, 0, 1)
"""e_ijk: the i-th component of the vector product of axes j and k."""


def _product_rule(product: Callable, primals, tangents) -> Array:
    """The derivative of a product, by the product written as a sum over an axis."""
    (a, b), (da, db) = primals, tangents
    zero = jax.custom_derivatives.SymbolicZero
    terms = [] if isinstance(da, zero) else [product(da, b)]
    terms += [] if isinstance(db, zero) else [product(a, db)]
    return sum(terms[1:], start=terms[0])


def dot(a: Float[Array, "*batch j"], b: Float[Array, "*batch j"]) -> Float[Array, "*batch"]:
    """The scalar product of short vectors."""
    return jnp.sum(a * b, -1)


def matvec(a: Float[Array, "*batch i j"], x: Float[Array, "*batch j"]) -> Float[Array, "*batch i"]:
    """The product of a small matrix and a vector."""
    return jnp.sum(a * x[..., None, :], -1)


def matmul(a: Float[Array, "*batch i j"], b: Float[Array, "*batch j k"]) -> Float[Array, "*batch i k"]:
    """The product of two small matrices."""
    return jnp.sum(a[..., :, :, None] * b[..., None, :, :], -2)


def norm(x: Float[Array, "*batch j"]) -> Float[Array, "*batch"]:
    """The length of a short vector; its derivative at zero is zero, not NaN."""
    square = dot(x, x)
    zero = square == 0.0
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))


def symmetric(A: Float[Array, "*batch j j"]) -> Float[Array, "*batch j j"]:
    """A matrix that is symmetric but for rounding, made so: what is below its diagonal is what is above it.

    It says to a compiler that half of the entries need not be computed.
    """
    upper = np.triu(np.ones(A.shape[-2:], bool))
    return jnp.where(upper, A, jnp.swapaxes(A, -1, -2))


def solve_positive(A: Float[Array, "*batch j j"], b: Float[Array, "*batch j"]) -> Float[Array, "*batch j"]:
    """The solution of A x = b for a small symmetric positive definite matrix, by an unrolled L D L^T."""
    size = A.shape[-1]
    L: list[list] = [[None] * size for _ in range(size)]
    D: list = []
    for i in range(size):
        for j in range(i):
            known = sum((L[i][k] * L[j][k] * D[k] for k in range(j)), start=jnp.zeros_like(b[..., 0]))
            L[i][j] = (A[..., i, j] - known) / D[j]
        D.append(A[..., i, i] - sum((L[i][k] ** 2 * D[k] for k in range(i)), start=jnp.zeros_like(b[..., 0])))
    y: list = []
    for i in range(size):
        y.append(b[..., i] - sum((L[i][k] * y[k] for k in range(i)), start=jnp.zeros_like(b[..., 0])))
    x: list = [None] * size
    for i in reversed(range(size)):
        x[i] = y[i] / D[i] - sum((L[k][i] * x[k] for k in range(i + 1, size)), start=jnp.zeros_like(b[..., 0]))
    return jnp.stack(x, -1)


def inverse_positive(A: Float[Array, "*batch j j"], mended: bool = True) -> Float[Array, "*batch j j"]:
    """The inverse of a symmetric positive definite matrix of at most six rows.

    Scaled to a unit diagonal, then two blocks of at most three rows, each inverted by its cofactors: some dozen
    operations, none of them in a loop. One Newton step mends what the cofactors lose; it is half of the cost.
    """
    scale = 1.0 / jnp.sqrt(jnp.diagonal(A, axis1=-2, axis2=-1))
    outer = scale[..., :, None] * scale[..., None, :]
    unit = A * outer
    inverse = _inverse_blocks(unit)
    if mended:
        inverse = 2.0 * inverse - matmul(inverse, matmul(unit, inverse))
    return 0.5 * (inverse + jnp.swapaxes(inverse, -1, -2)) * outer


def _inverse_blocks(A: Float[Array, "*batch j j"]) -> Float[Array, "*batch j j"]:
    """The inverse by two blocks of at most three rows."""
    size = A.shape[-1]
    if size <= 3:
        return _inverse_three(A)
    a, b, d = A[..., :3, :3], A[..., :3, 3:], A[..., 3:, 3:]
    a_inverse = _inverse_three(a)
    t = matmul(a_inverse, b)
    s_inverse = _inverse_three(d - matmul(jnp.swapaxes(b, -1, -2), t))
    corner = -matmul(t, s_inverse)
    top = jnp.concatenate([a_inverse - matmul(corner, jnp.swapaxes(t, -1, -2)), corner], -1)
    return jnp.concatenate([top, jnp.concatenate([jnp.swapaxes(corner, -1, -2), s_inverse], -1)], -2)


def _inverse_three(A: Float[Array, "*batch j j"]) -> Float[Array, "*batch j j"]:
    """The inverse of a matrix of at most three rows, by cofactors."""
    size = A.shape[-1]
    if size == 1:
        return 1.0 / A
    if size == 2:
        a, b, c, d = A[..., 0, 0], A[..., 0, 1], A[..., 1, 0], A[..., 1, 1]
        adjugate = jnp.stack([jnp.stack([d, -b], -1), jnp.stack([-c, a], -1)], -2)
        return adjugate / (a * d - b * c)[..., None, None]
    x, y, z = A[..., 0, :], A[..., 1, :], A[..., 2, :]
    columns = jnp.stack([cross(y, z), cross(z, x), cross(x, y)], -1)
    return columns / dot(x, columns[..., 0])[..., None, None]


@jax.custom_jvp
def cross(a: Float[Array, "*batch 3"], b: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """The vector product."""
    (a0, a1, a2), (b0, b1, b2) = ([x[..., i] for i in range(3)] for x in (a, b))
    return jnp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)


@partial(cross.defjvp, symbolic_zeros=True)
def _cross_jvp(primals, tangents):
    def product(a, b):
        return jnp.sum(a[..., None, :, None] * b[..., None, None, :] * _LEVI_CIVITA, (-2, -1))

    return cross(*primals), _product_rule(product, primals, tangents)


def inverse_by_elimination(A: Float[Array, "j j"]) -> Float[Array, "j j"]:
    """The inverse of a symmetric positive definite matrix of any size, without a library call: Gauss and Jordan."""

    def eliminate(i, work):
        row = work[i] / work[i, i]
        others = work - work[:, i, None] * row
        return jnp.where(jnp.arange(len(work))[:, None] == i, row, others)

    size = A.shape[-1]
    work = jax.lax.fori_loop(0, size, eliminate, jnp.concatenate([A, jnp.eye(size, dtype=A.dtype)], -1))
    return work[:, size:]
