"""hydrostat: simulate and control octopus-inspired continuum arms.

    import hydrostat as hs

    sea = hs.System(hs.robots.octopus(), [hs.Water(), hs.Ground(), hs.Suckers(), hs.ArmContact()])
    trajectory = hs.simulate(sea, hs.gaits.Crawl(heading=0.6), seconds=4.0, dt=5e-3)

Importing hydrostat switches JAX to float64: arms are stiff, and single precision is not enough to step them. What JAX
compiles is kept in the user's cache folder, so that a second start is quick. Submodules and names load when they are
first used, so that the command line answers before JAX is there.
"""

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING

from hydrostat._version import __version__
from hydrostat.kept_files import private_folder as _private_folder

if TYPE_CHECKING:
    from hydrostat import (
        actuation,
        bodies,
        control,
        errors,
        exporting,
        identification,
        lie,
        mechanics,
        results,
        robots,
        scenarios,
        segments,
        sensing,
        simulation,
        stepping,
        streaming,
        surroundings,
        teleoperation,
        viewer,
    )
    from hydrostat.control import Controller, commands, controller, gaits, hierarchy
    from hydrostat.lie import SE3
    from hydrostat.mechanics import Robot
    from hydrostat.results import Trajectory, load
    from hydrostat.sensing import Observation, Sensor, Sensors
    from hydrostat.simulation import RealTime, rollout, simulate
    from hydrostat.statics import energy, equilibrium, tip, vibrations
    from hydrostat.stepping import RK4, SDIRK2, LinearImplicitEuler, step
    from hydrostat.surroundings import ArmContact, Ball, ContactLaw, Ground, Jet, Obstacles, Suckers, Water
    from hydrostat.system import Control, State, System

# JAX reads these variables when it is imported; if it already is, tell it directly.
# What it compiles is kept in a folder that is the user's alone, and not at all where there is none.
_CACHE = _private_folder("jax")
_SETTINGS = {
    "jax_enable_x64": True,
    **({} if _CACHE is None else {"jax_compilation_cache_dir": str(_CACHE)}),
    "jax_persistent_cache_min_compile_time_secs": 0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
if "jax" in _sys.modules:
    _jax = _sys.modules["jax"]
    if _jax.config.jax_compilation_cache_dir is None:
        for _name, _value in _SETTINGS.items():
            _jax.config.update(_name, _value)
    _jax.config.update("jax_enable_x64", True)
else:
    for _name, _value in _SETTINGS.items():
        _os.environ.setdefault(_name.upper(), str(_value))

_MODULES = {
    "actuation": "actuation",
    "bodies": "bodies",
    "commands": "control.commands",
    "control": "control",
    "errors": "errors",
    "exporting": "exporting",
    "gaits": "control.gaits",
    "hierarchy": "control.hierarchy",
    "identification": "identification",
    "lie": "lie",
    "mechanics": "mechanics",
    "results": "results",
    "robots": "robots",
    "scenarios": "scenarios",
    "segments": "segments",
    "sensing": "sensing",
    "simulation": "simulation",
    "stepping": "stepping",
    "streaming": "streaming",
    "surroundings": "surroundings",
    "teleoperation": "teleoperation",
    "viewer": "viewer",
}
_NAMES = {
    "ArmContact": "surroundings",
    "Ball": "surroundings",
    "ContactLaw": "surroundings",
    "Control": "system",
    "Controller": "control",
    "Ground": "surroundings",
    "Jet": "surroundings",
    "LinearImplicitEuler": "stepping",
    "Observation": "sensing",
    "Obstacles": "surroundings",
    "RK4": "stepping",
    "RealTime": "simulation",
    "Robot": "mechanics",
    "SDIRK2": "stepping",
    "SE3": "lie",
    "Sensor": "sensing",
    "Sensors": "sensing",
    "State": "system",
    "Suckers": "surroundings",
    "System": "system",
    "Trajectory": "results",
    "Water": "surroundings",
    "controller": "control",
    "energy": "statics",
    "equilibrium": "statics",
    "load": "results",
    "rollout": "simulation",
    "simulate": "simulation",
    "step": "stepping",
    "tip": "statics",
    "vibrations": "statics",
}

__all__ = [
    "RK4",
    "SDIRK2",
    "SE3",
    "ArmContact",
    "Ball",
    "ContactLaw",
    "Control",
    "Controller",
    "Ground",
    "Jet",
    "LinearImplicitEuler",
    "Observation",
    "Obstacles",
    "RealTime",
    "Robot",
    "Sensor",
    "Sensors",
    "State",
    "Suckers",
    "System",
    "Trajectory",
    "Water",
    "__version__",
    "actuation",
    "bodies",
    "commands",
    "control",
    "controller",
    "energy",
    "equilibrium",
    "errors",
    "exporting",
    "gaits",
    "hierarchy",
    "identification",
    "lie",
    "load",
    "mechanics",
    "results",
    "robots",
    "rollout",
    "scenarios",
    "segments",
    "sensing",
    "simulate",
    "simulation",
    "step",
    "stepping",
    "streaming",
    "surroundings",
    "teleoperation",
    "tip",
    "vibrations",
    "viewer",
]


def __getattr__(name: str):
    if name in _MODULES:
        return _imported(_MODULES[name])
    if name in _NAMES:
        return getattr(_imported(_NAMES[name]), name)
    raise AttributeError(f"module 'hydrostat' has no attribute '{name}'; it has {', '.join(__all__)}")


def _imported(module: str):
    """A submodule; arrays that it makes are no part of a trace, where it is first used within `jax.jit`."""
    if "jax" in _sys.modules:
        with _sys.modules["jax"].ensure_compile_time_eval():
            return _importlib.import_module(f"hydrostat.{module}")
    return _importlib.import_module(f"hydrostat.{module}")


def __dir__() -> list[str]:
    return sorted(__all__)
