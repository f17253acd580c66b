"""The Ecoflex limb of paper 003, a cone 60 cm long and 60 to 20 mm thick: weight, buoyancy, a tendon, vibrations.

Inextensible (K) as well as with shear and stretch (SR, shear stiffness a third of the axial one, which is what a
Poisson ratio of one half gives). The tendon runs 7 mm above the axis, free of friction: it bends every section with
the moment T e and compresses it with T.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from slender_rods import (
    COUNTS,
    HORIZONTAL,
    arm_from_radii,
    assert_tip,
    frequencies,
    limit_of,
    refined,
    rounding_of,
)

from hydrostat.lie import SE3

LENGTH, RADII, YOUNG, DENSITY, OFFSET = 0.6, (0.03, 0.01), 69e3, 1070.0, 0.007
# Weight less buoyancy is the weight in a smaller gravity.
GRAVITY = {name: 9.81 * (1.0 - fluid / DENSITY) for name, fluid in (("air", 0.0), ("fresh", 998.0), ("sea", 1025.0))}
GRAVITY["none"] = 0.0
SR = ("bend_y", "shear_x", "stretch")
DOWN = SE3(jnp.diag(jnp.array([1.0, -1.0, -1.0])), jnp.zeros(3))


def limb(count, modes=("bend_y",), base=HORIZONTAL, *, density=DENSITY, thickness=1.0):
    """The limb; made thinner, it keeps its bending stiffness and mass, and loses its rotary inertia."""
    young, density = YOUNG / thickness**4, density / thickness**2
    return arm_from_radii(thickness * np.geomspace(*RADII, count + 1), LENGTH, young, density, modes, base)


# Medium, tension [N]; x, z [m] and angle [degrees] of K and of SR.
SEVEN_DIGITS = [
    ("sea", 0.25, (0.5601303, -0.1961641, -18.15031), (0.5580086, -0.1963518, -18.01342)),
    ("sea", 0.5, (0.5712963, -0.1660227, -1.08142), (0.5670923, -0.1651017, -0.81542)),
    ("sea", 1.5, (0.5715196, -0.0379658, 69.10278), (0.5586517, -0.0369319, 69.95328)),
    ("sea", 3.0, (0.4673304, 0.0892530, 180.31664), (0.4511223, 0.0828795, 181.76093)),
    ("fresh", 1.0, (0.5477156, -0.2125647, 15.71770), (0.5401522, -0.2087410, 16.44362)),
    ("air", 1.0, (0.1466486, -0.5458546, -50.27295), (0.1438354, -0.5564611, -49.81216)),
]
EIGHT_DIGITS = [
    ("air", 0.0, (0.11414336, -0.55175198, -89.892743), (0.11235065, -0.57137604, -89.868999)),
    ("fresh", 0.0, (0.48981256, -0.30924810, -49.540009), (0.48936639, -0.31155289, -49.487329)),
    ("sea", 0.0, (0.54510486, -0.22401496, -35.059563), (0.54483023, -0.22565610, -35.038698)),
    ("none", 0.5, (0.58958564, 0.07036775, 35.633730), (0.58515031, 0.06940074, 35.633730)),
    ("none", 1.0, (0.56019301, 0.13274479, 71.267461), (0.55231663, 0.12917535, 71.267461)),
    ("none", 2.0, (0.46688182, 0.21149118, 142.534921), (0.45718781, 0.20118757, 142.534921)),
]
CASES = [(*case, 1e-7) for case in SEVEN_DIGITS] + [(*case, 1e-8) for case in EIGHT_DIGITS]


@pytest.mark.parametrize(("medium", "tension", "inextensible", "shearable", "digit"), CASES)
@pytest.mark.parametrize("kind", ["K", "SR"])
def test_the_limb_bends_under_weight_and_tendon(kind, medium, tension, inextensible, shearable, digit):
    x, z, degrees = inextensible if kind == "K" else shearable
    bend = -tension * OFFSET
    tendon = {"K": {"along": (bend,)}, "SR": {"along": (bend, 0.0, -tension), "loads": 0}}[kind]
    modes = ("bend_y",) if kind == "K" else SR
    angle = np.deg2rad(-degrees)
    shapes = refined(lambda count: limb(count, modes), gravity=GRAVITY[medium], from_angle=angle, **tendon)
    # Angles are printed with two decimals less, of degrees.
    printed = 0.5 * digit * np.array([np.deg2rad(100.0), 1.0, 1.0])
    assert_tip(shapes, np.array([angle, x, z]), printed, LENGTH)


def test_a_tendon_turns_the_weightless_tip_by_the_compliance_of_all_sections():
    # T e times the integral of 1 / EI, whatever the shear and stretch: for the cone (1 / r_tip^3 - 1 / r_base^3) over
    # three times the taper.
    (base, tip), tension = RADII, 1.0
    compliance = 4.0 / (np.pi * YOUNG) * (tip**-3 - base**-3) * LENGTH / (3.0 * (base - tip))
    turned = [
        limit_of([shape.angle for shape in refined(lambda count, m=modes: limb(count, m), **forces)])
        for modes, forces in (
            (("bend_y",), {"along": (-tension * OFFSET,)}),
            (SR, {"along": (-tension * OFFSET, 0.0, -tension), "loads": 0}),
        )
    ]
    for value, doubt in turned:
        assert abs(-value - tension * OFFSET * compliance) <= doubt
        assert doubt <= 1e-6


@pytest.mark.parametrize(("medium", "millimetres"), [("air", 15.2126087), ("fresh", 1.0236522), ("sea", 0.6397826)])
def test_the_limb_hanging_straight_down_is_stretched_by_its_weight(medium, millimetres):
    shapes = refined(lambda count: limb(count, SR, DOWN), gravity=GRAVITY[medium], loads=0)
    value, doubt = limit_of([-shape.z[-1] - LENGTH for shape in shapes])
    assert abs(value - 1e-3 * millimetres) <= doubt + 0.5e-10
    assert doubt <= 1e-6 * value
    assert all(np.all(shape.x == 0.0) for shape in shapes)


@pytest.mark.parametrize(
    ("density", "hertz"),
    # In vacuo; and in sea water, whose added mass is that of the water displaced.
    [(DENSITY, (0.283632, 0.999634, 2.332222)), (DENSITY + 1025.0, (0.202701, 0.714399, 1.666748))],
)
def test_the_limb_vibrates_as_a_tapered_beam(density, hertz):
    # The table is without rotary inertia.
    spectra = [frequencies(limb(count, density=density, thickness=1e-3)) for count in COUNTS]
    value, doubt = limit_of([spectrum[:3] for spectrum in spectra])
    tolerance = doubt + 2.0 * np.pi * 0.5e-6 + rounding_of(spectra[-1], value)
    assert np.all(np.abs(value - 2.0 * np.pi * np.array(hertz)) <= tolerance)
    assert np.all(doubt <= 1e-5 * value)
