"""A brain sends messages, nerves carry or lose them, arms do the rest and report."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control.gaits import Crawl
from hydrostat.control.hierarchy import (
    DONE,
    NO_HOLD,
    NOT_REACHED,
    TOO_LATE,
    UNDER_WAY,
    Brain,
    Commanded,
    Message,
    Nerves,
    Order,
    Orders,
    Report,
    attached,
)
from hydrostat.control.hierarchy.motions import MOTIONS
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.surroundings import Ground, Suckers
from hydrostat.system import System

DT = 0.01
ARMS, SEGMENTS = 8, 5
SYSTEM = System(build_robot(octopus(segments=SEGMENTS), free=True), [Ground(), Suckers()])
HALF = 0.85  # s, half of a stroke by turns


def observed(held=None):
    """What is observed of an octopus that stands at the origin, with arms that hold the ground or not."""
    none = jnp.zeros((ARMS, SEGMENTS))
    held = none if held is None else jnp.asarray(held, float)[:, None] * jnp.ones(SEGMENTS)
    shape = jnp.zeros((ARMS, SEGMENTS, 3))
    rest = Observation(*[None] * 10)
    pose = SE3(jnp.eye(3), jnp.array([0.0, 0.0, 0.03]))
    return rest._replace(period=jnp.asarray(DT), q=shape, v=shape, held=held, taken=none, pose=pose)


def run(controller, seconds, held=lambda time: np.ones(ARMS), start=0.0, memory=None):
    """The controls and memories of all steps, while arms hold as a function of time says."""
    step = eqx.filter_jit(controller)
    memory = controller.init(observed()) if memory is None else memory
    controls, memories = [], []
    for i in range(round(seconds / DT)):
        time = start + i * DT
        control, memory = step(jnp.asarray(time), observed(held(time)), memory)
        controls.append(control)
        memories.append(memory)
    return controls, memories


def crawl(**options):
    return Crawl(0.3, gait="alternate", **options).attach(SYSTEM, DT)


def test_without_delay_messages_drive_muscles_as_the_gait_itself_does():
    seconds = 0.6 + 2.5 * HALF
    whole, _ = run(crawl(), seconds)
    parts, memories = run(crawl(nerves=Nerves()), seconds)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(other.activation, one.activation, atol=1e-12)
    # A half ends in the middle of a step or at its begin by rounding: then suckers let go a step earlier.
    differ = [not np.array_equal(other.grip, one.grip) for one, other in zip(whole, parts, strict=True)]
    assert sum(differ) <= 3
    # To lie down, and at the begin of three halves of strokes: no more goes out, and none is sent again.
    traffic = memories[-1].traffic
    np.testing.assert_array_equal(traffic.messages, 4)
    np.testing.assert_array_equal(traffic.repeats, 0)
    # An arm tells that it has got a message, and what has become of it, where that is not known already.
    assert np.all((np.asarray(traffic.reports) >= 4) & (np.asarray(traffic.reports) <= 9))


def test_a_message_arrives_after_the_time_of_conduction():
    nerves = Nerves(delay=0.05)
    assert nerves.steps(DT) == 5
    none = Message.none(ARMS, 1)
    memory = nerves.init(none, 5)
    sent, arrivals = jnp.arange(ARMS) < 3, []
    for i in range(8):
        content = none._replace(number=jnp.full(ARMS, i + 1))
        delivery, memory = nerves(content, sent & (i == 1), memory, 0)
        arrivals.append(np.asarray(delivery.arrived))
        if i == 6:
            np.testing.assert_array_equal(delivery.contents.number, 2)
    np.testing.assert_array_equal(np.flatnonzero(np.any(arrivals, 1)), [6])
    np.testing.assert_array_equal(arrivals[6], np.arange(ARMS) < 3)
    with pytest.raises(InputError, match="`delay` of nerves must be at most 400 steps"):
        Nerves(delay=5.0).steps(DT)


def test_losses_are_as_frequent_as_they_are_said_to_be_and_differ_by_direction():
    nerves = Nerves(loss=0.2, seed=4)
    calls = 300
    lost = np.zeros((2, calls, ARMS), bool)
    for direction in (0, 1):
        memory = nerves.init(Report.none(ARMS), 0)
        for i in range(calls):
            delivery, memory = nerves(Report.none(ARMS), jnp.ones(ARMS, bool), memory, direction)
            lost[direction, i] = delivery.lost
            np.testing.assert_array_equal(delivery.arrived, ~lost[direction, i])
    spread = np.sqrt(0.2 * 0.8 / (calls * ARMS))
    assert np.all(np.abs(lost.mean((1, 2)) - 0.2) < 5.0 * spread)
    assert not np.array_equal(lost[0], lost[1])


def test_a_lost_message_is_sent_again_under_its_number():
    controller = crawl(nerves=Nerves(loss=0.5, seed=2))
    _, memories = run(controller, 0.5)
    traffic, arms = memories[-1].traffic, memories[-1].arms
    first = np.asarray(memories[0].arms.current.number)
    assert 0 < np.sum(first == 0) < ARMS  # some have lost it
    np.testing.assert_array_equal(arms.current.number, 1)
    assert np.all(np.asarray(traffic.repeats)[first == 0] >= 1)
    np.testing.assert_array_equal(traffic.messages, 1 + np.asarray(traffic.repeats))
    # Whoever was not answered was written to, and nobody else: answers get lost as well.
    assert np.sum(traffic.lost_messages) + np.sum(traffic.lost_reports) >= np.sum(traffic.repeats)


def test_a_late_message_is_done_in_less_time_and_one_that_is_too_late_refused():
    order = Order("reach", seconds=1.0)
    prompt, _ = run(Commanded(order).attach(SYSTEM, DT), 1.1)
    controls, memories = run(Commanded(order, nerves=Nerves(delay=0.3)).attach(SYSTEM, DT), 1.4)
    assert not np.any(controls[round(0.3 / DT) - 1].activation)
    # Half of the 0.7 s that are left is half of the motion.
    np.testing.assert_allclose(controls[65].activation, prompt[50].activation, atol=1e-12)
    assert np.any(prompt[50].activation)
    np.testing.assert_array_equal(memories[98].arms.reported.status, UNDER_WAY)
    np.testing.assert_array_equal(memories[101].arms.reported.status, DONE)  # these arms are straight
    np.testing.assert_array_equal(memories[-1].reports.status, DONE)
    # With 0.2 s left of 1 s, there is no use in beginning.
    controls, memories = run(Commanded(order, nerves=Nerves(delay=0.8)).attach(SYSTEM, DT), 1.7)
    assert not any(np.any(control.activation) for control in controls)
    np.testing.assert_array_equal(memories[-1].reports.status, TOO_LATE)
    np.testing.assert_array_equal(memories[-1].traffic.failures, 1)


def test_what_is_not_reached_in_time_is_reported_as_that():
    """These arms stand still, whatever their muscles do."""
    controller = Commanded(Order("shorten", seconds=0.3, goal=0.8)).attach(SYSTEM, DT)
    controls, memories = run(controller, 0.4)
    assert np.any(controls[-1].activation)
    np.testing.assert_array_equal(memories[-1].reports.status, NOT_REACHED)
    np.testing.assert_allclose(memories[-1].reports.progress, 1.0, atol=1e-6)


def test_the_stroke_waits_for_arms_that_do_not_hold_and_no_longer_than_its_patience():
    start = 0.6

    def second_half(held):
        _, memories = run(crawl(nerves=Nerves()), start + HALF + 0.9, held)
        return next(i * DT for i, one in enumerate(memories) if bool(one.brain.second)) - start

    group = np.asarray(crawl().group)
    assert second_half(lambda time: np.ones(ARMS)) == pytest.approx(HALF, abs=1.5 * DT)
    # The arms that recover take hold 0.3 s late.
    late = second_half(lambda time: np.where((group > 0.0) & (time < start + HALF + 0.3), 0.0, 1.0))
    assert late == pytest.approx(HALF + 0.3, abs=1.5 * DT)
    never = second_half(lambda time: 1.0 - group)
    assert never == pytest.approx(HALF + 0.6, abs=1.5 * DT)


def test_arms_that_report_that_they_do_not_hold_are_replaced_by_others_of_their_group():
    controller = crawl(nerves=Nerves())
    yaws, group = (np.asarray(y) for y in (controller.brain.planner.yaws, controller.brain.planner.group))
    ahead = np.cos(yaws - 0.3)
    gone = int(np.argmax(np.where(group > 0.0, ahead, -1.0)))  # the arm of the second group that pulls most
    held = np.where(np.arange(ARMS) == gone, 0.0, 1.0)
    _, memories = run(controller, 0.6 + HALF + 0.9, lambda time: held)
    last = memories[-1]
    begins = next(i for i, one in enumerate(memories) if bool(one.brain.second))
    assert int(memories[begins - 1].reports.status[gone]) == NO_HOLD
    assert int(last.traffic.failures[gone]) >= 1
    share = np.asarray(last.brain.plan.by_turns)
    assert share[gone] == 0.0
    own = group > 0.0
    force = np.array([share[own] @ np.cos(yaws[own]), share[own] @ np.sin(yaws[own])])
    assert np.arctan2(force[1], force[0]) == pytest.approx(0.3, abs=np.deg2rad(12.0))
    # The message itself says so to the arm.
    assert float(last.arms.current.parameters[gone, 0]) == 0.0
    # In open loop it goes on as planned.
    _, memories = run(crawl(nerves=Nerves(), closed_loop=False), 0.6 + HALF + 0.9, lambda time: held)
    assert float(memories[-1].brain.plan.by_turns[gone]) > 0.5


class Curious(Brain):
    """A brain that wants to know how arms are bent."""

    motions: tuple = (MOTIONS["relax"],)
    parameters: int = 1

    def init(self, observation):
        return jnp.zeros(())

    def __call__(self, time, observation, reports, memory):
        shapes = [observation.q, observation.v, observation.held, observation.taken, observation.tip]
        assert shapes == [()] * 5
        assert observation.pose.position.shape == (3,)
        no = jnp.zeros(ARMS, bool)
        return Orders(Message.none(ARMS, 1), no, no), memory


def test_a_brain_knows_of_its_arms_what_they_report_alone():
    controller = attached(Curious(), Nerves(), SYSTEM, DT, np.ones(ARMS))
    controls, memories = run(controller, 2.0 * DT)
    assert not np.any(controls[-1].activation)
    np.testing.assert_array_equal(memories[-1].traffic.messages, 0)


@pytest.mark.parametrize(
    "order, value",
    [(Order("elongate", seconds=1.0, goal=1.15), 1.15), (Order("shorten", seconds=1.0, goal=0.85), 0.85)],
)
def test_an_arm_comes_to_the_length_that_it_is_told_whatever_its_muscles_are_worth(order, value):
    robot = build_robot(octopus_arm(4))
    lengths = []
    for gain in (0.8, 1.25):
        gains = np.full((4, 5), gain)
        system = System(robot, [hs.Water()], muscle_gains=gains)
        motion = hs.simulate(system, Commanded(order), seconds=2.0, dt=DT)
        lengths.append(float(np.mean(np.asarray(motion.stretch)[-1])))
        assert int(np.asarray(motion.memory.arms.reported.status)[-1, 0]) == DONE
        assert int(np.asarray(motion.memory.traffic.messages)[-1, 0]) == 1
    # What it reports as done is within its tolerance, 0.05 of the way; muscles alone would differ by a half.
    assert np.max(np.abs(np.array(lengths) - value)) <= 0.05 * abs(value - 1.0)


def test_every_motion_of_the_table_is_known_by_name():
    assert {"elongate", "shorten", "bend", "twist", "reach", "fetch"} <= set(MOTIONS)
    for motion in MOTIONS.values():
        assert len(motion.names) == len(motion.defaults)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: Order("wave", seconds=1.0), "`motion` must be one of"),
        (lambda: Order("bend", seconds=0.0, goal=1.0), "`seconds` must be a finite number above 0"),
        (lambda: Order("bend", seconds=1.0), "an order to bend must have `goal`; got none"),
        (lambda: Order("reach", seconds=1.0, goal=1.0), "parameters of 'reach' must be among"),
        (Commanded, "orders must be one or more"),
        (lambda: Nerves(loss=1.0), "`loss` must be"),
        (lambda: Commanded(Order("relax", seconds=1.0, arms=(9,))).attach(SYSTEM, DT), "among the arms 1 to 8; got 9"),
        (lambda: Commanded(Order("twist", seconds=1.0, goal=1.0)).attach(SYSTEM, DT), "oblique muscles"),
        (
            lambda: Commanded(Order("relax", seconds=1.0)).attach(System(hs.robots.squid_limb()), DT),
            "for arms with muscles",
        ),
    ],
)
def test_bad_orders_are_refused_in_one_line(make, word):
    with pytest.raises(InputError) as caught:
        make()
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
