"""hydrostat: simulate and control octopus-inspired continuum arms.

Importing hydrostat switches JAX to float64: arms are stiff, and single precision is not enough to step them.
Submodules and names load when they are first used, so that the command line answers before JAX is there.
"""

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING

from hydrostat._version import __version__

if TYPE_CHECKING:
    from hydrostat import (
        actuation,
        bodies,
        control,
        exporting,
        lie,
        mechanics,
        results,
        robots,
        scenarios,
        segments,
        stepping,
        surroundings,
        viewer,
    )
    from hydrostat.lie import SE3
    from hydrostat.results import load
    from hydrostat.stepping import Simulation

# JAX reads this variable when it is imported; if it already is, tell it directly.
_os.environ.setdefault("JAX_ENABLE_X64", "1")
if "jax" in _sys.modules:
    _sys.modules["jax"].config.update("jax_enable_x64", True)

_MODULES = (
    "actuation",
    "bodies",
    "control",
    "exporting",
    "lie",
    "mechanics",
    "results",
    "robots",
    "scenarios",
    "segments",
    "stepping",
    "surroundings",
    "viewer",
    "errors",
)
_NAMES = {"SE3": "lie", "Simulation": "stepping", "load": "results"}

__all__ = [
    "SE3",
    "Simulation",
    "__version__",
    "actuation",
    "bodies",
    "control",
    "exporting",
    "lie",
    "load",
    "mechanics",
    "results",
    "robots",
    "scenarios",
    "segments",
    "stepping",
    "surroundings",
    "viewer",
]


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"hydrostat.{name}")
    if name in _NAMES:
        return getattr(_importlib.import_module(f"hydrostat.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'hydrostat' has no attribute '{name}'; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
