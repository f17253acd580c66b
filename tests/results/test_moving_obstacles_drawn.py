"""Obstacles that move are drawn where they are at each row, and their contact is that of the row."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import SmoothSchedule
from hydrostat.results import contact_fractions, drawing, obstacle_contact
from hydrostat.surroundings import Sphere

SHIFT = np.array([0.0, 0.0, -0.3])


@pytest.fixture(scope="module")
def motion():
    """A rod that lies in a ball, which is taken away downwards."""
    robot = hs.robots.rod(0.2, 0.01, segments=2, modes=("bend_y",), skin_points=4)
    law = hs.ContactLaw(stiffness=1e3, damping=0.0, friction=0.0, slip_speed=1e-3)
    ball = Sphere(centre=[0.1, 0.0, -0.05], radius=0.05)
    system = hs.System(robot, [hs.Obstacles(law, [ball], SmoothSchedule([0.0], [0.02], [SHIFT]))])
    return hs.simulate(system, seconds=0.03, dt=2e-3)


def test_a_scene_has_the_displacements_of_its_rows(motion):
    scene = drawing.Scene.of(motion, [0, -1])
    np.testing.assert_allclose(scene.obstacle_shifts[:, 0], [np.zeros(3), SHIFT], atol=1e-12)


def test_a_view_shows_the_obstacle_where_it_is(motion):
    from hydrostat.results import figures

    heights = []
    for row in (0, -1):
        axes = figures.new_figure(4, 4).add_subplot()
        drawing.draw_view(axes, motion, row, drawing.FRONT)
        heights.append(axes.patches[0].get_xy()[:, 1].mean())
    assert heights[1] - heights[0] == pytest.approx(1e3 * SHIFT[2])


def test_contact_is_that_of_the_row(motion):
    touch = motion.derived(obstacle_contact)
    assert touch.on_nodes.shape == (len(motion), 8)
    assert touch.penetration[0] == pytest.approx(0.01, abs=2e-3)  # of the node next to the top of the ball
    assert touch.on_nodes[0].max() > 1.0
    assert touch.on_nodes[-1].max() == 0.0
    # What the nodes feel and what the obstacle feels sum to nothing.
    forces = motion.contact_force(hs.Obstacles)
    np.testing.assert_allclose(touch.on_obstacles[:, 0], -forces.sum(1), atol=1e-9)
    np.testing.assert_allclose(contact_fractions(motion.system.robot), (np.arange(8) + 1) / 8)
