"""Digests of simulations: gathered piece by piece they are what the whole trajectory says."""

import jax
import numpy as np
import pytest
from small_trajectories import arm_in_water

from hydrostat.results import Trajectory, rows
from hydrostat.results.digest import BALANCE, Digest


@pytest.fixture(scope="module")
def whole() -> Trajectory:
    return arm_in_water(steps=20)


def pieces(whole: Trajectory, *ends: int):
    return [whole[a:b] for a, b in zip((0, *ends), (*ends, len(whole)), strict=True)]


def test_what_is_gathered_in_pieces_is_that_of_the_whole(whole):
    digest = Digest(len(whole), {**BALANCE, "tip": rows.tip_pose})
    for piece in pieces(whole, 1, 8, 9):
        digest.append(piece)
    found = digest.values
    np.testing.assert_array_equal(digest.time, whole.time)
    np.testing.assert_array_equal(found["tip"].position, whole.tip)
    # The same function of the same rows, whichever piece they are in: also that of the step between two pieces.
    for name, expected in (("energy", whole.energy().total), ("mean_power", whole.mean_power())):
        np.testing.assert_allclose(found[name][1:], expected[1:], rtol=1e-12, atol=1e-18)
    assert np.abs(whole.mean_power()[1:]).min() > 0.0
    assert digest.energy_balance_error() == pytest.approx(whole.energy_balance_error(), rel=1e-9)
    assert digest.mesh_volume_error() == pytest.approx(whole.mesh_volume_error(), rel=1e-9)
    assert digest.volume_error() == pytest.approx(float(np.max(whole.volume_error)), abs=1e-15)


def test_a_short_simulation_is_shown_whole_and_a_long_one_thinned(whole, monkeypatch):
    def shown(most):
        monkeypatch.setattr("hydrostat.results.digest._SHOWN", most)
        digest = Digest(len(whole), {"bend": rows.bend})
        for piece in pieces(whole, 1, 8, 9):
            digest.append(piece)
        return digest.shown

    jax.tree.map(np.testing.assert_array_equal, shown(1000).state, whole.state)
    some = shown(4)
    # Every sixth of 21 rows, and the last.
    np.testing.assert_array_equal(some.time, np.asarray(whole.time)[[0, 6, 12, 18, 20]])


def test_rows_that_are_kept_do_not_keep_their_pieces_alive(whole):
    plain = whole._replaced(np.asarray)
    digest = Digest(len(plain), {"bend": rows.bend})
    digest.append(plain)
    assert not any(np.shares_memory(digest.shown.state.q, part) for part in (plain.state.q,))
    assert all(leaf.base is None or len(leaf.base) == len(leaf) for leaf in jax.tree.leaves(digest.shown.state))
