"""The constant-strain segment against integrated rods, finite differences and the geometry of circles."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from hydrostat.segments import MODES, AbstractSegment, Arc, StrainSegment

EPS = np.finfo(float).eps
LENGTH = 0.4
REST = np.array([0.3, -0.5, 0.2, 0.01, -0.02, 0.03])
STRAIGHT = np.array([0, 0, 0, 0, 0, 1.0])
# Straight, all but straight, gentle, 0.4 m times 2.5/m on both sides of 1 rad, and nearly half a turn with everything.
CONFIGURATIONS = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1e-9, -2e-9, 1e-9, 0, 0, 0],
        [0.5, -1, 0.3, 0.02, -0.01, 0.05],
        [2.5 - 1e-8, 0, 0, 0, 0, 0],
        [0, 2.5 + 1e-8, 0, 0.1, 0, -0.1],
        [4, -4, 3, 0.2, 0.3, -0.2],
    ]
)
FRACTIONS = np.array([0.0, 0.3, 1.0])


def hat(w):
    return np.cross(np.eye(3), w)


@pytest.fixture(scope="module")
def poses():
    """Matrices at several fractions, for a stack of configurations: [configuration, fraction, 4, 4]."""

    def of(segment, q, fractions):
        return jax.vmap(lambda q: jax.vmap(lambda s: segment.pose(q, s).as_matrix())(fractions))(q)

    compiled = jax.jit(of)
    return lambda segment, q, fractions: np.asarray(compiled(segment, jnp.asarray(q), jnp.asarray(fractions)))


def integrated(strain, distance):
    """T' = T hat(strain) along the rod, by an explicit method of order eight."""

    def slope(_, y):
        R = y[:9].reshape(3, 3)
        return np.concatenate([(R @ hat(strain[:3])).ravel(), R @ strain[3:]])

    start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    if distance == 0:
        return np.eye(4)
    end = solve_ivp(slope, (0, distance), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = end[:9].reshape(3, 3), end[9:]
    return T


@pytest.mark.parametrize("rest", [None, REST], ids=["straight rest", "curved rest"])
def test_pose_is_the_integrated_rod(poses, rest):
    segment = StrainSegment(LENGTH, MODES, rest_strain=rest)
    base = STRAIGHT + (0 if rest is None else rest)
    result = poses(segment, CONFIGURATIONS, FRACTIONS)
    for q, T_fractions in zip(CONFIGURATIONS, result, strict=True):
        for s, T in zip(FRACTIONS, T_fractions, strict=True):
            # The integrator's tolerance, a few dozen steps of it.
            np.testing.assert_allclose(T, integrated(base + q, s * LENGTH), rtol=0, atol=2e-12)


@pytest.mark.parametrize("index, mode", list(enumerate(MODES)))
def test_meaning_of_each_mode(poses, index, mode):
    # One strain e alone, as (bend about x) -> y = -(1 - cos) / k and so on, written out by hand.
    e, L = 0.7, LENGTH
    a = e * L
    R, p = {
        "bend_x": (Rotation.from_rotvec([a, 0, 0]), [0, -(1 - np.cos(a)) / e, np.sin(a) / e]),
        "bend_y": (Rotation.from_rotvec([0, a, 0]), [(1 - np.cos(a)) / e, 0, np.sin(a) / e]),
        "twist": (Rotation.from_rotvec([0, 0, a]), [0, 0, L]),
        "shear_x": (Rotation.identity(), [a, 0, L]),
        "shear_y": (Rotation.identity(), [0, a, L]),
        "stretch": (Rotation.identity(), [0, 0, L + a]),
    }[mode]
    T = poses(StrainSegment(L, (mode,)), np.array([[e]]), np.array([1.0]))[0, 0]
    np.testing.assert_allclose(T[:3, :3], R.as_matrix(), atol=4 * EPS)
    np.testing.assert_allclose(T[:3, 3], p, atol=4 * EPS)
    assert MODES.index(mode) == index


SUBSETS = [modes for k in range(1, 7) for modes in itertools.combinations(MODES, k)]


def test_any_subset_of_modes_places_its_strains():
    assert len(SUBSETS) == 63
    for modes in SUBSETS:
        segment = StrainSegment(LENGTH, modes, rest_strain=REST)
        q = np.arange(1.0, len(modes) + 1)
        placed = np.zeros(6)
        placed[[MODES.index(mode) for mode in modes]] = q
        assert segment.coordinates == len(modes)
        np.testing.assert_allclose(segment.strain(jnp.asarray(q)), STRAIGHT + REST + placed, rtol=2 * EPS)
        np.testing.assert_array_equal(segment.basis @ q, placed)


@pytest.mark.parametrize("modes", [("bend_y",), ("bend_x", "bend_y", "stretch"), ("twist", "shear_x", "stretch")])
def test_a_subset_is_the_whole_with_zeros(poses, modes):
    q = np.array([[0.8, -0.6, 0.1][: len(modes)]])
    whole = np.zeros((1, 6))
    whole[0, [MODES.index(mode) for mode in modes]] = q
    fractions = np.array([0.5, 1.0])
    np.testing.assert_array_equal(
        poses(StrainSegment(LENGTH, modes), q, fractions), poses(StrainSegment(LENGTH, MODES), whole, fractions)
    )


def test_every_segment_is_abstract_or_final():
    assert issubclass(StrainSegment, AbstractSegment)
    with pytest.raises(TypeError):
        AbstractSegment()  # pyright: ignore


# --- Jacobians


def twist_of(T, dT):
    """The body twist (angular, linear) of a pose that changes by dT."""
    rate = np.linalg.inv(T) @ dT
    return np.array([rate[2, 1] - rate[1, 2], rate[0, 2] - rate[2, 0], rate[1, 0] - rate[0, 1], *2 * rate[:3, 3]]) / 2


@pytest.fixture(scope="module")
def jacobians():
    """Own Jacobian, and derivative of the pose's matrix by autodiff, at configurations and fractions."""

    def of(segment, q, fractions):
        def at(q, s):
            return segment.jacobian(q, s), jax.jacfwd(lambda q: segment.pose(q, s).as_matrix())(q)

        return jax.vmap(lambda q: jax.vmap(lambda s: at(q, s))(fractions))(q)

    return jax.jit(of)


@pytest.mark.parametrize("rest", [np.zeros(6), REST], ids=["straight rest", "curved rest"])
def test_jacobian_against_autodiff_and_differences(jacobians, poses, rest):
    segment = StrainSegment(LENGTH, MODES, rest_strain=rest)
    own, derivative = (np.asarray(x) for x in jacobians(segment, jnp.asarray(CONFIGURATIONS), jnp.asarray(FRACTIONS)))
    T = poses(segment, CONFIGURATIONS, FRACTIONS)
    h = 1e-5
    for k in range(6):
        step = h * np.eye(6)[k]
        difference = (
            poses(segment, CONFIGURATIONS + step, FRACTIONS) - poses(segment, CONFIGURATIONS - step, FRACTIONS)
        ) / (2 * h)
        for i, j in np.ndindex(T.shape[:2]):
            expected = twist_of(T[i, j], derivative[i, j, :, :, k])
            np.testing.assert_allclose(own[i, j, :, k], expected, rtol=0, atol=20 * EPS)
            # Central differences: h^2 / 6 times a third derivative below L^3, and rounding over h.
            by_steps = twist_of(T[i, j], difference[i, j])
            np.testing.assert_allclose(own[i, j, :, k], by_steps, rtol=0, atol=h**2 * LENGTH**3 + 10 * EPS / h)


def test_jacobian_of_the_straight_segment(jacobians):
    # The end of a straight rod: turned by L, and moved by L^2 / 2, per curvature; no more, no less.
    own, _ = jacobians(StrainSegment(LENGTH, MODES), jnp.zeros((1, 6)), jnp.array([1.0]))
    L, h = LENGTH, LENGTH**2 / 2
    expected = L * np.eye(6)
    # Seen from the tip, the base frame's bend lifts it by +L^2/2 in x for bend_y, -L^2/2 in y for bend_x.
    expected[3, 1], expected[4, 0] = h, -h
    np.testing.assert_allclose(own[0, 0], expected, atol=4 * EPS)


def test_locked_coordinates_do_nothing(jacobians, poses):
    free = np.array([True, False, True, False, True, False])
    locked, open_ = StrainSegment(LENGTH, MODES, rest_strain=REST, free=free), StrainSegment(LENGTH, MODES, REST)
    q = CONFIGURATIONS[[5]]
    np.testing.assert_array_equal(poses(locked, q, FRACTIONS), poses(open_, q * free, FRACTIONS))
    own, derivative = jacobians(locked, jnp.asarray(q), jnp.asarray(FRACTIONS))
    assert np.all(np.asarray(own)[..., ~free] == 0)
    assert np.all(np.asarray(derivative)[..., ~free] == 0)
    full, _ = jacobians(open_, jnp.asarray(q * free), jnp.asarray(FRACTIONS))
    np.testing.assert_allclose(np.asarray(own)[..., free], np.asarray(full)[..., free], atol=4 * EPS)
    np.testing.assert_array_equal(locked.basis, np.eye(6) * free)


# --- Arcs

THETAS = np.radians([0, 1e-7, 1, 30, 57.29577951308232, 90, 135, 170, 180])
PHIS = np.radians([-180, -135, -90, -30, 0, 45, 90, 120, 180])
ARCS = np.array([[theta, phi, length] for theta, phi in itertools.product(THETAS, PHIS) for length in (0.3, 0.4, 0.5)])


def arcs(array):
    return Arc(*jnp.asarray(array).T)


@pytest.fixture(scope="module")
def bending():
    return StrainSegment(LENGTH, ("bend_x", "bend_y", "stretch"))


def test_arc_tip(bending, poses):
    q = bending.from_arc(arcs(ARCS))
    T = poses(bending, q, np.array([1.0]))[:, 0]
    theta, phi, length = ARCS.T
    b = theta / 2
    reach = length * np.sinc(b / np.pi)
    expected = reach[:, None] * np.stack([np.sin(b) * np.cos(phi), np.sin(b) * np.sin(phi), np.cos(b)], -1)
    np.testing.assert_allclose(T[:, :3, 3], expected, atol=6 * EPS)
    # No spin about the tangent: the end is turned by theta about an axis of the cross-section.
    turn = np.stack([-theta * np.sin(phi), theta * np.cos(phi), 0 * phi], -1)
    np.testing.assert_allclose(T[:, :3, :3], Rotation.from_rotvec(turn).as_matrix(), atol=6 * EPS)


def test_torsion_free_all_along(bending, poses):
    fractions = np.linspace(0, 1, 9)
    below = ARCS[ARCS[:, 0] < 3.1]  # where the rotation vector is unique
    T = poses(bending, bending.from_arc(arcs(below)), fractions)
    vectors = Rotation.from_matrix(T[..., :3, :3].reshape(-1, 3, 3)).as_rotvec()
    # A rotation matrix of rounding eps, near half a turn seen through a factor of about 2.
    np.testing.assert_allclose(vectors[:, 2], 0, atol=16 * EPS)


def test_arc_round_trip(bending):
    back = bending.to_arc(bending.from_arc(arcs(ARCS)))
    theta, phi, length = ARCS.T
    np.testing.assert_allclose(back.theta, theta, rtol=4 * EPS, atol=0)
    np.testing.assert_allclose(back.length, length, rtol=4 * EPS)
    bent = theta > 0
    np.testing.assert_allclose(np.exp(1j * np.asarray(back.phi))[bent], np.exp(1j * phi)[bent], atol=8 * EPS)
    np.testing.assert_array_equal(np.asarray(back.phi)[~bent], 0)
    np.testing.assert_array_equal(np.asarray(back.theta)[~bent], 0)


def test_coordinates_round_trip():
    segment = StrainSegment(LENGTH, ("bend_x", "bend_y", "stretch"), rest_strain=REST * [1, 1, 0, 0, 0, 1])
    q = jnp.asarray(CONFIGURATIONS[:, [0, 1, 5]])
    # The rest strain is taken away and added again: its own rounding.
    np.testing.assert_allclose(segment.from_arc(segment.to_arc(q)), q, atol=16 * EPS)


def test_rest_strain_is_part_of_the_arc():
    rest = np.array([0.0, 2.0, 0, 0, 0, 0.25])
    segment = StrainSegment(LENGTH, ("bend_x", "bend_y", "stretch"), rest_strain=rest)
    arc = segment.to_arc(jnp.zeros(3))
    assert float(arc.theta) == pytest.approx(2 * LENGTH)
    assert float(arc.phi) == 0
    assert float(arc.length) == pytest.approx(1.25 * LENGTH)


def test_arc_without_stretch_keeps_the_rest_length(poses):
    segment = StrainSegment(LENGTH)
    q = segment.from_arc(arcs(ARCS))
    assert q.shape == (len(ARCS), 2)
    np.testing.assert_allclose(segment.to_arc(q).length, LENGTH)
    np.testing.assert_allclose(segment.to_arc(q).theta, ARCS[:, 0], rtol=4 * EPS)


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_gradients_of_arcs_are_finite(bending, differentiate):
    q = jnp.asarray([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [1e-200, 0.0, 0.0], [1e-9, 1e-9, 0.0], [1.0, -2.0, 0.1]])
    there = jax.jit(jax.vmap(differentiate(bending.to_arc)))(q)
    assert all(np.all(np.isfinite(part)) for part in there)
    # Round the circle nothing is singular: coordinates -> bend vector -> coordinates, and the arc's way back.
    identity = jax.jit(jax.vmap(differentiate(lambda q: bending.from_arc(bending.to_arc(q)))))(q[-2:])
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(3), identity.shape), atol=1e-12)
    from_arc = jax.jit(differentiate(bending.from_arc))(Arc(jnp.array(0.0), jnp.array(0.7), jnp.array(0.4)))
    np.testing.assert_allclose(from_arc.theta, [-np.sin(0.7) / LENGTH, np.cos(0.7) / LENGTH, 0], atol=4 * EPS)


def test_bend_vector_points_where_the_arc_goes(bending, poses):
    bend = jnp.array([[0.3, 0.4], [0.0, 0.0], [-1.2, 0.5]])
    q = bending.from_bend_vector(bend)
    np.testing.assert_allclose(bending.bend_vector(q), bend, atol=4 * EPS)
    tips = poses(bending, q, np.array([1.0]))[:, 0, :3, 3]
    b = np.linalg.norm(bend, axis=1) / 2
    # Across the axis: L sinc(b) sin(b) along the bend vector's direction, 2 b long.
    across = LENGTH * np.sinc(b / np.pi) ** 2 / 2
    np.testing.assert_allclose(tips[:, :2], across[:, None] * bend, atol=4 * EPS)
    stretched = bending.from_bend_vector(bend, jnp.full(3, 0.5))
    np.testing.assert_allclose(bending.to_arc(stretched).length, 0.5)
    np.testing.assert_allclose(bending.bend_vector(stretched), bend, atol=4 * EPS)


# --- Refusals


@pytest.mark.parametrize(
    "modes, words",
    [
        (("bend_x", "wiggle"), "bend_x, wiggle"),
        ((), "none"),
        (("bend_y", "bend_x"), "in the order bend_x, bend_y, twist"),
        (("bend_x", "bend_x"), "each strain once"),
    ],
)
def test_wrong_modes_are_refused(modes, words):
    with pytest.raises(ValueError, match=words) as error:
        StrainSegment(LENGTH, modes)
    assert "`modes`" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("modes, missing", [(("bend_x",), "bend_y"), (("twist", "stretch"), "bend_x, bend_y")])
def test_an_arc_needs_both_bends(modes, missing):
    with pytest.raises(ValueError, match=f"lacks {missing}"):
        StrainSegment(LENGTH, modes).from_bend_vector(jnp.zeros(2))


def test_a_length_needs_stretch():
    with pytest.raises(ValueError, match="lacks stretch"):
        StrainSegment(LENGTH).from_bend_vector(jnp.zeros(2), jnp.array(0.5))
