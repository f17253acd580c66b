"""Copies of a small mesh as a few meshes, one for each of a few colours: for browsers that draw by the processor.

Copies that a page places by itself, as instances, cost a graphics card nothing. A browser that draws by the processor
sets up each of them as a draw of its own: hundreds of them take longer than all else in a picture. Merged into one mesh
they are its triangles and no more, but a mesh of the page has a single colour, so that each is shown in the nearest of
a few.
"""

from typing import TYPE_CHECKING

import numpy as np

from hydrostat.viewer import colors
from hydrostat.viewer.skin_marks import Copies, placed

if TYPE_CHECKING:
    from viser import SceneApi

_BUNDLE = 64  # copies by which a mesh grows: the page takes new vertices into the buffers it has, if there are as many


class MergedCopies:
    """The copies of a small mesh, a mesh for each colour of a palette."""

    def __init__(
        self,
        api: "SceneApi",
        name: str,
        shape: tuple[np.ndarray, np.ndarray],
        palette: np.ndarray,
        copies: Copies,
        unseen: int = 0,
    ):
        """**Arguments:** `shape`: vertices and faces of the small mesh; `palette`: colours (k, 3) from 0 to 255, of
        which the first `unseen` are not drawn.
        """
        self._shape, self._palette, self._unseen = shape, colors.of_instances(palette).astype(int), unseen
        self.frame = api.add_frame(name, show_axes=False)
        """The node in the scene below which the meshes are."""
        drawn = palette[unseen:]
        self._counts = np.zeros(len(drawn), int)
        self._empty = np.ones(len(drawn), bool)
        self.meshes = [
            api.add_mesh_simple(
                f"{name}/{i + 1}",
                np.zeros((3, 3), np.float32),
                np.array([[0, 1, 2]], np.uint32),
                color=(int(red), int(green), int(blue)),
                cast_shadow=False,
                receive_shadow=False,
            )
            for i, (red, green, blue) in enumerate(drawn)
        ]
        self.update(copies)

    def update(self, copies: Copies) -> None:
        """Show other copies, or the same ones elsewhere."""
        vertices = placed(self._shape[0], copies)
        away = np.sum((copies.colors[:, None].astype(int) - self._palette) ** 2, -1)
        nearest = np.argmin(away, -1) - self._unseen
        for i, mesh in enumerate(self.meshes):
            own = vertices[nearest == i]
            if not len(own) and self._empty[i]:
                continue
            self._empty[i] = not len(own)
            if len(own) > self._counts[i]:
                self._counts[i] = -(-len(own) // _BUNDLE) * _BUNDLE
                mesh.faces = _repeated(self._shape[1], len(self._shape[0]), self._counts[i])
            # What is left of a bundle is nowhere: all its corners are one point.
            corner = own[0, 0] if len(own) else np.zeros(3, np.float32)
            rest = np.broadcast_to(corner, (self._counts[i] - len(own), *vertices.shape[1:]))
            mesh.vertices = np.concatenate([own, rest]).reshape(-1, 3)

    def show(self, visible: bool) -> None:
        """Show or hide all of them."""
        self.frame.visible = visible

    def remove(self) -> None:
        """Take them out of the page."""
        self.frame.remove()


def _repeated(faces: np.ndarray, vertices: int, count: int) -> np.ndarray:
    """The faces of a number of copies of a mesh with some vertices."""
    begins = vertices * np.arange(count, dtype=np.uint32)
    return (faces[None] + begins[:, None, None]).reshape(-1, 3).astype(np.uint32)
