"""The RRP twin of an arc, against the matrix exponential, a numerically integrated arc and the paper's example."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from hydrostat.errors import InputError
from hydrostat.lie import so3
from hydrostat.robots.rrp_twin import (
    arc_frame,
    arc_of_joints,
    chain_frames,
    denavit_hartenberg,
    followed_by,
    joints_of_arc,
    tool_frame,
)

EPS = np.finfo(float).eps
angles = st.floats(-3.0, 3.0) | st.sampled_from([0.0, 1e-300, -1e-12, 1e-8, np.pi / 2, -np.pi / 2])
azimuths = st.floats(-6.3, 6.3)
lengths = st.floats(0.05, 2.0)
counts = st.integers(1, 50)


def exponential(theta, phi, length):
    """The torsion-free arc as a constant twist: curvature theta / l about (-sin phi, cos phi, 0)."""
    w = theta * np.array([-np.sin(phi), np.cos(phi), 0.0])
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    twist[2, 3] = length
    return expm(twist)


def angle_between(a, b):
    return float(jnp.linalg.norm(so3.log(jnp.asarray(a.T @ b))))


@given(angles, azimuths, lengths, counts)
def test_the_exact_scheme_ends_where_the_arc_ends_and_turned_as_it_is(theta, phi, length, count):
    joints = joints_of_arc(theta, phi, length, count)
    truth = exponential(theta, phi, length)
    # Some 3N products of rotations, each right to rounding.
    tolerance = 20 * (count + 5) * EPS
    for frame in (arc_frame(theta, phi, length), tool_frame(joints)):
        np.testing.assert_allclose(frame.position, truth[:3, 3], atol=tolerance * length)
        assert angle_between(frame.rotation, truth[:3, :3]) <= tolerance
    frames = chain_frames(joints)
    np.testing.assert_allclose(frames.position[-1], truth[:3, 3], atol=tolerance * length)
    assert angle_between(frames.rotation[-1], truth[:3, :3]) <= tolerance


@given(angles, azimuths, lengths, counts)
def test_sections_end_on_the_arc(theta, phi, length, count):
    points = chain_frames(joints_of_arc(theta, phi, length, count)).position[:-1]
    part = np.arange(count + 1) / count
    np.testing.assert_allclose(points, arc_frame(theta * part, phi, length * part).position, atol=2e-13 * length)


@given(angles, azimuths, lengths, counts, st.sampled_from(["exact", "paper"]))
def test_joint_values_give_the_arc_back(theta, phi, length, count, scheme):
    arc = arc_of_joints(joints_of_arc(theta, phi, length, count, scheme), scheme)
    np.testing.assert_allclose([arc.theta, arc.length], [theta, length], atol=1e-13, rtol=1e-13)
    assert arc.phi == phi  # also where the arc is straight, and with the sign of theta


def test_the_arc_integrated_numerically():
    theta, phi, length = -1.2, 0.7, 0.58
    curvature = theta / length * np.array([-np.sin(phi), np.cos(phi), 0.0])
    skew = np.array([[0, 0, curvature[1]], [0, 0, -curvature[0]], [-curvature[1], curvature[0], 0]])

    def rate(s, y):
        R = y[:9].reshape(3, 3)
        return np.concatenate([(R @ skew).ravel(), R[:, 2]])

    start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    end = solve_ivp(rate, (0.0, length), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    tool = tool_frame(joints_of_arc(theta, phi, length, 7))
    np.testing.assert_allclose(tool.position, end[9:], atol=1e-12)
    np.testing.assert_allclose(tool.rotation, end[:9].reshape(3, 3), atol=1e-11)


def test_the_table_is_table_one():
    table = denavit_hartenberg(joints_of_arc(np.pi / 2, np.pi / 6, 0.6, 10, "paper"))
    assert table.shape == (30, 4)
    # The printed example: 30, 4.5, 0, 9, 0, 9, ... degrees; 60 mm.
    zeta = np.rad2deg(table[:, 0]).reshape(10, 3)
    np.testing.assert_allclose(zeta[0], [30.0, 4.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(zeta[1:], [[0.0, 9.0, 0.0]] * 9, atol=1e-12)
    np.testing.assert_allclose(table[:, 1].reshape(10, 3), [[0.0, 0.0, 0.06]] * 10, atol=1e-15)
    np.testing.assert_allclose(table[:, 2].reshape(10, 3), [[-np.pi / 2, np.pi / 2, 0.0]] * 10)
    np.testing.assert_allclose(table[:, 3], 0.0)


@pytest.mark.parametrize(
    "count, millimetres", [(1, 59.8), (2, 14.1), (3, 6.2), (5, 2.2), (10, 0.556), (20, 0.139), (50, 0.022)]
)
def test_the_printed_scheme_misses_the_arc(count, millimetres):
    # The paper's frames carry a spin by phi.
    joints = joints_of_arc(np.pi / 2, np.pi / 6, 0.6, count, "paper")
    truth = arc_frame(np.pi / 2, np.pi / 6, 0.6, torsion_free=False)
    tool = tool_frame(joints)
    x = np.pi / 4 / count
    miss = np.linalg.norm(tool.position - truth.position)
    assert 1e3 * miss == pytest.approx(millimetres, abs=0.06 if count < 10 else 6e-4)
    assert miss == pytest.approx(np.linalg.norm(truth.position) * (x / np.sin(x) - 1.0), rel=1e-9)
    assert np.rad2deg(angle_between(truth.rotation, tool.rotation)) == pytest.approx(45.0 / count, rel=1e-9)


def test_the_printed_points_of_the_example():
    paper = tool_frame(joints_of_arc(np.pi / 2, np.pi / 6, 0.6, 10, "paper")).position
    exact = tool_frame(joints_of_arc(np.pi / 2, np.pi / 6, 0.6, 10)).position
    np.testing.assert_allclose(1e3 * paper, [331.138, 191.182, 382.365], atol=5e-4)
    np.testing.assert_allclose(1e3 * exact, [330.797, 190.986, 381.972], atol=5e-4)
    assert 1e3 * joints_of_arc(np.pi / 2, 0.5, 0.6, 10).slides[0] == pytest.approx(59.938, abs=5e-4)


def test_two_segments_follow_each_other():
    first, second = ((np.pi / 6, np.deg2rad(10.0), 0.3), (np.pi / 3, np.deg2rad(30.0), 0.3))
    free = followed_by(arc_frame(*first), arc_frame(*second))
    spun = followed_by(arc_frame(*first, torsion_free=False), arc_frame(*second, torsion_free=False))
    np.testing.assert_allclose(1e3 * free.position, [304.0, 103.4, 434.0], atol=0.05)
    np.testing.assert_allclose(1e3 * spun.position, [291.1, 124.1, 439.3], atol=0.05)


def test_batches_are_what_their_members_are():
    rng = np.random.default_rng(3)
    theta, phi, length = rng.uniform(-2, 2, (4, 5)), rng.uniform(-3, 3, (4, 5)), rng.uniform(0.1, 1, (4, 5))
    joints = joints_of_arc(theta, phi, length, 6)
    frames = chain_frames(joints)
    assert frames.position.shape == (4, 5, 8, 3)
    one = chain_frames(joints_of_arc(theta[2, 3], phi[2, 3], length[2, 3], 6))
    np.testing.assert_array_equal(frames.position[2, 3], one.position)
    np.testing.assert_array_equal(tool_frame(joints).rotation.shape, (4, 5, 3, 3))


@pytest.mark.parametrize("sections", [0, -1, 2.0, True, 10**6])
def test_wrong_sections_are_refused(sections):
    with pytest.raises(InputError, match="`sections` must be a whole number from 1 to 10000"):
        joints_of_arc(0.1, 0.0, 1.0, sections)


def test_wrong_schemes_are_refused():
    with pytest.raises(InputError, match="`scheme` must be one of exact, paper; got 'printed'"):
        joints_of_arc(0.1, 0.0, 1.0, 3, "printed")
