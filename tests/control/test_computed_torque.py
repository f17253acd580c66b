"""Computed torque corrects errors within the legs' strength; closed loop, it passes a short bend that asks for more."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat import System, control
from hydrostat.control.computed_torque import TorqueMemory
from hydrostat.control.leg_demand import inverse_dynamics
from hydrostat.errors import InputError
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


@pytest.fixture(scope="module")
def known():
    """The robot with room for a payload, and its system."""
    return System(build_robot(SPEC, lumps=[(1.0, 0.0)]))


def observed(q):
    """What the controller measures: coordinates, and their rates as planned."""
    others = dict.fromkeys(set(Observation._fields) - {"period", "q", "v"})
    return Observation(period=jnp.asarray(DT), q=q, v=PLAN.v[ROW], **others)


@jax.jit
def control_at(robot, away, memory, force):
    """The control and the memory at one place of the plan, with legs of some strength."""
    robot = eqx.tree_at(lambda r: r.arms.legs.force, robot, jnp.full_like(robot.arms.legs.force, force))
    controller = control.ComputedTorque(PLAN, robot, learning_time=0.0, waits=False)
    return controller(ROW * DT, observed(PLAN.q[ROW] + away), memory)


def at_row():
    """A memory of a controller that comes to the row at the pace of the plan."""
    zero = jnp.zeros((2, 6))
    return TorqueMemory(zero, jnp.zeros(()), PLAN.q[ROW], PLAN.v[ROW], zero, jnp.asarray(ROW * DT), jnp.ones(()))


def test_a_controller_that_waits_must_know_what_its_plan_takes(known):
    controller = control.ComputedTorque(PLAN, known.robot)
    with pytest.raises(InputError, match="does not know its robot yet"):
        controller(ROW * DT, observed(PLAN.q[ROW]), at_row())


def test_what_corrects_errors_is_cut_in_its_direction(known):
    def forces(away, limit):
        done, after = control_at(known.robot, away, at_row(), limit)
        return np.asarray(done.leg_force), np.asarray(after.integral)

    free, summed = forces(0.02, 1e9)
    limit = 0.7 * np.abs(free).max()
    held, kept = forces(0.02, limit)
    assert np.abs(held).max() == pytest.approx(limit)
    # What the plan takes where the arm is.
    plan = PLAN._replace(q=PLAN.q + 0.02)
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
