"""What is seen on the skin of arms: muscles that are active, suckers and what they hold, as copies of small meshes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hydrostat.viewer import colors

_RAISED = 1.025  # of the arm's radius, where muscles are drawn so that the skin does not hide them
_PATCHES = 8  # around an arm: a longitudinal muscle and the radial ones by turns
_AZIMUTHS = 2.0 * np.pi * np.arange(_PATCHES) / _PATCHES
_FEW = 12  # segments, below which muscles are drawn in more pieces than one a segment
_SPREAD = 0.45  # angle of both rows of suckers from the underside [rad]
_SEEN = 0.01  # activation, below which a muscle is not told from the skin
_BUNDLE = 64  # patches by which their number changes: a page makes a new mesh for each other number


@dataclass(frozen=True)
class AlikeArms:
    """Arms with as many points, segments and muscles each, at one moment; the arm is the first axis."""

    members: tuple[int, ...]
    """The numbers of the arms in the scene."""
    positions: np.ndarray
    rotations: np.ndarray
    radii: np.ndarray
    holds: np.ndarray
    takes: np.ndarray
    activation: np.ndarray
    per_segment: int


class Copies(NamedTuple):
    """Copies of a small mesh, each with its place, turn, size and colour."""

    positions: np.ndarray
    wxyzs: np.ndarray
    scales: np.ndarray
    colors: np.ndarray

    @staticmethod
    def joined(parts: "list[Copies]") -> "Copies":
        """All copies of several kinds of arms."""
        return Copies(*(np.concatenate(own) for own in zip(*parts, strict=True)))


def placed(vertices: np.ndarray, copies: Copies) -> np.ndarray:
    """The vertices (v, 3) of a small mesh in the world, for each of its copies (n, v, 3) [m]."""
    w, x, y, z = copies.wxyzs.T
    rotations = np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
        ],
        -2,
    )
    sized = vertices * copies.scales[:, None]
    return (sized @ np.swapaxes(rotations, -1, -2) + copies.positions[:, None]).astype(np.float32)


def muscles_of(arms: AlikeArms, skin: np.ndarray) -> Copies:
    """The active muscles of arms that are alike as patches, brighter with the root of the activation.

    The patches on four sides of a segment are its longitudinal muscles, those between them its radial muscles.

    **Arguments:** `skin`: colour of each arm (arms, 3).
    """
    segments = arms.activation.shape[1]
    step = arms.per_segment if segments >= _FEW else 1
    ends, radii, frames = arms.positions[:, ::step], arms.radii[:, ::step], arms.rotations[:, ::step]
    along = np.diff(ends, axis=1)
    length = np.linalg.norm(along, axis=-1)
    # The axes of a patch: its own z along the chord, x as near to the section's x as can be.
    z = along / np.maximum(length, 1e-12)[..., None]
    x = frames[:, :-1, :, 0] + frames[:, 1:, :, 0]
    x = x - np.sum(x * z, -1, keepdims=True) * z
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    turned = turned_about_z(quaternions(np.stack([x, np.cross(z, x), z], -1)), _AZIMUTHS)
    radius = 0.5 * _RAISED * (radii[:, :-1] + radii[:, 1:])
    scales = np.stack([radius, radius, length], -1)
    # The root of the activation: a few percent, as most commands have, are seen too.
    own = np.sqrt(np.repeat(arms.activation, arms.per_segment // step, 1))
    skin = skin[:, None, None]
    sides = colors.mixed(skin, colors.LONGITUDINAL, own[..., :4])
    radial = colors.mixed(skin, colors.RADIAL, own[..., 4:5])
    shades = np.stack([sides, np.broadcast_to(radial, sides.shape)], -2)
    active = np.stack([own[..., :4], np.broadcast_to(own[..., 4:5], sides.shape[:-1])], -1).reshape(-1)
    seen = _bundled(active**2 > _SEEN)
    return Copies(
        np.repeat(ends[:, :-1].reshape(-1, 3), _PATCHES, 0)[seen].astype(np.float32),
        turned.reshape(-1, 4)[seen],
        np.repeat(scales.reshape(-1, 3), _PATCHES, 0)[seen].astype(np.float32),
        colors.of_instances(shades.reshape(-1, 3)[seen]),
    )


def _bundled(seen: np.ndarray) -> np.ndarray:
    """The numbers of what is seen, and of some that is not, so that their count is a multiple, or all there are."""
    more = np.flatnonzero(~seen)
    count = min(-(-max(len(seen) - len(more), 1) // _BUNDLE) * _BUNDLE, len(seen))
    return np.concatenate([np.flatnonzero(seen), more])[:count]


def patch(pieces: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A piece of a cylinder of radius and length 1 about +x, wide enough that eight go round.

    **Arguments:** `pieces`: flat ones, side by side.
    """
    azimuth = np.linspace(-np.pi / _PATCHES, np.pi / _PATCHES, pieces + 1)
    rim = np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    vertices = np.concatenate([np.column_stack([rim, np.full(pieces + 1, z)]) for z in (0.0, 1.0)])
    up = pieces + 1
    faces = [[i, i + 1, i + 1 + up] for i in range(pieces)] + [[i, i + 1 + up, i + up] for i in range(pieces)]
    return vertices.astype(np.float32), np.array(faces, np.uint32)


def suckers_of(arms: AlikeArms, objects: np.ndarray) -> Copies:
    """The suckers of arms that are alike, two for each segment, coloured by what they hold.

    **Arguments:** `objects`: centres of free objects (o, 3) [m].
    """
    every = slice(arms.per_segment, None, arms.per_segment)
    points, radii, tangents = (
        y[:, every].reshape(-1, *y.shape[2:]) for y in (arms.positions, arms.radii, arms.rotations[..., 2])
    )
    taking = arms.takes.reshape(-1) > 0.0
    # Suckers point down, or to the object that they hold.
    down = np.broadcast_to([0.0, 0.0, -1.0], points.shape).copy()
    if taking.any() and len(objects):
        away = objects[None] - points[taking][:, None]
        nearest = np.argmin(np.linalg.norm(away, axis=-1), -1)
        down[taking] = away[np.arange(len(away)), nearest]
    down -= np.sum(down * tangents, -1, keepdims=True) * tangents
    down /= np.maximum(np.linalg.norm(down, axis=-1, keepdims=True), 1e-9)
    # Their z points away from the arm, on both sides of the line that points down; their x along the arm.
    z = (
        np.cos(_SPREAD) * down[:, None]
        + np.array([-1.0, 1.0])[:, None] * np.sin(_SPREAD) * np.cross(tangents, down)[:, None]
    )
    x = np.broadcast_to(tangents[:, None], z.shape)
    frames = np.stack([x, np.cross(z, x), z], -1)
    shade = np.where(arms.holds.reshape(-1, 1) > 0.0, colors.HOLDS_GROUND, colors.SUCKER)
    shade = np.where(taking[:, None], colors.HOLDS_OBJECT, shade)
    return Copies(
        (points[:, None] + 0.97 * radii[:, None, None] * z).reshape(-1, 3).astype(np.float32),
        quaternions(frames).reshape(-1, 4),
        np.repeat(0.42 * radii, 6).reshape(-1, 3).astype(np.float32),
        colors.of_instances(np.repeat(shade, 2, 0)),
    )


def disc(sides: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A low cup of radius 1 that opens towards +z."""
    azimuth = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    rings = [(0.7, 0.0), (1.0, 0.4), (0.0, 0.15)]
    vertices = np.concatenate([np.column_stack([size * circle, np.full(sides, z)]) for size, z in rings])
    here = np.arange(sides)
    there = (here + 1) % sides
    faces = []
    for ring in range(len(rings) - 1):
        a, b = sides * ring, sides * (ring + 1)
        faces += [np.stack([a + here, a + there, b + there], -1), np.stack([a + here, b + there, b + here], -1)]
    return vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32)


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (w, x, y, z) [..., 4] of rotation matrices [..., 3, 3]."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return flat.reshape(*rotations.shape[:-2], 4).astype(np.float32)


def turned_about_z(wxyz: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Quaternions [..., 4] of rotations, each followed about its own z by the angles [k]: [..., k, 4]."""
    w, x, y, z = (wxyz[..., i, None] for i in range(4))
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], -1).astype(np.float32)
