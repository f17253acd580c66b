"""The Stumpff functions against their own series, summed exactly with fractions."""

from fractions import Fraction
from math import factorial, nextafter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.lie import stumpff

ORDER = 5
# Zero, tiny, both sides of the switch at x = 1, up to beyond one full turn (x = 4 pi^2 = 39.5).
SQUARES = [0.0, 1e-24, 1e-18, 1e-12, 1e-6, 0.01, 0.25, 0.81, nextafter(1, 0), 1.0, nextafter(1, 2), 1.21]
SQUARES += [4.0, 9.0, 36.0, 49.0]


def exact(x: float, k: int, derivative: int) -> float:
    """The derivative of c_k at x, from sum_j (-x)^j / (2j + k)! in fractions; 60 terms leave < 1e-80."""
    total = Fraction(0)
    for j in range(derivative, 60 + derivative):
        falling = Fraction(factorial(j), factorial(j - derivative))
        total += (-1) ** j * falling * Fraction(x) ** (j - derivative) / factorial(2 * j + k)
    return float(total)


@pytest.fixture(scope="module")
def evaluate():
    """The functions with their first and second derivatives, [derivative, k, point]."""

    def value(x):
        return jnp.stack(stumpff(x, ORDER))

    def at(x):
        return jnp.stack([value(x), jax.jacfwd(value)(x), jax.jacfwd(jax.jacrev(value))(x)])

    return jax.jit(lambda xs: jnp.moveaxis(jax.vmap(at)(xs), 0, -1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_derivatives(evaluate, dtype):
    squares = np.array(SQUARES, dtype)
    result = evaluate(jnp.asarray(squares))
    assert result.dtype == dtype
    truth = np.array([[[exact(float(x), k, d) for x in squares] for k in range(ORDER + 1)] for d in range(3)])
    # Below 1 the series keeps every c_k to a few units of its last place, and c_k <= 1. Above 1 each step of the
    # recursion divides an absolute error by x > 1; sine and cosine start it with eps (1 + t / 2), from the rounded
    # root. A derivative with respect to x differentiates each quotient once more: a few terms of the same size.
    eps = np.finfo(dtype).eps
    bound = eps * (1 + np.sqrt(squares)) * np.array([3, 8, 24])[:, None, None]
    assert np.all(np.abs(np.asarray(result, float) - truth) <= bound)


@pytest.mark.parametrize("k", range(ORDER - 1))
def test_small_arguments_keep_relative_accuracy(evaluate, k):
    # What a cancelling formula such as (t - sin t) / t^3 would lose.
    squares = np.array([x for x in SQUARES if x < 1] + [0.0] * sum(x >= 1 for x in SQUARES))
    values = np.asarray(evaluate(jnp.asarray(squares)))[0, k]
    np.testing.assert_allclose(values, [exact(x, k, 0) for x in squares], rtol=4 * np.finfo(float).eps)


def test_recursion_and_derivative_identity(evaluate):
    # Both sides of the switch at 1, and turn after turn.
    x = np.concatenate([np.linspace(0, 2, 2001), np.geomspace(1e-12, 200, 2000)])
    c, slope, _ = np.asarray(evaluate(jnp.asarray(x)))
    eps = np.finfo(float).eps
    for k in range(ORDER - 1):
        # c_k = 1/k! - x c_(k+2): one product and one difference of numbers of size at most 1/k! + |c_k| <= 2.
        np.testing.assert_array_less(np.abs(c[k] - (1 / factorial(k) - x * c[k + 2])), 8 * eps)
        # c_k' = (k c_(k+2) - c_(k+1)) / 2: all at most 1 in size, with the errors bounded above.
        np.testing.assert_array_less(np.abs(slope[k] - (k * c[k + 2] - c[k + 1]) / 2), 8 * eps * (1 + np.sqrt(x)))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_order_and_shape(order, shape):
    x = np.linspace(0.1, 4.0, int(np.prod(shape))).reshape(shape)
    result = stumpff(jnp.asarray(x), order)
    assert len(result) == order + 1
    for k, values in enumerate(result):
        assert values.shape == shape
        truth = np.vectorize(lambda x, k=k: exact(x, k, 0))(x)
        np.testing.assert_allclose(values, truth, atol=9 * np.finfo(float).eps)
