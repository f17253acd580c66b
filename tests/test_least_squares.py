"""Nonlinear least squares within bounds, against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares as reference

from hydrostat.least_squares import least_squares


@pytest.mark.parametrize("seed", range(3))
def test_unknowns_stay_within_bounds_and_end_at_the_constrained_minimum(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(8, 4)), 2.0 * rng.normal(size=8)
    low, high = np.array([-0.3, -0.2, -np.inf, 0.0]), np.array([0.3, np.inf, 0.1, 0.5])

    def residual(x):
        return A @ x + 0.1 * jnp.sin(A @ x) - b

    expected = reference(lambda x: np.asarray(residual(x)), np.array([0.0, 0.0, 0.0, 0.25]), bounds=(low, high))
    found = least_squares(residual, jnp.zeros(4), bounds=(jnp.asarray(low), jnp.asarray(high)))
    assert bool(found.converged)
    assert np.all((found.x >= low) & (found.x <= high))
    # SciPy's reflective method stays inside and stops when the cost changes by less than 1e-8 of itself.
    assert 0.5 * float(found.residual @ found.residual) <= expected.cost * (1.0 + 1e-7)
    assert np.asarray(found.x) == pytest.approx(expected.x, abs=1e-3)
    # Where no bound is active the derivative along every free unknown vanishes.
    gradient = jax.grad(lambda x: 0.5 * jnp.sum(residual(x) ** 2))(found.x)
    inside = (np.asarray(found.x) > low) & (np.asarray(found.x) < high)
    assert np.asarray(gradient)[inside] == pytest.approx(0.0, abs=1e-9)
    assert np.sum(~inside) > 0
