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
    from hydrostat.results import accuracy, drawing, figures, panels, planar_figures, platform_figures
    from hydrostat.results.obstacle_rows import ObstacleContact, contact_fractions, obstacle_contact
    from hydrostat.results.platform_rows import PlatformMotion, platform_motion
    from hydrostat.results.tip_tracking import TipTracking, goal_tracking, target_tracking
    from hydrostat.results.trajectory import Trajectory
    from hydrostat.results.trajectory_recorder import TrajectoryRecorder

__all__ = [
    "Coordinate",
    "ObstacleContact",
    "PlatformMotion",
    "Recorder",
    "TipTracking",
    "Trajectory",
    "TrajectoryRecorder",
    "Variable",
    "accuracy",
    "check_metrics",
    "contact_fractions",
    "drawing",
    "figures",
    "goal_tracking",
    "load",
    "new_folder",
    "obstacle_contact",
    "panels",
    "planar_figures",
    "platform_figures",
    "platform_motion",
    "record_arrays",
    "target_tracking",
    "write_json",
]

_MODULES = ("accuracy", "drawing", "figures", "panels", "planar_figures", "platform_figures")
_LATER = {
    "ObstacleContact": "obstacle_rows",
    "PlatformMotion": "platform_rows",
    "TipTracking": "tip_tracking",
    "Trajectory": "trajectory",
    "TrajectoryRecorder": "trajectory_recorder",
    "contact_fractions": "obstacle_rows",
    "goal_tracking": "tip_tracking",
    "obstacle_contact": "obstacle_rows",
    "platform_motion": "platform_rows",
    "target_tracking": "tip_tracking",
}


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"hydrostat.results.{name}")
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.results.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.results' has no attribute '{name}'")
