"""One run of a scenario: what its function gets, `Run`, and what it gives back, `Outcome`.

Nothing here needs JAX until a scenario runs.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hydrostat.results import Recorder, record_arrays
from hydrostat.robots import AnySpec, LimbedSpec, RobotSpec
from hydrostat.scenarios.progress import Progress

__all__ = ["Outcome", "Progress", "Run"]

if TYPE_CHECKING:
    from hydrostat import Control, Controller, State, System, Trajectory


@dataclass
class Outcome:
    """The result of a scenario: its metrics, how its figure and replay are made, and how long it simulated."""

    metrics: dict[str, Any]
    figure: Callable[[Path], None] | None = None
    """Draws the figure into a file; called after the clock has stopped."""
    replay: Callable[[Path], Any] | None = None
    """Writes the replay; called where viser is installed."""
    sim_seconds: float | None = None
    dt: float | None = None
    steps: int | None = None
    notes: list[str] = field(default_factory=list)
    """Sentences for the user, such as a named outcome ("out of reach: ...")."""
    files: dict[str, str] = field(default_factory=dict)
    """Further files that were written, by kind."""


class Run:
    """One run of a scenario: its settings, its robot, its folder and its clocks."""

    def __init__(self, robot: AnySpec, settings: SimpleNamespace, seed: int, folder: Path, progress: Progress):
        self.whole, self.settings, self.seed, self.folder = robot, settings, seed, folder
        self._progress = progress
        self.wall_seconds = 0.0
        self.compile_seconds = 0.0

    @property
    def robot(self) -> RobotSpec:
        """The robot, of scenarios for single arms."""
        assert isinstance(self.whole, RobotSpec)
        return self.whole

    @property
    def limbed(self) -> LimbedSpec:
        """The robot, of scenarios for robots with limbs."""
        assert isinstance(self.whole, LimbedSpec)
        return self.whole

    @property
    def dt(self) -> float:
        """The time step, of scenarios with the key `dt_ms` [s]."""
        return 1e-3 * self.settings.dt_ms

    def steps_per_row(self, seconds: float) -> int:
        """The number of steps from row to row for rows that are about some seconds apart; at least one."""
        return max(1, round(seconds / self.dt))

    def simulate(
        self,
        system: "System",
        controller: "Controller | Control | None",
        seconds: float,
        *,
        state: "State | None" = None,
        record: bool = False,
        share: tuple[float, float] = (0.0, 1.0),
        compiled: bool | None = None,
        label: str = "moving",
        on_rows: "Callable[[Trajectory], None] | None" = None,
        **options: Any,
    ) -> "Trajectory":
        """The trajectory of a simulation, on the clocks of this run and with its progress shown.

        **Arguments:** `record`: whether rows are written to the folder of the run as they come; `share`: begin and end
        of the part of the scenario's progress that this simulation is; `compiled`: whether one before it has compiled
        the same; when not given, all have but the one that begins at 0; `label`: in the progress bar; `on_rows`: gets
        each piece of rows as it comes; `options`: as those of `Simulation`.
        """
        from hydrostat.simulation import Simulation

        first, last = share
        with self.compiling(f"compiling: {label}"):
            simulation = Simulation(system, controller, self.dt, **options)
            if first == 0.0 if compiled is None else not compiled:
                simulation.compile(seconds, state, record=record)
        with self.timed():
            return simulation(
                seconds,
                state=state,
                record=self.folder if record else None,
                on_rows=on_rows,
                on_progress=lambda done: self.progress(label, first + done * (last - first)),
            )

    @contextmanager
    def timed(self) -> Iterator[None]:
        """The time spent in here is the scenario's own: stepping and recording."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.wall_seconds += time.perf_counter() - start

    @contextmanager
    def untimed(self) -> Iterator[None]:
        """The time spent in here, within `timed`, is neither stepping nor recording, such as analysis of the rows."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.wall_seconds -= time.perf_counter() - start

    @contextmanager
    def compiling(self, what: str = "compiling") -> Iterator[None]:
        """The time spent in here is JAX's, and the progress bar says so."""
        start = time.perf_counter()
        self._progress.say(what)
        try:
            yield
        finally:
            self.compile_seconds += time.perf_counter() - start

    def progress(self, what: str, done: float) -> None:
        """Show how far the work is, `done` from 0 to 1."""
        self._progress.show(what, done)

    def recorder(self, variables, total: int, **options) -> Recorder:
        """A crash-safe recorder in this run's folder."""
        return Recorder(self.folder, variables, total, **options)

    def record(self, name: str, index: Any, columns: Mapping[str, tuple], **options: Any) -> None:
        """Record whole arrays, as `hydrostat.results.record_arrays` does, with the names of scenario and robot."""
        attributes = {"scenario": name, "robot": self.whole.name, **options.pop("attributes", {})}
        record_arrays(self.folder, index, columns, attributes=attributes, **options)
