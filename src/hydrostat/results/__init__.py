"""Recording, loading and describing results: arrays with names and units on disk, safe against being killed.

A result is a folder: `trajectory.zarr` (the recorded arrays), `committed.json` (how many of its rows are valid) and,
once a run has finished, `metrics.json`. A JAX array is welcome wherever NumPy's is.

`Trajectory` is what a rollout or a simulation gives. It needs JAX, and is loaded when it is first used.
"""

import importlib as _importlib
from typing import TYPE_CHECKING

from hydrostat.results.folders import new_folder
from hydrostat.results.loading import load
from hydrostat.results.metrics import check_metrics, write_json
from hydrostat.results.recording import Recorder
from hydrostat.results.tables import record_rows
from hydrostat.results.variables import Coordinate, Variable

if TYPE_CHECKING:
    from hydrostat.results import accuracy, drawing, figures, panels, planar_figures
    from hydrostat.results.trajectory import Trajectory
    from hydrostat.results.trajectory_recorder import TrajectoryRecorder

__all__ = [
    "Coordinate",
    "Recorder",
    "Trajectory",
    "TrajectoryRecorder",
    "Variable",
    "accuracy",
    "check_metrics",
    "drawing",
    "figures",
    "load",
    "new_folder",
    "panels",
    "planar_figures",
    "record_rows",
    "write_json",
]

_MODULES = ("accuracy", "drawing", "figures", "panels", "planar_figures")
_LATER = {"Trajectory": "trajectory", "TrajectoryRecorder": "trajectory_recorder"}


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"hydrostat.results.{name}")
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.results.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.results' has no attribute '{name}'")
