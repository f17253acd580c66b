"""Controllers with a memory in the loop: one call per step, rows of what they remember, and runs continued."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from planar_rods import rod_system, simulate_module

from hydrostat.control.base import Controller
from hydrostat.errors import InputError
from hydrostat.sensing import observe
from hydrostat.simulation import simulate
from hydrostat.stepping import RK4, SDIRK2
from hydrostat.system import Control

DT = 2e-3
PRECISE = SDIRK2(tolerance=1e-13)  # a run that begins anew agrees with a longer one to the iterations' tolerance


@pytest.fixture(autouse=True)
def pieces_of_ten_rows(monkeypatch):
    """All runs go in pieces of ten rows: one compilation serves them all."""
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 10)


@pytest.fixture(scope="module")
def system():
    return rod_system(1)


class Memory(NamedTuple):
    """What the counter remembers."""

    steps: Array
    time: Array
    """Of the last call [s]."""
    bent: Array
    """Sum of the coordinate at the begins of the steps, times the step."""


class Counter(Controller):
    """Counts its calls, and holds a torque that may lean on what it has seen."""

    torque: Array
    integral: Array

    def init(self, observation):
        return Memory(jnp.asarray(0), jnp.asarray(-1.0), jnp.zeros_like(observation.q))

    def __call__(self, time, observation, memory):
        torque = self.torque - self.integral * memory.bent
        return Control(torque=torque), Memory(memory.steps + 1, time, memory.bent + observation.period * observation.q)


CONSTANT = Counter(jnp.array([[0.01]]), jnp.asarray(0.0))
INTEGRATING = Counter(jnp.array([[0.01]]), jnp.asarray(0.5))


def test_a_torque_that_is_held_is_the_same_as_one_that_is_given(system):
    held = simulate(system, CONSTANT, 0.1, DT)
    given = simulate(system, Control(torque=[[0.01]]), 0.1, DT)
    assert held.time == pytest.approx(given.time, abs=0.0)
    np.testing.assert_allclose(held.q, given.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(held.v, given.v, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(held.iterations, given.iterations)
    assert given.memory == ()
    # The torque matters.
    assert np.max(np.abs(given.q - simulate(system, None, 0.1, DT).q)) > 1e-3


def test_rows_hold_the_memory_after_each_step_and_what_acted_in_it(system):
    rows = simulate(system, INTEGRATING, 0.1, DT)
    assert isinstance(rows.memory, Memory)
    # The first row is the state at the start, before anything was decided.
    assert rows.memory.steps.tolist() == list(range(51))
    np.testing.assert_allclose(rows.memory.time, [-1.0, *DT * np.arange(50)], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rows.memory.bent[1:], DT * np.cumsum(rows.q[:-1], 0), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(rows.control.torque[0], 0.0)
    np.testing.assert_allclose(rows.control.torque[1:], 0.01 - 0.5 * rows.memory.bent[:-1], rtol=0, atol=1e-15)


def test_a_controller_is_called_in_every_step_between_rows(system):
    parts = []
    whole = simulate(system, CONSTANT, 0.1, DT)
    sparse = simulate(system, CONSTANT, 0.1, DT, every=5, on_rows=parts.append)
    assert sparse.memory.steps.tolist() == list(range(0, 51, 5))
    np.testing.assert_allclose(sparse.memory.bent, whole.memory.bent[::5], rtol=0, atol=1e-14)
    np.testing.assert_allclose(sparse.q, whole.q[::5], rtol=0, atol=1e-13)
    # Who listens gets the memory as well.
    assert np.concatenate([part.memory.steps for part in parts]).tolist() == sparse.memory.steps.tolist()


def test_memory_feeds_back_step_by_step(system):
    # The same loop by hand: a control for one step at a time, of runs of ten.
    rows = simulate(system, INTEGRATING, 10 * DT, DT, stepper=PRECISE)
    state = system.rest()
    memory = INTEGRATING.init(observe(system, state, Control(), DT))
    for i in range(10):
        control, memory = INTEGRATING(state.time, observe(system, state, Control(), DT), memory)
        state = jax.tree.map(jnp.asarray, simulate(system, control, 10 * DT, DT, stepper=PRECISE, state=state)[1])
        np.testing.assert_allclose(state.q, rows.q[i + 1], rtol=0, atol=1e-13)
        np.testing.assert_allclose(memory.bent, rows.memory.bent[i + 1], rtol=0, atol=1e-15)
    proportional = eqx.tree_at(lambda c: c.integral, INTEGRATING, jnp.asarray(0.0))
    without = simulate(system, proportional, 10 * DT, DT, stepper=PRECISE)
    assert np.max(np.abs(rows.q - without.q)) > 1e-8


def test_a_continued_run_is_one_long_run(system):
    whole, first = (simulate(system, INTEGRATING, seconds, DT, stepper=PRECISE) for seconds in (0.2, 0.1))
    memory = Memory(*(y[-1] for y in first.memory))
    second = simulate(system, INTEGRATING, 0.1, DT, stepper=PRECISE, state=first.final, memory=memory)
    assert second.memory.steps.tolist() == list(range(50, 101))
    np.testing.assert_allclose(second.q, whole.q[50:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(second.memory.bent, whole.memory.bent[50:], rtol=0, atol=1e-14)
    np.testing.assert_allclose(second.memory.time[1:], whole.memory.time[51:], rtol=0, atol=1e-15)
    # Without its memory the controller would begin anew.
    forgetful = simulate(system, INTEGRATING, 0.1, DT, stepper=PRECISE, state=first.final)
    assert forgetful.memory.steps[0] == 0
    assert np.max(np.abs(forgetful.q[-1] - whole.q[-1])) > 1e-8


def test_an_explicit_step_is_checked_with_what_the_controller_sets(system, monkeypatch):
    seen = []
    monkeypatch.setattr(
        simulate_module, "largest_step", lambda robot, state, inputs, reach: seen.append(inputs) or 1e-9
    )
    with pytest.raises(InputError, match="RK4 is stable"):
        simulate(system, CONSTANT, 0.1, DT, stepper=RK4())
    np.testing.assert_array_equal(seen[0].torque, CONSTANT.torque)


def test_a_controller_must_say_what_it_sets():
    class Half(Controller):
        def init(self, observation):
            return ()

    with pytest.raises(TypeError, match="__call__"):
        Half()


def test_what_is_no_controller_is_refused(system):
    with pytest.raises(InputError, match=r"a controller must be a hydrostat `Controller`.*got 3"):
        simulate(system, 3, 0.1, DT)
