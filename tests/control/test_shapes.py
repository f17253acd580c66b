"""Configurations for wanted shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control import fit_curve, fit_pose
from hydrostat.control.shapes import configuration
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.mechanics import kinematics
from hydrostat.robots import tentacle

MADE = np.array([[0.5, 0.7], [-1.0, 0.4], [0.3, -1.2]])


@pytest.fixture(scope="module")
def arm():
    return tentacle().arm


@pytest.mark.parametrize("match", ["pose", "direction", "position"])
def test_a_pose_the_arm_can_take_is_met(arm, match):
    target = kinematics.tip_pose(arm, configuration(arm, jnp.asarray(MADE)))
    fit = fit_pose(arm, target, match)
    assert fit.reachable
    tip = kinematics.tip_pose(arm, jnp.asarray(fit.q))
    # The solver stops when steps are below 1e-12; lengths are of order 1 m.
    assert np.linalg.norm(tip.position - target.position) < 1e-11
    if match == "pose":
        assert np.linalg.norm(so3.log(target.rotation.T @ tip.rotation)) < 1e-10
    if match == "direction":
        assert np.linalg.norm(tip.rotation[:, 2] - target.rotation[:, 2]) < 1e-10


def test_a_target_out_of_reach_is_named_and_approached(arm):
    fit = fit_pose(arm, SE3(jnp.eye(3), jnp.array([2.0, 0.0, 0.5])), "position")
    assert not fit.reachable
    # The arm cannot be longer than it is, so the miss is at least distance minus length; bending towards it comes near.
    least = np.hypot(2.0, 0.5) - float(arm.length)
    assert least < fit.miss < least + 0.15


def test_a_bend_limit_can_put_a_pose_out_of_reach(arm):
    target = kinematics.tip_pose(arm, configuration(arm, jnp.array([[1.5, 0.0], [1.5, 0.0], [1.5, 0.0]])))
    assert fit_pose(arm, target).reachable
    assert not fit_pose(arm, target, bend_limit=0.5).reachable


def test_a_curve_the_model_made_is_recovered(arm):
    q = configuration(arm, jnp.asarray(MADE))
    points = np.asarray(kinematics.centreline(arm, q, 25).position)
    # Uneven spacing must not matter.
    chosen = np.unique(np.concatenate([np.arange(0, 76, 3), np.arange(40, 60), [75]]))
    fit = fit_curve(arm, points[chosen])
    assert fit.bend == pytest.approx(MADE, abs=1e-9)
    assert fit.rms < 1e-11


def arc(arm, angle, azimuth=0.0, points=120):
    """Points of a circular arc of the arm's length that turns by an angle [rad]."""
    s = np.linspace(0.0, 1.0, points)
    aside, along = (1.0 - np.cos(angle * s)) / angle, np.sin(angle * s) / angle
    return float(arm.length) * np.stack([aside * np.cos(azimuth), aside * np.sin(azimuth), along], -1)


# Past half a turn the formula of an arc beyond the tip, or before the base, comes round to the curve again.
@pytest.mark.parametrize(("angle", "azimuth"), [(4.2, 0.0), (6.0, 0.0), (6.0, 2.0), (7.0, 0.0), (8.5, 2.0)])
def test_an_arc_of_more_than_half_a_turn_is_met_within_the_arm(arm, angle, azimuth):
    fit = fit_curve(arm, arc(arm, angle, azimuth))
    assert np.max(fit.distances) < 1e-9  # 1e-6 mm
    assert fit.bend == pytest.approx(np.tile(angle / 3.0 * np.array([np.cos(azimuth), np.sin(azimuth)]), (3, 1)))
    assert fit.start == 0.0


def test_a_curve_that_begins_along_the_arm_is_met_and_says_where(arm):
    points = arc(arm, 4.2)
    fit = fit_curve(arm, points[40:])
    assert fit.start == pytest.approx(np.linalg.norm(points[40]))
    assert np.max(fit.distances) < 1e-9
    assert fit.bend == pytest.approx(np.tile([1.4, 0.0], (3, 1)))


def test_an_arm_needs_its_length_to_come_to_a_curve(arm):
    length = float(arm.length)
    aside = np.array([0.5 * length, 0.0, 0.0])
    fit = fit_curve(arm, arc(arm, 1e-6) + aside)
    # Half of the length leads to the curve at best: the other half of the points is out of reach.
    assert fit.start == pytest.approx(0.5 * length)
    assert fit.used.max() == pytest.approx(60, abs=1)
    with pytest.raises(InputError, match=f"it has 0, and begins {2 * length:g} m from its base"):
        fit_curve(arm, arc(arm, 1e-6) + 4.0 * aside)


def test_points_that_repeat_keep_their_numbers(arm):
    points = np.repeat(arc(arm, 1.0, points=30), 2, 0)
    assert fit_curve(arm, points).used.max() == 58


def test_a_curve_it_cannot_take_is_fitted_as_well_as_a_brute_search(arm):
    s = np.linspace(0.0, 1.0, 120)
    angle = 1.1 * np.sin(np.pi * s) ** 2
    points = np.stack([np.cumsum(np.sin(angle)), 0.0 * s, np.cumsum(np.cos(angle))], -1) * (1.0 / 119)
    points -= points[0]
    fit = fit_curve(arm, points)

    from scipy.optimize import minimize
    from scipy.spatial import cKDTree

    @jax.jit
    def axis(bends):
        bend = jnp.stack([bends, jnp.zeros(3)], -1)
        return kinematics.centreline(arm, configuration(arm, bend), 300).position

    def rms(bends):
        nodes = np.asarray(axis(bends))
        return np.sqrt(np.mean(cKDTree(nodes).query(points[fit.used])[0] ** 2))

    brute = minimize(rms, fit.bend[:, 0] + 0.05, method="Nelder-Mead", options={"maxiter": 150, "xatol": 1e-4})
    # The nodes are 1.2 mm apart, so a distance of some millimetres is known to a tenth of one.
    assert fit.rms <= brute.fun + 1e-4
    assert fit.bend[:, 1] == pytest.approx(0.0, abs=1e-9)


def test_points_beyond_the_arm_are_left_out(arm):
    s = np.linspace(0.0, 3.0, 100)
    points = np.stack([0.0 * s, 0.0 * s, s], -1)
    fit = fit_curve(arm, points)
    assert points[fit.used.max(), 2] <= float(arm.length) * 1.001
    assert fit.bend == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 2)), "must be points with x, y, z; got an array of shape \\(3, 2\\)"),
        (np.zeros((9, 3)), "at least 4 different points; got 1"),
        (np.full((9, 3), np.nan), "must be finite; got \\[nan, nan, nan\\] at point 1"),
        (np.arange(15.0).reshape(5, 3) - np.arange(3.0), "at least 4 points within the arm's 1.05 m; it has 1"),
    ],
)
def test_bad_curves_are_refused(arm, points, message):
    with pytest.raises(InputError, match=message):
        fit_curve(arm, points)


def test_bad_targets_are_refused(arm):
    with pytest.raises(InputError, match="target's position must be finite"):
        fit_pose(arm, SE3(jnp.eye(3), jnp.array([jnp.nan, 0.0, 0.0])))
    with pytest.raises(InputError, match="`match` must be one of pose, direction, position; got 'tip'"):
        fit_pose(arm, SE3.identity(), "tip")
