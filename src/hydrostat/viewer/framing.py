"""Framing: positions of camera and ground with which the whole motion is in the picture."""

from dataclasses import dataclass

import numpy as np

from hydrostat.viewer.shapes import Track

FIELD_OF_VIEW = np.radians(38.0)  # vertical
_WIDTH_OVER_HEIGHT = 1.25  # of the narrowest window that still shows everything
_FILLED = 0.8  # share of the window that the motion may fill
_YAW, _PITCH = np.radians(28.0), np.radians(17.0)


@dataclass(frozen=True)
class Framing:
    """A view of the scene: camera and its target, height of the ground (world), the scene's size, a grid cell [m]."""

    camera: np.ndarray
    look_at: np.ndarray
    ground: float
    size: float
    grid: float


def frame(points: np.ndarray, lowest: float) -> Framing:
    """Choose a view that holds all `points` [point, 3]; the ground lies at `lowest`, or at 0 when that is near."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = float(np.linalg.norm(high - low))
    if size == 0:
        raise ValueError(f"a replay needs something to see; all points lie at {low.tolist()}")
    ground = 0.0 if abs(lowest) < 0.03 * size else lowest

    # Stand on the side from which the motion is broadest: along its narrowest horizontal direction, from -y.
    _, axes = np.linalg.eigh(np.cov(points[:, :2].T))
    side = axes[:, 0] * (-1.0 if axes[1, 0] > 0 else 1.0)
    azimuth = np.arctan2(side[1], side[0]) + _YAW
    back = np.array([np.cos(_PITCH) * np.cos(azimuth), np.cos(_PITCH) * np.sin(azimuth), np.sin(_PITCH)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.cross(back, right)

    # Centre the motion in the picture, then step back until every point is inside.
    R_world_camera = np.stack([right, up, back], axis=-1)
    local = points @ R_world_camera
    centre = (local.min(axis=0) + local.max(axis=0)) / 2
    across, upwards, towards = (local - centre).T
    tangent = _FILLED * np.tan(FIELD_OF_VIEW / 2)
    distance = np.max(towards + np.maximum(np.abs(upwards), np.abs(across) / _WIDTH_OVER_HEIGHT) / tangent)
    look_at = R_world_camera @ centre
    return Framing(camera=look_at + distance * back, look_at=look_at, ground=ground, size=size, grid=grid_cell(size))


def grid_cell(size: float) -> float:
    """Return the power of ten [m] that divides a scene of `size` [m] into 3 to 30 cells."""
    return 10.0 ** np.floor(np.log10(size / 3))


def surroundings(track: Track) -> np.ndarray:
    """Return points [point, 3] around which a tube's surface lies: its nodes, one radius to all six sides."""
    sides = np.concatenate([np.eye(3), -np.eye(3)])
    return (track.positions[:, :, None] + track.radii[:, :, None, None] * sides).reshape(-1, 3)


def lowest(track: Track) -> float:
    """Return the lowest z of the circles around a tube's nodes [m]."""
    tangent_z = 1 - 2 * (track.wxyz[..., 1] ** 2 + track.wxyz[..., 2] ** 2)
    return float(np.min(track.positions[..., 2] - track.radii * np.sqrt(np.clip(1 - tangent_z**2, 0, 1))))
