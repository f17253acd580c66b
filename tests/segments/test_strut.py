"""The strut segment: pose, motion and fibres."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.lie import so3
from hydrostat.segments import StrainSegment, StrutSegment, SwellingSegment
from hydrostat.segments.base import AbstractSegment

MODES = ("bend_x", "bend_y", "twist", "stretch")
STRUT = StrutSegment(0.012, MODES)
RNG = np.random.default_rng(3)
Q = jnp.asarray(RNG.normal(size=(20, 4)) * [40.0, 40.0, 30.0, 0.3])
V = jnp.asarray(RNG.normal(size=(20, 4)) * [40.0, 40.0, 30.0, 0.3])


def body_twist(q, v, s):
    pose, change = jax.jvp(lambda q: STRUT.pose(q, s), (q,), (v,))
    angular = so3.vee(pose.rotation.T @ change.rotation)
    return jnp.concatenate([angular, pose.rotation.T @ change.position])


@pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
def test_twist_and_jacobian_are_the_derivative_of_the_pose(s):
    exact = jax.jit(jax.vmap(lambda q, v: body_twist(q, v, s)))(Q, V)
    own = jax.jit(jax.vmap(lambda q, v: STRUT.twist(q, v, s)))(Q, V)
    by_matrix = jax.jit(jax.vmap(lambda q, v: STRUT.jacobian(q, s) @ v))(Q, V)
    np.testing.assert_allclose(own, exact, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_matrix, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("segment", [STRUT, StrainSegment(0.012, MODES), SwellingSegment(STRUT)])
def test_the_short_way_to_a_point_leads_to_the_same_point(segment):
    grow = ((0, 0), (0, segment.coordinates - 4))
    for s in (0.0, 0.4, 1.0):
        found = jax.vmap(lambda q, v, s=s: segment.point(q, v, s))(jnp.pad(Q, grow), jnp.pad(V, grow))
        long = jax.vmap(lambda q, v, s=s: AbstractSegment.point(segment, q, v, s))(jnp.pad(Q, grow), jnp.pad(V, grow))
        for short, exact in zip(jax.tree.leaves(found), jax.tree.leaves(long), strict=True):
            np.testing.assert_allclose(short, exact, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("segment", [STRUT, StrainSegment(0.012, MODES), SwellingSegment(STRUT)])
def test_derivatives_of_fibres(segment):
    lower, upper = jnp.asarray(RNG.uniform(-1, 1, size=(2, 5, 2)))
    q, radius = jnp.pad(0.3 * Q[0], (0, segment.coordinates - 4)), jnp.asarray(0.01)
    found = segment.fibres(q, radius, lower, upper)
    exact = jax.jacfwd(lambda q, r: segment.fibres(q, r, lower, upper).length, argnums=(0, 1))(q, radius)
    np.testing.assert_allclose(found.by_coordinates, exact[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.by_radius, exact[1], rtol=1e-12)


def test_fibres_without_twist_by_their_formula_and_by_their_ends():
    segment = StrutSegment(0.012, ("bend_x", "bend_y", "stretch"))
    lower, upper = (jnp.asarray(RNG.normal(size=(20, 3, 2))) for _ in range(2))
    given = (Q[:, jnp.array([0, 1, 3])], jnp.linspace(0.002, 0.01, 20), lower, upper)
    short = jax.jit(jax.vmap(segment.fibres))(*given)
    long = jax.jit(jax.vmap(lambda *given: AbstractSegment.fibres(segment, *given)))(*given)
    for found, exact in zip(short, long, strict=True):
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-13 * float(jnp.max(jnp.abs(exact))))


def test_a_fibre_joins_its_two_ends():
    lower, upper = np.array([0.6, -0.3]), np.array([0.1, 0.5])
    pose = STRUT.pose(Q[0], 1.0)
    end = pose.position + pose.rotation @ np.append(0.01 * upper, 0.0)
    exact = np.linalg.norm(end - np.append(0.01 * lower, 0.0))
    assert float(
        STRUT.fibres(Q[0], 0.01, jnp.asarray(lower[None]), jnp.asarray(upper[None])).length[0]
    ) == pytest.approx(exact, rel=1e-13)


def test_the_upper_plate_stands_on_the_strut():
    q = jnp.array([10.0, -20.0, 5.0, 0.25])
    pose = STRUT.pose(q, 1.0)
    np.testing.assert_allclose(pose.position, [0.0, 0.0, 0.015], rtol=1e-15)
    np.testing.assert_allclose(so3.log(pose.rotation), 0.012 * q[:3], rtol=1e-12)
    assert float(STRUT.stretch(q)) == pytest.approx(1.25)


def test_mirrored_coordinates_make_the_mirrored_pose():
    mirror = np.diag([1.0, -1.0, 1.0])  # y -> -y: turns about x and z change their sign
    pose = STRUT.pose(Q[0], 1.0)
    other = STRUT.pose(Q[0] * jnp.array([-1.0, 1.0, -1.0, 1.0]), 1.0)
    np.testing.assert_allclose(other.rotation, mirror @ pose.rotation @ mirror, rtol=0, atol=1e-15)
    np.testing.assert_allclose(other.position, mirror @ pose.position, rtol=0, atol=1e-15)


def test_fibres_of_struts_and_arcs_agree_to_second_order():
    arc = StrainSegment(0.012, MODES)
    place = jnp.array([[0.4, 0.3]])
    errors = []
    for size in (0.1, 0.05):
        q = size * jnp.array([20.0, -30.0, 0.0, 0.4])
        lengths = [segment.fibres(q, 0.01, place, place).length for segment in (STRUT, arc)]
        errors.append(abs(float(lengths[0][0] - lengths[1][0])))
    assert errors[0] < 1e-5
    assert errors[1] < 0.3 * errors[0]


def test_a_fibre_along_a_bent_arc_has_the_length_of_its_circle():
    arc = StrainSegment(0.05, MODES)
    curvature, offset = 12.0, 0.01
    q = jnp.array([0.0, curvature, 0.0, 0.0])  # bends towards +x
    place = jnp.array([[1.0, 0.0]])
    inner = arc.fibres(q, offset, place, place).length
    assert float(inner[0]) == pytest.approx(0.05 * (1.0 - curvature * offset), rel=1e-14)


def test_locked_coordinates_do_not_count():
    locked = StrutSegment(0.012, MODES, free=[True, False, True, False])
    assert np.allclose(locked.pose(Q[1], 1.0).position, [0, 0, 0.012])
    assert not np.any(np.asarray(locked.jacobian(Q[1], 1.0))[:, [1, 3]])


def test_modes_that_a_strut_does_not_have_are_refused():
    with pytest.raises(ValueError, match="must be taken from"):
        StrutSegment(0.012, ("bend_x", "shear_x"))
