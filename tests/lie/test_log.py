"""Logarithms: the way back from exp, near zero, near half a turn, and through all branches of the quaternion."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.lie import se3, so3

EPS = np.finfo(float).eps
ANGLES = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 2.2, 3.0, 3.1, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9]
# Close to every axis and its opposite, between them, and with ties among the components.
AXES = np.array(
    [
        *(sign * (axis + 0.1 * np.roll(axis, 1)) for axis in np.eye(3) for sign in (1, -1)),
        *itertools.product([1, -1], repeat=3),
        *np.eye(3),
        [1, 1, 0],
        [0.6, -0.48, 0.64],
    ],
    float,
)
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
TRANSLATIONS = np.array([[0, 0, 1], [2 / 3, -2 / 3, 1 / 3]])
VECTORS = np.array([t * axis for t, axis in itertools.product(ANGLES, AXES)])
TWISTS = np.array([[*w, *v] for w, v in itertools.product(VECTORS, TRANSLATIONS)])
POINTS = {"SO3": VECTORS, "SE3": TWISTS}

# The entries of a rotation are off by an eps or two, and near half a turn the logarithm magnifies that by up to
# angle / 2 in length and, across the axis, by angle / (2 sin(angle / 2)): less than 2 each. The linear part is a
# product with the inverse tangent operator, whose norm is at most pi / 2 up to half a turn.
BOUND = 20 * EPS


def back(x):
    return so3.log(so3.exp(x)) if x.shape[-1] == 3 else se3.exp(x).log()


@pytest.fixture(scope="module")
def round_trip():
    return jax.jit(jax.vmap(back))


@pytest.fixture(scope="module", params=["SO3", "SE3"])
def group(request):
    return request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_undoes_exp(round_trip, group, dtype):
    # Rounding to float32 must not carry the angle beyond half a turn.
    points = POINTS[group][np.linalg.norm(POINTS[group][:, :3], axis=1) < (np.pi if dtype == np.float64 else 3.11)]
    points = points.astype(dtype)
    result = round_trip(jnp.asarray(points))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, points, rtol=0, atol=BOUND / EPS * np.finfo(dtype).eps)


def test_small_vectors_keep_their_digits(round_trip, group):
    # An absolute bound would say nothing of a rotation by 1e-12: its digits are those of the skew part.
    points = POINTS[group]
    result = round_trip(jnp.asarray(points))
    error = np.linalg.norm(result[:, :3] - points[:, :3], axis=1)
    assert np.all(error <= BOUND * np.linalg.norm(points[:, :3], axis=1))


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_jacobian_of_the_round_trip_is_the_identity(differentiate):
    points = TWISTS[np.linalg.norm(TWISTS[:, :3], axis=1) < 3.11]
    jacobian = jax.jit(jax.vmap(differentiate(back)))(jnp.asarray(points))
    # exp and log are off by a few eps each in their derivatives, and the inverse tangent's derivative is below 2.
    errors = np.max(np.abs(np.asarray(jacobian) - np.eye(6)), axis=(1, 2))
    assert np.all(errors <= 100 * EPS), f"{errors.max()} at {points[errors.argmax()]}"


def test_points_reach_every_branch_of_the_quaternion():
    squares = Rotation.from_rotvec(VECTORS).as_quat() ** 2
    assert set(np.argmax(squares, axis=1)) == {0, 1, 2, 3}


def test_quaternion_against_scipy():
    quaternions = jax.jit(so3.to_quaternion)(so3.exp(jnp.asarray(VECTORS)))
    expected = Rotation.from_rotvec(VECTORS).as_quat(scalar_first=True)
    expected *= np.where(expected[:, :1] < 0, -1, 1)
    np.testing.assert_allclose(quaternions, expected, atol=8 * EPS)
    assert np.all(np.asarray(quaternions)[:, 0] >= 0)


def test_half_a_turn_gives_one_of_the_two_vectors():
    rotations = 2 * AXES[:, :, None] * AXES[:, None, :] - np.eye(3)
    vectors = np.asarray(jax.jit(so3.log)(jnp.asarray(rotations)))
    # The largest component of the quaternion is known to an eps whatever the others are, and with it the vector.
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.pi, atol=8 * EPS)
    np.testing.assert_allclose(
        vectors[:, :, None] * vectors[:, None, :] / np.pi**2, (rotations + np.eye(3)) / 2, atol=16 * EPS
    )


def test_more_than_half_a_turn_comes_back_the_short_way(round_trip):
    angles = np.array([3.3, 4.0, 5.0, 6.0])[:, None]
    axes = AXES[: len(angles)]
    result = round_trip(jnp.asarray(angles * axes))
    np.testing.assert_allclose(result, (angles - 2 * np.pi) * axes, atol=2 * BOUND)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_stacks(shape):
    points = TWISTS[: 7 * int(np.prod(shape)) : 7].reshape(*shape, 6)
    result = jax.jit(back)(jnp.asarray(points))
    assert result.shape == (*shape, 6)
    np.testing.assert_allclose(result, points, atol=BOUND)
