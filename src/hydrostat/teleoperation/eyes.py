"""The eyes of a body: two cameras side by side in its head, which estimate obstacles as balls.

The paper of the squid names a stereo view from the head and has no number for it; all numbers here are assumed. In the
body's frame z is forwards, x down and y to port.
"""

import jax.numpy as jnp
import numpy as np

from hydrostat.lie import SE3
from hydrostat.robots import LimbedSpec
from hydrostat.robots.build import base_pose
from hydrostat.sensing import Camera, StereoHead

_PLACE = (-0.10, 0.0, 0.0)  # m, above the limbs, at the bow
_DOWN = np.deg2rad(35.0)  # to where limbs hang
_APART = 0.12  # m
_CAMERA = Camera(width=640, height=480, field_of_view=np.deg2rad(70.0), noise=0.5, rate=5.0)


def eyes_pose(body: LimbedSpec) -> SE3:
    """The frame of the eyes: z along their view, x to starboard, y down in the picture."""
    pose, turn = base_pose(body.base), np.array([np.cos(_DOWN), np.sin(_DOWN)])
    ahead, starboard = np.array([turn[1], 0.0, turn[0]]), np.array([0.0, -1.0, 0.0])
    R = np.stack([starboard, np.cross(ahead, starboard), ahead], -1)
    rotation = np.asarray(pose.rotation)
    return SE3(jnp.asarray(rotation @ R), jnp.asarray(np.asarray(pose.position) + rotation @ np.array(_PLACE)))


class Eyes:
    """The stereo view of a body that is held."""

    def __init__(self, body: LimbedSpec, seed: int = 0):
        """**Arguments:** `seed`: of the noise of the pictures."""
        self.pose = eyes_pose(body)
        self._head = StereoHead(_CAMERA, _APART, seed)

    def observe(self, now: float, centre, radius: float) -> tuple[np.ndarray, float] | None:
        """Centre and radius of a ball as they are estimated at a time [s]; None where it is not seen, or no new
        picture has come.
        """
        found = self._head.observe(now, self.pose, [(np.asarray(centre), radius)])
        return (found[0].centre, found[0].radius) if found else None
