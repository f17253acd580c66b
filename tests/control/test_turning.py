"""Strokes that turn an octopus on the spot: which way, how hard, and when it has turned far enough."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits.base import mirrored
from hydrostat.control.gaits.turn import TurnController, bend_one_way_and_the_other
from hydrostat.lie import SE3
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation

STROKE = bend_one_way_and_the_other(Anatomy.of(build_robot(octopus_arm())))
DT = 5e-3


def turn(to_deg, closed_loop=True):
    angle, near = (jnp.asarray(np.deg2rad(x)) for x in (to_deg, 2.0))
    return TurnController(STROKE, angle, jnp.ones(8), near, closed_loop)


def observed(turned_deg):
    c, s = np.cos(np.deg2rad(turned_deg)), np.sin(np.deg2rad(turned_deg))
    rotation = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    rest = Observation(*[None] * 10)
    return rest._replace(period=jnp.asarray(DT), pose=SE3(rotation, jnp.array([0.0, 0.0, 0.03])))


def test_to_the_right_is_to_the_left_mirrored():
    for time in (0.7, 1.2):
        left, right = (
            controller(time, observed(0.0), controller(0.0, observed(0.0), controller.init(observed(0.0)))[1])[0]
            for controller in (turn(90.0), turn(-90.0))
        )
        np.testing.assert_array_equal(right.activation, mirrored(left.activation))
        np.testing.assert_array_equal(right.grip, left.grip)
        assert float(left.activation.max()) > 0.05


def test_angles_beyond_half_a_turn_are_counted():
    """As if every stroke turned it by as much, and none sprang back."""
    controller, each = turn(400.0), 30.0
    memory = controller.init(observed(0.0))
    for stroke in range(13):
        _, memory = controller(stroke * float(STROKE.duration), observed(stroke * each), memory)
        assert float(memory.share) == pytest.approx(1.0)
    assert np.rad2deg(float(memory.turned)) == pytest.approx(12 * each)


def test_it_knows_that_it_springs_back_and_stops():
    controller = turn(50.0)
    _, memory = controller(0.0, observed(0.0), controller.init(observed(0.0)))
    back = np.rad2deg(float(STROKE.recoil))
    control, memory = controller(2.0, observed(50.0 + back), memory)
    assert float(memory.share) == 0.0
    np.testing.assert_array_equal(control.activation, 0.0)
    assert int(memory.strokes) == 1
    # What is missing by little is a weak stroke.
    _, memory = controller(4.0, observed(50.0 - 0.25 * np.rad2deg(float(STROKE.angle))), memory)
    assert 0.25 < float(memory.share) < 0.5
    # After a weak stroke it springs back by less.
    assert 0.0 < float(STROKE.springs_back(jnp.asarray(0.1))) < 0.5 * float(STROKE.recoil)


def test_open_loop_believes_what_it_control():
    controller = turn(3.0 * np.rad2deg(float(STROKE.angle)), closed_loop=False)
    memory = controller.init(observed(0.0))
    for stroke in range(6):
        _, memory = controller(stroke * float(STROKE.duration), observed(77.0), memory)
    assert int(memory.strokes) == 3
    assert float(memory.turned) == pytest.approx(3.0 * float(STROKE.angle))
