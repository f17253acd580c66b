"""Closest points of two straight pieces of line: the minimum, wherever they lie, with gradients that are numbers."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.surroundings.pairs import Closest, closest_points

nearest = jax.jit(closest_points)
pullback = jax.jit(lambda ends, weights: jax.vjp(closest_points, ends)[1](weights)[0])

coordinate = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 0.5, 1.0, -1.0]))
segments = st.lists(st.tuples(*[coordinate] * 3), min_size=4, max_size=4).map(np.array)
SPECIAL = {
    "parallel": [[0, 0, 0], [1, 0, 0], [0.3, 0.2, 0], [1.5, 0.2, 0]],
    "opposite": [[0, 0, 0], [1, 0, 0], [1.5, 0.2, 0], [0.3, 0.2, 0]],
    "in line": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]],
    "overlapping": [[0, 0, 0], [1, 0, 0], [0.5, 0, 0], [3, 0, 0]],
    "the same": [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]],
    "nearly parallel": [[0, 0, 0], [1, 0, 0], [0, 0.2, 1e-9], [1, 0.2, -1e-9]],
    "crossing": [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]],
    "a point": [[0, 0, 0], [0, 0, 0], [1, -1, 0], [1, 2, 0]],
    "two points": [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0]],
    "one point": [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
}


def check_minimum(ends, pull):
    """A convex function is least where it cannot fall: slope zero inside, outwards at a bound."""
    s, t, separation = (np.asarray(x) for x in nearest(ends, pull))
    u, w = ends[1] - ends[0], ends[3] - ends[2]
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    np.testing.assert_allclose(separation, ends[0] + s * u - ends[2] - t * w, atol=1e-15)
    for x, slope in ((s, separation @ u + pull * (s - 0.5)), (t, -separation @ w + pull * (t - 0.5))):
        assert slope >= -1e-13 or x == 1.0
        assert slope <= 1e-13 or x == 0.0


@given(segments, st.sampled_from([0.0, 0.01, 1.0]))
def test_closest_points_are_the_minimum(ends, pull):
    check_minimum(ends, pull)


@pytest.mark.parametrize("name", SPECIAL)
def test_closest_points_of_special_pairs(name):
    ends = np.array(SPECIAL[name], float)
    check_minimum(ends, 0.0)
    check_minimum(ends, 0.05)
    # And by brute force: the grid's best is worse by no more than half a cell of each.
    fraction = np.linspace(0, 1, 201)[:, None]
    a, b = ends[0] + fraction * (ends[1] - ends[0]), ends[2] + fraction * (ends[3] - ends[2])
    best = np.linalg.norm(a[:, None] - b, axis=-1).min()
    length = np.linalg.norm(nearest(ends, 0.0).separation)
    reach = np.linalg.norm(ends[1] - ends[0]) + np.linalg.norm(ends[3] - ends[2])
    assert -1e-12 <= best - length <= 0.5 * reach / 200


@pytest.mark.parametrize("name", SPECIAL)
def test_gradients_are_finite(name):
    ends = np.array(SPECIAL[name], float)
    for s, t, x, y, z in np.eye(5):
        assert np.all(np.isfinite(pullback(ends, Closest(s, t, np.array([x, y, z])))))


def test_with_a_pull_points_wander_and_do_not_jump_between_ends():
    # A piece turned over another: without a pull s jumps from one end to the other at angle zero.
    def ends(angle):
        x, z = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
        return np.array([[-0.5, 0, 0], [0.5, 0, 0], [-x, 0, 0.2 - z], [x, 0, 0.2 + z]])

    exact = [float(nearest(ends(angle), 0.0).s) for angle in (-1e-6, 1e-6)]
    assert abs(exact[0] - exact[1]) > 0.9
    angles, pull = np.linspace(-0.02, 0.02, 201), 1.6e-3
    s = np.array([float(nearest(ends(angle), pull).s) for angle in angles])
    # The pull of 1.6e-3 m^2 keeps it that much short of the ends of pieces of 1 m.
    assert s[0] == pytest.approx(1.0, abs=pull)
    assert s[-1] == pytest.approx(0.0, abs=pull)
    # Its slope over the angle is the lever, 0.2 m times 1 m, over the pull and what is left of parallel pieces.
    assert np.abs(np.diff(s)).max() < 0.2 * (angles[1] - angles[0]) / pull
