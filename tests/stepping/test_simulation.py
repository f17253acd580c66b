"""Simulations: rows, pieces, and what is said of a step that cannot be."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import DivergedError, InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import no_inputs
from hydrostat.segments import StrainSegment
from hydrostat.stepping import RK4, SDIRK2, Simulation, rest_state, simulation

DT = 2e-3


@pytest.fixture(scope="module")
def model():
    arm = Arm(
        StrainSegment(jnp.full(2, 0.3), ("bend_y",)),
        Section(jnp.full(2, 1e-3), jnp.full(2, 1e-3)),
        Material(*(jnp.full(2, value) for value in (60e9, 0.3, 6450.0, 0.0))),
        SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3)),
    )
    return single_arm(arm, lumps=[(1.0, 0.02)])


def test_rows_do_not_depend_on_pieces_or_spacing(model, monkeypatch):
    sim = Simulation(model, DT)
    got, done = [], []
    whole = sim.run(0.2, on_rows=got.append, on_progress=done.append)
    assert whole.time == pytest.approx(np.arange(101) * DT)
    assert np.concatenate([part.state.q for part in got]) == pytest.approx(whole.state.q, abs=0.0)
    assert done[-1] == 1.0
    # Every fifth row of the same steps, in pieces of ten rows.
    monkeypatch.setattr(simulation, "_CHUNK_ROWS", 10)
    sparse = sim.run(0.2, every=5)
    assert sparse.time == pytest.approx(whole.time[::5])
    assert sparse.state.q == pytest.approx(whole.state.q[::5], abs=1e-13)


def test_a_run_can_be_continued(model, monkeypatch):
    sim = Simulation(model, DT)
    whole = sim.run(0.2)
    monkeypatch.setattr(simulation, "_CHUNK_ROWS", 10)
    first = sim.run(0.1)
    last = type(first.state)(*first.state[:2], model.T_world_body, jnp.zeros(6))
    last = last._replace(q=jnp.asarray(first.state.q[-1]), v=jnp.asarray(first.state.v[-1]))
    second = sim.run(0.1, state=last, start=0.1)
    assert second.time[-1] == pytest.approx(0.2)
    assert second.state.q[-1] == pytest.approx(whole.state.q[-1], abs=1e-13)


@pytest.mark.parametrize("dt", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_bad_step_is_refused(model, dt):
    with pytest.raises(InputError, match="dt"):
        Simulation(model, dt)


def test_an_explicit_step_that_must_blow_up_is_refused_with_the_largest_that_need_not(model):
    with pytest.raises(InputError, match="`dt` must be at most") as caught:
        Simulation(model, 0.05, RK4()).run(0.1)
    most = float(re.search(r"at most (\S+) s", str(caught.value)).group(1))
    # The second vibration of the straight finger is the fastest: 2.78 over its rate, less a margin of 5 %.
    assert 0.005 < most < 0.05
    rows = Simulation(model, 0.9 * most, RK4()).run(1.0)
    assert np.max(np.abs(rows.state.q)) < 20.0


def test_a_run_that_diverges_keeps_its_rows_and_says_where_and_what_would_do(model, monkeypatch):
    # In pieces of one row, as advice is sought: they share what is compiled.
    monkeypatch.setattr(simulation, "_CHUNK_ROWS", 1)
    # One iteration a stage, and no smaller steps: good enough while the finger falls slowly, not for long.
    sim = Simulation(model, 0.02, SDIRK2(max_iterations=2, rescue=False, tolerance=1e-7))
    kept = []
    with pytest.raises(DivergedError, match="diverged after") as caught:
        sim.run(2.0, on_rows=kept.append)
    message = str(caught.value)
    assert "segment" in message
    assert re.search(r"largest step that goes on from there is about \S+ s", message)
    time = float(re.search(r"after (\S+) s", message).group(1))
    assert kept[-1].time[-1] == pytest.approx(time)
    assert all(np.all(np.isfinite(part.state.q)) for part in kept)


def test_inputs_may_be_constant_or_change_with_time_and_state(model):
    sim = Simulation(model, DT)
    inputs = no_inputs(model)._replace(torque=jnp.array([[0.01], [0.0]]))
    constant = sim.run(0.02, inputs)
    function = sim.run(0.02, lambda time, state: inputs)
    assert function.state.q == pytest.approx(constant.state.q, abs=1e-13)
    assert rest_state(model).q.shape == (2, 1)
