"""Recording, loading and describing results: arrays with names and units on disk, safe against being killed.

A result is a folder: `trajectory.zarr` (the recorded arrays), `committed.json` (how many of its rows are valid) and,
once a run has finished, `metrics.json`. A JAX array is welcome wherever NumPy's is.

`Trajectory` is what a rollout or a simulation gives. It needs JAX, and is loaded when it is first used.
"""

import importlib as _importlib
from typing import TYPE_CHECKING

from hydrostat.results.arrays import record_arrays
from hydrostat.results.folders import new_folder
from hydrostat.results.loading import load
from hydrostat.results.metrics import check_metrics, write_json
from hydrostat.results.recording import Recorder
from hydrostat.results.variables import Coordinate, Variable

if TYPE_CHECKING:
    from hydrostat.results import analysis, drawing, figures, measures, panels, rows
    from hydrostat.results.configurations import along_bends, along_configurations, replay_with_tendons, tendon_lines
    from hydrostat.results.contacts import ShapeContact, shape_contacts
    from hydrostat.results.digest import BALANCE, Digest
    from hydrostat.results.equilibria import load_path, mode_swing
    from hydrostat.results.replaying import body_tubes, replay_scene
    from hydrostat.results.trajectory import Trajectory
    from hydrostat.results.trajectory_recorder import TrajectoryRecorder
    from hydrostat.results.travelling_bend import BendWave, bend_wave

__all__ = [
    "BALANCE",
    "BendWave",
    "Coordinate",
    "Digest",
    "Recorder",
    "ShapeContact",
    "Trajectory",
    "TrajectoryRecorder",
    "Variable",
    "along_bends",
    "along_configurations",
    "analysis",
    "bend_wave",
    "body_tubes",
    "check_metrics",
    "drawing",
    "figures",
    "load",
    "load_path",
    "measures",
    "mode_swing",
    "new_folder",
    "panels",
    "record_arrays",
    "replay_scene",
    "replay_with_tendons",
    "rows",
    "shape_contacts",
    "tendon_lines",
    "write_json",
]

_MODULES = ("analysis", "drawing", "figures", "measures", "panels", "rows")
_LATER = {
    "BALANCE": "digest",
    "BendWave": "travelling_bend",
    "Digest": "digest",
    "ShapeContact": "contacts",
    "Trajectory": "trajectory",
    "TrajectoryRecorder": "trajectory_recorder",
    "along_bends": "configurations",
    "along_configurations": "configurations",
    "bend_wave": "travelling_bend",
    "body_tubes": "replaying",
    "load_path": "equilibria",
    "mode_swing": "equilibria",
    "replay_scene": "replaying",
    "replay_with_tendons": "configurations",
    "shape_contacts": "contacts",
    "tendon_lines": "configurations",
}


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"hydrostat.results.{name}")
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.results.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.results' has no attribute '{name}'")
