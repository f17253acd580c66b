"""Wire lengths against the geometry of the wires in space, and against the corrected formulas of Boccolato."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.integrate import quad
from wired_arms import CASES, bend_vectors, wired_arm

from hydrostat.bodies import Arm
from hydrostat.mechanics import kinematics
from hydrostat.segments import StrainSegment

EPS = np.finfo(float).eps
BENDS = bend_vectors([0, 1e-6, 1, 30, 60, 90, 135, 170], [0, 20, 130, -75])
AZIMUTHS = (0, 45, 90, 120, 200, 240, 300)


@pytest.fixture(scope="module")
def nodes_of():
    """Rotations and positions at fractions of the one segment, for a stack of configurations."""

    def of(arm, q, fractions):
        nodes = kinematics.node_poses(arm, q, fractions)
        return nodes.rotation[0], nodes.position[0]

    compiled = jax.jit(jax.vmap(of, in_axes=(None, 0, None)))
    return lambda arm, q, fractions: [np.asarray(x) for x in compiled(arm, q, jnp.asarray(fractions))]


def wire_points(nodes_of, wired, q, fractions):
    """Where the wires are in space, [configuration, wire, fraction, 3]."""
    rotation, position = nodes_of(wired.arm, q, fractions)
    azimuth = np.asarray(wired.tendons.azimuth)
    base, tip = np.asarray(wired.tendons.offsets[0, 0])
    spoke = np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], -1)
    local = (base + fractions * (tip - base))[None, :, None] * spoke[:, None, :]
    return position[:, None] + np.einsum("cfij,wfj->cwfi", rotation, local)


# --- Geometry

DEGREE = 47


@pytest.mark.parametrize("case", CASES)
def test_hard_wires_are_as_long_as_their_curve(nodes_of, lengths_of, case):
    height, radii = CASES[case]
    wired = wired_arm([height], radii, azimuths=AZIMUTHS)
    q = wired.configuration(BENDS[:, None])
    # Each coordinate of a wire is a smooth function of the fraction: interpolate it, and differentiate that.
    t = chebyshev.chebpts1(DEGREE + 1)
    points = wire_points(nodes_of, wired, q, (t + 1) / 2)
    values = points.reshape(-1, len(t), 3).transpose(1, 0, 2).reshape(len(t), -1)
    slopes = chebyshev.chebder(np.linalg.solve(chebyshev.chebvander(t, DEGREE), values))
    x, weights = np.polynomial.legendre.leggauss(80)
    speed = np.linalg.norm(
        (chebyshev.chebvander(x, DEGREE - 1) @ slopes).reshape(len(x), *points.shape[:2], 3), axis=-1
    )
    curve = np.tensordot(weights, speed, 1)
    # Differentiating a polynomial of degree 47 magnifies rounding by 47^2; positions are below 0.5 m.
    np.testing.assert_allclose(lengths_of(wired, q), curve, rtol=0, atol=DEGREE**2 * EPS)


@pytest.mark.parametrize("case", CASES)
def test_hard_wires_by_adaptive_quadrature(lengths_of, case):
    # The same without interpolation: the speed of a wire of a bent cone, written as |velocity| in the moving frame.
    height, (base, tip) = CASES[case]
    wired = wired_arm([height], [base, tip], azimuths=AZIMUTHS)
    lengths = lengths_of(wired, wired.configuration(BENDS[:, None]))
    for row, bend in list(zip(lengths, BENDS, strict=True))[::5]:
        turn = np.array([-bend[1], bend[0], 0])
        for length, azimuth in zip(row, np.radians(AZIMUTHS), strict=True):
            spoke = np.array([np.cos(azimuth), np.sin(azimuth), 0])

            def speed(t, turn=turn, spoke=spoke):
                arm = (base + t * (tip - base)) * spoke
                return np.linalg.norm([0, 0, height] + np.cross(turn, arm) + (tip - base) * spoke)

            assert length == pytest.approx(quad(speed, 0, 1, epsabs=1e-14, epsrel=1e-14)[0], abs=1e-14)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bays", [1, 4, 10])
def test_soft_wires_are_the_sum_of_their_bays(nodes_of, lengths_of, case, bays):
    height, radii = CASES[case]
    wired = wired_arm([height], radii, azimuths=AZIMUTHS, bays=bays)
    q = wired.configuration(BENDS[:, None])
    holes = wire_points(nodes_of, wired, q, np.linspace(0, 1, bays + 1))
    distances = np.linalg.norm(np.diff(holes, axis=2), axis=-1)
    # Differences of positions below 0.5 m, each of a dozen roundings, once per bay.
    np.testing.assert_allclose(lengths_of(wired, q), distances.sum(-1), rtol=0, atol=6 * bays * EPS)


def test_soft_wires_tend_to_hard_ones_with_the_square_of_the_bay(lengths_of):
    height, radii = CASES["extreme cone"]
    q = wired_arm([height], radii).configuration(np.array([[[1.0, 0.6]]]))
    hard = lengths_of(wired_arm([height], radii), q)[0]
    bays = np.array([8, 16, 32, 64])
    errors = np.array([hard - lengths_of(wired_arm([height], radii, bays=int(m)), q)[0] for m in bays])
    # A chord is always shorter than the curve, by the third power of its length: 1 / bays^2 over all of them.
    assert np.all(errors > 0)
    slopes = np.diff(np.log(errors), axis=0) / np.diff(np.log(bays))[:, None]
    # The next term is of fourth order: at 32 bays below a thousandth.
    np.testing.assert_allclose(slopes[-1], -2, atol=2e-3)
    np.testing.assert_allclose(slopes[0], -2, atol=5e-2)


# --- The paper's formulas, corrected

K = np.radians([0, 120, 240])


def polar(bends):
    return np.linalg.norm(bends, axis=-1)[:, None], np.arctan2(bends[:, 1], bends[:, 0])[:, None]


def test_hard_wires_of_a_cylinder(lengths_of):
    height, (radius, _) = CASES["cylinder"]
    wired = wired_arm([height], [radius, radius])
    theta, alpha = polar(BENDS)
    lengths = lengths_of(wired, wired.configuration(BENDS[:, None]))
    np.testing.assert_allclose(lengths, height - radius * theta * np.cos(K - alpha), rtol=0, atol=6 * EPS)
    # The wire that the arm bends towards is the shortest.
    bent = theta[:, 0] > 0.1
    assert np.all(lengths[bent].argmin(1) == np.cos(K - alpha)[bent].argmax(1))
    np.testing.assert_allclose(lengths.mean(1), height, atol=4 * EPS)


@pytest.mark.parametrize("bays", [1, 10])
def test_soft_wires_of_a_cylinder(lengths_of, bays):
    height, (radius, _) = CASES["cylinder"]
    wired = wired_arm([height], [radius, radius], bays=bays)
    bent = BENDS[np.linalg.norm(BENDS, axis=1) > 1e-3]
    theta, alpha = polar(bent)
    bend_radius = height / theta - radius * np.cos(K - alpha)
    expected = bend_radius * theta * np.sinc(theta / (2 * bays) / np.pi)
    np.testing.assert_allclose(lengths_of(wired, wired.configuration(bent[:, None])), expected, rtol=0, atol=16 * EPS)


@pytest.mark.parametrize("case", ["cone", "extreme cone", "widening cone"])
def test_hard_wires_of_a_cone(lengths_of, case):
    height, (base, tip) = CASES[case]
    wired = wired_arm([height], [base, tip])
    bent = BENDS[np.linalg.norm(BENDS, axis=1) > 0.1]
    theta, alpha = polar(bent)
    k = tip - base
    u0, u1 = height - theta * base * np.cos(K - alpha), height - theta * tip * np.cos(K - alpha)
    oblique = np.abs(u0 - u1) > 1e-3  # else the printed quotient loses its digits

    def F(u):
        return (u * np.sqrt(u**2 + k**2) + k**2 * np.arcsinh(u / abs(k))) / 2

    lengths = lengths_of(wired, wired.configuration(bent[:, None]))
    expected = (F(u0) - F(u1))[oblique] / (u0 - u1)[oblique]
    np.testing.assert_allclose(lengths[oblique], expected, rtol=0, atol=8 * EPS / 1e-3)


@pytest.mark.parametrize("case, least, most", [("cone", 0.57e-3, 0.60e-3), ("extreme cone", 6.15e-3, 6.7e-3)])
def test_mean_length_of_a_cones_wires(lengths_of, case, least, most):
    # Boccolato's equation 25 holds for the cylinder alone: these wires are longer than the axis, and up to a right
    # angle by little more than when straight.
    height, radii = CASES[case]
    wired = wired_arm([height], radii)
    theta = np.linalg.norm(BENDS, axis=1)
    excess = lengths_of(wired, wired.configuration(BENDS[:, None])).mean(1) - height
    within = (excess > least) & (excess < most)
    assert np.all(within[theta < np.radians(91)]), excess
    straight = theta == 0
    np.testing.assert_allclose(excess[straight], np.hypot(height, radii[1] - radii[0]) - height, atol=4 * EPS)


def test_straight_cone_wires_are_all_alike(lengths_of):
    # The printed formula drops the out-of-plane part and gives a straight cone lengths that depend on azimuth.
    for bays in (None, 7):
        wired = wired_arm([0.35], [0.05, 0.03], azimuths=AZIMUTHS, bays=bays)
        lengths = lengths_of(wired, jnp.zeros((1, 1, 2)))
        np.testing.assert_allclose(lengths, np.hypot(0.35, 0.02), rtol=4 * EPS)


def test_stretch_lengthens_the_axis():
    # A segment stretched by a tenth has the wires of one that is a tenth longer and bent by the same angle.
    short, long = wired_arm([0.3], [0.04, 0.03]), wired_arm([0.33], [0.04, 0.03])
    stretching = StrainSegment(short.arm.segments.length, ("bend_x", "bend_y", "stretch"))
    arm = Arm(stretching, short.arm.section, short.arm.material, short.arm.T_world_base)
    bend = np.array([[0.7, -0.4]])
    q = jnp.concatenate([short.configuration(bend), jnp.array([[0.1]])], -1)
    stretched = short.tendons.lengths(arm, q)
    np.testing.assert_allclose(stretched, long.tendons.lengths(long.arm, long.configuration(bend)), atol=4 * EPS)


@pytest.mark.parametrize("bays", [None, 6])
def test_lengths_are_smooth_where_straight(bays):
    wired = wired_arm([0.2], [0.06, 0.01], bays=bays)

    def lengths(q):
        return wired.tendons.lengths(wired.arm, q)

    straight = jnp.zeros((1, 2))
    forward, reverse, second = jax.jit(
        lambda q: (jax.jacfwd(lengths)(q), jax.jacrev(lengths)(q), jax.jacfwd(jax.jacrev(lengths))(q))
    )(straight)
    # dL/d(bend) = -u/w times the mean radius towards the wire; q is (-bend_y, bend_x) / height.
    cosine = 0.2 / np.hypot(0.2, 0.05)
    toward = np.stack([np.sin(K), -np.cos(K)], -1)
    for slope in (forward, reverse):
        np.testing.assert_allclose(slope[:, 0], 0.2 * 0.035 * cosine * toward, atol=8 * EPS)
    assert np.all(np.isfinite(second))


# --- Routing

THREE = ([0.35, 0.3, 0.25], [0.05, 0.04, 0.03, 0.02])


@pytest.fixture(scope="module", params=[None, 6], ids=["hard", "soft"])
def routed(request):
    return {name: wired_arm(*THREE, routing=name, bays=request.param) for name in ("decoupled", "through")}


def test_a_wire_is_the_sum_of_its_parts(routed, lengths_of):
    random = np.random.default_rng(0)
    q = routed["through"].configuration(random.normal(size=(5, 3, 2)))
    parts_of = jax.jit(jax.vmap(lambda arm, tendons, q: tendons.along_segments(arm, q), in_axes=(None, None, 0)))
    parts = {name: np.asarray(parts_of(*wired, q)) for name, wired in routed.items()}
    for name, wired in routed.items():
        np.testing.assert_allclose(lengths_of(wired, q), parts[name].sum(-1), atol=4 * EPS)
        assert np.all(parts[name][:, np.asarray(wired.tendons.passes) == 0] == 0)
        assert np.all(parts[name][:, np.asarray(wired.tendons.passes) == 1] > 0)
    # Within its own segment a wire is as long whichever way it came.
    own = np.asarray(routed["decoupled"].tendons.passes) == 1
    np.testing.assert_allclose(parts["through"][:, own], parts["decoupled"][:, own], atol=2 * EPS)


def test_within_one_segment(routed):
    random = np.random.default_rng(1)
    bends = jnp.asarray(random.normal(size=(3, 2)))
    heights = jnp.asarray(THREE[0])
    tendons = routed["through"].tendons
    along = jax.jit(lambda tendons, bends, heights: tendons.along_arcs(bends, heights))
    whole = along(tendons, bends, heights)
    for j in range(3):
        part = along(tendons.within(j), bends[j][None], heights[j][None])
        np.testing.assert_allclose(part[:, 0], whole[:, j], atol=2 * EPS)


@pytest.mark.parametrize("moved", range(3))
def test_which_wires_feel_a_segment(routed, lengths_of, moved):
    # Moving one segment must be made good in every wire that passes it, and in no other.
    bends = np.full((2, 3, 2), 0.3)
    bends[1, moved] += [0.4, -0.2]
    feels = {}
    for name, wired in routed.items():
        before, after = lengths_of(wired, wired.configuration(bends))
        feels[name] = np.abs(after - before) > 1e-6
        unmoved = np.asarray(wired.tendons.passes)[:, moved] == 0
        np.testing.assert_array_equal(after[unmoved], before[unmoved])
    ends = np.repeat(np.arange(3), 3)
    np.testing.assert_array_equal(feels["decoupled"], ends == moved)
    np.testing.assert_array_equal(feels["through"], ends >= moved)
