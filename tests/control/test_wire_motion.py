"""The three ways to move a wire-driven arm."""

import numpy as np
import pytest

from hydrostat.actuation import pulse_trains, write_gcode, write_pulses
from hydrostat.control import constant_speed_motion, smooth_motion, stepped_motion
from hydrostat.control.wire_motion import WireModel, bend_vectors
from hydrostat.errors import InputError
from hydrostat.robots import tentacle

START = bend_vectors(np.deg2rad([0.0, 60.0, -45.0]), np.deg2rad([40.0, 50.0, 30.0]))
GOAL = bend_vectors(np.deg2rad([110.0, -60.0, 80.0]), np.deg2rad([60.0, 75.0, 90.0]))


@pytest.fixture(scope="module")
def models():
    made = {}
    for shape in ("cylinder", "cone"):
        for wires in ("hard", "soft"):
            robot = tentacle(shape, wires)
            made[shape, wires] = robot, WireModel(robot.arm, robot.tendons)
    return made


def deviation(model, motion, samples=999):
    times = np.linspace(0.0, motion.duration, samples)
    return np.max(np.abs(motion.lengths(times) - model.lengths(motion.bends(times))))


def test_stepped_way_strays_as_the_square_of_the_step(models):
    _, model = models["cylinder", "hard"]
    strays = [deviation(model, stepped_motion(model, START, GOAL, 6.0, step), 6001) for step in (0.4, 0.2, 0.1)]
    # A chord of an arc: the miss falls with the square of the chord. Steps are whole, so the ratio is near 4.
    assert 1e-5 < strays[-1] < strays[0] < 1e-2
    assert np.log2(strays[0] / strays[1]) == pytest.approx(2.0, abs=0.25)
    assert np.log2(strays[1] / strays[2]) == pytest.approx(2.0, abs=0.25)


def test_stepped_way_is_right_at_every_step(models):
    _, model = models["cone", "soft"]
    motion = stepped_motion(model, START, GOAL, 6.0, 0.5)
    marks = np.linspace(0.0, 6.0, motion.knots)
    assert motion.lengths(marks) == pytest.approx(model.lengths(motion.bends(marks)), abs=1e-14)


def test_stepped_way_from_the_straight_arm_turns_no_needless_corner(models):
    _, model = models["cylinder", "hard"]
    motion = stepped_motion(model, np.zeros((3, 2)), GOAL, 1.0, 0.1)
    halfway = motion.bends(np.array([0.5]))[0]
    # Straight has no azimuth: the bend must grow in the goal's own direction.
    assert halfway == pytest.approx(0.5 * GOAL, abs=1e-12)


def test_constant_wire_speed_is_a_straight_line_on_the_cylinder(models):
    _, model = models["cylinder", "hard"]
    motion = constant_speed_motion(model, START, GOAL, 6.0)
    assert deviation(model, motion) < 1e-15 * 10
    times = np.linspace(0.0, 6.0, 50)
    shapes = model.shapes(motion.lengths(times))
    assert shapes.bend == pytest.approx(motion.bends(times), abs=1e-13)
    assert np.max(np.abs(shapes.compression)) < 1e-15


def test_constant_wire_speed_is_not_exact_on_cone_and_soft_wires(models):
    for key in (("cone", "hard"), ("cylinder", "soft"), ("cone", "soft")):
        _, model = models[key]
        one = deviation(model, constant_speed_motion(model, START, GOAL, 6.0))
        four = deviation(model, constant_speed_motion(model, START, GOAL, 6.0, steps=4))
        assert 1e-8 < four < one < 1e-3, key
        assert one / four == pytest.approx(16.0, rel=0.35), key


@pytest.mark.parametrize("bound", [1e-5, 1e-8])
@pytest.mark.parametrize("key", [("cone", "hard"), ("cone", "soft"), ("cylinder", "soft")])
def test_smooth_way_keeps_compression_below_the_bound(models, key, bound):
    robot, model = models[key]
    motion = smooth_motion(model, robot.motor, START, GOAL, 6.0, compression_bound=bound)
    times = np.linspace(0.0, 6.0, 1777)
    assert np.max(np.abs(model.shapes(motion.lengths(times)).compression)) <= bound
    assert deviation(model, motion, 1777) <= bound


@pytest.mark.parametrize("profile", ["scurve", "trapezoid"])
@pytest.mark.parametrize("key", [("cylinder", "hard"), ("cone", "soft")])
def test_smooth_way_respects_the_motors(models, key, profile):
    robot, model = models[key]
    motor = robot.motor
    motion = smooth_motion(model, motor, START, GOAL, None, profile)
    times = np.linspace(0.0, motion.duration, 20001)
    speed, acceleration = (np.max(np.abs(motion.course(times, order))) for order in (1, 2))
    assert speed <= motor.speed_limit * (1 + 1e-9)
    assert acceleration <= motor.max_acceleration * (1 + 1e-9)
    # As fast as the motors allow: at least one limit is used to the full.
    assert speed > 0.99 * motor.speed_limit
    # The derivatives are those of the lengths; where the acceleration jumps, a difference quotient is off by half a
    # jump times the spacing.
    difference = np.gradient(motion.lengths(times), times, axis=0) - motion.course(times, 1)
    assert np.max(np.abs(difference[1:-1])) <= 0.5 * motor.max_acceleration * times[1]
    if profile == "scurve":
        jerk = np.max(np.abs(np.gradient(motion.course(times, 2), times, axis=0)))
        assert jerk <= motor.max_jerk * 1.01  # finite differences across the corners of the acceleration
    with pytest.raises(InputError, match=r"at least \d+\.\d+ s within the motors' limits; got 1 s"):
        smooth_motion(model, motor, START, GOAL, 1.0, profile)


def test_smooth_way_slows_down_gently_and_changes_speed_on_the_fly(models):
    robot, model = models["cylinder", "hard"]
    motor = robot.motor
    changes = [(2.0, 0.5), (5.0, 1.2)]
    motion = smooth_motion(model, motor, START, GOAL, 6.0, deceleration=0.4, speed_changes=changes)
    times = np.linspace(0.0, motion.duration, 20001)
    assert motion.lengths(times[-1:])[0] == pytest.approx(model.lengths(GOAL[None])[0], abs=1e-12)
    fastest = np.max(np.abs(motion.course(times, 1)), -1)
    plain = smooth_motion(model, motor, START, GOAL, 6.0, deceleration=0.4)
    cruise = np.max(np.abs(plain.course(times, 1)))
    assert fastest[np.searchsorted(times, 4.5)] == pytest.approx(0.5 * cruise, rel=1e-6)
    assert np.max(fastest) == pytest.approx(1.2 * cruise, rel=1e-6)
    assert np.max(np.abs(motion.course(times, 2))) <= motor.max_acceleration * (1 + 1e-9)
    with pytest.raises(InputError, match=r"the motors allow at most .* times the cruising speed; got 9"):
        smooth_motion(model, motor, START, GOAL, 6.0, speed_changes=[(2.0, 9.0)])
    with pytest.raises(InputError, match="`deceleration` must be above 0 and at most 1"):
        smooth_motion(model, motor, START, GOAL, 6.0, deceleration=2.0)


def test_pulse_rate_can_be_the_limit(models):
    robot, model = models["cylinder", "hard"]
    import equinox as eqx

    slow = eqx.tree_at(lambda motor: motor.max_pulse_rate, robot.motor, 20e3)
    motion = smooth_motion(model, slow, START, GOAL)
    trains = pulse_trains(motion.course, motion.duration, slow.step, 9)
    rate = max(train.rate_max for train in trains)
    # The bracketed pulse times are exact to rounding of the interpolation, some 1e-5 of an interval.
    assert 0.98 * 20e3 < rate <= 20e3 * (1 + 1e-3)


def test_pulses_follow_the_wires_to_half_a_step(models):
    robot, model = models["cone", "hard"]
    motor = robot.motor
    motion = smooth_motion(model, motor, START, GOAL, 6.0)
    trains = pulse_trains(motion.course, motion.duration, motor.step, 9)
    times = np.linspace(0.0, 6.0, 3001)
    lengths = motion.lengths(times)
    for wire, train in enumerate(trains):
        count = np.concatenate([[0], np.cumsum(train.directions, dtype=int)])[np.searchsorted(train.times, times)]
        miss = (lengths[:, wire] - lengths[0, wire]) / motor.step - count
        # Half a step, and what the clock's resolution near a pulse is worth at full speed.
        assert np.max(np.abs(miss)) <= 0.5 + 1e-3
        assert train.net == round((lengths[-1, wire] - lengths[0, wire]) / motor.step)
        assert np.all(np.diff(train.times) >= 0.0)


def test_pulses_count_both_ways_of_a_wire_that_returns():
    def course(times, derivative):
        value = np.sin(times) if derivative == 0 else np.cos(times)
        return 1e-3 * value[:, None]

    (train,) = pulse_trains(course, np.pi, 1e-5, 1)
    assert train.net == 0
    assert np.sum(train.directions == 1) == 100  # the crest passes level 99.5 and stays below 100.5
    expected = np.arcsin((np.arange(100) + 0.5) / 100)
    assert train.times[:100] == pytest.approx(expected, abs=1e-9)


def test_pulse_file_holds_every_pulse_in_order(tmp_path, models):
    robot, model = models["cylinder", "hard"]
    motion = constant_speed_motion(model, START, START + 0.05 * (GOAL - START), 2.0)
    trains = pulse_trains(motion.course, motion.duration, robot.motor.step, 9)
    rows = write_pulses(tmp_path / "pulses.csv", trains)
    table = np.loadtxt(tmp_path / "pulses.csv", delimiter=",", skiprows=1)
    assert len(table) == rows == sum(len(train.times) for train in trains)
    assert np.all(np.diff(table[:, 0]) >= 0.0)
    for wire, train in enumerate(trains):
        mine = table[table[:, 1] == wire + 1]
        assert mine[:, 0] == pytest.approx(train.times, abs=1e-9)
        assert np.sum(mine[:, 2]) == train.net


def test_gcode_brings_all_wires_there_in_time(tmp_path, models):
    robot, model = models["cylinder", "hard"]
    motion = smooth_motion(model, robot.motor, START, GOAL, 6.0)
    times = np.linspace(0.0, 6.0, 301)
    travel = motion.lengths(times) - motion.lengths(times[:1])
    moves = write_gcode(tmp_path / "move.ngc", times, travel, "a move")
    lines = [line for line in (tmp_path / "move.ngc").read_text().splitlines() if line.startswith("G1")]
    assert len(lines) == moves == 300
    words = [dict((word[0], float(word[1:])) for word in line.split()[1:]) for line in lines]
    assert sum(60.0 / move["F"] for move in words) == pytest.approx(6.0, abs=1e-4)
    assert [words[-1][axis] for axis in "XYZABCUVW"] == pytest.approx(1e3 * travel[-1], abs=1e-6)
    with pytest.raises(InputError, match="G-code has 9 axes; got 10 wires"):
        write_gcode(tmp_path / "no.ngc", times, np.zeros((301, 10)), "too many")
