"""Recording of chains of platforms as they move, tick after tick."""

import os
from types import TracebackType
from typing import Any, Self

import jax
import numpy as np

from hydrostat.control.platforms import Platforms
from hydrostat.lie import SE3
from hydrostat.results.platform_rows import diverged, first_diverged, platform_rows
from hydrostat.results.platform_summary import PlatformSummary
from hydrostat.results.recording import Recorder
from hydrostat.results.variables import Variable


class PlatformRecorder:
    """Records the motion of a chain of platforms, some rows at a time; what `append` was given is on disk but for the
    last row, whose leg rates are the change of lengths until the next one.

        with PlatformRecorder(folder, arm, ticks, dt) as recorder:
            goals.follow(law, gain, on_rows=recorder.append, keep=False)
        motion = recorder.summary.motion()

    **Arguments:** `folder`: the result folder; `total`: largest number of rows; `dt`: of a tick [s]; `segments`: how
    many, as the arm has when not given; `limited`: whether the limits of the legs are in force; `attributes`: as those
    of `Recorder`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        arm: Platforms,
        total: int,
        dt: float,
        *,
        segments: int | None = None,
        limited: bool = True,
        attributes: dict[str, Any] | None = None,
    ):
        self._dt = dt
        self.summary = PlatformSummary(arm, dt, limited=limited)
        """The motion that was given to `append`, summed up."""
        self._last: dict[str, np.ndarray] | None = None
        self._rate: np.ndarray | None = None
        count = arm.count if segments is None else segments
        self._recorder = Recorder(folder, platform_variables(count), total, attributes=attributes)
        self._rows = 0

    @staticmethod
    def compile(arm: Platforms) -> None:
        """Compile what recording an arm needs."""
        platform_rows(arm, jax.tree.map(lambda y: y[None], arm.rest))

    def append(self, T: SE3, goal: np.ndarray) -> None:
        """Record the relative poses (rows, n) of some more rows, and the places (rows, 3) where the tip is to be.

        Of rows that diverge, those before are recorded.
        """
        bad = first_diverged(T)
        count = len(goal) if bad is None else bad[0]
        if count:
            found = self.summary.append(T[:count])
            self.append_plates(found.plates.position, found.plates.rotation, found.legs, found.rings, goal[:count])
        if bad is not None:
            self._finish()
            raise diverged(self._dt * self._rows, bad[1])

    def append_plates(self, positions, rotations, legs, rings, goal) -> None:
        """Record some more rows from plates in the world, legs and rings, as `PlatformMotion` has them."""
        new = {"tip": positions[:, -1], "tip_wanted": goal, "plate_position": positions, "plate_rotation": rotations}
        new |= {"leg_length": legs, "ring": rings}
        if self._last is not None:
            new = {name: np.concatenate([self._last[name], value]) for name, value in new.items()}
        rates = np.diff(new["leg_length"], axis=0) / self._dt
        if len(rates):
            self._write({name: value[:-1] for name, value in new.items()} | {"leg_rate": rates})
            self._rate = rates[-1:]
        self._last = {name: value[-1:] for name, value in new.items()}

    def _finish(self) -> None:
        """Record the last row, with the rates of the one before."""
        if self._last is not None:
            rate = np.zeros_like(self._last["leg_length"]) if self._rate is None else self._rate
            self._write(self._last | {"leg_rate": rate})
            self._last = None

    def _write(self, blocks: dict[str, np.ndarray]) -> None:
        count = len(blocks["tip"])
        self._recorder.append(self._dt * (self._rows + np.arange(count)), **blocks)
        self._rows += count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        self._recorder.__exit__(kind, error, traceback)


def platform_variables(segments: int) -> list[Variable]:
    """What is recorded of a chain of platforms."""
    plates = segments + 1
    return [
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("tip_wanted", ("axis",), (3,), "m", "where it is to be"),
        Variable("plate_position", ("plate", "axis"), (plates, 3), "m", "centres of the plates in the world"),
        Variable("plate_rotation", ("plate", "row", "column"), (plates, 3, 3), "1", "their rotations in the world"),
        Variable("leg_length", ("segment", "leg"), (segments, 6), "m", "lengths of the legs"),
        Variable("leg_rate", ("segment", "leg"), (segments, 6), "m/s", "rates of the legs"),
        Variable("ring", ("segment", "end"), (segments, 2), "m", "radii of the lower and the upper ring"),
    ]
