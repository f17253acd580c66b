"""What is drawn of the arms: skin, activation of muscles, suckers, legs and rings of platforms, tendons.

A layer is made once from a scene, and then updated from scenes of the same system, one message for each array that has
changed: a page follows a simulation by a few messages a picture, however many vertices there are.
"""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.live.merged_copies import MergedCopies
from hydrostat.live.pictures import Picture
from hydrostat.results.platform_frame import PlatformFrame
from hydrostat.viewer import colors, skin_marks
from hydrostat.viewer.platform_marks import CLEAR, hoop, legs_of, rings_of, rod
from hydrostat.viewer.skin_marks import AlikeArms, Copies
from hydrostat.viewer.tubes import tube_faces, tube_vertices

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, SceneApi

_OUTSIDE = 1.03  # of the arm's radius, where tendons are drawn
_SHARES = (0.25, 0.5, 0.85)  # of a muscle's own colour, that are told apart in light detail


class Skin:
    """The arms as tubes whose vertices are streamed: one mesh for all of a colour."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture, opacity: float | None = None, color=None):
        """**Arguments:** `opacity`: below 1 for a ghost; `color`: of all arms, their own when not given."""
        scene = picture.scene
        if opacity is None and all(arm.frame is not None for arm in scene.arms):
            opacity = CLEAR
        whole = len(picture.alike) == 1 and len(scene.arms) > 1 and picture.alike[0].activation.shape[-1] > 0
        self.colors = [color or (colors.SKIN if whole else colors.ARMS[i % 4]) for i in range(len(scene.arms))]
        self.count = len(scene.arms)
        """The number of arms."""
        # Arms of one colour are one mesh, and one message a picture.
        self._members = [
            [i for i, own in enumerate(self.colors) if own == shade] for shade in dict.fromkeys(self.colors)
        ]
        first = self._vertices(picture)
        self.meshes = [
            api.add_mesh_simple(
                f"{root}/arms/{k + 1}",
                np.concatenate([first[i] for i in members]),
                _joined([(tube_faces(scene.arms[i].positions.shape[1]), len(first[i])) for i in members]),
                color=self.colors[members[0]],
                opacity=opacity,
                cast_shadow=opacity is None,
                receive_shadow=opacity is None,
            )
            for k, members in enumerate(self._members)
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
        found = self._vertices(picture)
        for mesh, members in zip(self.meshes, self._members, strict=True):
            mesh.vertices = np.concatenate([found[i] for i in members])

    def show(self, visible: bool) -> None:
        """Show or hide all arms."""
        for mesh in self.meshes:
            mesh.visible = visible


def _joined(meshes: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """The faces of several meshes, each with its number of vertices, as those of one."""
    begins = np.cumsum([0] + [count for _, count in meshes[:-1]])
    return np.concatenate([faces + np.uint32(begin) for (faces, _), begin in zip(meshes, begins, strict=True)])


class _Instances(abc.ABC):
    """Copies of one small mesh on the skin of all arms, each with its place, turn, size and colour.

    In light detail they are a few meshes with a colour each.
    """

    def __init__(self, api: "SceneApi", name: str, picture: Picture, light: bool):
        self._api, self._name, self._visible = api, name, True
        self.copies: BatchedMeshHandle | MergedCopies = self._made(picture, light)
        """The node that is drawn."""

    def set_light(self, light: bool, picture: Picture) -> None:
        """Draw them with less detail, or with all."""
        self.copies.remove()
        self.copies = self._made(picture, light)
        self.show(self._visible)

    def _made(self, picture: Picture, light: bool) -> "BatchedMeshHandle | MergedCopies":
        if light:
            palette, unseen = self._palette()
            shape = self._shape(light)
            return MergedCopies(self._api, self._name, shape, np.array(palette), self._arrays(picture), unseen)
        positions, wxyzs, scales, shades = self._arrays(picture)
        return self._api.add_batched_meshes_simple(
            self._name,
            *self._shape(light),
            wxyzs,
            positions,
            batched_scales=scales,
            batched_colors=shades,
            lod="off",
            cast_shadow=False,
            receive_shadow=True,
        )

    def update(self, picture: Picture) -> None:
        """Show them as they are at a moment."""
        if not self._visible:
            return
        arrays, copies = self._arrays(picture), self.copies
        if isinstance(copies, MergedCopies):
            copies.update(arrays)
        else:
            copies.batched_positions, copies.batched_wxyzs, copies.batched_scales, copies.batched_colors = arrays

    def show(self, visible: bool) -> None:
        """Show or hide all of them."""
        self._visible = visible
        if isinstance(self.copies, MergedCopies):
            self.copies.show(visible)
        else:
            self.copies.visible = visible

    def _arrays(self, picture: Picture) -> Copies:
        return Copies.joined([self._of_arms(arms, picture) for arms in picture.alike])

    @abc.abstractmethod
    def _of_arms(self, arms: AlikeArms, picture: Picture) -> Copies:
        """The copies on arms that are alike."""

    @abc.abstractmethod
    def _shape(self, light: bool) -> tuple[np.ndarray, np.ndarray]:
        """Vertices and faces of one of them."""

    @abc.abstractmethod
    def _palette(self) -> tuple[list, int]:
        """The colours of light detail, and how many of these, from the first, are not seen."""


class Muscles(_Instances):
    """The activation of muscles as patches on the skin."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture, skin: Skin, light: bool = False):
        self._skin = np.array(skin.colors)
        super().__init__(api, f"{root}/muscles", picture, light)

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> Copies:
        """The patches of arms that are alike."""
        del picture
        return skin_marks.muscles_of(arms, self._skin[list(arms.members)])

    def _shape(self, light: bool) -> tuple[np.ndarray, np.ndarray]:
        return skin_marks.patch(2 if light else 3)

    def _palette(self) -> tuple[list, int]:
        skin = [tuple(color) for color in np.unique(self._skin, axis=0)]
        middle = np.mean(self._skin, 0)
        hues = (colors.LONGITUDINAL, colors.RADIAL)
        return [*skin, *(colors.mixed(middle, hue, np.array(share)) for hue in hues for share in _SHARES)], len(skin)


class SuckerMarks(_Instances):
    """Suckers as two rows of discs along the underside of each arm, coloured by what they hold."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture, light: bool = False):
        super().__init__(api, f"{root}/suckers", picture, light)

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> Copies:
        """The suckers of arms that are alike."""
        return skin_marks.suckers_of(arms, picture.scene.objects[picture.row])

    def _shape(self, light: bool) -> tuple[np.ndarray, np.ndarray]:
        return skin_marks.disc(6 if light else 8)

    def _palette(self) -> tuple[list, int]:
        return [colors.SUCKER, colors.HOLDS_GROUND, colors.HOLDS_OBJECT], 0


class _LegRods(_Instances):
    """The legs of chains of platforms."""

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> Copies:
        return _on_platforms(arms, picture, lambda frame, *place: legs_of(frame.legs(*place), frame.radius.max()))

    def _shape(self, light: bool) -> tuple[np.ndarray, np.ndarray]:
        return rod(4 if light else 8)

    def _palette(self) -> tuple[list, int]:
        return [colors.LEG], 0


class _RingHoops(_Instances):
    """The rings of chains of platforms."""

    def _of_arms(self, arms: AlikeArms, picture: Picture) -> Copies:
        def rings(frame: PlatformFrame, *place: np.ndarray) -> Copies:
            found = frame.rings(*place)
            return rings_of(found.centres, found.rotations, found.radii)

        return _on_platforms(arms, picture, rings)

    def _shape(self, light: bool) -> tuple[np.ndarray, np.ndarray]:
        return hoop(16, 3) if light else hoop(40, 6)

    def _palette(self) -> tuple[list, int]:
        return [colors.RING], 0


def _on_platforms(arms: AlikeArms, picture: Picture, copies_on: Callable[..., Copies]) -> Copies:
    """What is on those of some arms that are chains of platforms, by function(frame, positions, rotations)."""
    nothing = Copies(*(np.zeros((0, size), kind) for size, kind in ((3, "f4"), (4, "f4"), (3, "f4"), (3, "u1"))))
    frames = [picture.scene.arms[i].frame for i in arms.members]
    found = [
        copies_on(frame, arms.positions[k], arms.rotations[k]) for k, frame in enumerate(frames) if frame is not None
    ]
    return Copies.joined([nothing, *found])


class LegsAndRings:
    """The legs and rings of chains of platforms, within their skin."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        self._parts = (
            _LegRods(api, f"{root}/legs", picture, False),
            _RingHoops(api, f"{root}/rings", picture, False),
        )

    def set_light(self, light: bool, picture: Picture) -> None:
        """Draw them with less detail, or with all."""
        for part in self._parts:
            part.set_light(light, picture)

    def update(self, picture: Picture) -> None:
        """Show them as they are at a moment."""
        for part in self._parts:
            part.update(picture)

    def show(self, visible: bool) -> None:
        """Show or hide all of them."""
        for part in self._parts:
            part.show(visible)


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
