"""The finger's series: every coefficient, and what they leave out."""

from functools import partial

import finger_series as series
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from finger_formulas import FingerFormulas, FingerLoads
from finger_quadrature import quadrature, taylor

EPS = np.finfo(float).eps

RATE = (0.8, -1.1)


def series_and_closed(lengths):
    """Every series with the closed form that it approximates, both as functions of the angles."""
    finger = FingerFormulas(lengths, 1.0, 1.0)
    rate = jnp.array(RATE)
    down_y, down_x = jnp.array([0.0, -1.0]), jnp.array([-1.0, 0.0])
    return {
        "mass_matrix": (partial(series.series_mass_matrix, lengths), finger.mass_matrix),
        "contact_jacobian": (partial(series.series_contact_jacobian, lengths), finger.contact_jacobian),
        "tip_jacobian": (partial(series.series_tip_jacobian, lengths), finger.tip_jacobian),
        "coriolis_torques": (
            lambda theta: series.series_coriolis_torques(lengths, theta, rate),
            lambda theta: finger.coriolis_torques(theta, rate),
        ),
        "gravity_along_minus_y": (
            partial(series.series_gravity_along_minus_y, lengths),
            lambda theta: finger.gravity_torques(theta, down_y),
        ),
        "gravity_along_minus_x": (
            partial(series.series_gravity_along_minus_x, lengths),
            lambda theta: finger.gravity_torques(theta, down_x),
        ),
    }


# The order of the first term left out, entry by entry; 0 where both are zero throughout.
REMAINDERS = {
    "mass_matrix": [[8, 8], [8, 8]],
    "contact_jacobian": [[6, 0], [7, 0]],
    "tip_jacobian": [[6, 6], [7, 7]],
    "coriolis_torques": [7, 7],
    "gravity_along_minus_y": [7, 7],
    "gravity_along_minus_x": [6, 6],
}


@pytest.mark.parametrize("name", REMAINDERS)
def test_series_leave_out_what_they_declare(name):
    approximate, closed = series_and_closed(jnp.array([0.35, 0.25]))[name]
    steps = np.geomspace(0.25, 0.5, 5)
    directions = jnp.asarray(steps[:, None] * np.array([1.0, 0.9]))
    error = np.asarray(jax.jit(jax.vmap(lambda theta: approximate(theta) - closed(theta)))(directions))
    orders = np.array(REMAINDERS[name])
    assert np.all(error[:, orders == 0] == 0)
    error = np.abs(error[:, orders > 0])
    slopes = np.polyfit(np.log(steps), np.log(error), 1)[0]
    # The next term is smaller by at most (a + b)^2 / (6 7) = 0.02 at the last step, which bends the slope by 0.04.
    np.testing.assert_allclose(slopes, orders[orders > 0], rtol=0, atol=0.04)


def fitted(function, degree):
    """The coefficients of a polynomial of two variables from its values, {(i, j): c}, and their rounding."""
    nodes = 2 * np.cos(np.pi * (np.arange(8) + 0.5) / 8)
    a, b = (x.ravel() for x in np.meshgrid(nodes, nodes))
    values = np.asarray(jax.jit(jax.vmap(function))(jnp.asarray(np.stack([a, b], -1))))
    powers = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    monomials = np.stack([a**i * b**j for i, j in powers], -1)
    inverse = np.linalg.pinv(monomials)
    # A dozen terms are summed for each value.
    rounding = 12 * EPS * np.max(np.abs(values)) * np.max(np.sum(np.abs(inverse), -1))
    flat = values.reshape(len(a), -1)
    c = inverse @ flat
    # No term beyond the degree.
    assert np.max(np.abs(monomials @ c - flat)) <= 12 * EPS * len(powers) * np.max(np.abs(values))
    return {power: row.reshape(values.shape[1:]) for power, row in zip(powers, c, strict=True)}, rounding


@pytest.mark.parametrize("name", REMAINDERS)
def test_every_coefficient_of_the_series(name):
    """All coefficients against Cauchy's integral of the quadrature, for enough lengths to tell L1^3 from L1^2 L2."""
    degree = np.max(REMAINDERS[name]) - 1 - (name == "mass_matrix")
    for lengths in ([0.35, 0.25], [1.0, 0.2], [0.3, 1.0], [0.8, 0.9]):
        gravity = (-1.0, 0.0) if name == "gravity_along_minus_x" else (0.0, -1.0)
        finger, loads = FingerFormulas(lengths, 1.0, 1.0), FingerLoads(gravity=gravity)
        truth = taylor(partial(quadrature, finger, loads=loads), np.zeros(2))
        truth["coriolis_torques"] = coriolis_of(truth["mass_matrix"], np.array(RATE))
        c = truth["gravity_torques" if name.startswith("gravity") else name]
        approximate, _ = series_and_closed(jnp.array(lengths))[name]
        found, rounding = fitted(approximate, degree)
        left_out = np.array(REMAINDERS[name])
        for (i, j), coefficient in found.items():
            expected = np.where(i + j < left_out, c[i, j], 0.0)
            np.testing.assert_allclose(coefficient, expected, rtol=0, atol=rounding + 8 * EPS * np.max(np.abs(c)))


def coriolis_of(M, rate):
    """The Taylor coefficients of V = M' theta' - dT/dtheta from those of M."""
    n = np.arange(1, len(M))
    d_a = np.zeros_like(M)
    d_b = np.zeros_like(M)
    d_a[:-1] = M[1:] * n[:, None, None, None]
    d_b[:, :-1] = M[:, 1:] * n[None, :, None, None]
    d = np.stack([d_a, d_b], -1)
    return np.einsum("xyijk,j,k->xyi", d, rate, rate) - np.einsum("xyjki,j,k->xyi", d, rate, rate) / 2
