"""Exponentials of SO(3) and SE(3): value, Jacobian and Hessian against the matrix exponential.

The derivatives of the matrix exponential come from the exponential of a block matrix (Higham 2008, section 3), summed
in extended precision: no automatic differentiation, no small-angle branch and no formula of the library is there.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from hydrostat.lie import se3, so3

BELOW, ABOVE = 1 - 1e-9, 1 + 1e-9  # of the angle at which the power series ends
ANGLES = [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.1, 0.5, BELOW, ABOVE, 2.0, 3.0]
AXES = np.array([[1, 0, 0], [0, 1, 0], [0.6, -0.48, 0.64]])
TRANSLATIONS = np.array([[0, 0, 1], [2 / 3, -2 / 3, 1 / 3]])
# What a result may be off, in units of the dtype's eps. An entry is a sum of a few products of size at most 3, each
# with two or three roundings: 6 eps. Every derivative has about twice as many terms, of no greater size.
BOUNDS = {"value": 6, "jacfwd": 12, "jacrev": 12, "hessian": 24}


def hat(w):
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def generator(group, x):
    """The matrix whose exponential is meant: 3 x 3 of a rotation vector, 4 x 4 of a twist (angular, linear)."""
    if group == "SO3":
        return hat(x)
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = hat(x[:3]), x[3:]
    return matrix


def truth(group, xs):
    """Exponentials at a stack of points, first and second derivatives [point, row, column, i, j]."""
    A = np.stack([generator(group, x) for x in xs]).astype(np.longdouble)
    units = [np.broadcast_to(generator(group, e), A.shape) for e in np.eye(xs.shape[-1])]
    count, n, k, zero = len(xs), A.shape[-1], len(units), np.zeros_like(A)
    first, second = np.zeros((count, n, n, k), np.longdouble), np.zeros((count, n, n, k, k), np.longdouble)
    for (i, E), (j, F) in itertools.combinations_with_replacement(enumerate(units), 2):
        block = series(np.block([[A, E, F, zero], [zero, A, zero, F], [zero, zero, A, E], [zero, zero, zero, A]]))
        second[..., i, j] = second[..., j, i] = block[:, :n, 3 * n :]
        first[..., i], first[..., j] = block[:, :n, n : 2 * n], block[:, :n, 2 * n : 3 * n]
    return {"value": block[:, :n, :n], "first": first, "second": second}


def series(A):
    """The exponential of a stack of matrices of norm up to 6 by its power series: 50 terms leave 6^50/50! < 1e-25."""
    term = total = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
    for j in range(1, 50):
        term = term @ A / j
        total = total + term
    return total


def points(group):
    """Angles times axes, for SE(3) times unit translations; axis and translation parallel, across and oblique."""
    if group == "SO3":
        return np.array([t * axis for t, axis in itertools.product(ANGLES, AXES)])
    return np.array([[*(t * axis), *v] for t, axis, v in itertools.product(ANGLES, AXES, TRANSLATIONS)])


@pytest.fixture(scope="module", params=["SO3", "SE3"])
def group(request):
    return request.param


@pytest.fixture(scope="module")
def truths(group):
    """Value, Jacobian and Hessian for each dtype, at the points as that dtype rounds them."""

    return {dtype: truth(group, points(group).astype(dtype).astype(float)) for dtype in (np.float64, np.float32)}


@pytest.fixture(scope="module")
def evaluate(group):
    """Value and derivatives for a stack of points."""
    exp = so3.exp if group == "SO3" else lambda x: se3.exp(x).as_matrix()
    functions = {
        "value": exp,
        "jacfwd": jax.jacfwd(exp),
        "jacrev": jax.jacrev(exp),
        "hessian": jax.jacfwd(jax.jacrev(exp)),
    }
    return jax.jit(lambda xs: {name: jax.vmap(function)(xs) for name, function in functions.items()})


@pytest.fixture(scope="module")
def results(group, evaluate):
    return {dtype: evaluate(jnp.asarray(points(group).astype(dtype))) for dtype in (np.float64, np.float32)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "what, of_truth", [("value", "value"), ("jacfwd", "first"), ("jacrev", "first"), ("hessian", "second")]
)
def test_against_matrix_exponential(results, truths, dtype, what, of_truth):
    result, expected = results[dtype][what], truths[dtype][of_truth]
    assert result.dtype == dtype
    error = np.max(np.abs(np.asarray(result, float) - expected), axis=tuple(range(1, expected.ndim)))
    # The power series loses up to exp(6) = 400 of its own precision.
    bound = BOUNDS[what] * np.finfo(dtype).eps + 400 * np.finfo(np.longdouble).eps
    assert np.all(error <= bound), f"worst {error.max() / np.finfo(dtype).eps:.0f} eps at point {error.argmax()}"


def test_an_angle_of_one_radian_in_every_direction(group, evaluate):
    # The series ends at 1 rad, and which side of it |w|^2 falls on is a matter of the last rounding, which a compiler
    # may do in one way here and in another there. The formulas meet at 1 rad, so nothing may be seen of it.
    random, step = np.random.default_rng(1), 1e-7
    size = len(points(group))  # one that is compiled already
    for _ in range(20):
        directions = random.normal(size=(size, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        on, off = directions, (1 + step) * directions
        if group == "SE3":
            on, off = (np.concatenate([w, np.tile(TRANSLATIONS[1], (size, 1))], axis=1) for w in (on, off))
        on, off = evaluate(jnp.asarray(on)), evaluate(jnp.asarray(off))
        for name in on:
            # A third derivative of exp is at most a few units in size.
            np.testing.assert_allclose(on[name], off[name], rtol=0, atol=10 * step, err_msg=name)


def test_the_reference_is_the_matrix_exponential(group, truths):
    value = truths[np.float64]["value"]
    expected = np.stack([expm(generator(group, x)) for x in points(group)])
    np.testing.assert_allclose(value.astype(float), expected, atol=100 * np.finfo(float).eps)  # SciPy's own error


@pytest.mark.parametrize("group", ["SE3"], indirect=True)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tip_of_a_straight_rod(results, dtype):
    # A rod of unit length along z with a small curvature k about y (its tip goes to +x) or about x (to -y).
    k, y, x = np.array([a for a in ANGLES if a <= 1e-3], dtype).astype(float), 1, 0
    eps = np.finfo(dtype).eps
    for name in ("jacfwd", "jacrev"):
        slopes = np.asarray(results[dtype][name])[:, :3, 3, :3].reshape(len(ANGLES), len(AXES), len(TRANSLATIONS), 3, 3)
        # The tip is at x = (1 - cos k) / k, so dx/dk = 1/2 - k^2/8 + k^4/144: one half at zero, not one, not a quarter.
        expected = 1 / 2 - k**2 / 8 + k**4 / 144
        np.testing.assert_allclose(slopes[: len(k), y, 0, 0, y], expected, rtol=8 * eps)
        np.testing.assert_allclose(slopes[: len(k), x, 0, 1, x], -expected, rtol=8 * eps)
        np.testing.assert_array_equal(slopes[0, y, 0], [[0, 0.5, 0], [-0.5, 0, 0], [0, 0, 0]])
    # Its height is z = sin k / k, so d2z/dk2 = -1/3 for both bends, and twist does nothing.
    straight = results[dtype]["hessian"][0, 2, 3, :3, :3]
    np.testing.assert_allclose(straight, np.diag([-1 / 3, -1 / 3, 0]), atol=8 * eps)
