"""When sensors sample, what they hold and how old it is: by identities, exact to the bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sensed_robots import row, same, system_of, told_by, truths_of

from hydrostat.sensing import Sensor, Sensors

DT = 5e-3
SENSES = ("proprioception", "touch", "pose", "vision", "tip", "tension", "depth", "flow")


def all_senses(seed=0, **options):
    return Sensors(**{name: Sensor(**options) for name in SENSES}, seed=seed)


def expected(truths, rows):
    """The truth of other rows, with the period of its own."""
    return row(truths, np.asarray(rows))._replace(period=truths.period)


@pytest.mark.parametrize("kind", ["single", "equal", "unequal"])
def test_perfect_sensors_tell_the_truth_and_remember_nothing(kind):
    system = system_of(kind)
    truth = row(truths_of(system, 1), 0)
    sensors = Sensors()
    memory = sensors.init(system, truth, DT)
    assert jax.tree.leaves(memory) == []
    told, after = sensors(0.0, truth, memory)
    # The very arrays, not copies of them.
    assert all(a is b for a, b in zip(jax.tree.leaves(told), jax.tree.leaves(truth), strict=True))
    assert jax.tree.leaves(after) == []


def test_a_sense_without_errors_is_not_computed():
    system = system_of()
    truth = row(truths_of(system, 1), 0)
    sensors = Sensors(pose=Sensor(noise=0.1))
    told, memory = sensors(0.0, truth, sensors.init(system, truth, DT))
    assert told.q is truth.q
    assert told.tip.rotation is truth.tip.rotation
    assert told.pose.rotation is truth.pose.rotation
    assert [name for name, own in memory._asdict().items() if own is not None] == ["pose"]


def test_errors_of_amount_zero_leave_the_truth_bit_for_bit():
    # Amounts that are arrays are computed even where they are zero.
    system, nothing = system_of("unequal"), jnp.asarray(0.0)
    truths = truths_of(system, 5)
    sensors = all_senses(noise=nothing, dropout=nothing, delay=0.0, rate=1.0 / DT)
    assert jax.tree.leaves(sensors.init(system, row(truths, 0), DT))
    told = told_by(sensors, system, truths, DT)
    assert same(told._replace(pose=None, tip=None), truths._replace(pose=None, tip=None))
    turned = Sensors(pose=Sensor(turn_noise=nothing, turn_rate_noise=nothing), tip=Sensor(turn_bias=nothing))
    assert same(told_by(turned, system, truths, DT), truths)


@pytest.mark.parametrize("kind", ["single", "equal", "unequal"])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_a_delay_tells_the_truth_of_so_many_steps_ago(kind, steps):
    system = system_of(kind)
    truths = truths_of(system, 20)
    told = told_by(all_senses(delay=steps * DT), system, truths, DT)
    assert same(told, expected(truths, np.maximum(np.arange(20) - steps, 0)))


def test_a_delay_is_rounded_to_whole_steps():
    system = system_of()
    truths = truths_of(system, 12)
    for delay, steps in ((0.4 * DT, 0), (0.6 * DT, 1), (3.4 * DT, 3)):
        told = told_by(all_senses(delay=delay), system, truths, DT)
        assert same(told, expected(truths, np.maximum(np.arange(12) - steps, 0)))


def sampling_rows(steps, ratio):
    """Which row is held at each: samples are due every `ratio` steps, the earlier step where two are as near."""
    due = np.ceil(np.arange(steps) * ratio - 0.5 - 1e-9).astype(int)
    return np.array([max(k for k in due if k <= row) for row in range(steps)])


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0, 2.5, 10.0, 7.3])
@pytest.mark.parametrize("kind", ["single", "unequal"])
def test_a_rate_holds_each_sample_for_the_right_number_of_steps(ratio, kind):
    system = system_of(kind)
    truths = truths_of(system, 60)
    told = told_by(all_senses(rate=1.0 / (ratio * DT)), system, truths, DT)
    assert same(told, expected(truths, sampling_rows(60, ratio)))


def test_a_rate_above_that_of_the_steps_samples_at_every_step():
    system = system_of()
    truths = truths_of(system, 10)
    assert same(told_by(all_senses(rate=3.0 / DT), system, truths, DT), truths)


@pytest.mark.parametrize("start", [0.0, 1000.0])
def test_sampling_times_do_not_depend_on_the_rounding_of_the_time(start):
    system = system_of()
    steps = 3000
    truths = truths_of(system, steps)
    # 0.1 s is no binary fraction: the times summed up one by one differ from the products by many roundings.
    times = np.add.accumulate(np.concatenate([[start], np.full(steps - 1, 0.1)]))
    assert np.any(times != start + 0.1 * np.arange(steps))
    told = told_by(Sensors(vision=Sensor(rate=2.0)), system, truths, 0.1, times)
    assert np.array_equal(told.objects, truths.objects[np.arange(steps) // 5 * 5])


def test_a_run_that_starts_between_sampling_times_samples_at_once():
    system = system_of()
    truths = truths_of(system, 9)
    told = told_by(Sensors(vision=Sensor(rate=0.25 / DT)), system, truths, DT, DT * (2 + np.arange(9)))
    assert np.array_equal(told.objects, truths.objects[np.array([0, 0, 2, 2, 2, 2, 6, 6, 6])])
    delayed = told_by(Sensors(vision=Sensor(rate=0.25 / DT, delay=3 * DT)), system, truths, DT, DT * (2 + np.arange(9)))
    assert np.array_equal(delayed.objects, truths.objects[np.array([0, 0, 0, 0, 0, 2, 2, 2, 2])])


@pytest.mark.parametrize(("ratio", "late"), [(4.0, 2), (4.0, 4), (4.0, 11), (2.5, 9), (1.25, 6), (30.0, 7)])
def test_a_slow_and_late_sensor_tells_the_last_sample_that_has_arrived(ratio, late):
    system = system_of("equal")
    truths = truths_of(system, 80)
    told = told_by(all_senses(rate=1.0 / (ratio * DT), delay=late * DT), system, truths, DT)
    held = sampling_rows(80, ratio)
    assert same(told, expected(truths, held[np.maximum(np.arange(80) - late, 0)]))


def test_buffers_are_as_long_as_the_samples_on_their_way():
    system = system_of()
    truth = row(truths_of(system, 1), 0)
    for options, most in (({"delay": 0.2}, 41), ({"delay": 0.2, "rate": 2.0}, 3), ({"rate": 2.0}, 1)):
        memory = Sensors(vision=Sensor(**options)).init(system, truth, DT)
        assert memory.vision.samples.times.shape[0] == most


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_lost_samples_are_as_many_as_a_binomial_law_says(chance):
    system, steps = system_of(), 4000
    truths = truths_of(system, steps)
    told = told_by(Sensors(vision=Sensor(dropout=chance)), system, truths, DT).objects
    lost = np.all(np.asarray(told[1:] == told[:-1]), (1, 2))
    deviation = np.sqrt((steps - 1) * chance * (1.0 - chance))
    assert abs(lost.sum() - (steps - 1) * chance) < 5.0 * deviation
    # Where none is lost it is the truth, and losses do not come in rows: pairs of them are as rare as they must be.
    assert np.array_equal(told[1:][~lost], truths.objects[1:][~lost])
    pairs = np.sum(lost[1:] & lost[:-1])
    # The variance of the pairs of neighbours: n (p^2 - p^4) + 2 n (p^3 - p^4).
    variance = steps * (chance**2 - chance**4 + 2.0 * (chance**3 - chance**4))
    assert abs(pairs - (steps - 2) * chance**2) < 5.0 * np.sqrt(variance)


def test_lost_for_ever_leaves_the_sample_of_the_start():
    system = system_of()
    truths = truths_of(system, 6)
    told = told_by(all_senses(dropout=1.0), system, truths, DT)
    assert same(told, expected(truths, np.zeros(6, int)))


def test_losses_are_delayed_as_samples_are():
    system = system_of()
    truths = truths_of(system, 200)
    lossy = {"dropout": 0.4, "rate": 0.5 / DT, "noise": 0.01}
    at_once = told_by(Sensors(vision=Sensor(**lossy)), system, truths, DT).objects
    late = told_by(Sensors(vision=Sensor(**lossy, delay=5 * DT)), system, truths, DT).objects
    # Compiled apart, truth plus noise may round differently: two roundings of numbers below 5.
    np.testing.assert_allclose(late[5:], at_once[:-5], rtol=0.0, atol=2e-15)
    assert np.any(late[5:] != late[4:-1])
