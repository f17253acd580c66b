"""Beats of an octopus that swims, and how it steers by them."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits import Jet, Swim
from hydrostat.control.gaits.jet import JetController
from hydrostat.control.gaits.swim import Beat, SwimController, balanced, lean
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.system import System

YAWS = jnp.asarray(np.deg2rad(45.0 * np.arange(8)))
ANATOMY = Anatomy.of(build_robot(octopus_arm()))
BEAT = Beat.of(0.15, 0.3, 0.35, 1.0, 3.0)
UP = jnp.array([0.0, 0.0, 1.0])


def observed(turn, dt=0.01):
    pose = SE3(so3.exp(jnp.asarray(turn, float)), jnp.zeros(3))
    return Observation(*[None] * 10)._replace(period=jnp.asarray(dt), pose=pose, twist=jnp.zeros(6))


def swim(steer=2.0):
    zero = jnp.zeros(())
    gains = (jnp.asarray(steer), zero, zero, jnp.asarray(0.6))
    return SwimController(ANATOMY, BEAT, YAWS, UP, *gains, jnp.asarray(0.01), balanced(YAWS), jnp.zeros(3))


def test_it_opens_three_times_as_long_as_it_closes():
    times = np.linspace(0.0, 1.0, 401)[:-1]
    closed = np.array([float(BEAT.closed(t)) for t in times])
    assert closed[0] == 1.0
    assert closed.min() == pytest.approx(-1.0)
    assert times[np.argmin(closed)] == pytest.approx(0.75)
    assert np.abs(np.diff(closed)).max() < 0.05  # without a jump


@pytest.mark.parametrize("turn", [(0.3, 0.0, 0.0), (0.0, -0.4, 0.0), (0.2, 0.5, 0.0), (3.0, 0.0, 0.0)])
def test_the_lean_is_the_turn_that_brings_it_back(turn):
    pose = observed(turn).pose
    back = lean(pose, UP)
    there = pose.rotation @ so3.exp(jnp.concatenate([back, jnp.zeros(1)]))
    np.testing.assert_allclose(there[:, 2], UP, atol=1e-12)


@pytest.mark.parametrize("azimuth", [0.0, 100.0])
def test_arms_on_the_side_it_leans_to_close_more(azimuth):
    """They push that side of the body forward, which turns it upright again."""
    axis = np.array([-np.sin(np.deg2rad(azimuth)), np.cos(np.deg2rad(azimuth)), 0.0])
    controller = swim()
    control, _ = controller(0.2, observed(0.2 * axis), controller.init(observed(0.2 * axis)))
    mouth, back = np.asarray(control.activation[:, 0, 0]), np.asarray(control.activation[:, 0, 2])
    towards = np.cos(np.asarray(YAWS) - np.deg2rad(azimuth))
    assert np.corrcoef(mouth - back, towards)[0, 1] > 0.9


def test_upright_all_arms_beat_alike():
    controller = swim()
    control, _ = controller(0.2, observed((0.0, 0.0, 1.0)), controller.init(observed((0.0, 0.0, 0.0))))
    np.testing.assert_allclose(control.activation, np.broadcast_to(control.activation[:1], control.activation.shape))


def test_jets_come_by_the_clock():
    controller = JetController(ANATOMY, BEAT, 8, *(jnp.asarray(x) for x in (0.25, 0.75, 0.5, 1.0)))
    jets = [float(controller(t, observed((0, 0, 0), 1e-3), ())[0].jet) for t in (0.3, 0.6, 0.74, 0.8, 1.4, 1.6)]
    assert jets == [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]


def test_an_octopus_swims_along_the_direction_it_is_given():
    system = System(build_robot(octopus(arms=3, segments=2)))
    controller = Swim(direction=(0.0, 3.0, 4.0)).attach(system, 0.01)
    np.testing.assert_allclose(controller.direction, [0.0, 0.6, 0.8], rtol=1e-15)
    control, _ = controller(0.2, observed((0.0, 0.0, 0.0)), controller.init(observed((0.0, 0.0, 0.0))))
    assert control.activation.shape == (3, 2, 5)
    blind = Swim(closed_loop=False).attach(system, 0.01)
    turned, upright = (blind(0.2, observed(t), blind.init(observed(t)))[0] for t in ((0.5, 0.0, 0.0), (0.0, 0.0, 0.0)))
    np.testing.assert_array_equal(turned.activation, upright.activation)
    with pytest.raises(InputError, match="to jet, a system needs `Jet"):
        Jet().attach(system, 0.01)


def test_arms_across_from_lost_ones_swing_less():
    np.testing.assert_allclose(balanced(YAWS), 1.0, atol=1e-12)
    strength = np.asarray(balanced(YAWS[jnp.array([0, 1, 2, 6, 7])]))
    np.testing.assert_allclose(strength[2:4], 1.0, atol=1e-12)  # beside the gap
    assert strength[0] < strength[1] < 1.0
    assert strength[1] == pytest.approx(strength[4])


def test_below_its_course_it_pitches_up():
    """On a level course the axis of the body is raised by what it is below the height at which it began."""
    system = System(build_robot(octopus(arms=3, segments=2)))
    controller = Swim((1.0, 0.0, 0.0), hold_course=True).attach(system, 0.01)
    start = controller.init(observed((0.0, 0.0, 0.0)))
    raised = []
    for height in (-0.02, 0.0, 0.02):
        seen = observed((0.0, 0.0, 0.0))
        aim, _ = controller._course(seen._replace(pose=SE3(seen.pose.rotation, jnp.array([0.5, 0.0, height]))), start)
        assert float(jnp.sum(aim**2)) == pytest.approx(1.0)
        raised.append(float(jnp.arctan2(aim[2], aim[0])))
    assert raised[0] > raised[1] > raised[2]
    assert raised[1] == pytest.approx(0.8, abs=1e-9)
