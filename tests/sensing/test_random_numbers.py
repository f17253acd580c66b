"""The random numbers of sensors: the published generator, and its statistics."""

import numpy as np
from scipy import stats

from hydrostat.sensing import random_numbers


def test_the_generator_is_the_published_one():
    """First numbers of SplitMix64 from the state 1234567 (Rosetta Code, Pseudo-random numbers/Splitmix64)."""
    step = int(random_numbers._STEP)
    states = np.array([(1234567 + n * step) % 2**64 for n in range(1, 4)], np.uint64)
    with np.errstate(over="ignore"):
        found = random_numbers._mixed(states)  # type: ignore[arg-type]
    assert found.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_numbers_are_uniform_normal_and_independent():
    count, turns = 500, 200
    u = np.array([random_numbers.uniform(random_numbers.stream(3, 1), turn, count) for turn in range(turns)])
    assert 0.0 < u.min() < 1e-4
    assert 1.0 - 1e-4 < u.max() < 1.0
    assert stats.kstest(u.ravel(), "uniform").pvalue > 0.01
    normal = np.array([random_numbers.normal(row) for row in u])
    assert stats.kstest(normal.ravel(), "norm").pvalue > 0.01
    # Neighbours within a turn, from turn to turn, and numbers of two streams: a correlation of N pairs is about
    # 1/sqrt(N) by chance.
    other = np.array([random_numbers.uniform(random_numbers.stream(3, 2), turn, count) for turn in range(turns)])
    for a, b in ((u[:, 1:], u[:, :-1]), (u[1:], u[:-1]), (u, other)):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4.0 / np.sqrt(a.size)


def test_streams_differ_by_seed_and_by_turn():
    first = [random_numbers.uniform(random_numbers.stream(seed, 0), turn, 3) for seed in (0, 1, -1) for turn in (0, 1)]
    assert len({float(u[0]) for u in first}) == 6
