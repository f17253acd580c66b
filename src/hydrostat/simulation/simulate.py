"""The host's loop: a run in pieces, with progress, recording as it goes, and Ctrl-C heard between them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat import errors
from hydrostat.compiling import as_one_function, fast_jit, quick_jit
from hydrostat.control.base import Controller
from hydrostat.errors import DivergedError, InputError
from hydrostat.mechanics.robot import split
from hydrostat.results import labels
from hydrostat.results.checking import check_result
from hydrostat.results.folders import resuming
from hydrostat.results.trajectory import Trajectory, TrajectoryRecorder
from hydrostat.sensing import Sensors, observe
from hydrostat.simulation import checkpoints, motions
from hydrostat.simulation.backend import BACKENDS, NativeRows, native_rows
from hydrostat.simulation.energy_watch import MOST_STEPS, EnergyWatch, draw_up
from hydrostat.simulation.loop import Carry, Loop, Row, decided, first_carry, one_step, row_of
from hydrostat.simulation.rollout import as_controller
from hydrostat.stepping.base import AbstractStepper
from hydrostat.stepping.rk4 import RK4
from hydrostat.stepping.stability import largest_step
from hydrostat.stepping.step import default_stepper
from hydrostat.surroundings.ground import Ground
from hydrostat.system import Control, State, System

_CHUNK_ROWS, _CHUNK_STEPS = 400, 800
_MOST_STEPS = 10**9
_ADVICE_HALVINGS = 12
_ADVICE_STEPS = 16  # steps that are made together when a smaller step is looked for
_ADVICE_WORK = 6e6  # segments times iterations of the stepper in which it is looked for: some seconds


def simulate(
    system: System,
    controller: Controller | Control | None = None,
    seconds: float = 1.0,
    dt: float = 1e-3,
    *,
    state: State | None = None,
    stepper: AbstractStepper | None = None,
    sensors: Sensors | None = None,
    every: int = 1,
    memory: Any = None,
    record: str | Path | None = None,
    resume: str | Path | None = None,
    keep: bool = True,
    on_rows: Callable[[Trajectory], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    backend: str = "auto",
) -> Trajectory:
    """Simulate a system for some seconds; the first row of the result is the state at the start.

    A step that does not converge is made in smaller ones. When that does not help either, `DivergedError` says when and
    where, and which step would do; what came before it has been handed out and recorded. So it does where motion
    becomes ten times as energetic and the balance says that actuators, loads and surroundings have not done that work.

    **Arguments:** `controller`: what drives it, or a control that is held; `dt`: the step [s]; `state`: where it
    starts, at rest when not given; `stepper`: as `default_stepper` says when not given; `sensors`: perfect ones when
    not given; `every`: steps from row to row; `memory`: of the controller, where a run before is continued; `record`: a
    folder that rows are written to as they come, safe against a kill; `resume`: that folder in place of `record`, where
    a run that was recorded into it did not come to its end: with the same arguments, it goes on from there; `keep`:
    whether all rows are kept in memory as well, or only the last piece of them; `on_rows`: gets each piece of rows as
    it comes; `on_progress`: gets the share that is done; `backend`: "native" for machine code of our own, "xla" for
    XLA's, "auto" for the first where it can.
    """
    run = Run(system, controller, dt, stepper=stepper, sensors=sensors, every=every, backend=backend)
    options = {"record": record, "resume": resume, "keep": keep, "on_rows": on_rows, "on_progress": on_progress}
    return run(seconds, state=state, memory=memory, **options)


class Run:
    """A system with its controller, ready to be run: compiled once, for those who run it several times or time it."""

    def __init__(
        self,
        system: System,
        controller: Controller | Control | None = None,
        dt: float = 1e-3,
        *,
        stepper: AbstractStepper | None = None,
        sensors: Sensors | None = None,
        every: int = 1,
        backend: str = "auto",
    ):
        """**Arguments:** as those of `simulate`."""
        self.backend = errors.choice("backend", backend, BACKENDS)
        self._native: NativeRows | None = None
        self._at_rest: Carry | None = None
        self.dt = errors.number("dt", dt, above=0.0, most=1e3)
        self.every = errors.whole("every", every, least=1, most=10**9)
        self.given_controller = controller
        """The controller before it was attached to the system."""
        controller = as_controller(system, controller).attach(system, self.dt)
        sensors = Sensors() if sensors is None else sensors
        self.loop = Loop(system, controller, sensors, default_stepper(system) if stepper is None else stepper)

    def with_step(self, dt: float, every: int) -> "Run":
        """The same with another step [s], and another number of them from row to row."""
        _, _, sensors, stepper = self.loop
        options = {"stepper": stepper, "sensors": sensors, "backend": self.backend}
        return Run(self.system, self.given_controller, dt, every=every, **options)

    @property
    def system(self) -> System:
        """The system that is simulated."""
        return self.loop.system

    def compile(self, seconds: float, state: State | None = None, *, record: bool = False) -> Trajectory:
        """Compile the functions that a run of some seconds needs, and return the result of its first piece.

        **Arguments:** `state`: where the run will start; `record`: whether it will be recorded.
        """
        motions.announce(self, state)
        first = self._start(state, None)
        _, found = self._piece(first, _piece_rows(self.rows(seconds), self.every))
        trial = self._trajectory(jax.tree.map(np.asarray, found))
        if record:
            labels.blocks(trial, labels.layout(self.system, labels.chosen(self.system, None))[0])
        return trial

    def __call__(
        self,
        seconds: float,
        *,
        state: State | None = None,
        memory: Any = None,
        record: str | Path | None = None,
        resume: str | Path | None = None,
        keep: bool = True,
        on_rows: Callable[[Trajectory], None] | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> Trajectory:
        """Run for some seconds; the arguments are those of `simulate`."""
        if resume is not None:
            return self._resumed(resume, record, seconds, state=state, memory=memory, keep=keep, on_rows=on_rows,
                                 on_progress=on_progress)  # fmt: skip
        motions.announce(self, state)
        rows = self.rows(seconds)
        carry = self._start(state, memory)
        self._check_stability(carry)
        takers = [] if on_rows is None else [on_rows]
        if record is not None:
            recorder = TrajectoryRecorder(record, self.system, rows + 1)
            takers.append(recorder.append)
            with recorder, checkpoints.kept_beside(record) as kept:
                found = self._pieces(carry, rows, keep, takers, on_progress)
                kept.discard()
                return found
        return self._pieces(carry, rows, keep, takers, on_progress)

    def _resumed(self, folder: str | Path, record: str | Path | None, seconds: float, **options) -> Trajectory:
        """A run that goes on with what a folder holds."""
        if record is not None and Path(record).resolve() != Path(folder).resolve():
            raise InputError(f"`record` must be left out, or be the folder to resume, {str(folder)!r}; got {record!r}")
        if check_result(folder).complete:
            raise InputError(f"the run in {str(folder)!r} has come to its end; there is nothing to resume")
        with resuming(folder), checkpoints.keeping(checkpoints.Checkpoints(folder, True, single=True)):
            return self(seconds, record=folder, **options)

    def _start(self, state: State | None, memory: Any) -> Carry:
        """The carry at the start of a run; that from rest is made once."""
        if state is None and memory is None and self._at_rest is not None:
            return self._at_rest
        carry: Carry = _first(self.loop, self.system.rest() if state is None else state, self.dt, memory)
        if state is None and memory is None:
            self._at_rest = carry
        return carry

    def rows(self, seconds: float) -> int:
        """The number of rows of a run of some seconds, after the first."""
        seconds = errors.number("seconds", seconds, above=0.0, most=1e9)
        steps = max(round(seconds / self.dt), 1)
        if steps > _MOST_STEPS:
            raise InputError(f"a run can have at most {_MOST_STEPS} steps; {seconds:g} s at dt = {self.dt:g} s is more")
        return -(-steps // self.every)

    def _pieces(self, carry: Carry, rows: int, keep: bool, takers, on_progress) -> Trajectory:
        """All rows, piece after piece."""
        first = jax.tree.map(lambda y: np.asarray(y)[None], row_of(carry))
        parts = [self._trajectory(first)]
        for take in takers:
            take(parts[0])
        done, size = 0, _piece_rows(rows, self.every)
        kind = {"dt": self.dt, "every": self.every, "rows": rows, "time": float(carry.state.time)}
        checkpoint = checkpoints.next_checkpoint(kind)
        watch = EnergyWatch(self.system, self.dt)
        watch.grown(parts[0].state)
        while done < rows:
            count = min(size, rows - done)
            before = None if checkpoint is None else checkpoint.read(carry, first)
            after, found = self._piece(carry, size, in_time=True) if before is None else before
            count = min(count, len(found.good))
            good = np.asarray(found.good)[:count]
            kept = count if good.all() else int(np.argmin(good))
            if kept:
                new = jax.tree.map(lambda y, n=kept: np.asarray(y)[:n], found)
                if checkpoint is not None and before is None and kept == count:
                    checkpoint.write(new, after)
                part = self._trajectory(new)
                parts = [*parts, part] if keep else [part]
                for take in takers:
                    take(part)
            if kept < count:
                raise self._diverged(carry, found, kept)
            span = watch.grown(parts[-1].state)
            if span is not None and before is None:
                self._check_energy(carry, count, span, watch)
            carry = after
            done += count
            if on_progress:
                on_progress(done / rows)
        return Trajectory.joined(parts)

    def _trajectory(self, rows: Row) -> Trajectory:
        return Trajectory(self.system, rows.state, rows.control, rows.memory, rows.good, rows.iterations)

    def _piece(self, carry: Carry, rows: int, dt=None, every=None, in_time: bool = False) -> tuple[Carry, Row]:
        """The carry after some rows, and the rows; where steps are slow, as many as half a second allows if asked."""
        if self.backend != "xla" and self._native is None:
            self._native = native_rows(self.backend, self.loop, carry, self.dt)
            self.backend = "xla" if self._native is None else self.backend
        if self._native is not None:
            rows_by = self._native.in_time if in_time else self._native
            return rows_by(carry, rows, self.every if every is None else every, self.dt if dt is None else dt)
        dt = jnp.asarray(self.dt if dt is None else dt)
        every = jnp.asarray(self.every if every is None else every)
        arguments = (self.loop, carry, dt, rows, every)
        kind = jax.tree.structure(arguments)
        if kind not in _NOT_AS_ONE:
            try:
                return _piece(*arguments, as_one=True)
            except jax.errors.JaxRuntimeError as error:
                if "UNIMPLEMENTED" not in str(error):
                    raise
                _NOT_AS_ONE.add(kind)
        return _piece(*arguments, as_one=False)

    def _check_stability(self, carry: Carry) -> None:
        """Refuse an explicit stepper whose step is not stable."""
        if isinstance(self.loop.stepper, RK4):
            system, controller, sensors, _ = self.loop
            truth = observe(system, carry.state, carry.control, self.dt, sensors.force is not None)
            observation, _ = sensors(carry.state.time, truth, carry.sensed)
            control, _ = decided(controller, carry.state.time, observation, carry.memory)
            inputs = system.inputs_at(carry.state, control)
            most = largest_step(self.system.robot, carry.state.robot, inputs, self.loop.stepper.reach)
            if self.dt > most:
                raise InputError(
                    f"`dt` must be at most {most:.2g} s, where RK4 is stable for this arm; got {self.dt:g} s: "
                    f"take that, or an implicit stepper such as SDIRK2"
                )

    def _check_energy(self, carry: Carry, rows: int, span: float, watch: EnergyWatch) -> None:
        """Refuse to go on after a piece in which energy grew without a source.

        **Arguments:** `carry`: at the begin of the piece; `span`: time over which it grew [s].
        """
        if carry.control.base is not None:
            return  # the work of a body that is moved is not known
        if self.system.part(Ground) is not None:
            return  # strokes on the ground change rates tenfold all the time, and a balance costs as much as they do
        steps = min(rows * self.every, MOST_STEPS)
        early = rows * self.every - steps
        begin = self._piece(carry, 1, every=early)[0] if early else carry
        first = self._trajectory(jax.tree.map(lambda y: np.asarray(y)[None], row_of(begin)))
        again = self._trajectory(jax.tree.map(np.asarray, self._piece(begin, steps, every=1)[1]))
        balance = draw_up(Trajectory.joined([first, again]), self.loop.stepper)
        if balance.unexplained(span):
            raise DivergedError(
                f"the energy grew without a source before {float(again.time[-1]):.6g} s at dt = {self.dt:g} s, fastest "
                f"in {self._named(*watch.fastest(again.state))}: of {balance.size:.3g} J, {balance.gain:.3g} J in "
                f"{balance.seconds:.3g} s are not the work of actuators, loads or surroundings; take a smaller step"
            )

    def _named(self, arm: int, segment: int) -> str:
        """The words for a place."""
        return f"arm {arm}, segment {segment}" if self.system.robot.count > 1 else f"segment {segment}"

    def _diverged(self, carry: Carry, found: Row, kept: int) -> DivergedError:
        """The message about a step that could not be made: when, where, and which step would do."""
        failed: State = jax.tree.map(lambda y: np.asarray(y)[kept], found.state)
        where = self._named(*_worst_place(self.system, failed))
        # The last good state, once more from the piece's begin.
        for _ in range(kept):
            carry, _ = self._piece(carry, 1)
        time = float(carry.state.time)
        advice = self._advice(carry._replace(start=carry.state.time, steps=jnp.zeros_like(carry.steps)))
        return DivergedError(f"the simulation diverged after {time:.6g} s at dt = {self.dt:g} s, in {where}; {advice}")

    def _advice(self, begin: Carry) -> str:
        """The words about a step that goes on from a state for as long as a row takes: the largest that is found."""
        spent, most = 0, _ADVICE_WORK / sum(len(arm.arm.segments.scale) for arm in self.system.robot.each)
        for halving in range(1, _ADVICE_HALVINGS + 1):
            dt, left, carry, good = self.dt * 0.5**halving, self.every * 2**halving, begin, True
            while left and good and spent < most:
                steps = min(left, _ADVICE_STEPS)
                carry, row = self._piece(carry, 1, dt=dt, every=steps)
                good, left, spent = bool(row.good[0]), left - steps, spent + int(row.iterations[0])
            if good and not left:
                return f"the largest step that goes on from there is about {dt:.3g} s"
            if good:
                return f"no step larger than {dt:.3g} s goes on from there, and none that does was found in time"
        return "no smaller step was found that goes on: the state itself may be out of bounds"


def _piece_rows(rows: int, every: int) -> int:
    """Rows of a piece, all pieces of a run alike so that one function is compiled; the last may run a little over.

    A piece has so few steps that it is on disk within a second.
    """
    most = max(1, min(_CHUNK_ROWS, _CHUNK_STEPS // every))
    return -(-rows // -(-rows // most))


_first = quick_jit(first_carry)

# Kinds of runs that the compiler could not make one function of.
_NOT_AS_ONE: set = set()


@fast_jit
def _piece(loop: Loop, carry: Carry, dt, rows: int, every, as_one: bool) -> tuple[Carry, Row]:
    """The compiled loop over rows and steps."""

    def roll(dynamic):
        loop, carry, dt, every = eqx.combine(dynamic, static)

        def row(carry: Carry, _):
            after = jax.lax.fori_loop(0, every, lambda _, carry: one_step(loop, carry, dt), carry)
            return after._replace(iterations=jnp.zeros_like(after.iterations)), row_of(after)

        return jax.lax.scan(row, carry, None, length=rows)

    dynamic, static = eqx.partition((loop, carry, dt, every), eqx.is_array)
    return as_one_function(roll, dynamic) if as_one else roll(dynamic)


def _worst_place(system: System, state: State) -> tuple[int, int]:
    """The arm and the segment, counted from 1, that is bent the most or is not a number."""
    worst, place = -1.0, (1, 1)
    for i, (arm, q) in enumerate(zip(system.robot.each, split(system.robot, state.q), strict=True)):
        turns = np.max(np.abs(np.asarray(q) * np.asarray(arm.arm.segments.scale)[:, None]), -1)
        turns = np.where(np.isfinite(turns), turns, np.inf)
        if turns.max() > worst:
            worst, place = float(turns.max()), (i + 1, int(np.argmax(turns)) + 1)
    return place
