"""Arms in one plane: positions to and fro, angles of arcs, and a tip that is held."""

import numpy as np
import pytest
from finger_formulas import FingerFormulas, FingerLoads

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.mechanics import planar, vibrations
from hydrostat.robots import alterations, build_robot, find_arm, sag
from hydrostat.robots.specs.finger import finger


@pytest.fixture(scope="module")
def robot():
    return build_robot(alterations.bare_rod(find_arm("finger"), 0.02), load_places=[1.0])


def test_positions_in_the_plane_and_in_the_world(robot):
    points = np.array([[0.3, 0.1], [0.0, 0.0], [0.6, -0.2]])
    world = planar.in_world(robot.arm, points)
    # The finger is clamped along the world's x, and up is the world's z.
    np.testing.assert_allclose(world, np.stack([points[:, 0], np.zeros(3), points[:, 1]], -1), atol=1e-12)
    np.testing.assert_allclose(planar.in_plane(robot.arm, world), points, atol=1e-12)


def test_the_tip_of_a_straight_finger_and_of_a_bent_one(robot):
    length = float(robot.arm.length)
    np.testing.assert_allclose(planar.tip_in_plane(robot.arm, np.zeros((2, 1))), [length, 0.0], atol=1e-12)
    # A quarter of a circle downwards: positive bends lead away from up.
    curvature = 0.5 * np.pi / length
    radius = 1.0 / curvature
    quarter = np.full((2, 1), curvature)
    np.testing.assert_allclose(planar.tip_in_plane(robot.arm, quarter), [radius, -radius], rtol=1e-12)
    np.testing.assert_allclose(planar.arc_angles(robot.arm, quarter).sum(), 0.5 * np.pi, rtol=1e-12)


def test_angles_of_arcs_need_arcs():
    arm = hs.robots.rod(0.5, 0.01, segments=2).arm
    with pytest.raises(InputError, match="bend_y alone"):
        planar.arc_angles(arm, np.zeros((2, 6)))


def test_a_held_tip_is_at_its_angle_and_in_balance(robot):
    held = planar.hold_tip(robot, 10.0)
    along, up = planar.tip_in_plane(robot.arm, held.q)
    assert np.rad2deg(np.arctan2(up, along)) == pytest.approx(10.0, abs=1e-3)
    # The same equilibrium from the system's side: a load on the tip, upwards.
    system = hs.System(robot)
    rest = hs.equilibrium(system, hs.Control(load=[[0.0, 0.0, 0.0, 0.0, 0.0, held.force]]), held.q)
    np.testing.assert_allclose(rest.q, held.q, atol=1e-6)


def test_a_soft_finger_hangs_as_the_papers_formulas_say():
    # Newton's method in four equal parts of the load finds no equilibrium.
    young, mass = 1e9, 0.1
    robot = build_robot(alterations.bare_rod(finger(youngs_modulus=young), mass), load_places=[1.0])
    area, second_moment = np.pi * 1e-6, np.pi / 4 * 1e-12
    model = FingerFormulas([0.3, 0.3], 6450.0 * area, young * second_moment, tip_mass=mass)
    found = planar.arc_angles(robot.arm, planar.rest(robot))
    # The paper's X is up. Three Gauss points are wrong by 1e-7 of the weight's moment on an arc of a radian, and the
    # error is of sixth order in the angle, here 2 rad; the tip's weight holds the arcs stiffer than that moment.
    expected = model.static_equilibrium(FingerLoads((-9.81, 0.0)), guess=found)
    assert found == pytest.approx(np.asarray(expected), abs=1e-7 * 2.0**6)


@pytest.mark.slow
@pytest.mark.parametrize(("young", "grams"), [(60e9, 1000.0), (1e9, 50.0)])
def test_a_heavy_weight_leads_to_the_branch_of_the_exact_rod(young, grams):
    spec = alterations.bare_rod(finger(youngs_modulus=young), 1e-3 * grams)
    robot = alterations.padded_chain(spec, 16, 16)
    _, across, along = sag(spec).tip
    q = planar.rest(robot)
    # The unstable branches are 100 mm away and more.
    assert planar.tip_in_plane(robot.arm, q) == pytest.approx([along, -across], abs=5e-3)
    assert float(vibrations(robot, q).frequencies[0]) > 0.0
