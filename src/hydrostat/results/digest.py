"""A digest of a simulation that is too long to be kept whole: some quantities of every row, and some whole rows."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics.robot import split
from hydrostat.results import analysis
from hydrostat.results.rows import Row, RowFunction
from hydrostat.results.trajectory import Trajectory
from hydrostat.system import System

_SHOWN = 1000  # rows that are kept whole, about


def energy_total(system: System, row: Row):
    """The energy of the robot."""
    return analysis.energy(system, row).total


def pressure_max(system: System, row: Row):
    """The largest pressure in a segment."""
    return jnp.max(jnp.concatenate(split(system.robot, analysis.pressure(system, row))))


BALANCE: Mapping[str, RowFunction] = {
    "energy": energy_total,
    "mean_power": analysis.mean_power,
    "muscle_power": analysis.muscle_power,
    "volume_error": analysis.volume_error,
    "mesh_volume": analysis.mesh_volume,
    "pressure": pressure_max,
}
"""The quantities that show whether energy and volume are conserved."""


class Digest:
    """Gathers quantities of all rows of a simulation, piece by piece, so that its memory hardly grows with the rows.

        digest = Digest(rows=240_001)
        simulate(system, controller, 300.0, 1.25e-3, record=folder, keep=False, on_rows=digest.append)
        digest.values["energy"], digest.shown, digest.energy_balance_error()

    **Arguments:** `rows`: how many will come; `functions`: what is gathered of each of them, row functions by name.
    """

    def __init__(self, rows: int, functions: Mapping[str, RowFunction] = BALANCE):
        self._rows, self._functions = rows, dict(functions)
        self._every = max(1, -(-rows // _SHOWN))
        self._count = 0
        self._last: Trajectory | None = None
        self._times: list[np.ndarray] = []
        self._found: list[tuple] = []
        self._shown: list[Trajectory] = []

    def compile(self, piece: Trajectory) -> None:
        """Compile the functions that the pieces of such a simulation need."""
        piece.all_derived(*self._functions.values())

    def append(self, piece: Trajectory) -> None:
        """Gather from a piece of rows that follow those before."""
        # What happened in the step before the first of them needs the row before.
        joined = piece if self._last is None else Trajectory.joined([self._last, piece])
        known = len(joined) - len(piece)
        self._found.append(jax.tree.map(lambda y: y[known:].copy(), joined.all_derived(*self._functions.values())))
        self._times.append(np.array(piece.time))
        numbers = self._count + np.arange(len(piece))
        chosen = np.flatnonzero((numbers % self._every == 0) | (numbers == self._rows - 1))
        if len(chosen):
            self._shown.append(_some(piece, chosen))
        self._last = _some(piece, np.array([len(piece) - 1]))
        self._count += len(piece)

    @property
    def time(self) -> np.ndarray:
        """Times of all rows [s]."""
        return np.concatenate(self._times)

    @property
    def values(self) -> dict[str, Any]:
        """The gathered quantities by name, with the row as leading axis."""
        found = jax.tree.map(lambda *y: np.concatenate(y), *self._found)
        return dict(zip(self._functions, found, strict=True))

    @property
    def shown(self) -> Trajectory:
        """Rows for pictures, evenly spaced, the first and the last among them; all of a short simulation."""
        return Trajectory.joined(self._shown)

    def energy_balance_error(self) -> float:
        """The error of the energy balance, as `Trajectory.energy_balance_error` defines it."""
        found = self.values
        return analysis.balance_error(self.time, found["energy"], found["mean_power"], found["muscle_power"])

    def volume_error(self) -> float:
        """Largest relative error of a segment's volume."""
        return float(np.max(self.values["volume_error"]))

    def mesh_volume_error(self) -> float:
        """Largest change of the volume within the drawn surface, over that of the first row."""
        volume = self.values["mesh_volume"]
        return float(np.max(np.abs(volume / volume[0] - 1.0)))


def _some(piece: Trajectory, chosen: np.ndarray) -> Trajectory:
    """Some of the rows, as copies that do not keep the others alive."""
    found = piece[chosen]
    assert isinstance(found, Trajectory)
    return found
