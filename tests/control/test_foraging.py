"""What a foraging octopus decides by what it sees: which arm takes the prey, on which side, and where to go."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.feedback import Course, KnownArm, make_servo, tabulated
from hydrostat.control.gaits import STROKES, CrawlController, pull_and_push
from hydrostat.control.gaits.alternate import groups_of
from hydrostat.control.gaits.cover import DWELLS, MISSES, PATIENCE, cover
from hydrostat.control.gaits.forage import ForageController, TakingRange
from hydrostat.control.gaits.prey_course import BRINGS, TIMES
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import System

SEGMENTS, DT = 6, 5e-3
YAWS = np.deg2rad(45.0 * np.arange(8))
REACH = jnp.array([0.29, 0.09])
RANGE = TakingRange(jnp.array([0.12, 0.18]), jnp.array([0.01, 0.05]))


@pytest.fixture(scope="module")
def controller():
    system = System(build_robot(octopus(segments=SEGMENTS)), gravity=(0.0, 0.0, 0.0))
    straight = jnp.zeros((SEGMENTS, 3))
    bent = straight.at[:, 0].set(10.0).at[:, 1].set(-3.0)
    grip = jnp.ones((2, SEGMENTS))
    course = Course(jnp.array([0.0, 0.5]), jnp.stack([straight, bent]), grip, jnp.zeros(2))
    known = KnownArm.of(system)
    servo = make_servo(known, tabulated(known, course, DT * jnp.arange(100), DT))
    servo = eqx.tree_at(lambda servo: servo.bare, servo, servo.bare.ready_to_carry())
    stroke = STROKES["push"](BodyPlan.of(system))
    yaws = jnp.asarray(YAWS)
    by_turns = pull_and_push(BodyPlan.of(system))
    crawl = CrawlController(
        stroke, by_turns, jnp.zeros((2, 2)), yaws, groups_of(yaws), jnp.ones(8), jnp.zeros(()), True
    )
    onto = cover(system, BodyPlan.of(system), Ball(0.01, 0.005), servo)
    return ForageController(crawl, servo, RANGE, jnp.ones(SEGMENTS), onto, REACH)


def observed(prey, turned=0.0, q=None):
    """A body at the origin."""
    c, s = np.cos(turned), np.sin(turned)
    rotation = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    q = jnp.zeros((8, SEGMENTS, 3)) if q is None else q
    none = jnp.zeros((8, SEGMENTS))
    pose = SE3(rotation, jnp.array([0.0, 0.0, 0.03]))
    seen = jnp.array([[*prey, 0.01]])
    return Observation(jnp.asarray(DT), q, jnp.zeros_like(q), none, none, pose, jnp.zeros(6), seen, None, None)


def decided(controller, seen, steps=60):
    """After some steps in which nothing moves, so that the course is on its way."""
    memory = controller.init(seen)
    step = jax.jit(lambda time, memory: controller(time, seen, memory))
    for i in range(steps):
        control, memory = step(DT * i, memory)
    return control, memory


def place(arm, along, left, turned=0.0):
    angle = YAWS[arm] + turned
    return along * np.array([np.cos(angle), np.sin(angle)]) + left * np.array([-np.sin(angle), np.cos(angle)])


@pytest.mark.parametrize(("arm", "left", "turned"), [(0, 0.03, 0.0), (2, -0.03, 0.0), (7, 0.04, 0.5), (4, -0.02, -1.0)])
def test_the_arm_beside_the_prey_takes_it(controller, arm, left, turned):
    control, memory = decided(controller, observed(place(arm, 0.15, left, turned), turned))
    assert bool(memory.there)
    assert int(memory.arm) == arm
    assert float(memory.side) == np.sign(left)
    np.testing.assert_array_equal(np.asarray(control.take).any(1), np.arange(8) == arm)
    # All but itself and two on the side of the prey hold the ground.
    away = (np.sign(left) * (np.arange(8) - arm)) % 8 > 2
    np.testing.assert_array_equal(np.asarray(control.grip).any(1), away)


def test_mirrored_prey_is_taken_by_mirrored_muscles(controller):
    (left, _), (right, _) = (decided(controller, observed(place(0, 0.15, side * 0.03))) for side in (1.0, -1.0))
    swapped = np.asarray(left.activation)[0][:, [0, 3, 2, 1, 4]]
    assert np.abs(np.asarray(left.activation)[0][:, 1] - np.asarray(left.activation)[0][:, 3]).max() > 0.01
    np.testing.assert_allclose(right.activation[0], swapped, atol=1e-9)


@pytest.mark.parametrize("prey", [(0.5, 0.1), (-0.4, 0.2), (0.1, -0.3)])
def test_it_goes_where_its_prey_would_lie_beside_an_arm(controller, prey):
    control, memory = decided(controller, observed(prey), steps=1)
    assert not bool(memory.there)
    assert not np.asarray(control.take).any()
    share = np.asarray(memory.crawl.share)
    push = -np.array([share @ np.cos(YAWS), share @ np.sin(YAWS)])
    off = np.angle(np.exp(1j * (np.arctan2(push[1], push[0]) - np.arctan2(prey[1], prey[0]))))
    assert abs(np.rad2deg(off)) < 20.0
    goal = np.asarray(controller._goal(observed(prey), memory.arm, memory.side))
    gap = np.array(prey) - goal
    local = np.abs(gap @ np.array([-np.sin(YAWS[int(memory.arm)]), np.cos(YAWS[int(memory.arm)])]))
    assert local == pytest.approx(0.03)


def test_errors_sum_up_no_further_than_allowed(controller):
    # An arm that is kept straight, whatever the course wants: all that is bent in it reaches the bound, and stays.
    servo = make_servo(controller.fetch.known, controller.fetch.table, most=0.01)
    straight = jnp.zeros((SEGMENTS, 3))
    kept = observed((0.5, 0.1))._replace(q=straight, v=straight, taken=jnp.zeros(SEGMENTS))

    @jax.jit
    def after(steps):
        return jax.lax.fori_loop(0, steps, lambda _, memory: servo(0.0, kept, memory)[1], servo.init(kept))

    least = np.asarray(servo.most)[:, :2] * [1.0, -1.0]
    for steps in (200, 400):
        np.testing.assert_allclose(after(steps).missing[:, :2], least, rtol=1e-12)
    assert float(jnp.abs(after(40).missing[:, :2]).max()) < float(servo.most[:, :2].min())


def after_bringing(controller, seen, clock, **memory):
    """What it does next at a time of the course [s]."""
    begin = controller.init(seen)
    cover = begin.cover._replace(**memory)
    course = begin.course._replace(step=jnp.asarray(clock / DT))
    return controller(0.0, seen, begin._replace(there=jnp.asarray(True), course=course, cover=cover))


def test_the_body_sinks_when_the_prey_is_under_it_or_its_patience_is_over(controller):
    last = TIMES[6] - 0.5 * DT
    for prey, under, waited, sinks in (
        ((0.0, 0.01), DWELLS, 0.0, True),
        ((0.0, 0.01), 0.0, 0.0, False),  # it swings past
        ((0.05, 0.0), DWELLS, 0.0, False),
        ((0.05, 0.0), 0.0, PATIENCE, True),
    ):
        times = {"waited": jnp.asarray(waited), "under": jnp.asarray(under)}
        memory = after_bringing(controller, observed(prey), last, **times)[1]
        assert (float(memory.course.step) * DT > TIMES[6]) == sinks
        assert float(memory.cover.waited) == pytest.approx(waited + (0.0 if sinks else DT))


def test_the_body_rises_again_where_it_has_come_down_beside_the_prey(controller):
    R, last = float(controller.cover.touch), TIMES[-1] + DT
    for place, missed, rises in (
        ((0.0, 0.0, -R), MISSES, False),  # at the mouth
        ((R, 0.0, 0.0), MISSES, True),  # at the side of the body
        ((0.0, 0.0, -R - 2e-3), MISSES, True),  # beyond a gap
        ((R, 0.0, 0.0), 0.0, False),
    ):
        seen = observed((0.0, 0.0))
        seen = seen._replace(objects=(seen.pose.position + jnp.array(place))[None], taken=jnp.ones((8, SEGMENTS)))
        memory = after_bringing(controller, seen, last, missed=jnp.asarray(missed), sunk=controller.cover.sink)[1]
        assert (float(memory.course.step) * DT == pytest.approx(TIMES[5])) == rises
        after = controller(0.0, seen, memory)[1]
        assert (float(after.cover.sunk) < float(memory.cover.sunk)) == rises


@pytest.mark.parametrize(("held", "time", "anew"), [(0.0, 2.1, True), (0.0, 1.9, False), (1.0, 2.1, False)])
def test_it_goes_for_its_prey_anew_when_the_arm_has_nothing(controller, held, time, anew):
    """The prey is at the arm's other side by now: that is where it sweeps then."""
    seen = observed(place(0, 0.15, -0.03))._replace(taken=jnp.full((8, SEGMENTS), held))
    memory = controller.init(seen)._replace(there=jnp.asarray(True), side=jnp.asarray(1.0), empty=jnp.asarray(time))
    memory = memory._replace(course=memory.course._replace(step=jnp.asarray(TIMES[2] / DT)))
    after = controller(jnp.asarray(5.0), seen, memory)[1]
    assert bool(after.there)
    assert float(after.side) == (-1.0 if anew else 1.0)
    assert (float(after.course.step) * DT < 0.1) == anew


@pytest.mark.parametrize(("left", "side"), [(-0.01, 1.0), (-0.06, -1.0)])
def test_it_keeps_the_side_for_which_it_comes_while_the_body_yaws(controller, left, side):
    memory = controller.init(observed(place(0, 0.25, 0.03)))
    assert float(memory.side) == 1.0
    assert float(controller(0.0, observed(place(0, 0.25, left)), memory)[1].side) == side


def seen_moving(controller, begin, velocity, seconds=3.0):
    """The memory of an octopus that has watched its prey come to where it began, and what it sees then."""
    velocity, count = np.asarray(velocity), round(seconds / DT)
    memory = controller.init(observed(begin - seconds * velocity))
    for i in range(count):
        seen = observed(begin - (seconds - DT * (i + 1)) * velocity)
        memory = controller._watched(seen, memory)
    return memory, seen


def test_it_goes_where_prey_that_flees_will_be(controller):
    velocity = np.array([0.01, -0.02])
    memory, seen = seen_moving(controller, np.array([0.5, 0.1]), velocity)
    np.testing.assert_allclose(memory.moves, velocity, rtol=0.01)
    one = memory.arm, memory.side
    ahead = controller._goal(seen, *one, memory.moves) - controller._goal(seen, *one)
    np.testing.assert_allclose(ahead, 1.5 * velocity, rtol=0.01)


def test_prey_is_taken_where_an_arm_will_meet_it(controller):
    outwards = 0.02 * np.array([np.cos(YAWS[0]), np.sin(YAWS[0])])
    for along, velocity, fits in (
        (0.17, 0.0 * outwards, True),
        (0.17, outwards, False),  # it is beyond reach when the arm comes
        (0.1, 0.0 * outwards, False),
        (0.1, outwards, True),
    ):
        memory, seen = seen_moving(controller, place(0, along, 0.03), velocity)
        memory = memory._replace(crawl=memory.crawl._replace(began=jnp.asarray(-10.0)))
        assert bool(controller(jnp.asarray(5.0), seen, memory)[1].there) == fits


def test_arms_before_the_prey_rise_out_of_its_way(controller):
    crawl = controller.init(observed((0.3, 0.0))).crawl._replace(share=jnp.zeros(8).at[4].set(1.0))
    near, far = (np.asarray(controller._rising(observed(place(0, away, 0.02)), crawl)) for away in (0.22, 0.3))
    rises = np.abs(near).max((1, 2))
    assert rises[0] > 0.5 * rises.max() > 0.0
    np.testing.assert_array_equal(rises[[2, 3, 4, 5, 6]], 0.0)
    np.testing.assert_array_equal(far, 0.0)
    pushing = np.asarray(controller._rising(observed(place(4, 0.2, 0.0)), crawl))
    np.testing.assert_array_equal(pushing[4], 0.0)


def test_arms_push_a_low_base_up_and_pull_a_high_one_down(controller):
    """The body turned about y: bases ahead of it are low, those behind high, by as much as its arms are far apart."""
    tilt = 0.3
    rotation = jnp.array([[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]])
    level = observed((0.3, 0.0))
    rest = float(controller.cover.rest - controller.cover.bases[0, 2])
    pose = SE3(rotation, jnp.array([0.0, 0.0, rest]))
    memory = controller.init(level).cover
    first = controller.cover.raised(level._replace(pose=pose), memory, TIMES[3] + 1e-3, level.objects[0])[0]
    down, up = np.asarray(first[:, 0, 0]), np.asarray(first[:, 0, 2])
    assert down[0] > 0.0 == up[0]
    assert up[4] > 0.0 == down[4]
    assert not np.asarray(
        controller.cover.raised(level._replace(pose=pose), memory, TIMES[3], level.objects[0])[0]
    ).any()


@pytest.mark.parametrize(("arm", "side"), [(0, 1.0), (3, -1.0)])
def test_the_plan_is_displaced_towards_the_mouth(controller, arm, side):
    """Prey that lies 30 mm too far out along the arm and 20 mm to its side: along that the plan is moved, at 1/s."""
    goal = np.asarray(controller.cover.goal)
    seen = observed(place(arm, goal[0] + 0.03, side * (goal[1] + 0.02)))
    yaw, memory = controller.crawl.yaws[arm], controller.init(seen).cover
    shift = controller.cover.shifted(seen, memory, TIMES[6], seen.objects[0], yaw, side).shift
    np.testing.assert_allclose(shift, -DT * np.array([0.03, 0.02]), atol=1e-12)
    before = controller.cover.shifted(seen, memory, TIMES[4], seen.objects[0], yaw, side).shift
    np.testing.assert_array_equal(before, 0.0)


def test_the_arm_lifts_its_prey_to_the_body_that_is_lowered(controller):
    """As far as the body is lowered on the prey, the place that holds it comes nearer to the body, to first order."""
    fetch, memory = controller.fetch, controller.init(observed((0.0, 0.0))).cover
    arm, home = fetch.known.arm.arm, fetch.table.shape[-1]
    sunk = 1e-4
    change = controller.cover.shape(memory._replace(sunk=jnp.asarray(sunk)))
    before, after = (kinematics.segment_poses(arm, q)[round(BRINGS * SEGMENTS)].position for q in (home, home + change))
    np.testing.assert_allclose(after - before, [0.0, 0.0, sunk], atol=0.02 * sunk)


@pytest.mark.parametrize(("clock", "waits"), [(TIMES[4] + 0.5, True), (TIMES[4] - 0.5, False), (TIMES[5] + 0.5, False)])
def test_the_course_waits_for_an_arm_that_lags_with_its_prey(controller, clock, waits):
    """The plan is bent, the arm straight; one that is where the plan is goes on at once."""
    seen = observed((0.0, 0.0))
    course = controller.fetch.init(seen._replace(q=seen.q[0]))._replace(step=jnp.asarray(clock / DT))
    bent = controller.fetch.table.shape[-1]
    behind, there = (controller.cover.pace(controller.fetch, seen._replace(q=q), course) for q in (seen.q[0], bent))
    assert (float(behind) < 1.0) == waits
    assert float(there) == 1.0


def lowered(controller, gap, clock=TIMES[6] + 0.1, **memory):
    """What it remembers a step after it saw prey straight under its mouth, at a distance from its skin [m]."""
    seen = observed((0.0, 0.0))
    prey = seen.pose.position - jnp.array([0.0, 0.0, float(controller.cover.touch) + gap])
    return controller.cover.lowered(seen, controller.init(seen).cover._replace(**memory), clock, prey)


def test_the_body_sinks_onto_its_prey_and_gives_way_where_it_presses(controller):
    begun = jnp.asarray(2e-3)
    far, near, deep = (float(lowered(controller, gap, sunk=begun).sunk) for gap in (0.05, 1e-3, -2e-3))
    assert far - 2e-3 == pytest.approx(DT * 0.02)
    assert near - 2e-3 == pytest.approx(DT * 2.0 * 1e-3)
    touching = float(lowered(controller, -2e-4, sunk=begun).sunk)
    assert touching == float(begun)  # light prey bears less than the depth from which on it gives way
    assert deep - 2e-3 == pytest.approx(-DT * 2.0 * 1.7e-3)
    before = float(lowered(controller, 0.05, clock=TIMES[6] - 0.1, sunk=begun).sunk)
    assert before - 2e-3 == pytest.approx(-DT * 0.02)  # it rises again
    assert float(lowered(controller, 0.05, sunk=controller.cover.sink).sunk) == float(controller.cover.sink)


def test_arms_relax_while_the_body_lies_on_the_prey_and_work_again_when_it_slips_out(controller):
    lies, near, apart = (lowered(controller, gap, lain=jnp.asarray(0.5)) for gap in (-1e-4, 1e-3, 4e-3))
    assert float(lies.lain) == pytest.approx(0.5 + DT)
    assert float(near.lain) == 0.5  # it sinks after it
    assert float(apart.lain) == pytest.approx(0.5 - DT)
    assert float(lies.held_back) == pytest.approx(1.0 - 0.3 * float(lies.eased))


def test_what_is_summed_up_stays_while_the_body_lies_on_the_prey(controller):
    seen = observed((0.0, 0.0))
    memory = controller.init(seen).cover._replace(lain=jnp.asarray(0.5))
    for gap, stays in ((-1e-4, True), (1e-3, False)):
        prey = seen.pose.position - jnp.array([0.0, 0.0, float(controller.cover.touch) + gap])
        after = controller.cover.raised(seen, memory, TIMES[7], prey)[1]
        assert bool(jnp.all(after.missing == memory.missing)) == stays


def test_prey_under_the_body_is_kept_where_it_lies(controller):
    """What it slips by along and beside the arm, the plan is displaced against, in proportion: errors do not sum up."""
    goal, yaw = np.asarray(controller.cover.goal), controller.crawl.yaws[0]
    slipped = np.array([0.003, -0.002])
    seen = observed(place(0, *(goal + slipped)))
    memory = controller.init(seen).cover._replace(lain=jnp.asarray(0.5), place=jnp.asarray(goal))
    once = controller.cover.shifted(seen, memory, TIMES[7], seen.objects[0], yaw, 1.0)
    np.testing.assert_allclose(once.shift, -1.5 * slipped, atol=1e-12)
    again = controller.cover.shifted(seen, once, TIMES[7], seen.objects[0], yaw, 1.0)
    np.testing.assert_allclose(again.shift, once.shift, atol=1e-12)


def test_the_way_leads_round_a_rock_that_is_in_it(controller):
    """The next end of the way is on the circle about the rock, on the side of the goal; behind the rock it is free."""
    rock = eqx.tree_at(lambda c: c.rock, controller, jnp.array([0.5, 0.02, 0.2]), is_leaf=lambda x: x is None)
    seen, start = observed((1.0, 0.0)), jnp.array([-0.1, 0.3])

    def way(goal, here=(0.0, 0.0)):
        pose = SE3(seen.pose.rotation, jnp.array([*here, 0.03]))
        return [np.asarray(y) for y in rock._path_past(seen._replace(pose=pose), start, jnp.asarray(goal))]

    begin, end = way((1.0, 0.0))
    np.testing.assert_allclose(begin, 0.0, atol=1e-12)
    np.testing.assert_allclose(end, [0.5, 0.02 - 0.2], atol=1e-3)
    for goal, here in (((0.3, 0.3), (0.0, 0.0)), ((1.0, 0.0), (0.6, -0.16)), ((0.4, 0.0), (0.0, 0.0))):
        begin, end = way(goal, here)
        np.testing.assert_array_equal(begin, start)
        np.testing.assert_array_equal(end, goal)
    np.testing.assert_allclose(way((0.9, 0.04), (0.1, 0.0))[1][1] - 0.02, 0.2, atol=1e-3)  # to the other side
