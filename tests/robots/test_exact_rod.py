"""The exact rod against tables and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hydrostat.errors import UnsolvedError
from hydrostat.robots.elastica import sag
from hydrostat.robots.spec import BaseSpec, MassSpec, MaterialSpec, RobotSpec, SegmentSpec
from hydrostat.robots.specs.finger import finger


@pytest.mark.parametrize(
    ("young", "grams", "x", "y", "degrees", "base_moment", "frequency"),
    # Shapes by shooting, nine digits; frequencies by a chain of rigid links, five digits.
    [
        (40e9, 0, 0.590351735, -0.100206129, -12.828135, 0.035377438, 1.96809),
        (40e9, 20, 0.457256660, -0.353871705, -53.758030, 0.119843118, 0.93721),
        (40e9, 100, 0.244117566, -0.497860399, -83.854402, 0.259811542, 0.77882),
        (60e9, 0, 0.595625165, -0.067640130, -8.633421, 0.035598121, 2.38852),
        (60e9, 20, 0.512749751, -0.284571205, -41.919411, 0.132985801, 1.02263),
        (60e9, 50, 0.396918338, -0.407657902, -64.705733, 0.222337109, 0.87079),
        (60e9, 100, 0.297815263, -0.471282032, -78.421659, 0.315285694, 0.80704),
    ],
)
def test_the_nitinol_rod(young, grams, x, y, degrees, base_moment, frequency):
    rod = sag(finger(youngs_modulus=young, tip_mass=1e-3 * grams))
    angle, across, along = rod.tip
    assert (along, -across) == pytest.approx((x, y), abs=1e-8)
    assert np.degrees(-angle) == pytest.approx(degrees, abs=1e-6)
    assert rod.base_moment == pytest.approx(base_moment, abs=1e-9)
    assert rod.first_frequency() == pytest.approx(frequency, abs=2e-5)


def straight_rod(**changes) -> RobotSpec:
    """A slender rod without weight worth mentioning beside its tip's."""
    parts = {
        "segments": (SegmentSpec(0.4, (1e-3, 1e-3), ("bend_y",)),),
        "material": MaterialSpec(60e9, 0.3, 6450.0),
        "base": BaseSpec(axis=(1.0, 0.0, 0.0)),
    }
    return RobotSpec("rod", **(parts | changes))


def test_without_gravity_it_is_the_clamped_beam():
    rod = sag(straight_rod(), gravity=(0.0, 0.0, 0.0))
    assert rod.tip == pytest.approx([0.0, 0.0, 0.4], abs=1e-15)
    # The first root of cos(b) cosh(b) = -1; rotary inertia takes (r / L)^2 of some parts.
    beta, area, moment = 1.8751040687, math.pi * 1e-6, math.pi / 4 * 1e-12
    expected = beta**2 / (2 * math.pi * 0.4**2) * math.sqrt(60e9 * moment / (6450.0 * area))
    assert rod.first_frequency() == pytest.approx(expected, rel=1e-5)


def test_a_preshape_is_an_arc():
    segment = SegmentSpec(0.4, (1e-3, 1e-3), ("bend_y",), preshape_deg=(0.0, 90.0))
    radius = 0.4 / (math.pi / 2)
    tip = sag(straight_rod(segments=(segment,)), gravity=(0.0, 0.0, 0.0)).tip
    assert tip == pytest.approx([math.pi / 2, radius, radius], abs=1e-12)


def test_cutting_changes_nothing():
    cone = SegmentSpec(0.4, (2e-3, 1e-3), ("bend_y",), preshape_deg=(0.0, 20.0))
    masses = (MassSpec(0.3, 0.01, 1e-6), MassSpec(1.0, 0.005))
    whole = straight_rod(segments=(cone,), masses=masses, base=BaseSpec(axis=(0.5, 0.3, 0.6)))
    pieces = replace(whole, segments=cone.pieces(7))
    one, other = sag(whole), sag(pieces)
    assert other.tip == pytest.approx(one.tip, abs=1e-11)
    assert other.first_frequency() == pytest.approx(one.first_frequency(), rel=1e-8)


def test_a_hanging_rod_swings_faster_and_an_upright_one_slower():
    tones = [
        sag(straight_rod(base=BaseSpec(axis=axis), masses=(MassSpec(1.0, 0.01),))).first_frequency()
        for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    ]
    assert tones == sorted(tones)
    assert tones[2] > 1.05 * tones[0]


def test_a_column_too_heavy_to_stand_says_so():
    # Twice the critical weight EI (pi / 2 L)^2 at the tip.
    critical = 60e9 * math.pi / 4 * 1e-12 * (math.pi / 0.8) ** 2 / 9.81
    column = straight_rod(base=BaseSpec(axis=(0.0, 0.0, 1.0)), masses=(MassSpec(1.0, 2 * critical),))
    with pytest.raises(UnsolvedError, match="unstable"):
        sag(column).first_frequency()


def test_points_along_the_rod():
    rod = sag(finger(tip_mass=0.05))
    distances = np.linspace(0.0, 0.6, 61)
    angle, x, z = rod.at(distances).T
    assert rod.at(distances)[-1] == pytest.approx(rod.tip, abs=1e-12)
    # Inextensible: the chords are as long as the arcs, less the third order.
    chords = np.hypot(np.diff(x), np.diff(z))
    turn = np.diff(angle)
    assert chords == pytest.approx(0.01 * (1 - turn**2 / 24), rel=1e-7)
    # A place twice, as the ends of a chain that is filled up with segments beyond the tip.
    twice = rod.at(np.array([0.0, 0.3, 0.3, rod.rod[-1].end, rod.rod[-1].end]))
    assert twice[1:3] == pytest.approx(rod.at(np.array([0.3]))[[0, 0]])
    assert twice[3:] == pytest.approx(np.stack([rod.tip] * 2))


@pytest.mark.parametrize("grams", [300.0, 1000.0, 10_000.0])
def test_a_heavy_weight_bends_the_rod_at_its_clamp_alone(grams):
    # Without its own weight, the rod that ends straight down has M^2 / (2 E I) = N at the clamp, by the first integral
    # of the elastica, less what is left of the layer of sqrt(E I / N) at the tip; a rod that is long beside it.
    light = replace(finger(tip_mass=1e-3 * grams), material=MaterialSpec(60e9, 0.3, 1e-3))
    rod, stiffness, force = sag(light), 60e9 * math.pi / 4 * 1e-12, 9.81e-3 * grams
    layer = math.sqrt(stiffness / force)
    angle, _, along = rod.tip
    left = math.pi / 2 - angle
    # 4 arctan(tan(pi / 8) exp(-s / layer)) of the endless rod, which a free end doubles, less squares of it;
    # 1e-11 is what the integration leaves.
    decay = math.exp(-0.6 / layer)
    assert left == pytest.approx(8.0 * math.tan(math.pi / 8) * decay, rel=10.0 * decay**2 + 1e-6, abs=1e-11)
    # The rod itself weighs 2e-9 kg.
    moment = math.sqrt(2.0 * stiffness * force * math.sin(angle))
    assert rod.base_moment == pytest.approx(moment, rel=1e-8)
    # The moment of the weight about the clamp is the same.
    assert rod.base_moment == pytest.approx(force * along, rel=1e-8)
    assert rod.at(np.linspace(0.0, 0.6, 7))[-1] == pytest.approx(rod.tip, abs=1e-11)
    # It hangs: a stable rod, whose weight swings about as a pendulum does.
    swing = math.sqrt(9.81 / 0.6) / (2.0 * math.pi)
    assert swing < rod.first_frequency() < 1.3 * swing
