"""Strokes of an octopus: who pushes, how hard, and where along a path it goes."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import HydrostatMuscles
from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits import STROKES, Crawl, shares_for
from hydrostat.control.nerves import Felt
from hydrostat.lie import SE3
from hydrostat.robots.build import build_robot
from hydrostat.robots.build_limbed import crown_model
from hydrostat.robots.octopus import octopus
from hydrostat.robots.octopus_arm import octopus_arm

YAWS = np.deg2rad(45.0 * np.arange(8))
MUSCLES = build_robot(octopus_arm()).muscles
assert isinstance(MUSCLES, HydrostatMuscles)
ANATOMY = Anatomy.of(MUSCLES)
STROKE = STROKES["push"](ANATOMY, jnp.asarray(YAWS))


def crawl(path, looks=1.0):
    path = jnp.asarray(path, float)
    return Crawl(STROKE, path, jnp.asarray(YAWS), jnp.ones(8), jnp.asarray(looks), jnp.asarray(0.01))


def felt(x, y, turned_deg=0.0):
    c, s = np.cos(np.deg2rad(turned_deg)), np.sin(np.deg2rad(turned_deg))
    rotation = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    zero = jnp.zeros((8, 20, 3))
    return Felt(zero, zero, jnp.zeros((8, 20)), SE3(rotation, jnp.array([x, y, 0.03])), jnp.zeros(6))


def heading(share):
    """Against the sum of the directions of the arms that push."""
    share = np.asarray(share)
    push = -np.array([share @ np.cos(YAWS), share @ np.sin(YAWS)])
    return np.rad2deg(np.arctan2(push[1], push[0]))


@pytest.mark.parametrize("direction", [0.0, 45.0, 22.5, 100.0, -170.0])
def test_arms_behind_push_where_it_shall_go(direction):
    share = np.asarray(shares_for(np.deg2rad(direction), jnp.asarray(YAWS)))
    assert abs(np.angle(np.exp(1j * np.deg2rad(heading(share) - direction)), deg=True)) < 3.0
    assert share.max() == pytest.approx(1.0)
    ahead = np.cos(YAWS - np.deg2rad(direction)) > 0.0
    np.testing.assert_array_equal(share[ahead], 0.0)


@pytest.mark.parametrize("lost", [(3, 4), (4, 5), (0, 1), (2, 6), (4,)])
@pytest.mark.parametrize("direction", [0.0, 30.0, 180.0])
def test_where_arms_are_lost_others_push_as_straight(lost, direction):
    kept = np.array([i for i in range(8) if i not in lost])
    share = np.asarray(shares_for(np.deg2rad(direction), jnp.asarray(YAWS[kept])))
    whole = np.zeros(8)
    whole[kept] = share
    # Within what one arm beside the body, of which a share of 0.05 does not count, and a grid of a degree leave.
    assert abs(np.angle(np.exp(1j * np.deg2rad(heading(whole) - direction)), deg=True)) < 5.0
    assert share.max() == pytest.approx(1.0)


def test_it_steers_by_where_it_is_and_how_it_is_turned():
    brain = crawl([[0.0, 0.0], [1.0, 0.0]])
    start = brain.begin(felt(0.0, 0.0))
    for turned in (0.0, 30.0):
        _, memory = brain.decide(0.0, 5e-3, felt(0.0, 0.0, turned), start)
        assert abs(heading(memory.share) + turned) < 3.0
    # Off to the left of its way it goes to the right.
    _, memory = brain.decide(0.0, 5e-3, felt(0.3, 0.04), start)
    assert heading(memory.share) < -20.0


def test_open_loop_believes_what_it_wanted():
    brain = crawl([[0.0, 0.0], [1.0, 0.0]], looks=0.0)
    memory = brain.begin(felt(0.0, 0.0))
    for stroke in range(3):
        _, memory = brain.decide(stroke * float(STROKE.duration), 5e-3, felt(0.0, 0.5, 90.0), memory)
        assert abs(heading(memory.share)) < 1e-9
    np.testing.assert_allclose(memory.believed, [3.0 * float(STROKE.length), 0.0], atol=1e-12)


def test_a_waypoint_is_passed_and_the_last_one_reached():
    brain = crawl([[0.0, 0.0], [0.2, 0.0], [0.2, 0.3]])
    memory = brain.begin(felt(0.0, 0.0))
    _, memory = brain.decide(0.0, 5e-3, felt(0.22, 0.03), memory)
    assert int(memory.leg) == 2
    assert not bool(memory.arrived)
    _, memory = brain.decide(10.0, 5e-3, felt(0.2, 0.32), memory)
    assert not bool(memory.arrived)  # beyond the end it comes back
    assert heading(memory.share) == pytest.approx(-90.0, abs=3.0)
    wanted, memory = brain.decide(20.0, 5e-3, felt(0.205, 0.302), memory)
    assert bool(memory.arrived)
    np.testing.assert_array_equal(wanted.activation, 0.0)


def test_short_strokes_are_weak_ones():
    brain = crawl([[0.0, 0.0], [1.0, 0.0]])
    sizes, far = [], float(STROKE.length)
    for left in (far, 0.5 * far, 0.25 * far):
        _, memory = brain.decide(0.0, 5e-3, felt(1.0 - left, 0.0), brain.begin(felt(0.0, 0.0)))
        sizes.append(float(memory.share.max()))
    assert sizes == pytest.approx([1.0, 0.5**1.5, 0.25**1.5], rel=1e-6)


def test_suckers_hold_during_the_push_alone():
    share = jnp.asarray(shares_for(0.0, jnp.asarray(YAWS)))
    times = np.array([0.1, 0.8, 1.0, 1.6])
    held = [float(STROKE(jnp.asarray(t), share).grip.sum()) for t in times]
    assert held[0] == held[1] == 0.0
    assert held[2] == held[3] > 0.0


def test_arms_press_to_the_ground_while_they_gather():
    """Below is where the section's x axis points on a body that stands upright."""
    share = jnp.asarray(shares_for(0.0, jnp.asarray(YAWS)))
    below, left, above, right = np.asarray(STROKE(jnp.asarray(0.7), share).activation)[4, :, :4].T
    near = np.asarray(ANATOMY.place) < 0.35
    assert np.all(below[near] > 1.3 * above[near])
    np.testing.assert_array_equal(below[~np.asarray(ANATOMY.place < 0.4)], above[~np.asarray(ANATOMY.place < 0.4)])
    np.testing.assert_array_equal(left, right)
    mounts = crown_model(octopus(), points=1, skin_points=1).mounts
    np.testing.assert_allclose(np.asarray(mounts.rotation)[:, :, 0], [[0.0, 0.0, -1.0]] * 8, atol=1e-9)
