"""The solid parts of a body that is held, as its specification describes them: Systems know nothing of their look."""

from typing import TYPE_CHECKING

import numpy as np

from hydrostat.robots import LimbedSpec
from hydrostat.robots.build import base_pose
from hydrostat.viewer.skin_marks import quaternions

if TYPE_CHECKING:
    from viser import FrameHandle, SceneApi

_COLOR = (176, 166, 160)


def draw_fixed_body(api: "SceneApi", name: str, spec: LimbedSpec) -> "FrameHandle":
    """Draw the parts of a body where its base is; the frame that they are in."""
    pose = base_pose(spec.base)
    turned, place = quaternions(np.asarray(pose.rotation)), np.asarray(pose.position)
    frame = api.add_frame(name, show_axes=False, wxyz=turned, position=place)
    for part in spec.body.shapes:
        own, at, size = f"{name}/{part.name}", np.asarray(part.position, float), part.size
        if part.kind == "box":
            api.add_box(own, dimensions=size, color=_COLOR, position=at)  # type: ignore[arg-type]
        elif part.kind == "sphere":
            api.add_icosphere(own, size[0], color=_COLOR, position=at)
        else:
            api.add_cylinder(own, size[0], size[1], color=_COLOR, radial_segments=40, position=at)
        if part.kind == "capsule":
            for side in (-0.5, 0.5):
                end = at + np.array([0.0, 0.0, side * size[1]])
                api.add_icosphere(f"{own} {side:+g}", size[0], color=_COLOR, position=end)
    return frame
