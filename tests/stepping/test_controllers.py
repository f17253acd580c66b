"""Controllers with a memory in the simulation: one act per step, rows of what they remember, and runs continued."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import Model, no_inputs
from hydrostat.segments import StrainSegment
from hydrostat.stepping import RK4, AbstractController, Simulation, simulation

DT = 2e-3


@pytest.fixture(autouse=True)
def pieces_of_ten_rows(monkeypatch):
    """All runs go in pieces of ten rows: one compilation serves them all."""
    monkeypatch.setattr(simulation, "_CHUNK_ROWS", 10)


@pytest.fixture(scope="module")
def model():
    arm = Arm(
        StrainSegment(jnp.full(1, 0.3), ("bend_y",)),
        Section(jnp.full(1, 1e-3), jnp.full(1, 1e-3)),
        Material(*(jnp.full(1, value) for value in (60e9, 0.3, 6450.0, 0.0))),
        SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3)),
    )
    return single_arm(arm, lumps=[(1.0, 0.02)])


class Memory(NamedTuple):
    """What the counter remembers."""

    steps: Array
    time: Array
    """Of the last act [s]."""
    bent: Array
    """Sum of the coordinate at the begins of the steps, times the step."""


class Counter(AbstractController):
    """Counts its acts, and holds a torque that may lean on what it has seen."""

    model: Model
    torque: Array
    integral: Array

    def begin(self, state):
        return Memory(jnp.asarray(0), jnp.asarray(-1.0), jnp.zeros_like(state.q))

    def act(self, time, dt, state, memory):
        torque = self.torque - self.integral * memory.bent
        memory = Memory(memory.steps + 1, time, memory.bent + dt * state.q)
        return no_inputs(self.model)._replace(torque=torque), memory


@pytest.fixture(scope="module")
def constant(model):
    return Counter(model, jnp.array([[0.01]]), jnp.asarray(0.0))


@pytest.fixture(scope="module")
def integrating(model):
    return Counter(model, jnp.array([[0.01]]), jnp.asarray(0.5))


def test_a_torque_that_is_held_is_the_same_as_one_that_is_given(model, constant):
    sim = Simulation(model, DT)
    held = sim.run(0.1, constant)
    given = sim.run(0.1, no_inputs(model)._replace(torque=jnp.array([[0.01]])))
    assert held.time == pytest.approx(given.time, abs=0.0)
    np.testing.assert_allclose(held.state.q, given.state.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(held.state.v, given.state.v, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(held.iterations, given.iterations)
    assert given.memory == ()
    # The torque matters.
    assert np.max(np.abs(given.state.q - sim.run(0.1).state.q)) > 1e-3


def test_rows_hold_the_memory_after_each_step(model, constant):
    rows = Simulation(model, DT).run(0.1, constant)
    assert isinstance(rows.memory, Memory)
    # The first row is the state at the start, before any act.
    assert rows.memory.steps.tolist() == list(range(51))
    np.testing.assert_allclose(rows.memory.time, [-1.0, *DT * np.arange(50)], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rows.memory.bent[1:], DT * np.cumsum(rows.state.q[:-1], 0), rtol=0, atol=1e-15)


def test_a_controller_acts_in_every_step_between_rows(model, constant):
    sim, parts = Simulation(model, DT), []
    whole = sim.run(0.1, constant)
    sparse = sim.run(0.1, constant, every=5, on_rows=parts.append)
    assert sparse.memory.steps.tolist() == list(range(0, 51, 5))
    np.testing.assert_allclose(sparse.memory.bent, whole.memory.bent[::5], rtol=0, atol=1e-14)
    np.testing.assert_allclose(sparse.state.q, whole.state.q[::5], rtol=0, atol=1e-13)
    # Who listens gets the memory as well.
    assert np.concatenate([part.memory.steps for part in parts]).tolist() == sparse.memory.steps.tolist()


def test_memory_feeds_back_step_by_step(model, integrating):
    # The same loop by hand: constant inputs for one step at a time, of runs of ten.
    sim = Simulation(model, DT)
    rows = sim.run(10 * DT, integrating)
    state = jax.tree.map(lambda y: jnp.asarray(y[0]), rows.state)
    memory = integrating.begin(state)
    for i in range(10):
        inputs, memory = integrating.act(jnp.asarray(i * DT), DT, state, memory)
        state = jax.tree.map(lambda y: jnp.asarray(y[1]), sim.run(10 * DT, inputs, state).state)
        np.testing.assert_allclose(state.q, rows.state.q[i + 1], rtol=0, atol=1e-13)
        np.testing.assert_allclose(memory.bent, rows.memory.bent[i + 1], rtol=0, atol=1e-15)
    without = sim.run(10 * DT, eqx.tree_at(lambda c: c.integral, integrating, jnp.asarray(0.0)))
    assert np.max(np.abs(rows.state.q - without.state.q)) > 1e-8


def test_a_continued_run_is_one_long_run(model, integrating):
    sim = Simulation(model, DT)
    whole = sim.run(0.2, integrating)
    first = sim.run(0.1, integrating)
    state, memory = (jax.tree.map(lambda y: jnp.asarray(y[-1]), part) for part in (first.state, first.memory))
    second = sim.run(0.1, integrating, state, start=0.1, memory=memory)
    assert second.memory.steps.tolist() == list(range(50, 101))
    np.testing.assert_allclose(second.state.q, whole.state.q[50:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(second.memory.bent, whole.memory.bent[50:], rtol=0, atol=1e-14)
    np.testing.assert_allclose(second.memory.time[1:], whole.memory.time[51:], rtol=0, atol=1e-15)
    # Without its memory the controller would begin anew.
    forgetful = sim.run(0.1, integrating, state, start=0.1)
    assert forgetful.memory.steps[0] == 0
    assert np.max(np.abs(forgetful.state.q[-1] - whole.state.q[-1])) > 1e-8


def test_an_explicit_step_is_checked_with_what_the_controller_does(model, constant, monkeypatch):
    seen = []
    monkeypatch.setattr(simulation, "largest_step", lambda model, state, inputs, reach: seen.append(inputs) or 1e-9)
    with pytest.raises(InputError, match="RK4 is stable"):
        Simulation(model, DT, RK4()).run(0.1, constant)
    np.testing.assert_array_equal(seen[0].torque, constant.torque)


def test_a_controller_must_say_how_it_begins_and_acts():
    class Half(AbstractController):
        def begin(self, state):
            return ()

    with pytest.raises(TypeError, match="act"):
        Half()
