"""Strokes that turn an octopus on the spot: which way, how hard, and when it has turned far enough."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import HydrostatMuscles
from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits import mirrored
from hydrostat.control.nerves import Felt
from hydrostat.control.turning import Turn, bend_one_way_and_straighten
from hydrostat.lie import SE3
from hydrostat.robots.build import build_robot
from hydrostat.robots.octopus_arm import octopus_arm

MUSCLES = build_robot(octopus_arm()).muscles
assert isinstance(MUSCLES, HydrostatMuscles)
STROKE = bend_one_way_and_straighten(Anatomy.of(MUSCLES))
DT = 5e-3


def turn(to_deg, looks=1.0):
    numbers = (jnp.asarray(np.deg2rad(to_deg)), jnp.ones(8), jnp.asarray(looks), jnp.asarray(np.deg2rad(2.0)))
    return Turn(STROKE, *numbers)


def felt(turned_deg):
    c, s = np.cos(np.deg2rad(turned_deg)), np.sin(np.deg2rad(turned_deg))
    rotation = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    zero = jnp.zeros((8, 20, 3))
    return Felt(zero, zero, jnp.zeros((8, 20)), SE3(rotation, jnp.array([0.0, 0.0, 0.03])), jnp.zeros(6))


def test_to_the_right_is_to_the_left_mirrored():
    for time in (0.7, 1.2):
        left, right = (
            brain.decide(time, DT, felt(0.0), brain.decide(0.0, DT, felt(0.0), brain.begin(felt(0.0)))[1])[0]
            for brain in (turn(90.0), turn(-90.0))
        )
        np.testing.assert_array_equal(right.activation, mirrored(left.activation))
        np.testing.assert_array_equal(right.grip, left.grip)
        assert float(left.activation.max()) > 0.05


def test_angles_beyond_half_a_turn_are_counted():
    """As if every stroke turned it by as much, and none sprang back."""
    brain, each = turn(400.0), 30.0
    memory = brain.begin(felt(0.0))
    for stroke in range(13):
        _, memory = brain.decide(stroke * float(STROKE.duration), DT, felt(stroke * each), memory)
        assert float(memory.share) == pytest.approx(1.0)
    assert np.rad2deg(float(memory.turned)) == pytest.approx(12 * each)


def test_it_knows_that_it_springs_back_and_stops():
    brain = turn(50.0)
    _, memory = brain.decide(0.0, DT, felt(0.0), brain.begin(felt(0.0)))
    back = np.rad2deg(float(STROKE.recoil))
    wanted, memory = brain.decide(2.0, DT, felt(50.0 + back), memory)
    assert float(memory.share) == 0.0
    np.testing.assert_array_equal(wanted.activation, 0.0)
    assert int(memory.strokes) == 1
    # What is missing by little is a weak stroke.
    _, memory = brain.decide(4.0, DT, felt(50.0 - 0.25 * np.rad2deg(float(STROKE.angle))), memory)
    assert float(memory.share) == pytest.approx(0.5)


def test_open_loop_believes_what_it_wanted():
    brain = turn(3.0 * np.rad2deg(float(STROKE.angle)), looks=0.0)
    memory = brain.begin(felt(0.0))
    for stroke in range(6):
        _, memory = brain.decide(stroke * float(STROKE.duration), DT, felt(77.0), memory)
    assert int(memory.strokes) == 3
    assert float(memory.turned) == pytest.approx(3.0 * float(STROKE.angle))
