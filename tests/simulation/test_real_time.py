"""One step at a time: the same motion as a simulation's, whatever the robot, and what is refused."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.errors import DivergedError, InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.scaling import scaled
from hydrostat.robots.specs.squid import WATER, squid, squid_limb
from hydrostat.simulation import RealTime, simulate
from hydrostat.stepping import LinearImplicitEuler
from hydrostat.surroundings import Water
from hydrostat.system import Control, System

DT = 2e-3


@pytest.fixture(scope="module")
def limb():
    return System(build_robot(squid_limb("camera", 3)))


@pytest.fixture(scope="module")
def stepped(limb):
    return RealTime(limb, DT)


def test_steps_by_hand_are_those_of_a_simulation(limb, stepped):
    tensions = jnp.array([0.4, 0.1, 0.0, 0.0])
    rows = simulate(limb, Control(tension=tensions), 10 * DT, DT)
    stepped.reset()
    for i in range(1, 11):
        state = stepped.step(tensions)
        np.testing.assert_allclose(state.q, rows.state.q[i], atol=1e-12)
        np.testing.assert_allclose(state.v, rows.state.v[i], atol=1e-10)
        assert stepped.iterations == rows.iterations[i]
    assert stepped.time == pytest.approx(10 * DT)
    assert isinstance(state.q, np.ndarray)


def test_a_command_holds_for_one_step_and_states_are_kept(stepped):
    stepped.reset()
    first = stepped.step([0.5, 0.0, 0.0, 0.0])
    kept = first.q.copy()
    second = stepped.step([0.0, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(first.q, kept)
    again = stepped.reset(first)
    np.testing.assert_array_equal(again.q, kept)
    # Tendons on either side bend it to their own.
    other = stepped.step([0.5, 0.0, 0.0, 0.0])
    assert other.v[-1, 1] > second.v[-1, 1]


def test_what_is_not_a_command_is_refused(limb, stepped):
    with pytest.raises(ValueError, match="`command` must be 4 numbers; got an array of shape \\(3,\\)"):
        stepped.step(np.zeros(3))
    with pytest.raises(ValueError, match="`state` must have"):
        stepped.reset(System(build_robot(squid_limb("camera", 2))).rest())
    with pytest.raises(InputError, match="`drives` must be one of"):
        RealTime(limb, DT, drives="strings")
    with pytest.raises(InputError, match="`dt` must be"):
        RealTime(limb, -1.0)


def test_a_step_that_cannot_be_made_leaves_the_state(stepped):
    stepped.reset()
    before = stepped.step(np.zeros(4))
    with pytest.raises(DivergedError, match=r"the step after .* could not be made; the state before it is kept"):
        stepped.step(np.full(4, np.nan))
    np.testing.assert_array_equal(stepped.state.q, before.q)
    stepped.step(np.zeros(4))


@pytest.mark.slow
def test_limbs_in_water_step_apart_as_they_do_together():
    # A fixed body: each limb of its own, those that are alike as a batch; the simulation knows them as one robot.
    whole = squid()
    spec = replace(whole, limbs=(whole.limb("palpation"), whole.limb("camera")))
    system = System(build_robot(spec), [Water(WATER, added_mass=1.0)])
    tensions = np.linspace(0.0, 0.6, 8)
    stepper = LinearImplicitEuler()
    rows = simulate(system, Control(tension=tuple(tensions.reshape(2, 4))), 8 * DT, DT, stepper=stepper)
    robot = RealTime(system, DT, stepper)
    assert robot.commands == 8
    for _ in range(8):
        state = robot.step(tensions)
    for own, other in zip(jax.tree.leaves((state.q, state.v)), jax.tree.leaves((rows.q, rows.v)), strict=True):
        np.testing.assert_allclose(own, other[-1], rtol=1e-9, atol=1e-11)
    assert state.q[0].shape == (2, 3)
    assert state.q[1].shape == (1, 3)


def test_torques_drive_as_well(limb):
    robot = RealTime(limb, DT, LinearImplicitEuler(), drives="torque")
    torque = np.zeros((3, 3))
    torque[:, 1] = 1e-3
    rows = simulate(limb, Control(torque=torque), DT, DT, stepper=LinearImplicitEuler())
    np.testing.assert_allclose(robot.step(torque.ravel()).q, rows.state.q[1], atol=1e-13)


@pytest.mark.parametrize("backend", ["native", "xla"])
def test_a_system_that_is_altered_steps_as_one_that_is_made_so(limb, backend):
    """Half the modulus, without compiling anew; the state stays."""
    softer = System(scaled(build_robot(squid_limb("camera", 3)), youngs_modulus=0.5))
    tensions = jnp.array([0.4, 0.1, 0.0, 0.0])
    robot = RealTime(limb, DT, LinearImplicitEuler(), backend=backend)
    before = robot.step(tensions)
    robot.alter(softer)
    np.testing.assert_array_equal(robot.state.q, before.q)
    rows = simulate(softer, Control(tension=tensions), DT, DT, state=before, stepper=LinearImplicitEuler())
    stiff = simulate(limb, Control(tension=tensions), DT, DT, state=before, stepper=LinearImplicitEuler())
    found = robot.step(tensions)
    np.testing.assert_allclose(found.v, rows.state.v[-1], atol=1e-10)
    assert np.abs(found.v - stiff.state.v[-1]).max() > 1e-6
    with pytest.raises(InputError, match="same parts and shapes"):
        robot.alter(System(build_robot(squid_limb("camera", 2))))
