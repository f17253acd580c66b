"""The surface of a tube, and how it hangs on its nodes."""

from dataclasses import dataclass

import numpy as np

_SIDES = 36
_RINGS_PER_INTERVAL = 3
_DOME_RINGS = 6


@dataclass(frozen=True)
class TubeMesh:
    """A closed triangle mesh along +z with a flat base and a rounded tip.

    **Arguments:** `vertices`: [vertex, 3] [m]; `faces`: [face, 3] counter-clockwise seen from outside; `weights`:
    [vertex, node] how much a vertex follows each node; rows sum to 1.
    """

    vertices: np.ndarray
    faces: np.ndarray
    weights: np.ndarray


def tube_mesh(stations: np.ndarray, radii: np.ndarray, sides: int = _SIDES) -> TubeMesh:
    """Build the tube through circles of `radii` at `stations`, straight, its radius linear in between.

    The dome at the tip takes its height from the last stretch of the tube, so the tip stays where it is.

    **Arguments:** `stations`: [node] arc length, increasing from 0 [m]; `radii`: [node] [m]; `sides`: corners of a
    ring.
    """
    stations, radii = np.asarray(stations, dtype=float), np.asarray(radii, dtype=float)
    last = len(stations) - 1
    dome = 0.5 * min(radii[-1], stations[-1])

    # Profile of the surface of revolution: base disc, wall, dome. The ring inside the rim keeps the base's edge crisp.
    wall = np.interp(np.arange(last * _RINGS_PER_INTERVAL) / _RINGS_PER_INTERVAL, np.arange(last + 1), stations)
    wall = wall[wall < stations[-1] - dome]
    angle = np.linspace(0, np.pi / 2, _DOME_RINGS + 1)[:-1]
    heights = np.concatenate([[0.0], wall, stations[-1] - dome * (1 - np.sin(angle))])
    shoulder = np.interp(stations[-1] - dome, stations, radii)
    profile = np.concatenate([[0.9 * radii[0]], np.interp(wall, stations, radii), shoulder * np.cos(angle)])

    # Each ring follows the two nodes that it lies between, the nearer one more.
    ring_weights = np.stack([np.interp(heights, stations, unit) for unit in np.eye(last + 1)], axis=-1)

    azimuth = 2 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(azimuth), np.sin(azimuth)], axis=-1)
    rings = np.concatenate(
        [
            profile[:, None, None] * circle,
            np.broadcast_to(heights[:, None, None], (len(heights), sides, 1)),
        ],
        axis=-1,
    )
    base, tip = np.zeros((1, 3)), np.array([[0.0, 0.0, stations[-1]]])
    ends = np.eye(last + 1)[[0, -1]]
    return TubeMesh(
        vertices=np.concatenate([rings.reshape(-1, 3), base, tip]),
        faces=_faces(len(heights), sides),
        weights=np.concatenate([np.repeat(ring_weights, sides, axis=0), ends]),
    )


def bind(points: np.ndarray) -> np.ndarray:
    """Halve the z of points [..., 3]: so vertices and bones are bound to one another.

    Skinning carries a vertex along the tangents of both its nodes and takes the mean, which lies outside an arc by
    kappa h^2/8 midway between nodes h apart. Without any offset along z it would lie on the chord, as much inside.
    Half the offset leaves an error of fourth order in h.
    """
    return points * np.array([1.0, 1.0, 0.5])


def _faces(rings: int, sides: int) -> np.ndarray:
    """Triangles between neighbouring rings, and fans onto the two end points that follow the rings."""
    here = np.arange(sides)
    there = (here + 1) % sides
    lower = sides * np.arange(rings - 1)[:, None]
    upper = lower + sides
    wall = [
        np.stack([lower + here, lower + there, upper + there], axis=-1),
        np.stack([lower + here, upper + there, upper + here], axis=-1),
    ]
    base, tip = rings * sides, rings * sides + 1
    top = sides * (rings - 1)
    fans = [
        np.stack([np.full(sides, base), there, here], axis=-1),
        np.stack([np.full(sides, tip), top + here, top + there], axis=-1),
    ]
    return np.concatenate([part.reshape(-1, 3) for part in (*wall, *fans)])
