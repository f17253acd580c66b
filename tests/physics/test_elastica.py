"""Large bending of slender rods against closed forms, elliptic integrals and shooting."""

import jax.numpy as jnp
import numpy as np
import pytest
from slender_rods import COUNTS, EPS, HORIZONTAL, assert_tip, at_equilibrium, ideal_rod, limit_of, refined

from hydrostat.lie import SE3


def horizontal_rod(count):
    return ideal_rod(count, base=HORIZONTAL)


@pytest.mark.parametrize("angle", [0.5 * np.pi, np.pi, 1.5 * np.pi, 2.0 * np.pi, 6.0 * np.pi])
def test_a_tip_moment_bends_the_rod_to_a_circle(angle):
    # Curvature is constant, which segments of constant strain hold exactly: only rounding is left, of each of the
    # segments' turns in turn.
    shape = at_equilibrium(ideal_rod(COUNTS[0]), moment=angle)
    exact = angle, (1.0 - np.cos(angle)) / angle, np.sin(angle) / angle
    assert shape.tip == pytest.approx(exact, abs=COUNTS[0] * angle * EPS)


@pytest.mark.parametrize(
    ("load", "angle", "deflection", "reach"),
    # P L^2 / EI; the integrals of Bisshopp and Drucker to ten digits.
    [
        (0.25, 0.1242924421, 0.0827459154, 0.9958821816),
        (0.5, 0.2445336471, 0.1621435757, 0.9840810375),
        (1.0, 0.4613519497, 0.3017207738, 0.9435667637),
        (2.0, 0.7817498316, 0.4934574804, 0.8393582792),
        (3.0, 0.9860169467, 0.6032534411, 0.7455798154),
        (4.0, 1.1212393475, 0.6699641813, 0.6710587578),
        (5.0, 1.2153681176, 0.7137915236, 0.6123716393),
        (6.0, 1.2836972858, 0.7445711489, 0.5654111713),
        (8.0, 1.3744315067, 0.7849823750, 0.4951722679),
        (10.0, 1.4302855388, 0.8106090249, 0.4450044022),
    ],
)
def test_a_tip_force_bends_the_rod_as_bisshopp_and_drucker_found(load, angle, deflection, reach):
    exact = np.array([angle, deflection, reach])
    shapes = refined(ideal_rod, force=(load, 0.0, 0.0), from_angle=angle)
    assert_tip(shapes, exact, 0.5e-10)
    # Second order in the number of segments. The error's next term is smaller by the square of the segments' length
    # over the length in which the shape changes: the rod's, or that of the load, sqrt(EI / P).
    errors = np.array([np.linalg.norm(shape.tip - exact) for shape in shapes])
    slopes = np.log2(errors[:-1] / errors[1:])
    assert np.all(np.abs(slopes - 2.0) <= (1.0 + load) / np.array(COUNTS[:-1]) ** 2), slopes


@pytest.mark.parametrize(
    ("weight", "angle", "sag", "reach"),
    # q L^3 / EI
    [
        (1.0, 0.165115561, 0.123471402, 0.991246395),
        (2.0, 0.321593798, 0.238506583, 0.966892947),
        (5.0, 0.697004778, 0.495905045, 0.846657180),
        (10.0, 1.052643117, 0.700199716, 0.656353761),
        (20.0, 1.339501542, 0.829881443, 0.445232052),
        (50.0, 1.526453150, 0.907917123, 0.245014756),
    ],
)
def test_a_horizontal_rod_sags_under_its_weight(weight, angle, sag, reach):
    shapes = refined(horizontal_rod, gravity=weight, from_angle=angle)
    assert_tip(shapes, np.array([angle, reach, -sag]), 0.5e-9)


@pytest.mark.parametrize(
    ("degrees", "share", "height", "deflection"),
    # Shares of the critical load pi^2 / 4 EI / L^2.
    [
        (20.0, 1.01539687, 0.96973091, 0.21941304),
        (60.0, 1.15171962, 0.74101961, 0.59320765),
        (100.0, 1.51838879, 0.34898930, 0.79153950),
        (140.0, 2.54225837, -0.10692324, 0.75038837),
    ],
)
def test_a_rod_pressed_beyond_its_critical_load_buckles(degrees, share, height, deflection):
    angle = np.deg2rad(degrees)
    shapes = refined(ideal_rod, force=(0.0, 0.0, -share * np.pi**2 / 4.0), from_angle=angle)
    # The load is printed to eight decimals too. Just above the critical one, share = 1 + angle^2 / 8, the angle depends
    # on it most: by 4 / angle.
    assert_tip(shapes, np.array([angle, deflection, height]), 0.5e-8 * (1.0 + 4.0 / angle))


def test_the_straight_branch_goes_on_beyond_the_critical_load():
    shape = at_equilibrium(ideal_rod(COUNTS[0]), force=(0.0, 0.0, -1.5 * np.pi**2 / 4.0))
    assert np.all(np.asarray(shape.q) == 0.0)


@pytest.mark.parametrize(
    ("span", "parameter", "sag"),
    # Length and weight per length are 1: the catenary z = a cosh(x / a) with 2 a sinh(span / 2 a) = 1.
    [(0.9, 0.5600943751, 0.1907090006), (0.8, 0.3382018791, 0.2654375091), (0.5, 0.1148201075, 0.3981941779)],
)
def test_a_limp_rod_hangs_in_a_catenary(span, parameter, sag):
    # The base points along the end of the catenary, the tip is pulled by its end tension.
    steepness = np.arctan2(0.5, parameter)
    c, s = np.cos(steepness), np.sin(steepness)
    base = SE3(jnp.array([[-s, 0.0, c], [0.0, 1.0, 0.0], [-c, 0.0, -s]]), jnp.zeros(3))
    stiffnesses = np.array([4e-4, 1e-4, 2.5e-5])
    found = []
    for stiffness in stiffnesses:
        shapes = refined(
            lambda count, EI=stiffness: ideal_rod(count, bending_stiffness=EI, base=base),
            gravity=1.0,
            force=(parameter, 0.0, 0.5),
            from_angle=-2.0 * steepness,
        )
        found.append(limit_of([(s.x[-1], s.z[-1], s.z[len(s.z) // 2]) for s in shapes]))
    exact = np.array([span, 0.0, -sag])
    values = [limit.value for limit in found]
    # Bending costs EI along the catenary, and where the free tip has no moment, in a layer of thickness
    # sqrt(EI / tension), the next power EI^1.5.
    value, doubt = limit_of(values, ratio=4.0, powers=(1.0, 1.5))
    tolerance = np.max(doubt) + np.max([limit.doubt for limit in found])
    assert np.all(np.abs(value - exact) <= tolerance), (value - exact, tolerance)
    # First order in EI, up to the thickness of the layer times the greatest curvature, 1 / a at the lowest point.
    layer = np.sqrt(stiffnesses[1] / parameter) / parameter
    order = np.log(np.abs((values[1] - exact) / (values[2] - exact))) / np.log(4.0)
    assert np.all(np.abs(order - 1.0) <= layer), order
