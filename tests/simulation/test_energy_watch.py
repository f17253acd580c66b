"""Energy that grows without a source is noticed and named; energy that has one is not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from planar_rods import HORIZONTAL, rod, rod_system, simulate_module

from hydrostat.control.base import Controller
from hydrostat.errors import DivergedError
from hydrostat.mechanics.robot import unequal_arms
from hydrostat.simulation import simulate
from hydrostat.simulation.energy_watch import draw_up
from hydrostat.stepping import SDIRK2
from hydrostat.stepping.base import AbstractStepper
from hydrostat.system import Control, System

DT = 2e-3


class Gaining(AbstractStepper):
    """A stepper that makes every rate larger by a share."""

    share: jnp.ndarray = eqx.field(converter=jnp.asarray)
    order = 2

    def step(self, model, state, time, dt, inputs, *, keep_momentum=False, memory=None):
        """One step of SDIRK2, and then faster."""
        new = SDIRK2().step(model, state, time, dt, inputs, keep_momentum=keep_momentum, memory=memory)
        faster = jax.tree.map(lambda v: (1.0 + self.share) * v, new.state.v)
        return new._replace(state=new.state._replace(v=faster))


class Push(Controller):
    """A force on the tip [N], from a moment on."""

    force: jnp.ndarray = eqx.field(converter=jnp.asarray)

    def __call__(self, time, observation, memory):
        return Control(load=jnp.zeros((1, 6)).at[0, 5].set(self.force * (time > 0.5))), memory


class Blow(Push):
    """The same as a function of time, which begins within a step."""

    def __call__(self, time, observation, memory):
        return lambda time: Push.__call__(self, time, observation, memory)[0], memory


@pytest.fixture
def system(monkeypatch):
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 50)
    return rod_system(2)


def bent(system, size=0.02):
    return system.rest(size * jnp.ones_like(system.rest().q))


@pytest.mark.parametrize("share", [0.02, 0.003])
def test_a_stepper_that_gains_energy_is_found_out(system, share):
    parts = []
    message = r"the energy grew without a source before [\d.]+ s at dt = 0.002 s, fastest in segment [12]: of "
    with pytest.raises(DivergedError, match=message):
        simulate(system, None, 6.0, DT, state=bent(system), stepper=Gaining(share), on_rows=parts.append)
    # Before it has become more than some ten or hundred times what it was, and all rows until then are handed out.
    energy = np.concatenate([part.energy().kinetic for part in parts])
    assert 10.0 < np.max(energy) / np.max(energy[:50]) < 1000.0
    assert sum(len(part) for part in parts) % 50 == 1


@pytest.mark.slow
def test_of_several_arms_the_one_is_named(monkeypatch):
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 50)
    pair = System(unequal_arms([rod(2), rod(1)], HORIZONTAL), gravity=(0.0, 0.0, 0.0))
    start = pair.rest((jnp.zeros((2, 1)), 0.02 * jnp.ones((1, 1))))
    with pytest.raises(DivergedError, match="in arm 2, segment 1: of "):
        simulate(pair, None, 6.0, DT, state=start, stepper=Gaining(0.02), every=2)


@pytest.fixture
def balances(monkeypatch):
    """The balances that a simulation draws up."""
    found = []

    def noted(*arguments):
        found.append(draw_up(*arguments))
        return found[-1]

    monkeypatch.setattr(simulate_module, "draw_up", noted)
    return found


def test_energy_with_a_source_is_not_named(system, balances):
    """A force makes the energy some hundred times what it was, and its work explains it."""
    rows = simulate(system, Push(5.0), 1.0, DT)
    energy = np.asarray(rows.energy().kinetic)
    assert np.max(energy) > 100.0 * np.max(energy[:250])
    assert balances
    for balance in balances:
        assert abs(balance.gain) < 0.01 * balance.size


def test_a_blow_within_a_step_is_not_named(system, monkeypatch):
    """In pieces of one step: the row of the step in which the force begins holds the control before it."""
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 1)
    simulate(system, Blow(20.0), 0.5 + 3 * DT, DT)


def test_a_step_that_is_too_long_for_the_force_is_named(system, balances):
    """20 N throw the tip of 20 g round: the energy becomes a hundred times the work with 2 ms, and stays with 0.25."""
    with pytest.raises(DivergedError, match=r"the energy grew without a source .* take a smaller step"):
        simulate(system, Push(20.0), 1.0, DT)
    balances.clear()
    simulate(system, Push(20.0), 1.0, 0.125 * DT, every=8)
    assert balances
    assert all(abs(balance.gain) < 0.05 * balance.size for balance in balances)


def test_a_fall_is_not_named(system, balances):
    """From rest, under a hundred times its weight alone: the energy stays, though the rates grow from nothing."""
    heavy = System(system.robot, gravity=(0.0, 0.0, -981.0))
    simulate(heavy, Push(0.0), 0.4, 0.25 * DT, every=4)
    assert balances
    assert all(abs(balance.gain) < 0.01 * balance.size for balance in balances)
    # A row for every step of the piece.
    assert all(balance.seconds == pytest.approx(50 * DT) for balance in balances)


def test_steady_motion_is_not_looked_at(system, balances):
    simulate(system, None, 1.0, DT, state=bent(system, 0.3))
    assert not balances
