"""The cost of a step, measured on runs that take turns, so that all of them meet the same machine."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hydrostat.results.trajectory import Trajectory
from hydrostat.simulation.checkpoints import keeping
from hydrostat.simulation.simulate import Run


class TimedRun(NamedTuple):
    """A run that was timed."""

    run: Run
    seconds_per_step: float
    """Time of a step in the fastest repetition [s]: what is longer was spent by other processes."""
    motion: Trajectory
    """All repetitions one after another, each from the last state of the one before."""


def time_steps(
    runs: Sequence[Run], rows: int, repetitions: int, *, on_progress: Callable[[float], None] | None = None
) -> list[TimedRun]:
    """Let systems move from their rest states, all in turn in short runs, and measure the time of their steps.

    **Arguments:** `runs`: compiled for as many rows; `rows`: of a repetition; `on_progress`: gets the share that is
    done.
    """
    with keeping(None):  # writing would count as stepping
        return _timed(runs, rows, repetitions, on_progress)


def _timed(runs: Sequence[Run], rows: int, repetitions: int, on_progress) -> list[TimedRun]:
    states = [run.system.rest() for run in runs]
    fastest = np.full(len(runs), np.inf)
    motions: list[list[Trajectory]] = [[] for _ in runs]
    for repetition in range(repetitions):
        for i, run in enumerate(runs):
            marks: list[float] = []
            # The first row comes before the first step, the others all together after the last.
            found = run(
                rows * run.every * run.dt,
                state=states[i],
                on_rows=lambda _, marks=marks: marks.append(time.perf_counter()),
            )
            fastest[i] = min(fastest[i], marks[-1] - marks[0])
            states[i] = found.final
            motions[i].append(found[:-1])
        if on_progress is not None:
            on_progress((repetition + 1) / repetitions)
    costs = [float(seconds / (rows * run.every)) for seconds, run in zip(fastest, runs, strict=True)]
    joined = [Trajectory.joined(parts) for parts in motions]
    return [TimedRun(*each) for each in zip(runs, costs, joined, strict=True)]
