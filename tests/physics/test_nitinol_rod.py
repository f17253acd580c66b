"""The Nitinol rod of paper 001, 60 cm long and 2 mm thick, clamped horizontally with a weight on its tip.

Shapes against a table made by shooting; frequencies about the sagged shape against shooting here, in which the
inextensible rod without rotary inertia is a boundary value problem along its length.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from slender_rods import COUNTS, HORIZONTAL, arm_from_radii, assert_tip, frequencies, limit_of, refined, rounding_of

LENGTH, RADIUS, DENSITY, GRAVITY = 0.6, 1e-3, 6450.0, 9.81
LINE_DENSITY, SECOND_MOMENT = DENSITY * np.pi * RADIUS**2, np.pi / 4.0 * RADIUS**4


def without_thickness(count, young):
    """A rod of the same bending stiffness and mass, a hundred times thinner: its rotary inertia does not matter."""
    thinner = 0.01
    radius = np.full(count + 1, thinner * RADIUS)
    return arm_from_radii(radius, LENGTH, young / thinner**4, DENSITY / thinner**2, base=HORIZONTAL)


def mismatch(young, tip_mass, base_curvature, omega):
    """What the sagged rod's vibration at omega cannot satisfy at its tip: a determinant that is zero at frequencies.

    Angle t and curvature of the sagged rod, and of the vibration the turn p, its rate k, displacements u and w and
    inner forces f and h along x and z:  EI k' = sin(t) f - cos(t) h - V sin(t) p with the weight V beyond s,
    u' = -sin(t) p, w' = cos(t) p, f' = -m omega^2 u, h' = -m omega^2 w. At the base p = u = w = 0, at the tip k = 0
    and the inner force moves the tip mass.
    """
    EI = young * SECOND_MOMENT

    def rates(s, y):
        (t, curvature), (p, k, u, w, f, h) = y[:2], y[2:].reshape(6, 3)
        weight = GRAVITY * (tip_mass + LINE_DENSITY * (LENGTH - s))
        k_rate = (np.sin(t) * f - np.cos(t) * h - weight * np.sin(t) * p) / EI
        inertia = -(omega**2) * LINE_DENSITY
        linear = [k, k_rate, -np.sin(t) * p, np.cos(t) * p, inertia * u, inertia * w]
        return np.concatenate([[curvature, weight * np.cos(t) / EI], *linear])

    # Three vibrations that start with one of k, f and h each.
    start = np.zeros((6, 3))
    start[[1, 4, 5], [0, 1, 2]] = 1.0
    start = np.concatenate([[0.0, base_curvature], start.ravel()])
    end = solve_ivp(rates, (0.0, LENGTH), start, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    _, k, u, w, f, h = end[2:].reshape(6, 3)
    return np.linalg.det(np.stack([k, f - tip_mass * omega**2 * u, h - tip_mass * omega**2 * w]))


# Young's modulus [Pa], load [g], tip [m], its angle [deg], moment at the base [N m], and frequencies [Hz] from a chain
# of rigid links, here only to tell which one is which.
RODS = [
    (40e9, 0, 0.590351735, -0.100206129, -12.828135, 0.035377438, (1.96809, 12.0980, 33.731)),
    (40e9, 20, 0.457256660, -0.353871705, -53.758030, 0.119843118, (0.93721, 6.7487, 24.204)),
    (40e9, 50, 0.332412659, -0.452187010, -73.967061, 0.187797824, (0.83070, 4.7149, 22.593)),
    (40e9, 100, 0.244117566, -0.497860399, -83.854402, 0.259811542, (0.77882, 3.8547, 22.025)),
    (60e9, 0, 0.595625165, -0.067640130, -8.633421, 0.035598121, (2.38852, 14.8377, 41.466)),
    (60e9, 20, 0.512749751, -0.284571205, -41.919411, 0.132985801, (1.02263, 8.8713, 30.663)),
    (60e9, 50, 0.396918338, -0.407657902, -64.705733, 0.222337109, (0.87079, 5.8979, 28.151)),
    (60e9, 100, 0.297815263, -0.471282032, -78.421659, 0.315285694, (0.80704, 4.4020, 27.181)),
]
QUICK = ((40e9, 20), (60e9, 0), (60e9, 100))


@pytest.mark.parametrize(
    ("young", "grams", "x", "z", "degrees", "base_moment", "table"),
    [row if row[:2] in QUICK else pytest.param(*row, marks=pytest.mark.slow) for row in RODS],
)
def test_the_weighted_rod_sags_and_vibrates(young, grams, x, z, degrees, base_moment, table):
    tip_mass, angle = 1e-3 * grams, np.deg2rad(-degrees)
    shapes = refined(
        lambda count: without_thickness(count, young),
        gravity=GRAVITY,
        force=(0.0, 0.0, -GRAVITY * tip_mass),
        from_angle=angle,
    )
    printed = np.array([np.deg2rad(0.5e-6), 0.5e-9, 0.5e-9])
    assert_tip(shapes, np.array([angle, x, z]), printed, LENGTH)

    # The same weight as a mass, that vibrates.
    spectra = [
        frequencies(without_thickness(count, young), shape.q, gravity=GRAVITY, tip_mass=tip_mass)
        for count, shape in zip(COUNTS, shapes, strict=True)
    ]
    found, doubt = limit_of([spectrum[:3] for spectrum in spectra])
    assert found == pytest.approx(2.0 * np.pi * np.array(table), rel=1e-4)
    # Seven digits of the base moment are needed for six of the frequencies; it is printed to seven or more.
    tolerance = doubt + rounding_of(spectra[-1], found) + 1e-7 * found
    assert np.all(tolerance <= 1e-5 * found)
    curvature = -base_moment / (young * SECOND_MOMENT)
    for omega, within in zip(found, tolerance, strict=True):
        below, above = (mismatch(young, tip_mass, curvature, omega + change) for change in (-within, within))
        assert below * above < 0.0, omega / (2.0 * np.pi)
