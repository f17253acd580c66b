"""What is drawn of the arms: skin, activation of muscles, suckers, tendons.

A layer is made once from a scene, and then updated from scenes of the same system, one message for each array that has
changed: a page follows a simulation by a few messages a picture, however many vertices there are.
"""

import abc
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.live.pictures import AlikeArms, Picture, quaternions, turned_about_z
from hydrostat.viewer import colors
from hydrostat.viewer.tubes import tube_faces, tube_vertices

if TYPE_CHECKING:
    from viser import SceneApi

_RAISED = 1.025  # of the arm's radius, where muscles are drawn so that the skin does not hide them
_PATCHES = 8  # around an arm: a longitudinal muscle and the radial ones by turns
_AZIMUTHS = 2.0 * np.pi * np.arange(_PATCHES) / _PATCHES
_FEW = 12  # segments, below which muscles are drawn in more pieces than one a segment
_SPREAD = 0.45  # angle of both rows of suckers from the underside [rad]
_OUTSIDE = 1.03  # of the arm's radius, where tendons are drawn


class Skin:
    """The arms as tubes, each a mesh of its own whose vertices are streamed."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture, opacity: float | None = None, color=None):
        """**Arguments:** `opacity`: below 1 for a ghost; `color`: of all arms, their own when not given."""
        scene = picture.scene
        whole = len(picture.alike) == 1 and len(scene.arms) > 1 and picture.alike[0].activation.shape[-1] > 0
        self.colors = [color or (colors.SKIN if whole else colors.ARMS[i % 4]) for i in range(len(scene.arms))]
        first = self._vertices(picture)
        self.meshes = [
            api.add_mesh_simple(
                f"{root}/arms/{name}",
                first[i],
                tube_faces(scene.arms[i].positions.shape[1]),
                color=self.colors[i],
                opacity=opacity,
                cast_shadow=opacity is None,
                receive_shadow=opacity is None,
            )
            for i, name in enumerate(scene.names)
        ]

    @staticmethod
    def _vertices(picture: Picture) -> dict[int, np.ndarray]:
        """The vertices of every arm, by its number."""
        found = {}
        for arms in picture.alike:
            found.update(zip(arms.members, tube_vertices(arms.positions, arms.rotations, arms.radii), strict=True))
        return found

    def update(self, picture: Picture) -> None:
        """Move the skin to where the arms are."""
        for i, vertices in self._vertices(picture).items():
            self.meshes[i].vertices = vertices

    def show(self, visible: bool) -> None:
        """Show or hide all arms."""
        for mesh in self.meshes:
            mesh.visible = visible


class _Instances(abc.ABC):
    """Copies of one small mesh on the skin of all arms, each with its place, turn, size and colour."""

    def __init__(self, api: "SceneApi", name: str, shape: tuple[np.ndarray, np.ndarray], picture: Picture):
        positions, wxyzs, scales, shades = self._arrays(picture)
        self.copies = api.add_batched_meshes_simple(
            name,
            *shape,
            wxyzs,
            positions,
            batched_scales=scales,
            batched_colors=shades,
            lod="off",
            cast_shadow=False,
            receive_shadow=True,
        )
        self._visible = True

    def update(self, picture: Picture) -> None:
        """Show them as they are at a moment."""
        if self._visible:
            arrays = self._arrays(picture)
            copies = self.copies
            copies.batched_positions, copies.batched_wxyzs, copies.batched_scales, copies.batched_colors = arrays

    def show(self, visible: bool) -> None:
        """Show or hide all of them."""
        self._visible = self.copies.visible = visible

    def _arrays(self, picture: Picture) -> tuple[np.ndarray, ...]:
        found = [self._of_arms(arms, picture) for arms in picture.alike]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    @abc.abstractmethod
    def _of_arms(self, arms: AlikeArms, picture: Picture) -> tuple[np.ndarray, ...]:
        """Positions, quaternions, scales and colours of the copies on arms that are alike."""


class Muscles(_Instances):
    """The activation of muscles as patches on the skin, brighter with the root of it.

    The patches on four sides of a segment are its longitudinal muscles, those between them its radial muscles.
    """

    def __init__(self, api: "SceneApi", root: str, picture: Picture, skin: Skin):
        self._skin = np.array(skin.colors)
        super().__init__(api, f"{root}/muscles", _patch(), picture)

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> tuple[np.ndarray, ...]:
        """Positions, quaternions, scales and colours of the patches of arms that are alike."""
        del picture
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
        skin = self._skin[list(arms.members)][:, None, None]
        sides = colors.mixed(skin, colors.LONGITUDINAL, own[..., :4])
        radial = colors.mixed(skin, colors.RADIAL, own[..., 4:5])
        shades = np.stack([sides, np.broadcast_to(radial, sides.shape)], -2)
        return (
            np.repeat(ends[:, :-1].reshape(-1, 3), _PATCHES, 0).astype(np.float32),
            turned.reshape(-1, 4),
            np.repeat(scales.reshape(-1, 3), _PATCHES, 0).astype(np.float32),
            colors.of_instances(shades.reshape(-1, 3)),
        )


def _patch() -> tuple[np.ndarray, np.ndarray]:
    """A piece of a cylinder of radius and length 1 about +x, wide enough that eight go round."""
    azimuth = np.linspace(-np.pi / _PATCHES, np.pi / _PATCHES, 4)
    rim = np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    vertices = np.concatenate([np.column_stack([rim, np.full(4, z)]) for z in (0.0, 1.0)])
    faces = [[i, i + 1, i + 5] for i in range(3)] + [[i, i + 5, i + 4] for i in range(3)]
    return vertices.astype(np.float32), np.array(faces, np.uint32)


class SuckerMarks(_Instances):
    """Suckers as two rows of discs along the underside of each arm, coloured by what they hold."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        super().__init__(api, f"{root}/suckers", _disc(), picture)

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> tuple[np.ndarray, ...]:
        """Positions, quaternions, scales and colours of the suckers of arms that are alike."""
        return _suckers_of(arms, picture.scene.objects[picture.row])


def _suckers_of(arms: AlikeArms, objects: np.ndarray) -> tuple[np.ndarray, ...]:
    """Positions, quaternions, scales and colours of the suckers of arms that are alike, two for each segment."""
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
    return (
        (points[:, None] + 0.97 * radii[:, None, None] * z).reshape(-1, 3).astype(np.float32),
        quaternions(frames).reshape(-1, 4),
        np.repeat(0.42 * radii, 6).reshape(-1, 3).astype(np.float32),
        colors.of_instances(np.repeat(shade, 2, 0)),
    )


def _disc(sides: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """A low cup of radius 1 that opens towards +z."""
    azimuth = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(azimuth), np.sin(azimuth)], -1)
    rings = [(0.7, 0.0), (1.0, 0.35), (0.75, 0.5), (0.0, 0.2)]
    vertices = np.concatenate([np.column_stack([size * circle, np.full(sides, z)]) for size, z in rings])
    here = np.arange(sides)
    there = (here + 1) % sides
    faces = []
    for ring in range(len(rings) - 1):
        a, b = sides * ring, sides * (ring + 1)
        faces += [np.stack([a + here, a + there, b + there], -1), np.stack([a + here, b + there, b + here], -1)]
    return vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32)


class TendonLines:
    """Tendons as lines on the skin, from grey where they are slack to red at the largest tension so far."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        self.most = 1e-9
        """The largest tension so far [N]."""
        points, shades = self._arrays(picture)
        width = 0.12 * float(np.mean([np.mean(arm.radii) for arm in picture.scene.arms]))
        self.lines = api.add_line_segments(f"{root}/tendons", points, shades, thickness=width)

    def update(self, picture: Picture) -> None:
        """Show the tendons of a moment."""
        self.lines.points, self.lines.colors = self._arrays(picture)

    def show(self, visible: bool) -> None:
        """Show or hide the tendons."""
        self.lines.visible = visible

    def _arrays(self, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
        scene, row = picture.scene, picture.row
        self.most = max([self.most, *(float(arm.tension[row].max()) for arm in scene.arms if arm.tension.shape[1])])
        points, shades = [], []
        for arm in scene.arms:
            for course, tension in zip(arm.tendons, arm.tension[row], strict=True):
                line = course.on_skin(arm.positions[row], arm.rotations[row], arm.radii[row], _OUTSIDE)
                points.append(np.stack([line[:-1], line[1:]], 1))
                shade = colors.mixed(colors.SLACK, colors.TIGHT, np.asarray(tension / self.most))
                shades.append(np.broadcast_to(shade, (len(line) - 1, 2, 3)))
        return np.concatenate(points).astype(np.float32), np.concatenate(shades)
