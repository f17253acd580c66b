"""Runs of the host: rows, pieces, and what is said of a step that cannot be."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from planar_rods import rod_system, simulate_module

from hydrostat.control.base import Controller
from hydrostat.errors import DivergedError, InputError
from hydrostat.simulation import simulate
from hydrostat.simulation.simulate import Run
from hydrostat.stepping import RK4, SDIRK2
from hydrostat.system import Control

DT = 2e-3


@pytest.fixture(autouse=True)
def pieces_of_ten_rows(monkeypatch):
    """Runs go in pieces of ten rows: one compilation serves them all."""
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 10)


@pytest.fixture(scope="module")
def system():
    return rod_system(2)


def test_rows_do_not_depend_on_pieces_or_spacing(system, monkeypatch):
    got, done = [], []
    whole = simulate(system, None, 0.2, DT, on_rows=got.append, on_progress=done.append)
    assert whole.time == pytest.approx(np.arange(101) * DT)
    assert np.concatenate([part.q for part in got]) == pytest.approx(whole.q, abs=0.0)
    assert done[-1] == 1.0
    assert len(done) == 10
    # Every fifth row of the same steps, and all in one piece.
    sparse = simulate(system, None, 0.2, DT, every=5)
    assert sparse.time == pytest.approx(whole.time[::5])
    assert sparse.q == pytest.approx(whole.q[::5], abs=1e-13)
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 250)
    assert simulate(system, None, 0.2, DT).q == pytest.approx(whole.q, abs=1e-13)


def test_rows_that_are_not_kept_are_handed_out_all_the_same(system):
    got = []
    last = simulate(system, None, 0.1, DT, keep=False, on_rows=got.append)
    assert np.concatenate([part.time for part in got]) == pytest.approx(np.arange(51) * DT)
    assert last.time == pytest.approx(np.arange(41, 51) * DT)


def test_a_run_can_be_continued(system):
    # A step begins its iterations where the one before has ended: a run that begins anew agrees to their tolerance.
    run = Run(system, None, DT, stepper=SDIRK2(tolerance=1e-13))
    whole, first = run(0.2), run(0.1)
    second = run(0.1, state=first.final)
    assert second.time == pytest.approx(whole.time[50:])
    assert second.q[-1] == pytest.approx(whole.q[-1], abs=1e-13)


@pytest.mark.parametrize("dt", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_bad_step_is_refused(system, dt):
    with pytest.raises(InputError, match="dt"):
        simulate(system, None, 1.0, dt)


def test_an_explicit_step_that_must_blow_up_is_refused_with_the_largest_that_need_not(system):
    with pytest.raises(InputError, match="`dt` must be at most") as caught:
        simulate(system, None, 0.1, 0.05, stepper=RK4())
    most = float(re.search(r"at most (\S+) s", str(caught.value)).group(1))
    # The second vibration of the straight finger is the fastest: 2.78 over its rate, less a margin of 5 %.
    assert 0.005 < most < 0.05
    rows = simulate(system, None, 1.0, 0.9 * most, stepper=RK4())
    assert np.max(np.abs(rows.q)) < 20.0


def test_a_run_that_diverges_keeps_its_rows_and_says_where_and_what_would_do(system, monkeypatch):
    # In pieces of one row, as advice is sought: they share what is compiled.
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 1)
    # One iteration a stage, and no smaller steps: good enough while the finger falls slowly, not for long.
    poor, kept = SDIRK2(max_iterations=2, rescue=False, tolerance=1e-7), []
    with pytest.raises(DivergedError, match="diverged after") as caught:
        simulate(system, None, 2.0, 0.02, stepper=poor, on_rows=kept.append)
    message = str(caught.value)
    assert "segment" in message
    assert re.search(r"largest step that goes on from there is about \S+ s", message)
    time = float(re.search(r"after (\S+) s", message).group(1))
    assert kept[-1].time[-1] == pytest.approx(time)
    assert all(np.all(np.isfinite(part.q)) for part in kept)


class Torque(Controller):
    """A torque that is held, or a function of time that gives the same."""

    as_function: bool

    def __call__(self, time, observation, memory):
        control = Control(torque=jnp.array([[0.01], [0.0]]))
        return (lambda time: control) if self.as_function else control, memory


def test_a_control_may_be_held_by_itself_or_by_a_controller_or_be_a_function_of_time(system):
    constant = simulate(system, Control(torque=[[0.01], [0.0]]), 0.02, DT)
    assert np.max(np.abs(constant.q - simulate(system, None, 0.02, DT).q)) > 1e-3
    for as_function in (False, True):
        found = simulate(system, Torque(as_function), 0.02, DT)
        assert found.q == pytest.approx(constant.q, abs=1e-13)
        np.testing.assert_array_equal(found.control.torque[1:, 0, 0], 0.01)
