"""The finger's formulas: against brute quadrature, printed numbers, energy, and the general kinematics."""

from functools import partial
from math import factorial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.robots import finger_formulas as formulas
from hydrostat.robots.finger_formulas import FingerFormulas, FingerLoads
from hydrostat.segments import StrainSegment

EPS = np.finfo(float).eps

# A finger of no special kind, and everything that can act on it.
FINGER = FingerFormulas(
    [0.35, 0.25],
    [1.1, 0.7],
    [0.4, 0.3],
    rotary_inertia=[2e-3, 1e-3],
    tip_mass=0.3,
    contact_mass=0.2,
    tendon_offset=0.02,
    friction=0.05,
    preshape=[0.2, -0.1],
)
LOADS = FingerLoads(gravity=(3.0, -7.0), contact_force=(0.8, -0.3), tip_force=(-0.5, 0.4), tensions=(9.0, 4.0))
# Straight, nearly so in one or both arcs, on both sides of the series' end at 1, and wide; then random ones.
ANGLES = [(0, 0), (1e-9, 1e-9), (0, 2), (2, 0), (1e-4, -1e-4), (1e-9, 2), (2, 1e-4), (0.999, -1.001), (2, 2), (-2, 2)]
ANGLES = np.vstack([ANGLES, np.random.default_rng(1).uniform(-2, 2, (6, 2))])


# --- The truth: Gauss-Legendre quadrature of the tangent along both arcs. It knows no division by theta, and works for
# complex angles, so that its derivatives follow from Cauchy's integral.

# 16 nodes integrate exp(i x u) over [0, 1] to about (x/4)^32 / 32! = 2e-30 for |x| <= 6: twice the widest arc here.
NODES, WEIGHTS = (lambda x, w: ((x + 1) / 2, w / 2))(*np.polynomial.legendre.leggauss(16))


def along_arcs(lengths, theta):
    """Positions (2, ..., 17, 2) and their derivatives (2, ..., 17, 2, 2) at the nodes and at the end of both arcs."""
    a, b = (theta[..., i, None, None] for i in (0, 1))
    reach = np.append(NODES, 1.0)[:, None]
    u, w = reach * NODES, reach * WEIGHTS
    positions, jacobians = [], []
    start, start_jacobian = 0.0, 0.0
    for length, angle, d_angle in ((lengths[0], a * u, (u, 0 * u)), (lengths[1], a + b * u, (1 + 0 * u, u))):
        # r = integral of (-sin, cos), its derivative that of (-cos, -sin) times the angle's.
        r = length * np.stack([np.sum(-w * np.sin(angle), -1), np.sum(w * np.cos(angle), -1)], -1)
        J = [[-length * np.sum(w * f(angle) * d, -1) for d in d_angle] for f in (np.cos, np.sin)]
        J = np.moveaxis(np.array(J), (0, 1), (-2, -1))
        positions.append(start + r)
        jacobians.append(start_jacobian + J)
        start, start_jacobian = positions[-1][..., -1:, :], jacobians[-1][..., -1:, :, :]
    return positions, jacobians


def quadrature(finger, theta, loads=LOADS):
    """All geometry and M, G_g and the torques of the loads, from first principles."""
    L, rhoA, rhoI = (np.asarray(x) for x in (finger.lengths, finger.line_density, finger.rotary_inertia))
    m_tip, m_c, e = float(finger.tip_mass), float(finger.contact_mass), float(finger.tendon_offset)
    r, J = along_arcs(L, np.asarray(theta))
    centroids = np.stack([np.einsum("g,...gi->...i", WEIGHTS, x[..., :-1, :]) for x in r], -2)
    J_G = np.stack([np.einsum("g,...gij->...ij", WEIGHTS, x[..., :-1, :, :]) for x in J], -3)
    J_c, J_t = J[0][..., -1, :, :], J[1][..., -1, :, :]
    spin = np.array([[NODES, 0 * NODES], [1 + 0 * NODES, NODES]])  # turn of a section per angle, arc by arc
    M = m_tip * np.einsum("...ai,...aj->...ij", J_t, J_t) + m_c * np.einsum("...ai,...aj->...ij", J_c, J_c)
    for i in (0, 1):
        body = J[i][..., :-1, :, :]
        M = M + L[i] * rhoA[i] * np.einsum("g,...gai,...gaj->...ij", WEIGHTS, body, body)
        M = M + L[i] * rhoI[i] * np.einsum("g,ig,jg->ij", WEIGHTS, spin[i], spin[i])
    m = L * rhoA
    weighed = np.einsum("k,...kai->...ai", m, J_G) + m_tip * J_t + m_c * J_c
    F_1, F_2 = np.asarray(loads.tensions)
    return {
        "contact_position": r[0][..., -1, :],
        "tip_position": r[1][..., -1, :],
        "centroids": centroids,
        "contact_jacobian": J_c,
        "tip_jacobian": J_t,
        "centroid_jacobians": J_G,
        "mass_matrix": M,
        "gravity_torques": -np.einsum("...ai,a->...i", weighed, loads.gravity),
        "load_torques": np.einsum("...ai,a->...i", J_c, loads.contact_force)
        + np.einsum("...ai,a->...i", J_t, loads.tip_force)
        + (F_1 - F_2) * e,
    }


def taylor(function, centre, count=20):
    """The coefficients of (theta - centre)^(i, j) of a dictionary of functions, axes i and j first.

    By Cauchy's integral over the torus |a| = |b| = 1. The functions are entire and grow like exp|a| and exp|b|, so that
    20 points on each circle alias by 1 / 20! = 4e-19.
    """
    circle = np.exp(2j * np.pi * np.arange(count) / count)
    values = function(np.asarray(centre) + np.stack(np.meshgrid(circle, circle, indexing="ij"), -1))
    return {name: np.real(np.fft.fft2(f, axes=(0, 1), norm="forward")) for name, f in values.items()}


QUANTITIES = list(quadrature(FINGER, np.zeros(2)))


def evaluate(finger, theta, loads=LOADS):
    """The same quantities from the formulas."""
    more = {"gravity_torques": (loads.gravity,), "load_torques": (loads,)}
    return {name: getattr(finger, name)(theta, *more.get(name, ())) for name in QUANTITIES}


@pytest.fixture(scope="module")
def with_derivatives():
    """Every quantity at all ANGLES with its first and second derivatives, and the Taylor coefficients of its truth."""
    value = partial(evaluate, FINGER)

    def at(theta):
        first = jax.jacfwd(value)
        return value(theta), first(theta), jax.jacfwd(first)(theta)

    return jax.jit(jax.vmap(at))(jnp.asarray(ANGLES)), [taylor(partial(quadrature, FINGER), x) for x in ANGLES]


@pytest.mark.parametrize("name", QUANTITIES)
def test_values_and_derivatives_against_quadrature(with_derivatives, name):
    results, coefficients = with_derivatives
    for k, theta in enumerate(ANGLES):
        c = coefficients[k][name]
        truth = (
            c[0, 0],
            np.stack([c[1, 0], c[0, 1]], -1),
            np.stack([np.stack([2 * c[2, 0], c[1, 1]], -1), np.stack([c[1, 1], 2 * c[0, 2]], -1)], -1),
        )
        # The bounds that the Stumpff functions keep for angles up to 2 rad, see tests/lie/test_stumpff.py.
        bounds = EPS * (1 + 2) * np.array([3, 8, 24]) * np.max(np.abs(c))
        for found, expected, bound in zip(results, truth, bounds, strict=True):
            np.testing.assert_allclose(found[name][k], expected, rtol=0, atol=bound)


def test_coriolis_against_differences():
    """V = M' theta' - dT/dtheta, with the mass matrix from quadrature and differences of fourth order."""
    coriolis = jax.jit(FINGER.coriolis_torques)
    h = 2e-3

    def difference(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    for theta, rate in zip(ANGLES, np.random.default_rng(2).normal(size=ANGLES.shape), strict=True):
        M_dot = difference(lambda t: quadrature(FINGER, theta + t * rate)["mass_matrix"])  # noqa: B023
        dT = [
            difference(lambda t: rate @ quadrature(FINGER, theta + t * e)["mass_matrix"] @ rate / 2)  # noqa: B023
            for e in np.eye(2)
        ]
        # h^4 / 30 times a fifth derivative of at most 2 |M| |rate|^5; twice the rounding of |M| over h.
        size, speed = 0.5, np.linalg.norm(rate)
        bound = size * speed * (h**4 / 15 * max(speed, 1) ** 5 + 4 * EPS / h * max(speed, 1))
        np.testing.assert_allclose(coriolis(*map(jnp.asarray, (theta, rate))), M_dot @ rate - dT, rtol=0, atol=bound)


# --- Printed numbers


def test_vector_of_the_corrected_models():
    finger = FingerFormulas([0.35, 0.25], 1.0, 1.0)
    theta = jnp.array([0.8, -0.5])
    M = [[0.025239171, 0.003705510], [0.003705510, 0.000773537]]
    np.testing.assert_allclose(finger.mass_matrix(theta), M, rtol=0, atol=0.5e-9)
    np.testing.assert_allclose(finger.tip_position(theta), [-0.262005705, 0.524761232], rtol=0, atol=0.5e-9)
    J_t = [[-0.358897714, -0.110869676], [-0.216809817, -0.05583236]]
    np.testing.assert_allclose(finger.tip_jacobian(theta), J_t, rtol=0, atol=0.5e-9)
    # V at the rates (1, 0), (0, 1), and the mixed part of that at (1, 1); six printed digits.
    first, second, both = (finger.coriolis_torques(theta, jnp.array(x)) for x in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]))
    np.testing.assert_allclose(first, [-8.08106e-4, -1.88944e-4], rtol=0, atol=0.5e-9)
    np.testing.assert_allclose(second, [1.37459e-4, 1.53509e-5], rtol=0, atol=[0.5e-9, 0.5e-10])
    np.testing.assert_allclose(both - first - second, [2.00283e-4, 0.0], rtol=0, atol=[0.5e-9, 4 * EPS * 1e-3])


@pytest.mark.parametrize(
    "theta, printed",
    [
        ((0, 0), (0.141666667, 0.026041667, 0.006250000)),
        ((0.3, 0.2), (0.140317418, 0.025763731, 0.006240087)),
        ((0.5, -0.4), (0.140099215, 0.025784099, 0.006210441)),
        ((1, 0.5), (0.129725716, 0.023818777, 0.006188297)),
        ((1.5, 1.5), (0.100668631, 0.016730156, 0.005715747)),
        ((2, -1), (0.121419819, 0.023746809, 0.006006751)),
    ],
)
def test_mass_matrix_of_the_reference(theta, printed):
    # M / (rho A L^3) of two equal arcs: a finger of length 1 and line density 1; nine decimals.
    M = FingerFormulas(0.5, 1.0, 1.0).mass_matrix(jnp.array(theta, float))
    np.testing.assert_allclose((M[0, 0], M[0, 1], M[1, 1]), printed, rtol=0, atol=0.5e-9 + EPS)


def nitinol(tip_mass, rotary=True):
    """The rod of the experiments, 60 cm long and 2 mm thick, with E = 60 GPa."""
    radius, density, youngs_modulus = 1e-3, 6450.0, 60e9
    area, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    inertia = density * second_moment if rotary else 0.0
    return FingerFormulas(
        0.3, density * area, youngs_modulus * second_moment, rotary_inertia=inertia, tip_mass=tip_mass
    )


# Of the base clamped horizontally: the finger's Y is horizontal, -X downwards.
WEIGHT = FingerLoads(gravity=(-9.81, 0.0))


@jax.jit
def rest(finger, loads):
    """The angles at rest, the tip there, the frequencies there and those of the straight finger without gravity."""
    theta = finger.static_equilibrium(loads)
    return (
        theta,
        finger.tip_position(theta),
        finger.natural_frequencies(theta, loads),
        finger.natural_frequencies(jnp.zeros(2)),
    )


TWO_ARC_TABLE = {  # tip mass [kg]: angles, tip (horizontal, vertical), f1, f2 sagged, f1 straight
    0.0: ((0.13203461, 0.01879265), (0.59612932, -0.06206378), (2.50835, 25.3377), 2.49101),
    0.02: ((0.58286381, 0.15945156), (0.51956978, -0.26933495), (1.04931, 13.5235), 0.88063),
    0.05: ((0.93191350, 0.22825346), (0.40839843, -0.38902934), (0.89291, 9.4885), 0.57873),
    0.10: ((1.19352587, 0.21927388), (0.31285527, -0.44750102), (0.83242, 7.1154), 0.41476),
}


@pytest.mark.parametrize("tip_mass", TWO_ARC_TABLE)
def test_sag_and_frequencies_of_the_reference(tip_mass):
    angles, tip, frequencies, straight = TWO_ARC_TABLE[tip_mass]
    theta, (X, Y), sagged, unloaded = rest(nitinol(tip_mass), WEIGHT)
    # Half of the last printed digit, and a little for a value that lies on the edge.
    np.testing.assert_allclose(theta, angles, rtol=0, atol=0.501e-8)
    np.testing.assert_allclose((Y, X), tip, rtol=0, atol=0.501e-8)
    np.testing.assert_allclose(sagged, frequencies, rtol=0, atol=[0.501e-5, 0.501e-4])
    np.testing.assert_allclose(unloaded[0], straight, rtol=0, atol=0.501e-5)


def test_the_reference_has_rotary_inertia():
    # Without rho I the statics is the same, and both printed frequencies are missed in their last digit.
    angles, _, frequencies, straight = TWO_ARC_TABLE[0.0]
    theta, _, sagged, unloaded = rest(nitinol(0.0, rotary=False), WEIGHT)
    np.testing.assert_allclose(theta, angles, rtol=0, atol=0.501e-8)
    assert sagged[1] - frequencies[1] > 5e-4
    assert unloaded[0] - straight > 0.5e-5


# --- Series


def series_and_closed(lengths):
    """Every series with the closed form that it approximates, both as functions of the angles."""
    finger = FingerFormulas(lengths, 1.0, 1.0)
    rate = jnp.array([0.8, -1.1])
    down_y, down_x = jnp.array([0.0, -1.0]), jnp.array([-1.0, 0.0])
    return {
        "mass_matrix": (partial(formulas.series_mass_matrix, lengths), finger.mass_matrix),
        "contact_jacobian": (partial(formulas.series_contact_jacobian, lengths), finger.contact_jacobian),
        "tip_jacobian": (partial(formulas.series_tip_jacobian, lengths), finger.tip_jacobian),
        "coriolis_torques": (
            lambda theta: formulas.series_coriolis_torques(lengths, theta, rate),
            lambda theta: finger.coriolis_torques(theta, rate),
        ),
        "gravity_along_minus_y": (
            partial(formulas.series_gravity_along_minus_y, lengths),
            lambda theta: finger.gravity_torques(theta, down_y),
        ),
        "gravity_along_minus_x": (
            partial(formulas.series_gravity_along_minus_x, lengths),
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
    series, closed = series_and_closed(jnp.array([0.35, 0.25]))[name]
    steps = np.geomspace(0.25, 0.5, 5)
    directions = jnp.asarray(steps[:, None] * np.array([1.0, 0.9]))
    error = np.asarray(jax.jit(jax.vmap(lambda theta: series(theta) - closed(theta)))(directions))
    orders = np.array(REMAINDERS[name])
    assert np.all(error[:, orders == 0] == 0)
    error = np.abs(error[:, orders > 0])
    slopes = np.polyfit(np.log(steps), np.log(error), 1)[0]
    print(name, slopes, error)


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
