"""Recording of trajectories piece by piece, so that every simulated row is on disk however the run ends."""

import os
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hydrostat.results import labels
from hydrostat.results.recording import Recorder
from hydrostat.system import System

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory


class TrajectoryRecorder:
    """Writes pieces of a trajectory into a result folder, which `hydrostat.load` opens at any moment.

        with TrajectoryRecorder("results/mine", system, total_rows=1000) as recorder:
            recorder.append(piece)

    By default are written, as far as the system has them: tip, body, body_rotation, plate_position (the ends of the
    segments), q, stretch, bend, activation, muscle_power, tension, pressure, held, taken, objects and thrust. A row of
    an octopus arm of 20 segments takes 2.1 kB so, one of an octopus of eight of them 19 kB.

    **Arguments:** `total_rows`: largest number of rows; `variables`: names of `labels.QUANTITIES`, or "all";
    `attributes`: anything JSON can hold that describes the whole recording.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        system: System,
        total_rows: int,
        *,
        variables: labels.Variables = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self._variables, coordinates = labels.layout(system, labels.chosen(system, variables))
        told = {**labels.attributes(system), **(attributes or {})}
        self._recorder = Recorder(folder, self._variables, total_rows, attributes=told, coordinates=coordinates)

    @property
    def rows(self) -> int:
        """The number of rows recorded so far, all of them on disk."""
        return self._recorder.rows

    def compile(self, piece: "Trajectory") -> None:
        """Compile the functions that recording such pieces needs, and record nothing."""
        labels.blocks(piece, self._variables)

    def append(self, piece: "Trajectory") -> None:
        """Record the rows of a piece; when it returns they are on disk."""
        self._recorder.append(piece.time, **labels.blocks(piece, self._variables))

    def close(self) -> None:
        """Mark the recording as complete; a second call does nothing."""
        self._recorder.close()

    def __enter__(self) -> Self:
        self._recorder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recorder.__exit__(kind, error, traceback)
