"""What a simulation refuses, what it says when it cannot go on, and what it does to go on."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import DivergedError, InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import no_inputs, single_arm, unequal_arms
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2, KeepMomentum, Simulation, simulation

HORIZONTAL = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))
FRAIL = SDIRK2(rescue=False, max_iterations=8)
"""A stepper that gives up soon."""
SINCE = 0.1  # s


@pytest.fixture(scope="module")
def model():
    """The Nitinol rod in two planar arcs, with 20 g and a place for a load at its tip."""
    arm = Arm(
        StrainSegment(jnp.full(2, 0.3), ("bend_y",)),
        Section(jnp.full(2, 1e-3), jnp.full(2, 1e-3)),
        Material(*(jnp.full(2, value) for value in (60e9, 0.3, 6450.0, 0.0))),
        HORIZONTAL,
    )
    return single_arm(arm, points=3, lumps=[(1.0, 0.02)], load_places=[1.0])


class Blow(eqx.Module):
    """Nothing acts until a moment, then 100 N on the tip of every arm, against its length."""

    model: eqx.Module

    def __call__(self, time, state):
        push = jnp.array([[0.0, 0.0, 0.0, -100.0, 0.0, 0.0]]) * (time > SINCE)
        nothing = no_inputs(self.model)
        return nothing._replace(force=jax.tree.map(lambda some: push, nothing.force))


def test_the_stepper_is_chosen_by_the_base(model):
    free = single_arm(model.arm, free_base=True, base_mass=0.1, base_inertia=1e-4)
    assert isinstance(Simulation(model, 1e-3).stepper, SDIRK2)
    assert isinstance(Simulation(free, 1e-3).stepper, KeepMomentum)
    with pytest.raises(InputError, match="momentum can be kept only for a robot with a free base"):
        Simulation(model, 1e-3, KeepMomentum(SDIRK2())).run(0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": 0.0}, "`seconds` must be a finite number above 0"),
        ({"seconds": 1.0, "every": 0}, "`every` must be a whole number from 1"),
        ({"seconds": 1e7}, "a run can have at most 1000000000 steps; 1e[+]07 s at dt = 0.001 s is more"),
    ],
)
def test_runs_that_make_no_sense_are_refused(model, arguments, message):
    with pytest.raises(InputError, match=message):
        Simulation(model, 1e-3).run(**arguments)


def test_loads_must_be_numbers(model):
    bad = no_inputs(model)._replace(force=jnp.full((1, 6), jnp.nan))
    with pytest.raises(InputError, match="every load must be finite; `force` is not"):
        Simulation(model, 1e-3).run(0.1, bad)


def test_the_step_that_is_advised_goes_on(model):
    parts = []
    with pytest.raises(DivergedError) as failure:
        Simulation(model, 5e-3, FRAIL).run(0.3, Blow(model), on_rows=parts.append)
    message = str(failure.value)
    found = re.fullmatch(
        r"the simulation diverged after ([\d.]+) s at dt = 0.005 s, in segment ([12]); "
        r"the largest step that goes on from there is about ([\d.e-]+) s",
        message,
    )
    assert found, message
    # All rows up to that moment were handed out: it is that of the blow, or the step after.
    times = np.concatenate([part.time for part in parts])
    assert times == pytest.approx(5e-3 * np.arange(len(times)))
    assert times[-1] == pytest.approx(float(found[1]))
    assert SINCE - 1e-9 < times[-1] < SINCE + 0.011
    # The advice is a half of the step, or a half of that, and so on; and it is good.
    last = jax.tree.map(lambda y: jnp.asarray(y[-1]), parts[-1].state)
    advised = float(found[3])
    halvings = np.log2(5e-3 / advised)
    assert halvings == pytest.approx(round(halvings), abs=0.05)
    again = Simulation(model, advised, FRAIL).run(5e-3, Blow(model), last, every=2 ** round(halvings), start=times[-1])
    assert np.all(np.isfinite(again.state.q))


def test_of_several_arms_the_one_is_named(model, monkeypatch):
    # In pieces of one row, as advice is sought: they share what is compiled.
    monkeypatch.setattr(simulation, "_CHUNK_ROWS", 1)
    robot = unequal_arms([model, model], HORIZONTAL)
    with pytest.raises(DivergedError, match=r"diverged after 0.1\d* s .* in arm [12], segment [12]; "):
        Simulation(robot, 5e-3, FRAIL).run(0.3, Blow(robot))


def test_smaller_steps_go_on_where_one_cannot(model):
    rows = Simulation(model, 5e-3).run(0.2, Blow(model))
    assert np.all(np.isfinite(rows.state.q))
    # Without the blow a step takes a few iterations; a step that is given up has had forty in a stage, at least.
    quiet = rows.iterations[rows.time < SINCE]
    assert np.max(quiet) < 20
    assert np.max(rows.iterations) > 40
