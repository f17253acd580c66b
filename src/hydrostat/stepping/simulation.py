"""Simulation: a model, a stepper and a step, run for some seconds with rows handed out as they come."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from hydrostat import errors
from hydrostat.compiling import as_one_function, fast_jit
from hydrostat.errors import DivergedError, InputError
from hydrostat.mechanics.model import AnyModel, Inputs, check_inputs, no_inputs
from hydrostat.mechanics.motion import branches, split
from hydrostat.stepping.base import AbstractStepper, InputFunction, State, finite, rest_state
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.rk4 import RK4
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.stepping.stability import largest_step

_CHUNK_ROWS = 250
_MOST_STEPS = 10**9
_ADVICE_HALVINGS = 12


class Constant(eqx.Module):
    """Inputs that do not change."""

    inputs: Inputs

    def __call__(self, time, state) -> Inputs:
        """The same at all times."""
        del time, state
        return self.inputs


class AbstractController(eqx.Module):
    """What acts on a robot in closed loop: once per step it sees the state, and remembers what it wants to."""

    @abc.abstractmethod
    def begin(self, state: State) -> PyTree[Array]:
        """The memory at the start of a run."""

    @abc.abstractmethod
    def act(self, time: Float[Array, ""], dt, state: State, memory) -> tuple[Inputs | InputFunction, PyTree[Array]]:
        """What acts during the step of dt [s] that begins now, held or as a function of time; the memory after it."""


class Rows(NamedTuple):
    """What a simulation gives: the state at each recorded time, arrays with the row as leading axis."""

    time: np.ndarray
    """[s]"""
    state: State
    iterations: np.ndarray
    """Of the stepper since the row before."""
    memory: Any = ()
    """Of the controller, where there is one."""


class _Outcome(NamedTuple):
    """A row within the compiled rollout."""

    state: State
    good: Bool[Array, ""]
    iterations: Int[Array, ""]
    memory: Any


class Simulation(eqx.Module):
    """A robot's motion in steps of equal size.

        sim = Simulation(model, dt=1e-3)
        rows = sim.run(2.0, every=10)

    A run goes on in pieces, so that progress can be shown, rows are kept and Ctrl-C is heard. When a step cannot be
    made, `DivergedError` says where, and which step would do; the rows before it have been handed out.
    """

    model: AnyModel
    dt: float
    stepper: AbstractStepper

    def __init__(self, model: AnyModel, dt: float, stepper: AbstractStepper | None = None):
        """**Arguments:** `dt`: the step [s]; `stepper`: SDIRK2 when not given, and momentum kept for a free base."""
        self.model = model
        self.dt = errors.number("dt", dt, above=0.0, most=1e3)
        if stepper is None:
            stepper = KeepMomentum(SDIRK2()) if model.free_base else SDIRK2()
        self.stepper = stepper

    def run(
        self,
        seconds: float,
        inputs: Inputs | InputFunction | AbstractController | None = None,
        state: State | None = None,
        *,
        every: int = 1,
        start: float = 0.0,
        memory: Any = None,
        on_rows: Callable[[Rows], None] | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> Rows:
        """Run for some seconds from a state; the first row is that state itself.

        **Arguments:** `inputs`: what acts, constant or as a function of time and of the state at the step's begin (an
        `equinox.Module` that is called, where it holds arrays: a plain function is compiled anew each time it is
        made), or a controller; `every`: steps from row to row; `start`: time of the first row [s]; `memory`: of the
        controller, where a run before is continued; `on_rows`: gets the rows as they come; `on_progress`: gets the
        share that is done.
        """
        seconds = errors.number("seconds", seconds, above=0.0, most=1e9)
        every = errors.whole("every", every, least=1, most=10**9)
        steps = max(round(seconds / self.dt), 1)
        if steps > _MOST_STEPS:
            raise InputError(f"a run can have at most {_MOST_STEPS} steps; {seconds:g} s at dt = {self.dt:g} s is more")
        rows = -(-steps // every)
        current: State = rest_state(self.model) if state is None else state
        given = self._inputs(inputs)
        self._check_stability(current, given, start)
        memory = _first_memory(given, current) if memory is None else memory

        first = jax.tree.map(lambda y: np.asarray(y)[None], (current, memory))
        parts = [Rows(np.array([start]), first[0], np.zeros(1, int), first[1])]
        if on_rows:
            on_rows(parts[0])
        done, size = 0, _piece(rows)
        while done < rows:
            count = min(size, rows - done)
            out = self._advance(given, current, memory, start + done * every * self.dt, size, every)
            good = np.asarray(out.good)[:count]
            kept = count if good.all() else int(np.argmin(good))
            times = start + (done + 1 + np.arange(kept)) * every * self.dt
            states, memories = jax.tree.map(lambda y, n=kept: np.asarray(y)[:n], (out.state, out.memory))
            part = Rows(times, states, np.asarray(out.iterations)[:kept], memories)
            if kept:
                parts.append(part)
                current, memory = _last(part.state), _last(part.memory)
                if on_rows:
                    on_rows(part)
            if kept < count:
                failed = jax.tree.map(lambda y, n=kept: np.asarray(y)[n], out.state)
                raise self._diverged(given, current, memory, failed, start + (done + kept) * every * self.dt, every)
            done += count
            if on_progress:
                on_progress(done / rows)
        return jax.tree.map(lambda *y: np.concatenate(y), *parts)

    def compile(self, seconds: float, inputs=None, state: State | None = None, *, every: int = 1) -> None:
        """Compile what `run` with the same arguments needs, by one short run of it that is thrown away."""
        rows = -(-max(round(seconds / self.dt), 1) // every)
        state = rest_state(self.model) if state is None else state
        given = self._inputs(inputs)
        jax.block_until_ready(self._advance(given, state, _first_memory(given, state), 0.0, _piece(rows), every))

    def _inputs(self, inputs: Inputs | InputFunction | AbstractController | None) -> InputFunction | AbstractController:
        if inputs is None:
            inputs = no_inputs(self.model)
        if isinstance(inputs, Inputs):
            check_inputs(inputs)
            return Constant(inputs)
        return inputs

    def _advance(self, inputs, state: State, memory, start: float, rows: int, every: int) -> _Outcome:
        """So many rows, every so many steps."""
        arguments = (
            self.model,
            self.stepper,
            inputs,
            state,
            memory,
            jnp.asarray(start),
            jnp.asarray(self.dt),
            rows,
            jnp.asarray(every),
        )
        kind = jax.tree.structure(arguments)
        if kind not in _NOT_AS_ONE:
            try:
                return _rollout(*arguments, as_one=True)
            except jax.errors.JaxRuntimeError as error:
                if "UNIMPLEMENTED" not in str(error):
                    raise
                _NOT_AS_ONE.add(kind)
        return _rollout(*arguments, as_one=False)

    def _check_stability(self, state: State, inputs: InputFunction | AbstractController, start: float) -> None:
        """An explicit step that must blow up is refused before it does."""
        if isinstance(self.stepper, RK4):
            if isinstance(inputs, AbstractController):
                acts = inputs.act(jnp.asarray(start), self.dt, state, inputs.begin(state))[0]
                given = _as_function(acts)(jnp.asarray(start), state)
            else:
                given = inputs(jnp.asarray(start), state)
            most = largest_step(self.model, state, given, self.stepper.reach)
            if self.dt > most:
                raise InputError(
                    f"`dt` must be at most {most:.2g} s, where RK4 is stable for this arm; got {self.dt:g} s: "
                    f"take that, or an implicit stepper such as SDIRK2"
                )

    def _diverged(self, inputs, state: State, memory, failed: State, time: float, every: int) -> DivergedError:
        """What to say when a step could not be made."""
        arm, segment = _worst_place(self.model, failed)
        where = f"arm {arm}, segment {segment}" if len(branches(self.model)) > 1 else f"segment {segment}"
        advice = "no smaller step was found that goes on: the state itself may be out of bounds"
        for halving in range(1, _ADVICE_HALVINGS + 1):
            smaller = Simulation(self.model, self.dt * 0.5**halving, self.stepper)
            out = smaller._advance(inputs, state, memory, time, 1, every * 2**halving)
            if bool(out.good[0]):
                advice = f"the largest step that goes on from there is about {smaller.dt:.3g} s"
                break
        return DivergedError(f"the simulation diverged after {time:.6g} s at dt = {self.dt:g} s, in {where}; {advice}")


def _piece(rows: int) -> int:
    """Rows of a piece, all pieces of a run alike so that one function is compiled; the last may run a little over."""
    return -(-rows // -(-rows // _CHUNK_ROWS))


# Kinds of rollouts that the compiler could not make one function of.
_NOT_AS_ONE: set = set()


@fast_jit
def _rollout(model, stepper, inputs, state, memory, start, dt, rows: int, every, as_one: bool) -> _Outcome:
    """The compiled loop over rows and steps."""

    def roll(dynamic):
        model, stepper, inputs, state, memory, start, dt, every = eqx.combine(dynamic, static)

        def row(carry, index):
            state, memory, good, count = carry

            def step(i, carry):
                state, memory, good, count = carry
                time = start + (index * every + i) * dt
                if isinstance(inputs, AbstractController):
                    given, memory = inputs.act(time, dt, state, memory)
                    new = stepper.step(model, state, time, dt, _as_function(given))
                else:
                    new = stepper.step(model, state, time, dt, inputs)
                good = good & new.converged & finite(new.state)
                return new.state, memory, good, count + new.iterations

            state, memory, good, count = jax.lax.fori_loop(0, every, step, (state, memory, good, count))
            return (state, memory, good, jnp.zeros_like(count)), _Outcome(state, good, count, memory)

        begin = (state, memory, jnp.asarray(True), jnp.asarray(0))
        return jax.lax.scan(row, begin, jnp.arange(rows))[1]

    dynamic, static = eqx.partition((model, stepper, inputs, state, memory, start, dt, every), eqx.is_array)
    return as_one_function(roll, dynamic) if as_one else roll(dynamic)


def _as_function(given: Inputs | InputFunction) -> InputFunction:
    """What acts as a function of time and state."""
    return Constant(given) if isinstance(given, Inputs) else given


def _first_memory(inputs: InputFunction | AbstractController, state: State):
    """What a controller remembers at the start; nothing where there is none."""
    return inputs.begin(state) if isinstance(inputs, AbstractController) else ()


def _last(states):
    """The last of a stack of states or memories."""
    return jax.tree.map(lambda y: y[-1], states)


def _worst_place(model: AnyModel, state: State) -> tuple[int, int]:
    """The arm and the segment, counted from 1, that is bent the most or is not a number."""
    worst, place = -1.0, (1, 1)
    for i, (arm, q) in enumerate(zip(branches(model), split(model, state.q), strict=True)):
        turns = np.max(np.abs(np.asarray(q) * np.asarray(arm.arm.segments.scale)[:, None]), -1)
        turns = np.where(np.isfinite(turns), turns, np.inf)
        if turns.max() > worst:
            worst, place = float(turns.max()), (i + 1, int(np.argmax(turns)) + 1)
    return place
