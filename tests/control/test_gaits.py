"""Strokes of an octopus: who pushes, how hard, and where along a path it goes."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.gaits import STROKES, Crawl, CrawlController, Stand, Walk, pull_and_push
from hydrostat.control.gaits.alternate import groups_of, shares_by_turns
from hydrostat.control.gaits.base import shares_for
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.surroundings import Ground, Suckers
from hydrostat.system import System

DT = 5e-3
SYSTEM = System(build_robot(octopus()), [Ground(), Suckers()])
PLAN = BodyPlan.of(SYSTEM)
ANATOMY, YAWS = PLAN.anatomy, np.deg2rad(45.0 * np.arange(8))
STROKE = STROKES["push"](PLAN)
BY_TURNS = pull_and_push(PLAN)


def crawl(path, closed_loop=True, alternating=False):
    path, yaws = jnp.asarray(path, float), jnp.asarray(YAWS)
    return CrawlController(
        STROKE, BY_TURNS, path, yaws, groups_of(yaws), jnp.ones(8), jnp.asarray(0.01), closed_loop, alternating
    )


def observed(x, y, turned_deg=0.0):
    c, s = np.cos(np.deg2rad(turned_deg)), np.sin(np.deg2rad(turned_deg))
    rotation = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    rest = Observation(*[None] * 10)
    return rest._replace(period=jnp.asarray(DT), held=jnp.zeros((8, 20)), pose=SE3(rotation, jnp.array([x, y, 0.03])))


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
    controller = crawl([[0.0, 0.0], [1.0, 0.0]])
    start = controller.init(observed(0.0, 0.0))
    for turned in (0.0, 30.0):
        _, memory = controller(0.0, observed(0.0, 0.0, turned), start)
        assert abs(heading(memory.share) + turned) < 3.0
    # Off to the left of its way it goes to the right.
    _, memory = controller(0.0, observed(0.3, 0.04), start)
    assert heading(memory.share) < -20.0


def test_open_loop_believes_what_it_wanted():
    controller = crawl([[0.0, 0.0], [1.0, 0.0]], closed_loop=False)
    memory = controller.init(observed(0.0, 0.0))
    for stroke in range(3):
        _, memory = controller(stroke * float(STROKE.duration), observed(0.0, 0.5, 90.0), memory)
        assert abs(heading(memory.share)) < 1e-9
    np.testing.assert_allclose(memory.believed, [3.0 * float(STROKE.length), 0.0], atol=1e-12)


def test_a_waypoint_is_passed_and_the_last_one_reached():
    controller = crawl([[0.0, 0.0], [0.2, 0.0], [0.2, 0.3]])
    memory = controller.init(observed(0.0, 0.0))
    _, memory = controller(0.0, observed(0.22, 0.03), memory)
    assert int(memory.leg) == 2
    assert not bool(memory.arrived)
    _, memory = controller(10.0, observed(0.2, 0.32), memory)
    assert not bool(memory.arrived)  # beyond the end it comes back
    assert heading(memory.share) == pytest.approx(-90.0, abs=3.0)
    control, memory = controller(20.0, observed(0.205, 0.302), memory)
    assert bool(memory.arrived)
    np.testing.assert_array_equal(control.activation, 0.0)


def test_short_strokes_are_weak_ones():
    controller = crawl([[0.0, 0.0], [1.0, 0.0]])
    sizes, far = [], float(STROKE.length)
    for left in (far, 0.5 * far, 0.25 * far):
        _, memory = controller(0.0, observed(1.0 - left, 0.0), controller.init(observed(0.0, 0.0)))
        sizes.append(float(memory.share.max()))
    assert sizes == pytest.approx([1.0, 0.5**1.5, 0.25**1.5], rel=1e-6)


def test_suckers_hold_during_the_push_alone():
    share = jnp.asarray(shares_for(0.0, jnp.asarray(YAWS)))
    times = np.array([0.1, 0.8, 1.0, 1.6])
    held = [float(STROKE(jnp.asarray(t), share)[1].sum()) for t in times]
    assert held[0] == held[1] == 0.0
    assert held[2] == held[3] > 0.0


def test_arms_press_to_the_ground_while_they_gather():
    """Below is where the section's x axis points on a body that stands upright."""
    share = jnp.asarray(shares_for(0.0, jnp.asarray(YAWS)))
    below, left, above, right = np.asarray(STROKE(jnp.asarray(0.7), share)[0])[4, :, :4].T
    near = np.asarray(ANATOMY.place) < 0.35
    assert np.all(below[near] > 1.3 * above[near])
    np.testing.assert_array_equal(below[~np.asarray(ANATOMY.place < 0.4)], above[~np.asarray(ANATOMY.place < 0.4)])
    np.testing.assert_array_equal(left, right)
    mounts = SYSTEM.robot.mounts
    np.testing.assert_allclose(np.asarray(mounts.rotation)[:, :, 0], [[0.0, 0.0, -1.0]] * 8, atol=1e-9)


def test_a_gait_finds_out_how_the_arms_sit():
    np.testing.assert_allclose(np.exp(1j * np.asarray(PLAN.yaws)), np.exp(1j * YAWS), atol=1e-12)
    assert float(PLAN.scale) == pytest.approx(1.0, abs=1e-15 * 20)  # the sum of 20 lengths
    assert float(STROKE.length) == pytest.approx(0.049, rel=1e-14)
    with pytest.raises(InputError, match="a gait needs equal muscular arms on a body"):
        Crawl().attach(System(build_robot(octopus_arm(2))), DT)


def test_a_crawl_begins_where_the_body_is_and_a_walk_is_in_the_world():
    here = observed(3.0, -2.0)
    for gait, direction in ((Crawl(heading=0.0), 0.0), (Walk([(3.0, -2.0), (3.0, 0.0)]), 90.0)):
        controller = gait.attach(SYSTEM, DT)
        control, memory = controller(0.0, here, controller.init(here))
        assert heading(memory.share) == pytest.approx(direction, abs=3.0)
        assert int(memory.strokes) == 1
        SYSTEM.check(control)
    far = Crawl(heading=0.0, distance=0.1).attach(SYSTEM, DT)
    _, memory = far(0.0, observed(0.0995, 0.0), far.init(observed(0.0, 0.0)))
    assert bool(memory.arrived)


def test_a_slower_crawl_rests_longer():
    slow = Crawl(speed=0.01).stroke(SYSTEM)
    assert float(slow.length / slow.duration) == pytest.approx(0.01)
    assert float(Crawl(speed=1.0).stroke(SYSTEM).rest_s) == 0.0


def test_arms_that_the_body_drifts_towards_let_go_and_stay_so():
    standing = Stand().attach(SYSTEM, DT)
    memory = standing.init(observed(0.0, 0.0))
    for drift, gone in ((0.01, []), (0.02, [0, 1, 7]), (0.0, [0, 1, 7])):
        control, memory = standing(0.0, observed(drift * 1.2, 0.0), memory)
        assert np.flatnonzero(~np.asarray(control.grip).any(1)).tolist() == gone


def test_failed_suckers_do_not_hold():
    control = Stand(failed_suckers=(3,)).attach(SYSTEM, DT).still
    np.testing.assert_array_equal(np.asarray(control.grip).any(1), np.arange(8) != 2)
    control = Stand(suckers=False).attach(SYSTEM, DT).still
    assert not np.asarray(control.grip).any()
    with pytest.raises(InputError, match="`failed_suckers` must name some of the arms 1 to 8"):
        Stand(failed_suckers=(9,)).attach(SYSTEM, DT)


@pytest.mark.parametrize("lost", [(), (3, 4, 5), (0,), (2, 6)])
@pytest.mark.parametrize("direction", [0.0, 10.0, 100.0])
def test_by_turns_each_group_moves_the_body_where_it_shall_go(lost, direction):
    """Arms ahead pull towards themselves, arms behind push away: forces of both signs along the arms add up."""
    yaws = np.array([yaw for i, yaw in enumerate(YAWS) if i not in lost])
    group = np.asarray(groups_of(jnp.asarray(yaws)))
    share = np.asarray(shares_by_turns(np.deg2rad(direction), jnp.asarray(yaws), jnp.asarray(group)))
    assert abs(np.sum(group) - 0.5 * len(yaws)) <= 0.5
    for own in (group == 0.0, group == 1.0):
        force = np.array([share[own] @ np.cos(yaws[own]), share[own] @ np.sin(yaws[own])])
        off = np.rad2deg(np.arctan2(force[1], force[0])) - direction
        assert abs(np.angle(np.exp(1j * np.deg2rad(off)), deg=True)) < 12.0  # of what an arm beside the body leaves
    assert np.all(share * np.cos(yaws - np.deg2rad(direction)) >= -0.2)


def test_arms_are_pressed_to_the_ground_by_what_is_before_their_suckers():
    """An arm that bends down beyond its suckers too stands on its outer part, and lifts them off."""
    lower, held = np.asarray(BY_TURNS.lower), np.asarray(BY_TURNS.grip) > 0.0
    down = lower[:, 0] - lower[:, 2]
    first = int(np.argmax(held))
    assert np.all(down[:first] > 0.0)  # and a part of a segment on which the limit lies
    np.testing.assert_array_equal(down[first + 1 :], 0.0)


def test_by_turns_some_arms_always_hold_the_ground():
    share, group = jnp.ones(8), groups_of(jnp.asarray(YAWS))
    for time in np.linspace(0.0, 1.7, 9, endpoint=False):
        held = np.asarray(BY_TURNS(jnp.asarray(time), 1.7, share, group)[1]).max(-1)
        assert held.sum() >= 4.0


def test_a_group_lets_go_when_the_other_holds():
    controller = crawl([[0.0, 0.0], [1.0, 0.0]], alternating=True)
    _, memory = controller(1.0, observed(0.0, 0.0), controller.init(observed(0.0, 0.0)))
    half = 1.0 + 0.5 * float(STROKE.duration)
    _, waiting = controller(half, observed(0.0, 0.0), memory)
    assert not bool(waiting.handed_over)
    assert float(waiting.waited) == pytest.approx(DT)
    _, going_on = controller(half, observed(0.0, 0.0)._replace(held=jnp.ones((8, 20))), memory)
    assert bool(going_on.handed_over)


@pytest.mark.parametrize(("advance", "changes"), [(-0.007, True), (0.002, True), (0.045, False)])
def test_a_gait_that_does_not_advance_changes(advance, changes):
    controller = crawl([[0.0, 0.0], [1.0, 0.0]])
    _, memory = controller(0.0, observed(0.0, 0.0), controller.init(observed(0.0, 0.0)))
    assert not bool(memory.alternating)
    _, memory = controller(float(STROKE.duration), observed(advance, 0.0), memory)
    assert bool(memory.alternating) == changes
