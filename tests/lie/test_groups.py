"""Group axioms, adjoints and tangent operators, over stacks of every shape."""

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from hydrostat import SE3
from hydrostat.lie import se3, small, so3

EPS = np.finfo(float).eps
SHAPES = [(), (3,), (2, 3)]
# Products of a few rotations and of positions below 10 m, some ten roundings each.
BOUND = 100 * EPS


def twists(shape, count=1, seed=0, angle=2.5):
    """Random twists of up to `angle` rad and 2 m, `count` stacks of them."""
    random = np.random.default_rng(seed)
    w = random.normal(size=(count, *shape, 3))
    w *= random.uniform(0, angle, (count, *shape, 1)) / np.linalg.norm(w, axis=-1, keepdims=True)
    return jnp.asarray(np.concatenate([w, random.uniform(-2, 2, w.shape)], axis=-1))


def close(a, b, bound=BOUND):
    np.testing.assert_allclose(a, b, rtol=0, atol=bound)


def hat6(x):
    """The 4 x 4 matrix of a twist."""
    matrix = np.zeros((*x.shape[:-1], 4, 4))
    matrix[..., :3, :3] = np.cross(np.eye(3), np.asarray(x)[..., None, :3])  # row i of hat(w) is e_i x w
    matrix[..., :3, 3] = x[..., 3:]
    return matrix


@pytest.mark.parametrize("shape", SHAPES)
def test_axioms(shape):
    @jax.jit
    def evaluate(x):
        A, B, C = (se3.exp(x[i]) for i in range(3))
        pairs = {
            "associativity": ((A @ B) @ C, A @ (B @ C)),
            "left inverse": (A.inverse() @ A, SE3.identity(shape)),
            "right inverse": (A @ A.inverse(), SE3.identity(shape)),
            "left identity": (SE3.identity(shape) @ A, A),
            "right identity": (A @ SE3.identity(shape), A),
            "inverse of a product": ((A @ B).inverse(), B.inverse() @ A.inverse()),
            "inverse of exp": (se3.exp(-x[0]), A.inverse()),
            "matrix and back": (SE3.from_matrix(A.as_matrix()), A),
        }
        pairs = {name: (left.as_matrix(), right.as_matrix()) for name, (left, right) in pairs.items()}
        return A.as_matrix(), B.as_matrix(), (A @ B).as_matrix(), pairs

    A, B, AB, pairs = evaluate(twists(shape, 3))
    assert A.shape == (*shape, 4, 4)
    close(AB, np.asarray(A) @ np.asarray(B))
    close(np.swapaxes(A[..., :3, :3], -1, -2) @ A[..., :3, :3], np.broadcast_to(np.eye(3), (*shape, 3, 3)))
    close(np.linalg.det(A[..., :3, :3]), 1)
    for name, (left, right) in pairs.items():
        np.testing.assert_allclose(left, right, rtol=0, atol=BOUND, err_msg=name)


@pytest.mark.parametrize("shape", SHAPES)
def test_adjoints(shape):
    x = twists(shape, 2, seed=1)

    @jax.jit
    def evaluate(x):
        A, B = se3.exp(x[0]), se3.exp(x[1])
        carried = se3.exp(small.matvec(A.adjoint(), x[1]))
        return A.adjoint(), B.adjoint(), (A @ B).adjoint(), (A @ B @ A.inverse()).as_matrix(), carried.as_matrix()

    A, B, AB, moved, carried = evaluate(x)
    assert A.shape == (*shape, 6, 6)
    close(AB, np.asarray(A) @ np.asarray(B))
    # A exp(y) A^-1 = exp(Ad(A) y)
    close(moved, carried)
    # Ad(exp x) = expm(ad x); SciPy's error grows with the norm of ad x, up to 6 here
    close(A, expm(np.asarray(se3.ad(x[0]))), 10 * BOUND)


def test_adjoint_carries_a_twist_to_the_outer_frame():
    # A body turns about its own z axis, which is parallel to the outer x axis and passes (0, 2, 0).
    rotation = jnp.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    T = SE3(rotation, jnp.array([0.0, 2.0, 0.0]))
    outer = T.adjoint() @ jnp.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    # It turns about x, and its point at the outer origin has the velocity w x (0 - p) = (0, 0, -2).
    close(outer, [1, 0, 0, 0, 0, -2])


@pytest.mark.parametrize("shape", SHAPES)
def test_bracket(shape):
    x, y = twists(shape, 2, seed=2)
    bracket = np.asarray(small.matvec(se3.ad(x), y))
    X, Y = hat6(np.asarray(x)), hat6(np.asarray(y))
    close(hat6(bracket), X @ Y - Y @ X)
    close(bracket, -np.asarray(small.matvec(se3.ad(y), x)))


@pytest.mark.parametrize("shape", SHAPES)
def test_hat_and_vee(shape):
    w, u = twists(shape, 2, seed=3)[..., :3]
    close(np.einsum("...ij,...j->...i", so3.hat(w), u), np.cross(w, u))
    np.testing.assert_array_equal(so3.vee(so3.hat(w)), w)
    # Of any matrix, the vector of its skew part.
    close(so3.vee(so3.hat(w) + w[..., :, None] * w[..., None, :]), w)


@pytest.mark.parametrize("shape", SHAPES)
def test_apply_moves_points(shape):
    x = twists(shape, seed=4)[0]
    T, point = se3.exp(x), x[..., 3:]
    homogeneous = np.concatenate([point, np.ones((*shape, 1))], axis=-1)
    close(T.apply(point), np.einsum("...ij,...j->...i", T.as_matrix(), homogeneous)[..., :3])


def test_parts_of_a_stack():
    stack = se3.exp(twists((2, 3), seed=5)[0])
    np.testing.assert_array_equal(stack[1].as_matrix(), stack.as_matrix()[1])
    np.testing.assert_array_equal(stack[:, -1].as_matrix(), stack.as_matrix()[:, -1])
    np.testing.assert_array_equal(SE3.identity((2, 3)).as_matrix(), np.broadcast_to(np.eye(4), (2, 3, 4, 4)))


@pytest.fixture(scope="module")
def operators():
    return jax.jit(
        lambda x: {
            "SE3": (se3.tangent(x), se3.tangent_inverse(x)),
            "SO3": (so3.tangent(x[..., :3]), so3.tangent_inverse(x[..., :3])),
        }
    )


ANGLES = [0.0, 1e-9, 1e-5, 1e-2, 0.5, 1 - 1e-9, 1 + 1e-9, 2.0, 3.1]


def along(angles, dtype=float):
    """Twists of the given angles about an oblique axis, with a unit translation."""
    axis, v = np.array([0.6, -0.48, 0.64]), np.array([2 / 3, -2 / 3, 1 / 3])
    return jnp.asarray([[*(angle * axis), *v] for angle in angles], dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tangent_is_its_series(operators, dtype):
    # sum_k (-1)^k ad(x)^k / (k + 1)!, in float64; 40 terms of a matrix of norm below 5 leave 5^40/41! < 1e-21
    x = along(ANGLES, dtype)
    ads = {"SE3": np.asarray(se3.ad(x), float), "SO3": np.asarray(so3.hat(x[..., :3]), float)}
    for group, (tangent, _) in operators(x).items():
        power, total = np.eye(ads[group].shape[-1]), 0.0
        for k in range(40):
            total = total + (-1) ** k * power / factorial(k + 1)
            power = power @ ads[group]
        assert tangent.dtype == dtype
        # A dozen products of size one; the series itself cancels up to exp(4) = 60 of its digits.
        close(tangent, total, 12 * np.finfo(dtype).eps + 60 * EPS)


def test_tangent_inverse(operators):
    # Up to one full turn, where the inverse becomes infinite like 1 / (2 pi - angle).
    angles = np.array([*ANGLES, 3.5, 4.5, 5.5, 6.0, 6.2])
    for tangent, inverse in operators(along(angles)).values():
        size = tangent.shape[-1]
        bound = 40 * EPS * (1 + 1 / (2 * np.pi - angles)[:, None, None]) ** 2
        for product in (tangent @ inverse, inverse @ tangent):
            assert np.all(np.abs(product - np.eye(size)) <= bound)


def test_tangent_is_the_body_twist_of_a_changing_exp(operators):
    # The twist of exp(x)^-1 exp(x + h d) over h, by central differences: off by h^2 / 6 times a third derivative of
    # a few units, and by eps / h.
    x, h = along(ANGLES), 1e-5
    steps = h * jnp.eye(6)

    @jax.jit
    def difference(x):
        back = se3.exp(x).inverse()
        moved = jax.vmap(lambda d: ((back @ se3.exp(x + d)).log() - (back @ se3.exp(x - d)).log()) / (2 * h))(steps)
        return moved.T

    close(operators(x)["SE3"][0], jax.vmap(difference)(x), 10 * h**2 + 20 * EPS / h)


def test_operators_of_stacks(operators):
    x = twists((2, 3), seed=6)[0]
    for group, (tangent, inverse) in operators(x).items():
        one, one_inverse = operators(x[1, 2])[group]
        close(tangent[1, 2], one, 8 * EPS)
        close(inverse[1, 2], one_inverse, 8 * EPS)


def test_float32_stays_float32():
    x = twists((3,), 2, seed=7).astype(np.float32)
    T = se3.exp(x[0])
    results = [T.rotation, T.position, T.as_matrix(), T.adjoint(), T.inverse().position, (T @ T).rotation]
    results += [
        se3.ad(x[0]),
        se3.tangent_inverse(x[0]),
        so3.tangent_inverse(x[0, :, :3]),
        so3.to_quaternion(T.rotation),
    ]
    results += [T.log(), T.apply(x[1, :, :3]), small.norm(x[0]), so3.hat(x[0, :, :3]), so3.vee(T.rotation)]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}


def test_norm_has_a_derivative_at_zero():
    values, slopes = jax.vmap(jax.value_and_grad(small.norm))(jnp.array([[0.0, 0.0, 0.0], [3.0, 0.0, -4.0]]))
    np.testing.assert_allclose(values, [0, 5], rtol=2 * EPS)
    np.testing.assert_allclose(slopes, [[0, 0, 0], [0.6, 0, -0.8]], atol=2 * EPS)


@pytest.fixture(scope="module")
def homomorphism():
    """exp((a + b) x) and exp(a x) exp(b x)."""
    return jax.jit(lambda x, a, b: (se3.exp((a + b) * x).as_matrix(), (se3.exp(a * x) @ se3.exp(b * x)).as_matrix()))


component = st.floats(-4, 4, allow_subnormal=False)


@given(st.lists(component, min_size=6, max_size=6), st.floats(-1, 1), st.floats(-1, 1))
def test_powers_of_one_motion_add_up(homomorphism, x, a, b):
    together, apart = homomorphism(jnp.array(x), a, b)
    # Angles up to 14 rad: their rounding, 7 eps each, times positions up to 14 m.
    close(together, apart, 14 * 14 * 4 * EPS)
