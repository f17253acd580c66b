"""Pictures of an exported robot, drawn off-screen by MuJoCo."""

import contextlib
import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from hydrostat.errors import InputError
from hydrostat.exporting.description import Twin
from hydrostat.exporting.engine import import_mujoco, place
from hydrostat.exporting.mjcf import write_mjcf
from hydrostat.exporting.xml import numbers

# Soft light from above the water, one colour for each limb, in order.
_LIMB_COLORS = ((0.86, 0.40, 0.30), (0.93, 0.66, 0.26), (0.27, 0.55, 0.62), (0.49, 0.50, 0.72), (0.55, 0.68, 0.52))
_BODY_COLORS = {"head": (0.30, 0.37, 0.46), "pen": (0.45, 0.52, 0.60), "tail": (0.30, 0.37, 0.46)}
_BODY_COLOR = (0.62, 0.68, 0.74)
_MOST_GEOMS = 5000


class NoRendererError(InputError):
    """No renderer is available on this machine."""


@dataclass(frozen=True)
class View:
    """The viewpoint of a picture: a camera of the robot, or one directed at a point of the world."""

    look_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Point at the centre of the picture [m]."""
    distance: float = 1.0
    """Distance of the camera from that point [m]."""
    azimuth_deg: float = 120.0
    """Azimuth of the camera's direction, from the world's x towards its y."""
    elevation_deg: float = -20.0
    """Elevation of the camera's direction, negative downwards."""
    camera: str = ""
    """Name of a camera of the robot, which replaces all other fields."""


def render(
    twin: Twin, shots: Sequence[tuple[Sequence[np.ndarray], View]], size: tuple[int, int] = (960, 720)
) -> list[np.ndarray]:
    """A picture (height, width, 3) of 0 to 255 for each shot: a configuration of every limb, and a view.

    **Arguments:** `size`: width and height in pixels.
    """
    mujoco = import_mujoco()
    width, height = size
    with _drawing(mujoco, width, height):
        model = mujoco.MjModel.from_xml_string(_dressed(twin, width, height))
        data = mujoco.MjData(model)
        scene = mujoco.MjvScene(model, maxgeom=_MOST_GEOMS)
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        frame, options = mujoco.MjrRect(0, 0, width, height), mujoco.MjvOption()
        pictures = []
        for configurations, view in shots:
            place(model, data, twin, *configurations)
            camera = _camera(mujoco, model, view)
            every = mujoco.mjtCatBit.mjCAT_ALL
            mujoco.mjv_updateScene(model, data, options, mujoco.MjvPerturb(), camera, every, scene)
            mujoco.mjr_render(frame, scene, context)
            pixels = np.empty((height, width, 3), np.uint8)
            mujoco.mjr_readPixels(pixels, None, frame, context)
            pictures.append(pixels[::-1].copy())
        context.free()
    return pictures


@contextlib.contextmanager
def _drawing(mujoco, width: int, height: int):
    """A renderer: the one that MUJOCO_GL names, else EGL, else OSMesa."""
    named = os.environ.get("MUJOCO_GL", "").lower()
    tries = [named] if named in ("egl", "osmesa") else ["egl", "osmesa"]
    faults = []
    for kind in tries:
        try:
            drawing = importlib.import_module(f"mujoco.{kind}").GLContext(width, height)
            drawing.make_current()
        except Exception as error:  # each library fails in its own way, at import or later
            faults.append(f"{kind}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
            continue
        try:
            yield
        finally:
            drawing.free()
        return
    raise NoRendererError(
        f"MuJoCo found nothing to draw with ({'; '.join(faults)}); on Debian: apt-get install libegl1 libgl1-mesa-dri"
    )


def _camera(mujoco, model, view: View) -> Any:
    """MuJoCo's camera for a view."""
    camera = mujoco.MjvCamera()
    if view.camera:
        camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(view.camera).id
    else:
        camera.lookat[:], camera.distance = view.look_at, view.distance
        camera.azimuth, camera.elevation = view.azimuth_deg, view.elevation_deg
    return camera


def _dressed(twin: Twin, width: int, height: int) -> str:
    """The exported robot with colours, light and a background; its bodies and joints are what they were."""
    root = ET.fromstring(write_mjcf(twin)[0])
    visual, world = root.find("visual"), root.find("worldbody")
    assert visual is not None
    assert world is not None
    for old in list(visual):
        visual.remove(old)
    ET.SubElement(visual, "global", offwidth=str(width), offheight=str(height), fovy="34")
    ET.SubElement(visual, "quality", shadowsize="4096", offsamples="8", numslices="40", numstacks="24")
    ET.SubElement(visual, "map", znear="0.005", zfar="30")
    ET.SubElement(visual, "headlight", ambient="0.34 0.36 0.38", diffuse="0.28 0.28 0.28", specular="0.05 0.05 0.05")
    assets = ET.SubElement(root, "asset")
    sky = {"rgb1": "0.93 0.96 0.98", "rgb2": "0.62 0.76 0.83", "width": "256", "height": "1536"}
    ET.SubElement(assets, "texture", sky, type="skybox", builtin="gradient")
    sun = world.find("light")
    if sun is not None:
        world.remove(sun)
    light = {"directional": "true", "castshadow": "true", "specular": "0.25 0.25 0.25"}
    ET.SubElement(world, "light", light, pos="0.8 -0.6 3", dir="-0.25 0.25 -1", diffuse="0.62 0.60 0.57")
    fill = {"directional": "true", "castshadow": "false", "diffuse": "0.16 0.18 0.22"}
    ET.SubElement(world, "light", fill, pos="2 2 1", dir="-1 -0.8 -0.2")
    colors = {chain.name: _LIMB_COLORS[i % len(_LIMB_COLORS)] for i, chain in enumerate(twin.chains)}
    for body in root.iter("body"):
        limb = next((name for name in colors if body.get("name", "").startswith(f"{name}_")), None)
        for geom in body.findall("geom"):
            color = _BODY_COLORS.get(geom.get("name", ""), _BODY_COLOR) if limb is None else colors[limb]
            geom.set("rgba", numbers((*color, 1.0)))
        for spot in body.findall("light"):
            # A lamp that brightens what it shines on, without outdoing the day.
            spot.attrib |= {"diffuse": "0.55 0.52 0.42", "castshadow": "false", "cutoff": "25", "exponent": "6"}
    return ET.tostring(root, encoding="unicode")
