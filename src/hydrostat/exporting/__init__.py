"""Exporting: robots as rigid bodies and joints, written as MJCF and URDF, and kept in step with MuJoCo.

Names load when they are first used, so that a request is checked before JAX is there.
"""

import importlib as _importlib
from typing import TYPE_CHECKING

from hydrostat.exporting.request import CHAINS, FORMATS, check_request, default_chain

if TYPE_CHECKING:
    from hydrostat.exporting.description import Joint, Leg, Link, Ring, Servo, Shape, Tendon, Twin
    from hydrostat.exporting.engine import from_qpos, has_mujoco, import_mujoco, load_mujoco, place, tips, to_qpos
    from hydrostat.exporting.mjcf import write_mjcf
    from hydrostat.exporting.motion import TwinMotion, release_twin, tips_in_poses
    from hydrostat.exporting.objects import with_objects
    from hydrostat.exporting.picture import NoRendererError, View, render
    from hydrostat.exporting.radial_joints import RadialJoints
    from hydrostat.exporting.twin import make_twin
    from hydrostat.exporting.urdf import write_urdf

_NAMES = {
    **dict.fromkeys(("Joint", "Leg", "Link", "Ring", "Servo", "Shape", "Tendon", "Twin"), "description"),
    **dict.fromkeys(("from_qpos", "has_mujoco", "import_mujoco", "load_mujoco", "place", "tips", "to_qpos"), "engine"),
    **dict.fromkeys(("TwinMotion", "release_twin", "tips_in_poses"), "motion"),
    **dict.fromkeys(("NoRendererError", "View", "render"), "picture"),
    "RadialJoints": "radial_joints",
    "make_twin": "twin",
    "with_objects": "objects",
    "write_mjcf": "mjcf",
    "write_urdf": "urdf",
}

__all__ = [
    "CHAINS",
    "FORMATS",
    "Joint",
    "Leg",
    "Link",
    "NoRendererError",
    "RadialJoints",
    "Ring",
    "Servo",
    "Shape",
    "Tendon",
    "Twin",
    "TwinMotion",
    "View",
    "check_request",
    "default_chain",
    "from_qpos",
    "has_mujoco",
    "import_mujoco",
    "load_mujoco",
    "make_twin",
    "place",
    "release_twin",
    "render",
    "tips",
    "tips_in_poses",
    "to_qpos",
    "with_objects",
    "write_mjcf",
    "write_urdf",
]


def __getattr__(name: str):
    if name in _NAMES:
        return getattr(_importlib.import_module(f"hydrostat.exporting.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'hydrostat.exporting' has no attribute '{name}'; it has {', '.join(__all__)}")
