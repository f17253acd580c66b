"""Tubes around the axes of arms: surfaces whose vertices are computed anew for every picture.

A tube goes through the circles around all points of a drawn arm, with the radius that the arm has there at the moment,
so that taper and swelling are seen as they are. Its tip is round.
"""

import numpy as np

SIDES = 14
"""Corners of a ring."""
_DOME = np.radians([0.0, 30.0, 55.0, 75.0])  # angles above the equator of the rings of the round tip
_DOME_HEIGHT = 0.5  # of the round tip, over the radius there


def tube_faces(points: int, sides: int = SIDES) -> np.ndarray:
    """The triangles [face, 3] of a tube through some points, counter-clockwise seen from outside.

    **Arguments:** `points`: along the axis; `sides`: corners of a ring.
    """
    rings = points - 1 + len(_DOME)
    here = np.arange(sides)
    there = (here + 1) % sides
    lower = sides * np.arange(rings - 1)[:, None]
    upper = lower + sides
    base, tip, top = rings * sides, rings * sides + 1, sides * (rings - 1)
    parts = (
        np.stack([lower + here, lower + there, upper + there], -1),
        np.stack([lower + here, upper + there, upper + here], -1),
        np.stack([np.full(sides, base), there, here], -1),
        np.stack([np.full(sides, tip), top + here, top + there], -1),
    )
    return np.concatenate([part.reshape(-1, 3) for part in parts]).astype(np.uint32)


def tube_vertices(positions: np.ndarray, rotations: np.ndarray, radii: np.ndarray, sides: int = SIDES) -> np.ndarray:
    """The vertices [..., vertex, 3] of tubes [m]: rings from base to tip, the base's centre, the tip.

    **Arguments:** `positions`: points along the axis [..., point, 3] [m]; `rotations`: of the sections
    [..., point, 3, 3], whose third column is the tangent; `radii`: [..., point] [m]; `sides`: corners of a ring.
    """
    # The last ring is drawn as the rings of a dome, which ends at the tip.
    last = np.linalg.norm(positions[..., -1, :] - positions[..., -2, :], axis=-1)
    height = np.minimum(_DOME_HEIGHT * radii[..., -1], 0.5 * last)
    below = height[..., None, None] * (1.0 - np.sin(_DOME))[:, None]
    dome = positions[..., -1:, :] - below * rotations[..., -1:, :, 2]
    centres = np.concatenate([positions[..., :-1, :], dome], -2)
    frames = np.concatenate([rotations[..., :-1, :, :2], np.repeat(rotations[..., -1:, :, :2], len(_DOME), -3)], -3)
    widths = np.concatenate([radii[..., :-1], radii[..., -1:] * np.cos(_DOME)], -1)
    azimuth = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(azimuth), np.sin(azimuth)])
    spokes = np.swapaxes((widths[..., None, None] * frames) @ circle, -1, -2)
    rings = (centres[..., None, :] + spokes).reshape(*positions.shape[:-2], -1, 3)
    return np.concatenate([rings, positions[..., :1, :], positions[..., -1:, :]], -2).astype(np.float32)
