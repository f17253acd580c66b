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
