"""What a simulation refuses, what it says when it cannot go on, and what it does to go on."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from planar_rods import HORIZONTAL, rod, rod_system, simulate_module

from hydrostat.control.base import Controller
from hydrostat.errors import DivergedError, InputError
from hydrostat.mechanics.robot import single_arm, unequal_arms
from hydrostat.simulation import backend, rollout, simulate
from hydrostat.stepping import SDIRK2, KeepMomentum, default_stepper
from hydrostat.surroundings import Ground, Water
from hydrostat.system import Control, System

FRAIL = SDIRK2(rescue=False, max_iterations=8)
"""A stepper that gives up soon."""
SINCE = 0.1  # s


@pytest.fixture(scope="module")
def system():
    return rod_system(2)


class Blow(Controller):
    """Nothing acts until a moment, then 100 N on the tip of every arm, against its length."""

    arms: int | None = None

    def __call__(self, time, observation, memory):
        def control(time):
            push = jnp.array([[0.0, 0.0, 0.0, -100.0, 0.0, 0.0]]) * (time > SINCE)
            return Control(load=push if self.arms is None else (push,) * self.arms)

        return control, memory


def test_the_stepper_is_chosen_by_the_base(system):
    free = System(single_arm(rod(2), free_base=True, base_mass=0.1, base_inertia=1e-4))
    assert isinstance(default_stepper(system), SDIRK2)
    assert isinstance(default_stepper(free), KeepMomentum)
    # In water and on the ground as well: it changes by their impulse alone.
    assert isinstance(default_stepper(System(free.robot, [Water(), Ground()])), KeepMomentum)
    with pytest.raises(InputError, match="momentum can be kept only for a robot with a free base"):
        simulate(system, None, 0.1, 1e-3, stepper=KeepMomentum(SDIRK2()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": 0.0}, "`seconds` must be a finite number above 0"),
        ({"seconds": 1.0, "every": 0}, "`every` must be a whole number from 1"),
        ({"seconds": 1e7}, "a run can have at most 1000000000 steps; 1e[+]07 s at dt = 0.001 s is more"),
    ],
)
def test_runs_that_make_no_sense_are_refused(system, arguments, message):
    with pytest.raises(InputError, match=message):
        simulate(system, dt=1e-3, **arguments)


def test_loads_must_be_numbers(system):
    bad = Control(load=jnp.full((1, 6), jnp.nan))
    with pytest.raises(InputError, match="`load` must be finite"):
        simulate(system, bad, 0.1, 1e-3)
    with pytest.raises(InputError, match="`load` must be finite"):
        rollout(system, bad, steps=1, dt=1e-3)


def test_the_step_that_is_advised_goes_on(system):
    parts = []
    with pytest.raises(DivergedError) as failure:
        simulate(system, Blow(), 0.3, 5e-3, stepper=FRAIL, on_rows=parts.append)
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
    advised = float(found[3])
    halvings = np.log2(5e-3 / advised)
    assert halvings == pytest.approx(round(halvings), abs=0.05)
    every = 2 ** round(halvings)
    again = simulate(system, Blow(), 5e-3, advised, stepper=FRAIL, state=parts[-1].final, every=every)
    assert np.all(np.isfinite(again.q))


def test_advice_is_not_sought_without_end(system, monkeypatch):
    """Each smaller step that fails is given up at its first failure, and the search after some iterations."""
    made, piece = [], simulate_module.Run._piece

    def counted(self, carry, rows, dt=None, every=None, **options):
        after, found = piece(self, carry, rows, dt=dt, every=every, **options)
        if dt is not None:
            made.append((dt, every, bool(found.good[0])))
        return after, found

    monkeypatch.setattr(simulate_module.Run, "_piece", counted)
    with pytest.raises(DivergedError, match="the largest step"):
        simulate(system, Blow(), 0.3, 5e-3, stepper=FRAIL)
    failed = [dt for dt, _, good in made if not good]
    assert failed
    assert len(set(failed)) == len(failed)
    assert max(every for _, every, _ in made) <= 16
    monkeypatch.setattr(simulate_module, "_ADVICE_WORK", 1)
    with pytest.raises(
        DivergedError, match=r"no step larger than 0\.00125 s goes on from there, and none that does was"
    ):
        simulate(system, Blow(), 0.3, 5e-3, stepper=FRAIL)


def test_slow_steps_are_handed_out_before_a_piece_is_whole(system, monkeypatch):
    """A clock that goes on by 0.11 s each time it is read: a look before and after each portion, and one at the end."""
    whole = simulate(system, Blow(), 0.2, 5e-3)
    clock = iter(0.11 * np.arange(10_000))
    monkeypatch.setattr(backend, "perf_counter", lambda: next(clock))
    parts = []
    rows = simulate(system, Blow(), 0.2, 5e-3, on_rows=parts.append)
    assert [len(part) for part in parts[:3]] == [1, 2, 2]
    np.testing.assert_array_equal(rows.q, whole.q)
    np.testing.assert_array_equal(rows.iterations, whole.iterations)


def test_of_several_arms_the_one_is_named(monkeypatch):
    # In pieces of one row, as advice is sought: they share what is compiled.
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 1)
    pair = System(unequal_arms([rod(2), rod(2)], HORIZONTAL))
    with pytest.raises(DivergedError, match=r"diverged after 0.1\d* s .* in arm [12], segment [12]; "):
        simulate(pair, Blow(2), 0.3, 5e-3, stepper=FRAIL)


def test_smaller_steps_go_on_where_one_cannot(system):
    rows = simulate(system, Blow(), 0.2, 5e-3)
    assert np.all(np.isfinite(rows.q))
    # Without the blow a step takes a few iterations; a step that is given up has had forty in a stage, at least.
    quiet = rows.iterations[rows.time < SINCE]
    assert np.max(quiet) < 20
    assert np.max(rows.iterations) > 40


def test_a_rollout_does_not_try_smaller_steps_and_says_so(system):
    with pytest.raises(DivergedError, match=r"a step before 0.1\d* s could not be made at dt = 0.005 s"):
        rollout(system, Blow(), steps=40, dt=5e-3)
