"""Tracking by chains of platforms, recorded as it goes and resumed where it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hydrostat.control import Platforms
from hydrostat.results import PlatformRecorder
from hydrostat.scenarios.base import Run
from hydrostat.simulation.checkpoints import next_checkpoint


@contextmanager
def recorded(run: Run, name: str, arm: Platforms, ticks: int, dt: float, **options: Any) -> Iterator[PlatformRecorder]:
    """Within, rows are recorded into the folder of a run, and its clock runs.

    **Arguments:** `ticks`: how many there are at most; `dt`: of a tick [s]; `options`: as those of `PlatformRecorder`.
    """
    attributes = {"scenario": name, "robot": run.robot.name}
    if "segments" not in options:
        with run.compiling("compiling the recording"):
            PlatformRecorder.compile(arm)
    with run.timed(), PlatformRecorder(run.folder, arm, ticks, dt, attributes=attributes, **options) as recorder:
        yield recorder


def pieces(**kind: Any) -> Callable[[Callable[[], tuple]], tuple]:
    """Where a tracker has its pieces from: they are kept on disk, and read from there when a run is resumed.

    **Arguments:** `kind`: what must be the same for it to be resumed.
    """
    checkpoint = next_checkpoint(kind)
    return (lambda make: make()) if checkpoint is None else checkpoint.piece
