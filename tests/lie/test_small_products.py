"""Products and solves of tiny matrices against NumPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.lie import small

EPS = np.finfo(float).eps


@pytest.mark.parametrize("left, right", [((), ()), ((4,), (4,)), ((2, 3), (2, 3)), ((2, 1), (3,)), ((), (5,))])
def test_products(left, right):
    random = np.random.default_rng(0)
    A, B = random.normal(size=(*left, 6, 3)), random.normal(size=(*right, 3, 2))
    x, y = random.normal(size=(*left, 3)), random.normal(size=(*right, 3))
    matmul, matvec, dot = jax.jit(lambda A, B, x, y: (small.matmul(A, B), small.matvec(A, y), small.dot(x, y)))(
        *(jnp.asarray(a) for a in (A, B, x, y))
    )
    # Sums of three products of numbers below about 4.
    np.testing.assert_allclose(matmul, A @ B, atol=3 * 16 * EPS)
    np.testing.assert_allclose(matvec, (A @ y[..., None])[..., 0], atol=3 * 16 * EPS)
    np.testing.assert_allclose(dot, np.sum(x * y, -1), atol=3 * 16 * EPS)


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_positive_systems(size):
    random = np.random.default_rng(size)
    factor = random.normal(size=(2, 5, size, size))
    A = factor @ np.swapaxes(factor, -1, -2) + 0.1 * np.eye(size)
    b = random.normal(size=(2, 5, size))
    x, inverse = jax.jit(lambda A, b: (small.solve_positive(A, b), small.inverse_positive(A)))(
        jnp.asarray(A), jnp.asarray(b)
    )
    # Elimination of a positive matrix is backward stable: the relative error is the condition number times a few
    # size eps, and |b| is below 4.
    condition = np.linalg.cond(A)[..., None]
    bound = 8 * size * EPS * condition
    scale = np.linalg.norm(np.linalg.inv(A), 2, axis=(-2, -1))[..., None]
    assert np.all(np.abs(x - np.linalg.solve(A, b[..., None])[..., 0]) <= bound * scale * 4)
    assert np.all(np.abs(inverse - np.linalg.inv(A)) <= (bound * scale)[..., None])
