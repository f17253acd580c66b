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

# The entries of a rotation are off by an eps or two, and near half a turn the logarithm magnifies that by up to
# angle / 2 in length and, across the axis, by angle / (2 sin(angle / 2)): less than 2 each. The linear part is a
# product with the inverse tangent operator, whose norm is at most pi / 2 up to half a turn.
BOUND = 20 * EPS


@pytest.fixture(scope="module")
def round_trip():
    """log(exp(x)) and its Jacobian both ways, for stacks of rotation vectors or of twists."""

    def back(x):
        return so3.log(so3.exp(x)) if x.shape[-1] == 3 else se3.exp(x).log()

    return jax.jit(lambda xs: tuple(jax.vmap(f)(xs) for f in (back, jax.jacfwd(back), jax.jacrev(back))))


@pytest.mark.parametrize("points", [VECTORS, TWISTS], ids=["SO3", "SE3"])
def test_log_undoes_exp(round_trip, points):
    result, *_ = round_trip(jnp.asarray(points))
    np.testing.assert_allclose(result, points, rtol=0, atol=BOUND)


@pytest.mark.parametrize("points", [VECTORS, TWISTS], ids=["SO3", "SE3"])
def test_small_vectors_keep_their_digits(round_trip, points):
    result, *_ = round_trip(jnp.asarray(points))
    # An absolute bound would say nothing of a rotation by 1e-12: its own digits are those of the skew part.
    np.testing.assert_allclose(result[:, :3], points[:, :3], rtol=BOUND, atol=5 * EPS * 1e-12 + 1e-300)


@pytest.mark.parametrize("points", [VECTORS, TWISTS], ids=["SO3", "SE3"])
def test_jacobian_of_the_round_trip_is_the_identity(round_trip, points):
    below = points[np.linalg.norm(points[:, :3], axis=1) < np.pi - 1e-4]
    _, forward, reverse = round_trip(jnp.asarray(below))
    # exp and log are off by a few eps each in their derivatives, and the inverse tangent's derivative is below 2.
    for jacobian in (forward, reverse):
        np.testing.assert_allclose(jacobian, np.broadcast_to(np.eye(points.shape[1]), jacobian.shape), atol=100 * EPS)


def test_points_reach_every_branch_of_the_quaternion():
    squares = Rotation.from_rotvec(VECTORS).as_quat() ** 2
    assert set(np.argmax(squares, axis=1)) == {0, 1, 2, 3}


def test_quaternion_against_scipy():
    quaternions = jax.jit(so3.to_quaternion)(so3.exp(jnp.asarray(VECTORS)))
    expected = Rotation.from_rotvec(VECTORS).as_quat(scalar_first=True)
    expected *= np.where(expected[:, :1] < 0, -1, 1)
    np.testing.assert_allclose(quaternions, expected, atol=8 * EPS)
    assert np.all(np.asarray(quaternions)[:, 0] >= 0)


@pytest.mark.parametrize("axis", AXES)
def test_half_a_turn_gives_one_of_the_two_vectors(axis):
    rotation = 2 * np.outer(axis, axis) - np.eye(3)
    vector = np.asarray(so3.log(jnp.asarray(rotation)))
    # A rounded matrix is a turn by pi within sqrt-free bounds, since the quaternion's largest component is known well.
    assert np.linalg.norm(vector) == pytest.approx(np.pi, abs=8 * EPS)
    np.testing.assert_allclose(np.outer(vector, vector) / np.pi**2, np.outer(axis, axis), atol=16 * EPS)


def test_more_than_half_a_turn_comes_back_the_short_way(round_trip):
    angles = np.array([3.3, 4.0, 5.0, 6.0])[:, None]
    axes = AXES[: len(angles)]
    result, *_ = round_trip(jnp.asarray(angles * axes))
    np.testing.assert_allclose(result, (angles - 2 * np.pi) * axes, atol=2 * BOUND)


@pytest.mark.parametrize("points", [VECTORS, TWISTS], ids=["SO3", "SE3"])
def test_float32_stays_float32(round_trip, points):
    below = points[np.linalg.norm(points[:, :3], axis=1) < 3.11].astype(np.float32)
    result, forward, reverse = round_trip(jnp.asarray(below))
    assert result.dtype == forward.dtype == reverse.dtype == np.float32
    np.testing.assert_allclose(result, below, rtol=0, atol=20 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_stacks(shape):
    points = TWISTS[: 7 * int(np.prod(shape)) : 7].reshape(*shape, 6)
    result = jax.jit(lambda x: se3.exp(x).log())(jnp.asarray(points))
    assert result.shape == (*shape, 6)
    np.testing.assert_allclose(result, points, atol=BOUND)
