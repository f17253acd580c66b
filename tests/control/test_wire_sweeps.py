"""Sweeps of the azimuths at a constant rate, against the closed forms of a cylinder with hard wires."""

import equinox as eqx
import numpy as np
import pytest

from hydrostat.actuation import pulse_trains
from hydrostat.control import WireModel, check_wire_speed, speed_jump, sweep_errors, sweep_motion
from hydrostat.control.wire_errors import compression
from hydrostat.errors import InputError
from hydrostat.robots import tentacle

ALPHA, THETA = np.deg2rad([0.0, 30.0, -80.0]), np.deg2rad([40.0, 50.0, 30.0])
ROUND = np.full(3, 2.0 * np.pi)
OFFSET, LENGTH = 0.045, 0.35
AZIMUTHS = np.deg2rad([0.0, 120.0, 240.0])


@pytest.fixture(scope="module")
def models():
    made = {kind: tentacle(kind) for kind in ("cylinder", "cone")}
    return {kind: (robot, WireModel(robot.arm, robot.tendons)) for kind, robot in made.items()}


def test_wires_are_sinusoids_and_turn_all_the_way_round(models):
    _, model = models["cylinder"]
    motion = sweep_motion(model, ALPHA, THETA, ROUND, 8.0)
    times = np.linspace(0.0, 8.0, 333)
    alpha = ALPHA + 2.0 * np.pi * times[:, None] / 8.0
    phase = AZIMUTHS - alpha[..., None]
    expected = (LENGTH - OFFSET * THETA[:, None] * np.cos(phase)).reshape(len(times), 9)
    assert motion.lengths(times) == pytest.approx(expected, abs=1e-9)
    rate = 2.0 * np.pi / 8.0
    speeds = (-OFFSET * rate * THETA[:, None] * np.sin(phase)).reshape(len(times), 9)
    # The derivative of a cubic spline through 64 or more points of a circle.
    assert motion.course(times, 1) == pytest.approx(speeds, abs=1e-6)
    assert motion.lengths(np.array([8.0])) == pytest.approx(motion.lengths(np.zeros(1)), abs=1e-12)


@pytest.mark.parametrize("steps", [6, 24])
def test_steps_of_constant_wire_speed_are_chords(models, steps):
    _, model = models["cylinder"]
    motion = sweep_motion(model, ALPHA, THETA, ROUND, 8.0, steps)
    half = np.pi / steps
    loss, off = sweep_errors(model, motion)
    assert loss == pytest.approx(THETA * (1.0 - np.cos(half)), rel=1e-6)
    # Along a chord the azimuth is atan(x tan h) against x h, x from -1 to 1.
    x = np.linspace(-1.0, 1.0, 20001)
    assert off == pytest.approx(np.max(np.abs(np.arctan(x * np.tan(half)) - x * half)), rel=1e-3)
    assert compression(model, motion) < 1e-15
    # Speeds are differences of the lengths at the corners; beginning and end are jumps from and to rest.
    alpha = ALPHA + np.linspace(0.0, 2.0 * np.pi, steps + 1)[:, None]
    corners = (-OFFSET * THETA[:, None] * np.cos(AZIMUTHS - alpha[..., None])).reshape(steps + 1, 9)
    speeds = np.pad(np.diff(corners, axis=0) * steps / 8.0, ((1, 1), (0, 0)))
    assert speed_jump(motion) == pytest.approx(np.max(np.abs(np.diff(speeds, axis=0))), rel=1e-9)


def test_steps_compress_a_cone_by_the_square_of_their_size(models):
    _, model = models["cone"]
    coarse, fine = (compression(model, sweep_motion(model, ALPHA, THETA, ROUND, 8.0, steps)) for steps in (12, 24))
    assert coarse > 1e-8
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_ramps_take_the_jump_away(models):
    _, model = models["cylinder"]
    jump = speed_jump(sweep_motion(model, ALPHA, THETA, ROUND, 8.0))
    motion = sweep_motion(model, ALPHA, THETA, ROUND, 8.0, ramps=(1.0, 2.0))
    assert jump > 1e-2
    assert speed_jump(motion) < 1e-6 * jump
    assert motion.lengths(np.array([8.0])) == pytest.approx(motion.lengths(np.zeros(1)), abs=1e-12)


def test_pulses_of_a_turn_go_out_and_come_back(models):
    robot, model = models["cylinder"]
    motion = sweep_motion(model, ALPHA, THETA, ROUND, 8.0)
    coarse = eqx.tree_at(lambda motor: motor.step, robot.motor, 1e-5)
    trains = pulse_trains(motion.course, motion.duration, coarse.step, 9)
    assert [train.net for train in trains] == [0] * 9
    for wire, train in enumerate(trains):
        assert len(train.times) == pytest.approx(4.0 * OFFSET * THETA[wire // 3] / 1e-5, abs=4)


def test_bad_sweeps_are_refused(models):
    robot, model = models["cylinder"]
    with pytest.raises(InputError, match="a sweep needs a segment that is bent and turns"):
        sweep_motion(model, ALPHA, np.array([0.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.0]), 8.0)
    with pytest.raises(InputError, match="wires at constant speed have no ramps"):
        sweep_motion(model, ALPHA, THETA, ROUND, 8.0, 4, ramps=(1.0, 0.0))
    # The fastest wire: r theta 2 pi / T at 25 mm/s.
    least = OFFSET * THETA[1] * 2.0 * np.pi / 0.025
    with pytest.raises(InputError, match=f"must take at least {least:.2f}.* s within the motors' 25 mm/s; got 8 s"):
        check_wire_speed(sweep_motion(model, ALPHA, THETA, ROUND, 8.0), robot.motor)
