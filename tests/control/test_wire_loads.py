"""Shapes under the loads of their wires, against the equilibrium of the mechanics and closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import WireModel, bends_of_angles, loaded_shape
from hydrostat.errors import InputError
from hydrostat.robots import build_robot, find_robot, tentacle

GOAL = bends_of_angles((0.0, 60.0, -45.0), (40.0, 50.0, 30.0))
STIFFNESS, TENSION = 2e5, 300.0


def bends_at_rest(name):
    """The bend vectors of the equilibrium without weight, wires being springs at prescribed lengths."""
    rigid = build_robot(find_robot(name))
    lengths = WireModel(rigid.arm, rigid.tendons).lengths(GOAL[None])[0]
    robot = build_robot(find_robot(name), drive="length", wire_stiffness=STIFFNESS)
    system = hs.System(robot, gravity=(0.0, 0.0, 0.0))
    stiffness = np.asarray(system.robot.one.wires.stiffness)
    turns = np.stack([-GOAL[:, 1], GOAL[:, 0]], -1)
    guess = jnp.asarray(turns / np.asarray(robot.arm.segments.length)[:, None])
    q = np.asarray(hs.equilibrium(system, hs.Control(length=jnp.asarray(lengths - TENSION / stiffness)), guess).q)
    return np.stack([q[:, 1], -q[:, 0]], -1) * np.asarray(robot.arm.segments.length)[:, None]


# Through wires pull on the segments that they pass, others on their own alone.
@pytest.mark.parametrize("name", ["tentacle", "tentacle_through"])
def test_elastic_wires_stop_where_the_equilibrium_is(name):
    robot = build_robot(find_robot(name))
    shape = loaded_shape(robot, GOAL, np.zeros(9), wire_stiffness=STIFFNESS, mean_tension=TENSION)
    deviation = bends_at_rest(name) - GOAL
    assert np.max(np.abs(deviation)) > 4e-3
    # The wires of a cylinder are linear in the bends, and so is everything else.
    assert shape.bend - GOAL == pytest.approx(deviation, abs=1e-8)


@pytest.fixture(scope="module")
def decoupled():
    return tentacle()


def test_wires_give_each_segment_the_moment_that_its_bend_needs(decoupled):
    shape = loaded_shape(decoupled, GOAL, np.zeros(9), wire_stiffness=STIFFNESS, mean_tension=TENSION)
    inertia = np.pi / 4.0 * 0.05**4
    moment = 1e6 * inertia * shape.bend / 0.35
    azimuths = np.deg2rad([0.0, 120.0, 240.0])
    sides = np.stack([np.cos(azimuths), np.sin(azimuths)], -1)
    assert 0.045 * shape.tension.reshape(3, 3) @ sides == pytest.approx(moment, rel=1e-9)


def test_friction_is_that_of_a_capstan(decoupled):
    drawn_in = -np.ones(9)
    loads = {"wire_stiffness": STIFFNESS, "mean_tension": TENSION}
    free = loaded_shape(decoupled, GOAL, drawn_in, **loads)
    held = loaded_shape(decoupled, GOAL, drawn_in, **loads, friction=0.2)
    theta = np.repeat(np.linalg.norm(GOAL, axis=-1), 3)
    excess = 0.35 * (np.expm1(0.2 * theta) / (0.2 * theta) - 1.0)
    assert held.lag == pytest.approx(free.tension / STIFFNESS * excess, rel=1e-9)
    assert np.all(loaded_shape(decoupled, GOAL, -drawn_in, **loads, friction=0.2).lag < 0.0)


def test_play_lags_behind_the_last_motion(decoupled):
    approach = np.array([1.0, -1.0, -1.0] * 3)
    loads = {"wire_stiffness": 1e9, "mean_tension": TENSION}
    free, shape = (loaded_shape(decoupled, GOAL, approach, **loads, backlash=play) for play in (0.0, 1e-4))
    assert shape.lag == pytest.approx(-0.5e-4 * approach)
    # The bend vector of three lengths: -2 / (3 r) sum of lag (cos a, sin a); here towards the wire that lags.
    expected = np.array([2.0 / (3.0 * 0.045) * 0.5e-4 * 2.0, 0.0])
    assert shape.bend - free.bend == pytest.approx(np.tile(expected, (3, 1)), rel=1e-4, abs=1e-9)


def test_bad_loads_are_refused(decoupled):
    with pytest.raises(InputError, match="`wire_stiffness` must be a finite number above 0"):
        loaded_shape(decoupled, GOAL, np.zeros(9), wire_stiffness=0.0, mean_tension=1.0)
    with pytest.raises(InputError, match="`friction` must be a finite number"):
        loaded_shape(decoupled, GOAL, np.zeros(9), wire_stiffness=1.0, mean_tension=1.0, friction=-0.1)


def test_wires_that_pass_through_carry_the_moment_of_all_equal_bends():
    robot = tentacle(routing="through")
    goal = bends_of_angles((90.0, 90.0, 90.0), (34.0, 34.0, 34.0))
    shape = loaded_shape(robot, goal, np.zeros(9), wire_stiffness=2.8e5, mean_tension=TENSION)
    off = shape.bend - goal
    # The same moment everywhere is that of the last wires alone, so the others need no difference of tension and hold
    # their segments; the last wires stretch over three lengths: M 3 L / (1.5 r^2 EA) with M = EI theta / L.
    stretch = 2.0 * 1e6 * np.pi / 4.0 * 0.05**4 * np.deg2rad(34.0) / (0.045**2 * 2.8e5)
    assert off[2] == pytest.approx([0.0, -stretch], rel=0.03, abs=1e-4)
    assert np.max(np.abs(off[:2])) < 0.02 * stretch
