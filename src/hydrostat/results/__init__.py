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
    from hydrostat.results import (
        accuracy,
        analysis,
        drawing,
        figures,
        measures,
        panels,
        planar_figures,
        platform_figures,
        rows,
    )
    from hydrostat.results.authors_rows import authors_legs, authors_tracking
    from hydrostat.results.configurations import along_bends, along_configurations, replay_with_tendons, tendon_lines
    from hydrostat.results.contacts import BallContact, ShapeContact, arm_gaps, ball_contact, shape_contacts
    from hydrostat.results.deliveries import Delivery, gaps_to_arms
    from hydrostat.results.digest import BALANCE, Digest
    from hydrostat.results.equilibria import load_path, mode_swing
    from hydrostat.results.filming import film
    from hydrostat.results.obstacle_rows import ObstacleContact, contact_fractions, obstacle_contact
    from hydrostat.results.platform_recorder import PlatformRecorder
    from hydrostat.results.platform_summary import PlatformMotion, PlatformSummary, platform_motion
    from hydrostat.results.replaying import body_tubes, replay_scene
    from hydrostat.results.scene import per_arm
    from hydrostat.results.tip_tracking import TipTracking, goal_tracking, target_tracking
    from hydrostat.results.trajectory import Trajectory
    from hydrostat.results.trajectory_recorder import TrajectoryRecorder
    from hydrostat.results.travelling_bend import BendWave, bend_wave

__all__ = [
    "BALANCE",
    "BallContact",
    "BendWave",
    "Coordinate",
    "Delivery",
    "Digest",
    "ObstacleContact",
    "PlatformMotion",
    "PlatformRecorder",
    "PlatformSummary",
    "Recorder",
    "ShapeContact",
    "TipTracking",
    "Trajectory",
    "TrajectoryRecorder",
    "Variable",
    "accuracy",
    "along_bends",
    "along_configurations",
    "analysis",
    "arm_gaps",
    "authors_legs",
    "authors_tracking",
    "ball_contact",
    "bend_wave",
    "body_tubes",
    "check_metrics",
    "contact_fractions",
    "drawing",
    "figures",
    "film",
    "gaps_to_arms",
    "goal_tracking",
    "load",
    "load_path",
    "measures",
    "mode_swing",
    "new_folder",
    "obstacle_contact",
    "panels",
    "per_arm",
    "planar_figures",
    "platform_figures",
    "platform_motion",
    "record_arrays",
    "replay_scene",
    "replay_with_tendons",
    "rows",
    "shape_contacts",
    "target_tracking",
    "tendon_lines",
    "write_json",
]

_MODULES = (
    "accuracy",
    "analysis",
    "drawing",
    "figures",
    "measures",
    "panels",
    "planar_figures",
    "platform_figures",
    "rows",
)
_LATER = {
    "BALANCE": "digest",
    "BendWave": "travelling_bend",
    "Delivery": "deliveries",
    "Digest": "digest",
    "ObstacleContact": "obstacle_rows",
    "PlatformMotion": "platform_summary",
    "PlatformRecorder": "platform_recorder",
    "PlatformSummary": "platform_summary",
    "BallContact": "contacts",
    "ShapeContact": "contacts",
    "TipTracking": "tip_tracking",
    "Trajectory": "trajectory",
    "TrajectoryRecorder": "trajectory_recorder",
    "along_bends": "configurations",
    "along_configurations": "configurations",
    "authors_legs": "authors_rows",
    "authors_tracking": "authors_rows",
    "bend_wave": "travelling_bend",
    "body_tubes": "replaying",
    "contact_fractions": "obstacle_rows",
    "film": "filming",
    "gaps_to_arms": "deliveries",
    "goal_tracking": "tip_tracking",
    "load_path": "equilibria",
    "mode_swing": "equilibria",
    "obstacle_contact": "obstacle_rows",
    "per_arm": "scene",
    "platform_motion": "platform_summary",
    "replay_scene": "replaying",
    "replay_with_tendons": "configurations",
    "arm_gaps": "contacts",
    "ball_contact": "contacts",
    "shape_contacts": "contacts",
    "target_tracking": "tip_tracking",
    "tendon_lines": "configurations",
}


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"hydrostat.results.{name}")
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.results.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.results' has no attribute '{name}'")
