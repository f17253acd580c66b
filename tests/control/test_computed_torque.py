"""Computed torque follows a plan no faster than the legs' strength allows, and stops where they could not hold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat import System, control
from hydrostat.control.computed_torque import _FORCE_SHARE, _PACE_TIME, TorqueMemory, inverse_dynamics
from hydrostat.robots import build_robot
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.scenarios.track_strength import outcome_notes, strength_metrics
from hydrostat.sensing import Observation

DT, ROWS, ROW = 0.01, 200, 60
BEND = 0.5  # rad, of each plate at the end
SPEC = stewart_arm(segments=2, length=0.5, base_radius=0.08)


def bending(rows=ROWS):
    """A plan that bends both plates to one side, with ten times its rates, so that moving takes more than holding."""
    share = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, rows))
    return control.plan_of(np.zeros((rows, 2, 6)) + share[:, None, None] * np.array([0.0, BEND, 0, 0, 0, 0]), DT / 10)


PLAN = bending()
AHEAD = ROW + round(2.0 * _PACE_TIME / DT)  # what is foreseen at ROW


@pytest.fixture(scope="module")
def known():
    """The robot with room for a payload, and its system."""
    return System(build_robot(SPEC, lumps=[(1.0, 0.0)]))


def of_legs(known, row, pace):
    """The leg forces that a row of the plan takes at a pace."""
    plan = control.Plan(PLAN.q, pace * PLAN.v, pace**2 * PLAN.a)
    return np.abs(np.asarray(jax.jit(inverse_dynamics)(known.robot, plan, row))).max()


def observed(q):
    """What the controller measures: coordinates, and their rates as planned."""
    others = dict.fromkeys(set(Observation._fields) - {"period", "q", "v"})
    return Observation(period=jnp.asarray(DT), q=q, v=PLAN.v[ROW], **others)


@jax.jit
def control_at(robot, away, memory, force):
    """The control and the memory at one place of the plan, with legs of some strength."""
    robot = eqx.tree_at(lambda r: r.arms.legs.force, robot, jnp.full_like(robot.arms.legs.force, force))
    controller = control.ComputedTorque(PLAN, robot, learning_time=0.0)
    return controller(ROW * DT, observed(PLAN.q[ROW] + away), memory)


def at_row():
    """A memory of a controller that comes to the row at the pace of the plan."""
    zero = jnp.zeros((2, 6))
    return TorqueMemory(zero, jnp.zeros(()), PLAN.q[ROW], PLAN.v[ROW], zero, jnp.asarray(ROW * DT), jnp.ones(()))


def wanted(known, force):
    """The pace that the controller goes to with legs of some strength at one place of the plan: it starts from 1."""
    _, after = control_at(known.robot, 0.0, at_row(), force)
    return 1.0 + (float(after.pace) - 1.0) * (_PACE_TIME + DT) / DT


def test_strong_legs_keep_the_plan(known):
    assert wanted(known, 1e6) == pytest.approx(1.0, abs=1e-12)


def test_legs_that_can_hold_but_not_move_so_fast_slow_it_down(known):
    still, moving = (of_legs(known, AHEAD, pace) for pace in (0.0, 1.0))
    assert moving > 1.5 * still
    force = 0.5 * (still + moving) / _FORCE_SHARE
    pace = wanted(known, force)
    assert 0.3 < pace < 1.0
    assert of_legs(known, AHEAD, pace) == pytest.approx(_FORCE_SHARE * force, rel=1e-6)


def test_legs_that_could_not_hold_stop_it(known):
    force = 0.99 * of_legs(known, AHEAD, 0.0) / _FORCE_SHARE
    assert wanted(known, force) == pytest.approx(0.0, abs=1e-9)


def test_what_corrects_errors_is_cut_in_its_direction(known):
    def forces(away, limit):
        done, after = control_at(known.robot, away, at_row(), limit)
        return np.asarray(done.leg_force), np.asarray(after.integral)

    free, summed = forces(0.02, 1e9)
    limit = 0.7 * np.abs(free).max()
    held, kept = forces(0.02, limit)
    assert np.abs(held).max() == pytest.approx(limit)
    # What the plan takes where the arm is, at the pace that it goes on with.
    pace = float(control_at(known.robot, 0.02, at_row(), limit)[1].pace)
    change = (pace - 1.0) / DT
    plan = control.Plan(PLAN.q + 0.02, PLAN.v, pace**2 * PLAN.a + change * PLAN.v)
    planned = np.asarray(jax.jit(inverse_dynamics)(known.robot, plan, ROW))
    for cut, whole in zip(held - planned, free - planned, strict=True):
        share = float(cut @ whole / (whole @ whole))
        assert 0.0 < share <= 1.0
        np.testing.assert_allclose(cut, share * whole, atol=1e-9 * limit)
    strongest = np.argmax(np.abs(free).max(1))
    assert np.all(summed[strongest] != 0.0)
    assert np.all(kept[strongest] == 0.0)  # errors are not summed up meanwhile


def test_time_and_errors_at_the_end_of_their_strength():
    times = np.arange(6) * 0.1
    errors = np.array([0.0, 1.0, 3.0, 9.0, 4.0, 2.0])
    forces = np.zeros((5, 2, 6))
    forces[[1, 2], 0, 3] = -50.0, 50.0
    found = strength_metrics(times, errors, forces, 50.0)
    assert found["saturated_s"] == pytest.approx(0.2)
    assert found["saturated_last_s"] == pytest.approx(0.3)
    assert found["error_while_saturated_max_mm"] == 9000.0
    assert found["error_after_saturation_max_mm"] == 4000.0
    assert found["error_end_mm"] == 2000.0
    metrics = found | {"leg_force_limit_n": 50.0, "leg_force_needed_max_n": 70.0, "path_done_percent": 40.0}
    said = outcome_notes(metrics | {"behind_plan_s": 3.0})
    assert said[0] == (
        "legs were at the end of their strength, 50 N, for 0.20 s; the tip was off by up to 9e+03 mm meanwhile"
    )
    assert "takes up to 70 N of a leg with this payload: the arm waits at 40 % of it" in said[1]
    none = strength_metrics(times, errors, 0.1 * forces, 50.0)
    assert none["saturated_s"] == 0.0
    assert none["error_while_saturated_max_mm"] is None
