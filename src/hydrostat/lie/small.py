"""Products of tiny vectors and matrices, written so that XLA fuses them on a CPU.

A library call, or a reduction over an axis of three, costs more than the arithmetic: the contraction is unrolled.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def dot(a: Float[Array, "*batch j"], b: Float[Array, "*batch j"]) -> Float[Array, "*batch"]:
    """The scalar product of short vectors."""
    return sum((a[..., j] * b[..., j] for j in range(1, a.shape[-1])), start=a[..., 0] * b[..., 0])


def matvec(a: Float[Array, "*batch i j"], x: Float[Array, "*batch j"]) -> Float[Array, "*batch i"]:
    """The product of a small matrix and a vector."""
    terms = [a[..., :, j] * x[..., j, None] for j in range(a.shape[-1])]
    return sum(terms[1:], start=terms[0])


def matmul(a: Float[Array, "*batch i j"], b: Float[Array, "*batch j k"]) -> Float[Array, "*batch i k"]:
    """The product of two small matrices, as a sum of outer products."""
    terms = [a[..., :, j, None] * b[..., j, None, :] for j in range(a.shape[-1])]
    return sum(terms[1:], start=terms[0])


def norm(x: Float[Array, "*batch j"]) -> Float[Array, "*batch"]:
    """The length of a short vector; its derivative at zero is zero, not NaN."""
    square = dot(x, x)
    zero = square == 0.0
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))


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


def inverse_positive(A: Float[Array, "*batch j j"]) -> Float[Array, "*batch j j"]:
    """The inverse of a small symmetric positive definite matrix, unrolled."""
    columns = [solve_positive(A, jnp.broadcast_to(e, A.shape[:-1])) for e in jnp.eye(A.shape[-1], dtype=A.dtype)]
    return jnp.stack(columns, -1)
