"""The errors of sensors: their statistics, their units, and their random numbers.

Means of n samples must lie within 5 deviations / sqrt(n), deviations within 5 / sqrt(2 n) of themselves, correlations
within 5 / sqrt(n).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sensed_robots import LENGTHS, arm_model, row, same, system_of, told_by, truths_of

from hydrostat.lie import so3
from hydrostat.mechanics.robot import single_arm
from hydrostat.segments import StewartSegment, StrainSegment
from hydrostat.sensing import Sensor, Sensors
from hydrostat.sensing.measurement import coordinate_units
from hydrostat.system import System

DT = 5e-3
STEPS = 3000
DEGREE = np.deg2rad(1.0)


def assert_white(errors, deviation):
    """Errors (steps, components) are normal, independent in time and of each other."""
    errors = np.asarray(errors).reshape(len(errors), -1)
    n = len(errors)
    assert np.all(np.abs(errors.mean(0)) < 5.0 * deviation / np.sqrt(n))
    assert np.all(np.abs(errors.std(0) / deviation - 1.0) < 5.0 / np.sqrt(2.0 * n))
    z = errors / deviation
    assert np.all(np.abs(np.mean(z[1:] * z[:-1], 0)) < 5.0 / np.sqrt(n - 1))
    apart = (z.T @ z / n)[~np.eye(z.shape[1], dtype=bool)]
    assert np.all(np.abs(apart) < 5.0 / np.sqrt(n))
    # The share within one deviation of the mean.
    share = 0.682689492137
    assert np.all(np.abs(np.mean(np.abs(z) < 1.0, 0) - share) < 5.0 * np.sqrt(share * (1.0 - share) / n))


@pytest.mark.parametrize("kind", ["single", "equal", "unequal"])
def test_proprioception_errs_by_an_angle_of_each_segment_and_by_relative_length(kind):
    system = system_of(kind)
    truths = truths_of(system, STEPS)
    told = told_by(Sensors(proprioception=Sensor(noise=DEGREE, rate_noise=0.3)), system, truths, DT)
    lengths = {"unequal": (LENGTHS, (0.1, 0.1))}.get(kind, (LENGTHS,))
    for field, deviation in (("q", DEGREE), ("v", 0.3)):
        arms = zip(jax.tree.leaves(getattr(told, field)), jax.tree.leaves(getattr(truths, field)), lengths, strict=True)
        for measured, true, length in arms:
            errors = np.array(measured - true)
            errors[..., :2] *= np.asarray(length)[:, None]
            assert_white(errors, deviation)


def test_rates_of_coordinates_have_their_own_noise():
    system = system_of()
    truths = truths_of(system, 10)
    told = told_by(Sensors(proprioception=Sensor(noise=DEGREE)), system, truths, DT)
    assert np.array_equal(told.v, truths.v)
    assert not np.any(told.q == truths.q)


def test_positions_and_tensions_err_in_their_units():
    system = system_of("equal")
    truths = truths_of(system, STEPS)
    sensors = Sensors(
        pose=Sensor(noise=5e-3, rate_noise=0.2, turn_rate_noise=0.7),
        vision=Sensor(noise=0.02),
        tip=Sensor(noise=1e-3),
        tension=Sensor(noise=0.5),
    )
    told = told_by(sensors, system, truths, DT)
    assert_white(told.pose.position - truths.pose.position, 5e-3)
    assert_white((told.twist - truths.twist)[:, 3:], 0.2)
    assert_white((told.twist - truths.twist)[:, :3], 0.7)
    assert_white(told.objects - truths.objects, 0.02)
    assert_white(told.tip.position - truths.tip.position, 1e-3)
    assert_white(told.tension - truths.tension, 0.5)
    assert np.array_equal(told.pose.rotation, truths.pose.rotation)


def test_measured_attitudes_are_rotations_that_err_by_the_angle():
    system = system_of("unequal")
    truths = truths_of(system, STEPS)
    told = told_by(Sensors(pose=Sensor(turn_noise=0.05), tip=Sensor(turn_noise=0.02)), system, truths, DT)
    for measured, true, deviation in ((told.pose, truths.pose, 0.05), (told.tip, truths.tip, 0.02)):
        assert_white(so3.log(jnp.swapaxes(true.rotation, -1, -2) @ measured.rotation), deviation)
        assert np.array_equal(measured.position, true.position)
        # Two factors, each orthogonal to some roundings, and the product of 3 x 3 matrices: 20 roundings.
        off = jnp.swapaxes(measured.rotation, -1, -2) @ measured.rotation - np.eye(3)
        assert np.abs(off).max() < 20.0 * np.finfo(float).eps
        assert np.abs(np.linalg.det(measured.rotation) - 1.0).max() < 20.0 * np.finfo(float).eps


def test_touch_is_read_the_wrong_way_round_as_often_as_said():
    system, chance = system_of(), 0.2
    truths = truths_of(system, STEPS)
    told = told_by(Sensors(touch=Sensor(noise=chance)), system, truths, DT)
    for field in ("held", "taken"):
        false = np.asarray(getattr(told, field) != getattr(truths, field))
        assert np.all(np.abs(false.mean(0) - chance) < 5.0 * np.sqrt(chance * (1.0 - chance) / STEPS))
        assert set(np.unique(getattr(told, field))) == {0.0, 1.0}
    assert not np.array_equal(told.held != truths.held, told.taken != truths.taken)


def test_noise_belongs_to_the_sample_and_stays_while_it_is_held():
    system = system_of()
    truths = truths_of(system, 40, constant=True)
    told = told_by(Sensors(vision=Sensor(noise=0.1, rate=0.1 / DT)), system, truths, DT).objects
    assert np.array_equal(told, told[np.arange(40) // 10 * 10])
    assert len(np.unique(told[:, 0, 0])) == 4


def test_a_bias_is_constant_in_a_run_and_normal_over_runs():
    system = system_of()
    truths = truths_of(system, 5)
    first = row(truths, 0)

    def told(seed):
        pose = Sensor(bias=0.01, turn_bias=0.03)
        sensors = Sensors(Sensor(bias=DEGREE), pose=pose, tension=Sensor(bias=2.0), seed=seed)
        return told_by(sensors, system, truths, DT)

    runs = jax.vmap(told)(jnp.arange(STEPS))
    shift = runs.pose.position - truths.pose.position
    # Constant to the rounding of truth plus error less truth.
    assert np.abs(shift - shift[:, :1]).max() < 1e-14
    assert_white(shift[:, 0], 0.01)
    turn = so3.log(jnp.swapaxes(first.pose.rotation, -1, -2) @ runs.pose.rotation[:, 0])
    assert_white(turn, 0.03)
    bend = (runs.q[:, 0] - first.q)[..., :2] * np.asarray(LENGTHS)[:, None]
    assert_white(bend, DEGREE)
    assert_white((runs.q[:, 0] - first.q)[..., 2], DEGREE)
    assert_white(runs.tension[:, 0] - first.tension, 2.0)
    assert np.array_equal(runs.v, np.broadcast_to(truths.v, runs.v.shape))


def test_an_offset_is_added_as_it_is():
    system = system_of()
    truths = truths_of(system, 4)
    sensors = Sensors(Sensor(offset=DEGREE), pose=Sensor(offset=(0.1, 0.0, -0.2)), tension=Sensor(offset=-1.5))
    told = told_by(sensors, system, truths, DT)
    assert np.array_equal(told.pose.position, truths.pose.position + np.array([0.1, 0.0, -0.2]))
    assert np.array_equal(told.tension, truths.tension - 1.5)
    curvature = DEGREE / np.asarray(LENGTHS)
    units = np.stack([curvature, curvature, np.full(3, DEGREE)], -1)
    np.testing.assert_allclose(told.q - truths.q, np.broadcast_to(units, told.q.shape), rtol=0.0, atol=1e-15)


def test_units_of_coordinates_follow_the_kind_of_segment():
    length = jnp.array([0.1, 0.05])
    strain = StrainSegment(length, ("bend_x", "shear_y", "stretch"), free=[[True, True, True], [False, True, True]])
    units = coordinate_units(strain)
    # A locked coordinate has no errors.
    np.testing.assert_array_equal(units, [[1.0 / length[0], 1.0, 1.0], [0.0, 1.0, 1.0]])
    platforms = StewartSegment(length, 0.05, 1.0)
    np.testing.assert_array_equal(coordinate_units(platforms), [[1.0] * 3 + [y] * 3 for y in length])


def test_a_locked_coordinate_has_no_noise():
    segments = StrainSegment(jnp.array([0.1, 0.1]), ("bend_x", "bend_y"), free=[[True, False], [True, True]])
    system = System(single_arm(arm_model((0.1, 0.1), segments)))
    truths = truths_of(system, 5)
    told = told_by(Sensors(Sensor(noise=DEGREE, bias=DEGREE, rate_noise=1.0)), system, truths, DT)
    for field in ("q", "v"):
        untouched = np.asarray(getattr(told, field) == getattr(truths, field)).all(0)
        assert np.array_equal(untouched, [[False, True], [False, False]])


NOISY = {"noise": 0.1, "bias": 0.05, "dropout": 0.3, "rate": 0.5 / DT, "delay": 3 * DT}


def noisy(seed, **others):
    return Sensors(pose=Sensor(**NOISY, turn_noise=0.1), touch=Sensor(0.1, dropout=0.1), seed=seed, **others)


def test_a_seed_gives_the_same_errors_and_another_seed_others():
    system = system_of()
    truths = truths_of(system, 30)
    one, again, other = (told_by(noisy(seed), system, truths, DT) for seed in (3, 3, 4))
    assert same(one, again)
    assert not np.any(one.pose.position == other.pose.position)
    assert not np.array_equal(one.held, other.held)


def test_errors_of_a_sense_do_not_depend_on_other_senses():
    system = system_of()
    truths = truths_of(system, 30)
    one = told_by(noisy(3), system, truths, DT)
    more = told_by(noisy(3, vision=Sensor(noise=0.1), tip=Sensor(noise=0.1)), system, truths, DT)
    assert same((one.pose, one.twist, one.held), (more.pose, more.twist, more.held))
    # And two senses of the same kind err differently.
    errors = more.objects[:, 0] - truths.objects[:, 0], more.tip.position - truths.tip.position
    assert not np.any(np.isclose(*errors))


def test_compiled_mapped_and_looped_sensors_tell_the_same():
    system = system_of("unequal")
    steps = 7
    truths = truths_of(system, steps)
    seeds = jnp.arange(3)
    mapped = jax.jit(jax.vmap(lambda seed: told_by(noisy(seed), system, truths, DT)))(seeds)

    def one_by_one(seed):
        sensors = noisy(seed)
        memory, rows = sensors.init(system, row(truths, 0), DT), []
        for k in range(steps):
            told, memory = sensors(k * DT, row(truths, k), memory)
            rows.append(told)
        return jax.tree.map(lambda *y: jnp.stack(y), *rows)

    for seed in (0, 2):
        # Some ten roundings of numbers of up to 5: errors are the same random numbers, however they are compiled.
        for a, b in zip(jax.tree.leaves(row(mapped, seed)), jax.tree.leaves(one_by_one(seed)), strict=True):
            np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-14)


def test_sensors_go_through_a_while_loop():
    system, steps = system_of(), 8
    truths = truths_of(system, steps)
    sensors = noisy(1)

    def body(carry):
        k, memory, _ = carry
        told, memory = sensors(k * DT, row(truths, k), memory)
        return k + 1, memory, told

    start = (jnp.asarray(0), sensors.init(system, row(truths, 0), DT), row(truths, 0))
    _, _, last = jax.lax.while_loop(lambda carry: carry[0] < steps, body, start)
    for a, b in zip(*map(jax.tree.leaves, (last, row(told_by(sensors, system, truths, DT), -1))), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-14)


def test_one_can_map_over_noise_and_differentiate_by_it():
    system = system_of()
    truths = truths_of(system, 6)

    def error(noise):
        return told_by(Sensors(vision=Sensor(noise=noise, rate=0.5 / DT)), system, truths, DT).objects

    mapped = jax.vmap(error)(jnp.array([0.1, 0.2]))
    slope = jax.jacfwd(error)(0.1)
    # What is told is linear in the noise; 0.1 times the slope loses a digit.
    np.testing.assert_allclose(mapped[1] - mapped[0], 0.1 * slope, rtol=0.0, atol=1e-14)
    assert np.all(slope != 0.0)
