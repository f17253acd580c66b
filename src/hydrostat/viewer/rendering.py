"""Pictures of surfaces without a browser: quadrilaterals and triangles in perspective, shaded, from far to near."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hydrostat.viewer.framing import FIELD_OF_VIEW, Framing

_LIGHT = np.array([0.35, -0.45, 0.82])
_NEAR = 0.01  # of the scene's size, nearer than which nothing is drawn
_AMBIENT = 0.42  # share of a colour that is seen where no light falls


@dataclass(frozen=True)
class Surface:
    """A surface to be drawn: its vertices [vertex, 3] [m], its faces [face, corners] and their colours [face, 3]."""

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray


class Renderer:
    """Draws surfaces into pictures of one size, seen from one camera."""

    def __init__(
        self,
        view: Framing,
        width: int = 960,
        height: int = 540,
        background: str = "#f7f8fa",
        field_of_view: float = FIELD_OF_VIEW,
        grid: bool = True,
    ):
        """**Arguments:** `view`: of the camera; `width`, `height`: of the pictures [pixels]; `field_of_view`: vertical
        [rad]; `grid`: whether the grid of the ground is drawn.
        """
        self._grid = grid
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection, PolyCollection
        from matplotlib.figure import Figure

        self.width, self.height, self._tangent = width, height, np.tan(0.5 * field_of_view)
        self._figure = Figure(figsize=(width / 100.0, height / 100.0), dpi=100, facecolor=background)
        self._canvas = FigureCanvasAgg(self._figure)
        axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        aspect = width / height
        axes.set_xlim(-aspect, aspect)
        axes.set_ylim(-1.0, 1.0)
        self._lines = LineCollection([], linewidths=0.7, colors="#cfd6dd", zorder=1)
        self._polygons = PolyCollection([], linewidths=0.4, zorder=2)
        self._marks = axes.plot([], [], "o", markersize=3.0, color="#2ed682", markeredgewidth=0.0, zorder=3)[0]
        axes.add_collection(self._lines)
        axes.add_collection(self._polygons)
        self._text = axes.text(-aspect + 0.05, 0.9, "", fontsize=11, color="#29323d", zorder=4)
        self.look_from(view)

    def look_from(self, view: Framing) -> None:
        """Take the next pictures from another camera."""
        self.view = view
        back = (view.camera - view.look_at) / np.linalg.norm(view.camera - view.look_at)
        # A camera that points straight up or down has the world's x to its right.
        right = np.cross([0.0, 0.0, 1.0], back) if abs(back[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
        right /= np.linalg.norm(right)
        self._axes = np.stack([right, np.cross(back, right), back])
        self._lines.set_segments(self._ground() if self._grid else [])

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points [..., 3] in the picture [..., 2], from -1 to 1 upwards, and their distances from the camera [m]."""
        local = (points - self.view.camera) @ self._axes.T
        far = -local[..., 2]
        scale = 1.0 / (self._tangent * np.maximum(far, 1e-6))
        return local[..., :2] * scale[..., None], far

    def _ground(self) -> list[np.ndarray]:
        """The lines of the ground's grid."""
        view = self.view
        cells = np.arange(-20, 21) * view.grid * 5.0 if view.size / view.grid > 40 else np.arange(-20, 21) * view.grid
        centre = np.round(view.look_at[:2] / view.grid) * view.grid
        along, found = cells[[0, -1]], []
        for cell in cells:
            for ends in (
                np.array([[cell, along[0]], [cell, along[1]]]),
                np.array([[along[0], cell], [along[1], cell]]),
            ):
                fine = np.linspace(ends[0], ends[1], 40) + centre
                flat, far = self.project(np.column_stack([fine, np.full(len(fine), view.ground)]))
                seen = far > 0.05 * view.size
                if seen.sum() > 1:
                    found.append(flat[seen])
        return found

    def draw(self, surfaces: list[Surface], marks: np.ndarray, text: str) -> np.ndarray:
        """A picture [row, column, 3] of surfaces, with marks [mark, 3] [m] in front, and a text."""
        polygons, shades, depths = [], [], []
        for surface in surfaces:
            corners = surface.vertices[surface.faces]
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            size = np.linalg.norm(normal, axis=-1)
            centre = corners.mean(1)
            facing = (np.sum(normal * (self.view.camera - centre), -1) > 0.0) & (size > 0.0)
            # What is beside or behind the camera would be drawn across the whole picture.
            facing &= np.min((self.view.camera - corners) @ self._axes[2], -1) > _NEAR * self.view.size
            flat, far = self.project(corners[facing])
            light = np.clip(normal[facing] @ _LIGHT / size[facing], 0.0, 1.0)
            shade = (_AMBIENT + (1.0 - _AMBIENT) * light)[:, None] * surface.colors[facing] / 255.0
            polygons.append(flat)
            shades.append(np.clip(shade, 0.0, 1.0))
            depths.append(far.mean(1))
        order = np.argsort(-np.concatenate(depths)) if depths else np.zeros(0, int)
        every = [corner for flat in polygons for corner in flat]
        self._polygons.set_verts([every[i] for i in order])
        color: Any = np.concatenate(shades)[order] if shades else np.zeros((0, 3))
        self._polygons.set_facecolor(color)
        self._polygons.set_edgecolor(color)
        places = self.project(marks)[0] if len(marks) else np.zeros((0, 2))
        self._marks.set_data(places[:, 0], places[:, 1])
        self._text.set_text(text)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()


def ball(centre: np.ndarray, radius: float, color: tuple, rings: int = 12) -> Surface:
    """A ball as a surface of quadrilaterals."""
    polar = np.linspace(0.0, np.pi, rings + 1)
    azimuth = np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)
    sine = np.sin(polar)[:, None]
    unit = np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), np.cos(polar)[:, None] + 0.0 * azimuth], -1)
    here = np.arange(2 * rings)
    there = (here + 1) % (2 * rings)
    upper = 2 * rings * np.arange(rings)[:, None]
    lower = upper + 2 * rings
    faces = np.stack([lower + here, lower + there, upper + there, upper + here], -1).reshape(-1, 4)
    vertices = centre + radius * unit.reshape(-1, 3)
    # The last rows have no extent: their normals are taken from the corners that have one.
    faces[-2 * rings :] = np.roll(faces[-2 * rings :], 2, 1)
    return Surface(vertices, faces, np.broadcast_to(color, (len(faces), 3)))


def spheroid(centre: np.ndarray, rotation: np.ndarray, sizes: np.ndarray, color: tuple, rings: int = 12) -> Surface:
    """A spheroid as a surface of quadrilaterals.

    **Arguments:** `rotation`: whose columns are its axes (3, 3); `sizes`: its half axes (3,) [m].
    """
    unit = ball(np.zeros(3), 1.0, color, rings)
    return replace(unit, vertices=centre + (sizes * unit.vertices) @ rotation.T)
