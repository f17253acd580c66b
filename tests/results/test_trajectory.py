"""A trajectory: its rows, what follows from them, and derivatives through it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_trajectories import arm_in_water, hand, octopus_on_ground, rollout

import hydrostat
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.robot import no_inputs
from hydrostat.mechanics.state import inputs_at, positions, velocities
from hydrostat.results import Trajectory
from hydrostat.results.rows import PIECE
from hydrostat.surroundings import Ground, Suckers, Water
from hydrostat.system import Control, State


@pytest.fixture(scope="module")
def arm():
    return arm_in_water()


@pytest.fixture(scope="module")
def octopus():
    return octopus_on_ground()


def test_rows_and_slices(arm):
    assert len(arm) == 21
    assert isinstance(arm[-1], State)
    assert float(arm[-1].time) == pytest.approx(0.1, rel=1e-12)
    assert np.array_equal(arm.final.q, arm[20].q)
    part = arm[5:15:2]
    assert isinstance(part, Trajectory)
    assert len(part) == 5
    assert np.allclose(part.time, 5e-3 * np.arange(5, 15, 2))
    assert np.array_equal(part.tip, arm.tip[5:15:2])
    assert np.allclose(arm.between(0.02, 0.03).time, [0.02, 0.025, 0.03])
    with pytest.raises(InputError, match=r"^no row lies between 3 s and 4 s; rows go from 0 to 0\.1 s$"):
        arm.between(3.0, 4.0)
    with pytest.raises(IndexError, match=r"^a trajectory of 21 rows has no row 21$"):
        arm[21]


def test_joined_pieces_are_the_whole(arm):
    whole = Trajectory.joined([arm[:4], arm[4:5], arm[5:]])
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(arm), strict=True):
        assert np.array_equal(one, other)


def test_tip_and_points_are_those_of_the_kinematics(arm):
    geometry = arm.system.robot.arm
    for row in (0, 13):
        poses = kinematics.segment_poses(geometry, jnp.asarray(arm.q[row]))
        assert np.allclose(arm.points[row], poses.position, rtol=0.0, atol=1e-15)
        assert np.allclose(arm.tip[row], poses.position[-1], rtol=0.0, atol=1e-15)
        assert np.allclose(arm.tip_pose.rotation[row], poses.rotation[-1], rtol=0.0, atol=1e-14)
    fine = arm.centreline(3)
    assert fine.pose.position.shape == (21, 7, 3)
    assert np.allclose(fine.pose.position[:, ::3], arm.points, rtol=0.0, atol=1e-15)


def test_tips_of_several_arms_move_with_the_body(octopus):
    robot = octopus.system.robot
    assert octopus.tip.shape == (11, 2, 3)
    for arm in range(2):
        local = kinematics.tip_pose(robot.arm, jnp.asarray(octopus.q[-1, arm]))
        base = robot.arm.T_world_base.inverse() @ local
        tip = jax.tree.map(lambda y: jnp.asarray(y[-1]), octopus.body_pose) @ robot.mounts[arm] @ base
        assert np.allclose(octopus.tip[-1, arm], tip.position, rtol=0.0, atol=1e-14)
    assert octopus.points.shape == (11, 2, 3, 3)
    assert np.allclose(octopus.points[:, :, -1], octopus.tip, rtol=0.0, atol=1e-15)


def test_volume_is_kept_by_the_radii(arm):
    # Radius squared times stretch is constant in each segment, to rounding.
    assert np.max(arm.volume_error) < 1e-14
    assert np.ptp(arm.stretch) > 0.01
    section = arm.system.robot.arm.section
    assert np.allclose(arm.shape.radius[:, -1] ** 2 * arm.stretch[:, -1], section.radius_tip[-1] ** 2, rtol=1e-13)
    # The drawn surface takes the mean radius where segments meet: near, but not exactly, the same volume.
    assert 0.0 < arm.mesh_volume_error() < 0.2


def test_energies_and_momentum_are_those_of_the_mechanics(octopus):
    robot = octopus.system.robot
    found, moving = octopus.energy(), octopus.momentum()
    for row in (0, 10):
        state = jax.tree.map(jnp.asarray, octopus[row]).robot
        given = inputs_at(robot, state, no_inputs(robot, Water()))
        own = energy(robot, positions(state), velocities(state), given)
        for name in ("kinetic", "elastic", "gravitational", "total"):
            assert np.allclose(getattr(found, name)[row], getattr(own, name), rtol=1e-12, atol=1e-18)
        assert np.allclose(moving[row], momentum(robot, positions(state), velocities(state), given), atol=1e-17)


def test_energy_balances_by_the_steppers_own_quadrature(arm):
    # What is left is of the second order: a fourth for half the step, and less than 0.4 while steps are coarse.
    coarse, fine = arm.energy_balance_error(), arm_in_water(steps=40, dt=2.5e-3).energy_balance_error()
    assert 0.0 < coarse < 0.02
    assert fine < 0.4 * coarse


def test_muscle_power_is_a_part_of_all_power(arm):
    assert arm.muscle_power.shape == arm.power().shape == arm.dissipation().shape == (21,)
    # Water can only take energy.
    assert np.all(arm.power()[1:] <= arm.muscle_power[1:] + 1e-12)
    assert np.any(arm.power()[1:] < arm.muscle_power[1:] - 1e-9)


def test_suckers_hold_and_pull_as_their_springs(octopus):
    held = octopus.held
    assert held.shape == (11, 2, 2)
    assert set(np.unique(held)) <= {0.0, 1.0}
    assert held[0].max() == 0.0
    assert held[-1].max() == 1.0
    # The force on a node that is held is what its sucker is pulled by.
    force = np.linalg.norm(octopus.contact_force(Suckers), axis=-1)
    assert np.allclose(force, octopus.sucker_pull, rtol=1e-9, atol=1e-12)
    assert np.any(force > 0.0)
    assert np.all(octopus.sucker_pull[held == 0.0] == 0.0)


def test_ground_carries_and_is_pressed(octopus):
    up = octopus.contact_force(Ground)[..., 2]
    assert np.all(up >= 0.0)
    assert up[-1].max() > 0.0
    # Whatever touches is in the ground, over its radius.
    assert np.all((octopus.ground_depth > 0.0) | (up.max((1, 2)) == 0.0))
    assert octopus.body_force(Ground).shape == (11, 3)


def test_objects_are_seen(octopus):
    assert octopus.objects.shape == (11, 1, 3)
    assert octopus.objects[-1, 0, 2] < octopus.objects[0, 0, 2]
    away = np.linalg.norm(octopus.points[:, :, 1:] - octopus.objects[:, :, None], axis=-1)
    radius = octopus.system.surroundings[-1].radius
    deepest = (1.0 + (radius - away) / octopus.shape.radius[:, :, 1:]).max((1, 2))
    assert np.allclose(octopus.object_overlap[:, 0], deepest, rtol=1e-12)


def test_pieces_give_what_the_whole_gives():
    trajectory = hand(steps=PIECE + 10)
    assert np.array_equal(trajectory.tip[-5:], trajectory[-5:].tip)
    assert np.array_equal(trajectory.tip[PIECE - 3 : PIECE + 3], trajectory[PIECE - 3 : PIECE + 3].tip)


def test_unequal_arms_stack_tips_and_keep_segments_apart():
    trajectory = hand(unequal=True)
    assert trajectory.tip.shape == (6, 2, 3)
    assert [one.shape for one in trajectory.points] == [(6, 2, 3), (6, 3, 3)]
    assert [one.shape for one in trajectory.bend] == [(6, 1), (6, 2)]
    for arm in range(2):
        assert np.allclose(trajectory.tip[:, arm], trajectory.points[arm][:, -1], rtol=0.0, atol=1e-15)


def test_what_is_derived_can_be_traced():
    trajectory = hand()

    def height(scale):
        state = trajectory.state._replace(q=scale * trajectory.state.q)
        return eqx.tree_at(lambda traj: traj.state, trajectory, state).tip[-1, 2]

    # Differences of 1e-5 leave some 1e-10 of the third derivative, and rounding of 1e-16 / 1e-5.
    difference = (height(1.0 + 1e-5) - height(1.0 - 1e-5)) / 2e-5
    assert difference != 0.0
    assert jax.grad(height)(1.0) == pytest.approx(difference, rel=1e-6, abs=1e-10)
    assert jax.jacfwd(height)(1.0) == pytest.approx(difference, rel=1e-6, abs=1e-10)
    many = jax.jit(jax.vmap(height))(jnp.array([0.5, 1.0]))
    assert many[1] == pytest.approx(trajectory.tip[-1, 2], rel=1e-14)


def test_gradients_go_through_steps_and_trajectory():
    system = hand().system

    def height(torque):
        control = Control(torque=torque * jnp.ones_like(system.rest().q))
        return rollout(system, control, system.rest(), 2, 2e-3, tolerance=1e-13).tip[-1, 2]

    value, slope = quick_jit(height), quick_jit(jax.grad(height))

    def difference(h):
        return float(value(jnp.array(0.02 + h)) - value(jnp.array(0.02 - h))) / (2.0 * h)

    # Steps are solved to 1e-13, which differences of 1e-4 make 1e-9. Their own error, 2e-5 of the slope, is of the
    # second order: extrapolated, of the fourth, some 1e-9.
    extrapolated = (4.0 * difference(1e-4) - difference(2e-4)) / 3.0
    assert extrapolated != 0.0
    assert slope(jnp.array(0.02)) == pytest.approx(extrapolated, rel=1e-7)


def test_the_library_has_it():
    assert hydrostat.results.Trajectory is Trajectory
