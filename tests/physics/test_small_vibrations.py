"""Natural frequencies of beams, and the loads at which the lowest one vanishes."""

import numpy as np
import pytest
from scipy.optimize import brentq
from slender_rods import COUNTS, frequencies, ideal_rod, limit_of, rounding_of, rounding_of_squares

from hydrostat.mechanics.robot import single_arm
from hydrostat.mechanics.statics import vibrations

CLAMPED_FREE = np.array([1.875104068712, 4.694091132974, 7.854757438238])
FREE_FREE = np.array([4.730040744863, 7.853204624096, 10.995607838])


def assert_beta(spectra, wanted, beta, printed):
    """That frequencies tend to beta^2 from above, in second order."""
    values = np.array([spectrum[wanted] for spectrum in spectra])
    exact = beta**2
    value, doubt = limit_of(values)
    tolerance = doubt + 2.0 * beta * printed + rounding_of(spectra[-1], value)
    assert np.all(np.abs(value - exact) <= tolerance), (value - exact, tolerance)
    # Shapes of constant curvature per segment are a subset of those with twice the segments, and of all: by Rayleigh's
    # principle every frequency falls with the number of segments, to the exact one.
    assert np.all(np.diff(values, axis=0) < 0.0)
    assert np.all(values > exact)
    # The error's next term is smaller by the square of the segments' length over that of the wave.
    slope = np.log2((values[0] - exact) / (values[1] - exact))
    assert np.all(np.abs(slope - 2.0) <= (beta / COUNTS[0]) ** 2), slope


def test_a_cantilever_vibrates_as_euler_and_bernoulli_say():
    assert_beta([frequencies(ideal_rod(count)) for count in COUNTS], slice(3), CLAMPED_FREE, 0.5e-12)


@pytest.mark.parametrize(
    ("ratio", "beta"),
    # Tip mass over the rod's mass.
    [
        (0.1, 1.722741521),
        (0.5, 1.419964430),
        (1.0, 1.247917410),
        (2.0, 1.076195664),
        (5.0, 0.870021459),
        (10.0, 0.735781919),
    ],
)
def test_a_tip_mass_slows_the_cantilever(ratio, beta):
    assert_beta([frequencies(ideal_rod(count), tip_mass=ratio) for count in COUNTS], slice(1), np.array([beta]), 5e-10)


def test_rotary_inertia_slows_the_cantilever_as_rayleigh_says():
    # To first order by (r / 2 L)^2 / 2 times the mode's mean squared slope over its mean square, which for these modes
    # is s (2 + s) with s = beta (sinh beta - sin beta) / (cosh beta + cos beta).
    beta = CLAMPED_FREE
    s = beta * (np.sinh(beta) - np.sin(beta)) / (np.cosh(beta) + np.cos(beta))
    radius = 0.01
    expected = (0.5 * radius) ** 2 / 2.0 * s * (2.0 + s)
    thin, thick = (frequencies(ideal_rod(COUNTS[-1], radius=r))[:3] for r in (1e-5, radius))
    # Left over: the next order, and the segments' error of the modes' slopes.
    left_over = expected + (beta / COUNTS[-1]) ** 2
    assert np.all(np.abs(1.0 - thick / thin - expected) <= left_over * expected)


def critical_load(spectrum_of):
    """The load at which the lowest frequency is zero, and what rounding makes of it."""

    def lowest(load):
        omega = spectrum_of(load)[0]
        return omega * abs(omega)

    load = brentq(lowest, 1.0, 10.0, xtol=1e-12, rtol=1e-12)
    # The square of the frequency falls linearly with the load.
    slope = (lowest(0.9 * load) - lowest(1.1 * load)) / (0.2 * load)
    return load, rounding_of_squares(spectrum_of(load)) / slope


@pytest.mark.parametrize(
    ("load_name", "exact", "printed"),
    # P L^2 / EI of a force on the tip, after Euler; q L^3 / EI of the weight, after Greenhill.
    [pytest.param("push", np.pi**2 / 4.0, 0.0, marks=pytest.mark.slow), ("gravity", 7.837347439, 0.5e-9)],
)
def test_an_upright_rod_loses_its_stability_at_the_critical_load(load_name, exact, printed):
    loads, roundings = zip(
        *(
            critical_load(lambda load, count=count: frequencies(ideal_rod(count), **{load_name: load}))
            for count in COUNTS
        ),
        strict=True,
    )
    value, doubt = limit_of(loads)
    assert abs(value - exact) <= doubt + printed + max(roundings), (value - exact, doubt, roundings)
    assert doubt <= 1e-6 * exact
    # From above, as for frequencies; the load's own length, sqrt(EI / P), takes the place of the wave's.
    assert loads[0] > loads[1] > loads[2] > exact
    slopes = np.log2((np.array(loads[:-1]) - exact) / (np.array(loads[1:]) - exact))
    assert np.all(np.abs(slopes - 2.0) <= exact / np.array(COUNTS[:-1]) ** 2), slopes


def test_a_free_rod_has_six_rigid_motions_and_then_the_free_free_frequencies():
    spectra = []
    for count in COUNTS:
        rod = ideal_rod(count)
        model = single_arm(rod, gravity=(0.0, 0.0, 0.0), free_base=True)
        spectrum = 2.0 * np.pi * vibrations(model, rod.straight()).frequencies
        # Of the rigid motions nothing is left but rounding.
        assert len(spectrum) == count + 6
        assert np.all(spectrum[:6] ** 2 <= rounding_of_squares(spectrum)), spectrum[:6]
        spectra.append(spectrum[6:])
    assert_beta(spectra, slice(3), FREE_FREE, 0.5e-9)
