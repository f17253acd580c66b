"""Plans of tendon tensions: the tip is where it was asked to be, in an equilibrium of its own; its sensitivity."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.tendon_plans import TipTask, plan_tension, rest_under
from hydrostat.control.tendon_servo import TendonServo, make_course, make_gaze, pointing_error
from hydrostat.mechanics import equilibrium, kinematics, no_inputs
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.squid import squid_limb
from hydrostat.sensing import Observation
from hydrostat.system import System

SEA = (0.0, 0.0, -9.81 * (1.0 - 1025.0 / 1070.0))


@pytest.fixture(scope="module")
def limb():
    return System(build_robot(squid_limb("camera", pieces=2)), gravity=SEA).robot


def test_a_tip_looks_at_the_point_from_an_equilibrium(limb):
    point = np.array([0.55, 0.25, -0.45])
    plan = plan_tension(limb, TipTask(look_at=point), np.full(4, 0.3), least=0.05)
    assert plan.turn < 1e-3  # rad: what the effort's weight leaves
    assert np.all(plan.tension >= 0.05)
    inputs = no_inputs(limb)._replace(wires=jnp.asarray(plan.tension))
    q = equilibrium(limb, inputs, plan.q).q
    np.testing.assert_allclose(q, plan.q, atol=1e-9)
    tip = kinematics.tip_pose(limb.arm, q)
    seen = (point - tip.position) / np.linalg.norm(point - tip.position)
    angle = np.arctan2(np.linalg.norm(np.cross(tip.rotation[:, 2], seen)), tip.rotation[:, 2] @ seen)
    np.testing.assert_allclose([plan.turn, float(pointing_error(tip, jnp.asarray(point)))], angle, atol=1e-9)
    # The gaze's tensions move what is seen by what they say, to first order.
    gaze = make_gaze(limb, plan.q, plan.sensitivity, point, 0.0, 1.0)
    moved = rest_under(limb, plan.tension + 1e-4 * np.asarray(gaze.pull)[:, 0], plan.q)
    before, after = (kinematics.tip_pose(limb.arm, jnp.asarray(p.q)) for p in (plan, moved))
    shift = [np.asarray(T.rotation).T @ (point - T.position) for T in (before, after)]
    change = [s / np.linalg.norm(s) for s in shift]
    np.testing.assert_allclose((change[1] - change[0])[:2], [1e-4, 0.0], atol=2e-7)


def test_the_sensitivity_is_the_change_of_the_equilibrium(limb):
    tension, step = np.array([0.6, 0.3, 0.2, 0.1]), 1e-4
    plan = rest_under(limb, tension)
    for i, unit in enumerate(np.eye(4)):
        ahead, behind = (rest_under(limb, tension + sign * step * unit, plan.q).q for sign in (1, -1))
        np.testing.assert_allclose((ahead - behind) / (2 * step), plan.sensitivity[..., i], atol=1e-5)


def test_the_end_of_an_inner_segment_comes_to_its_place_by_some_of_the_tendons(limb):
    place = np.array([0.285, 0.0, -0.06])
    task = TipTask(place, place_counts=(1.0, 0.0, 1.0), segment=1)
    plan = plan_tension(limb, task, np.array([0.5, 0.0, 0.0, 0.0]), least=0.05, adjusts=(1.0, 0.0, 1.0, 0.0))
    end = kinematics.segment_poses(limb.arm, jnp.asarray(plan.q)).position[1]
    assert plan.miss < 1e-3  # m: what the effort's weight leaves
    assert np.hypot(*(np.asarray(end) - place)[[0, 2]]) == pytest.approx(plan.miss, abs=1e-9)
    np.testing.assert_allclose(plan.tension[[1, 3]], 0.05, atol=1e-12)


def test_a_course_goes_from_rest_to_rest_by_equilibria(limb):
    low, high = np.full(4, 0.1), np.array([1.0, 0.4, 0.1, 0.1])
    course = make_course(limb, [(0.0, low), (2.0, high), (3.0, high)], knots=4)
    for time, tension in ((-1.0, low), (0.0, low), (2.0, high), (2.5, high), (9.0, high)):
        pulled, lengths = course.at(jnp.asarray(time))
        np.testing.assert_allclose(pulled, tension, atol=1e-12)
        np.testing.assert_allclose(lengths, rest_under(limb, tension).lengths, atol=1e-9)
    halfway, _ = course.at(jnp.asarray(1.0))
    np.testing.assert_allclose(halfway, 0.5 * (low + high), atol=1e-12)


def test_motors_hold_the_planned_tension_and_yield_as_springs_and_dampers(limb):
    low, high = np.full(4, 0.5), np.array([1.0, 0.6, 0.5, 0.5])
    course = make_course(limb, [(0.0, low), (2.0, high)], knots=2)
    servo = TendonServo(limb, course, *(jnp.asarray(x) for x in (25.0, 0.0, 0.0, 20.0)))
    plan = rest_under(limb, low)
    rest = Observation(*[None] * 10)._replace(v=jnp.zeros_like(plan.q))
    control, _ = servo(jnp.zeros(()), rest._replace(q=jnp.asarray(plan.q)), ())
    np.testing.assert_allclose(control.tension, low, atol=1e-9)
    # Bent elsewhere, every tendon pulls by its spring times how much longer it is than planned.
    other = rest_under(limb, high)
    control, _ = servo(jnp.zeros(()), rest._replace(q=jnp.asarray(other.q)), ())
    np.testing.assert_allclose(control.tension, low + 25.0 * (other.lengths - plan.lengths), atol=1e-9)
    System(limb).check(control)
