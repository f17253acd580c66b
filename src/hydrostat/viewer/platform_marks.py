"""What is seen of chains of platforms: legs and rings, as copies of small meshes."""

import numpy as np

from hydrostat.viewer import colors
from hydrostat.viewer.skin_marks import Copies, quaternions

CLEAR = 0.22
"""Opacity of the skin of an arm whose legs and rings are seen through it."""
_LEG = 0.028  # radius of a leg over that of the widest ring of the arm
_HOOP = 0.05  # radius of a ring's own section over the ring's


def legs_of(ends: np.ndarray, widest: float) -> Copies:
    """Legs from end to end (legs, 2, 3) [m] as rods; `widest`: radius of the widest ring of their arm at rest [m]."""
    away = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(away, axis=-1)
    z = away / np.maximum(length, 1e-12)[:, None]
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z), -1)])
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    radius = np.full(len(ends), _LEG * widest)
    return Copies(
        ends[:, 0].astype(np.float32),
        quaternions(np.stack([x, np.cross(z, x), z], -1)),
        np.stack([radius, radius, length], -1).astype(np.float32),
        _all(colors.LEG, len(ends)),
    )


def rings_of(centres: np.ndarray, rotations: np.ndarray, radii: np.ndarray) -> Copies:
    """Rings (rings, ...) as hoops."""
    scales = np.repeat(radii[:, None], 3, 1).astype(np.float32)
    return Copies(centres.astype(np.float32), quaternions(rotations), scales, _all(colors.RING, len(radii)))


def _all(color: tuple, count: int) -> np.ndarray:
    """One colour for all copies."""
    return colors.of_instances(np.broadcast_to(np.asarray(color), (count, 3)))


def rod(sides: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A cylinder of radius and length 1 along +z, open at its ends."""
    azimuth = 2.0 * np.pi * np.arange(sides) / sides
    rim = np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    vertices = np.concatenate([np.column_stack([rim, np.full(sides, z)]) for z in (0.0, 1.0)])
    return vertices.astype(np.float32), _wall(np.arange(sides), sides + np.arange(sides))


def hoop(sides: int = 28, around: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """A ring of radius 1 about z, of a round section.

    **Arguments:** `sides`: corners of the ring; `around`: corners of its section.
    """
    turn, lift = 2.0 * np.pi * np.arange(around) / around, 2.0 * np.pi * np.arange(sides) / sides
    out, up = 1.0 + _HOOP * np.cos(turn), _HOOP * np.sin(turn)
    circles = [
        np.column_stack([r * np.cos(lift), r * np.sin(lift), np.full(sides, z)]) for r, z in zip(out, up, strict=True)
    ]
    own = [sides * k + np.arange(sides) for k in range(around)]
    faces = [_wall(own[k], own[(k + 1) % around]) for k in range(around)]
    return np.concatenate(circles).astype(np.float32), np.concatenate(faces)


def _wall(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The triangles between two closed lines of as many vertices."""
    near, far = np.roll(lower, -1), np.roll(upper, -1)
    return np.concatenate([np.stack([lower, near, far], -1), np.stack([lower, far, upper], -1)]).astype(np.uint32)
