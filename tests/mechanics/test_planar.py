"""Arms in one plane: positions to and fro, angles of arcs, and a tip that is held."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.mechanics import planar
from hydrostat.robots import alterations, build_robot, find_arm


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
