"""Drawings of robots from the side and from above, with their thickness and their surroundings. Lengths in mm.

Everything that is seen is cut into short pieces, which are drawn from far to near: what lies in front covers what is
behind. Functions take a `Trajectory`, or a `Scene` made of one where several pictures are drawn.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.results import figures
from hydrostat.results.scene import Scene
from hydrostat.surroundings.shapes import Box, Capsule, Plane, Sphere

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

ABOVE, FRONT, SIDE = (0, 1), (0, 2), (1, 2)
"""Planes of the world for views, horizontal axis first: from above, against y, and against -x."""
_NEARER = {ABOVE: (2, 1.0), FRONT: (1, -1.0), SIDE: (0, 1.0)}  # axis along which things are nearer, and its sign
_AXES = "xyz"
_INK, _BODY, _OBJECT, _OBSTACLE, _SOIL = "#33322e", "#d9a08f", "#7f9bb3", "#b9b4a8", "#e9e2d3"
_LEG, _RING = "#33322e", "#28666e"
_SEEN_THROUGH = 0.75  # paleness of an arm in which legs and rings are seen
_OUTLINE, _SEAM = 1.5, 0.5  # widths of lines [points]
_MM = 1e3


def scene_of(of: "Trajectory | Scene") -> Scene:
    """The scene of a trajectory; a scene is one already."""
    return of if isinstance(of, Scene) else Scene.of(of)


def draw_side(axes, of: "Trajectory | Scene", row: int = -1, plane: tuple[int, int] = FRONT, **options) -> None:
    """The robot from the side at a row, with the ground, the objects that it holds and its path so far.

    **Arguments:** `plane`: `FRONT` or `SIDE`; `options`: as those of `draw_view`.
    """
    draw_view(axes, of, row, plane, **options)


def draw_above(axes, of: "Trajectory | Scene", row: int = -1, **options) -> None:
    """The robot from above at a row; `options`: as those of `draw_view`."""
    draw_view(axes, of, row, ABOVE, **options)


def draw_view(
    axes,
    of: "Trajectory | Scene",
    row: int = -1,
    plane: tuple[int, int] = FRONT,
    *,
    paleness: float = 0.0,
    path: bool = True,
    surroundings: bool = True,
) -> None:
    """The robot in a plane of the world at a row [mm].

    **Arguments:** `paleness`: 0 for full colours, towards 1 for paler ones, such as for moments before; `path`: whether
    to draw the path so far; `surroundings`: whether to draw the ground and obstacles.
    """
    from matplotlib.collections import PolyCollection

    scene = scene_of(of)
    if surroundings:
        _draw_surroundings(axes, scene, row, plane)
    polygons, faces, edges, widths = [], [], [], []
    done: set[tuple[int, int]] = set()
    pieces = {piece.key: piece for piece in _pieces(scene, row, plane)}
    for piece in sorted(pieces.values(), key=lambda piece: piece.nearness):
        color, key = _pale(piece.color, paleness), piece.key
        ink = _pale(_INK, paleness)
        # The piece with an outline; then its neighbours' insides again, so that none stays where the two join.
        found = [(piece.outline, ink, ink)]
        beside = [other for other in ((key[0], key[1] - 1), (key[0], key[1] + 1)) if other in done]
        found += [(pieces[other].outline, color, color) for other in beside]
        found += [(piece.outline, color, color), *((rim, "none", ink) for rim in piece.rims)]
        for polygon, face, edge in found:
            polygons.append(_MM * polygon)
            faces.append(face)
            edges.append(edge)
            # Insides have a thin edge of their own colour: without it a seam would be seen between pieces.
            widths.append(_SEAM if edge == color else _OUTLINE)
        done.add(key)
    collection = PolyCollection(polygons, facecolors=faces, edgecolors=edges, linewidths=widths, zorder=2)
    axes.add_collection(collection)
    _draw_frames(axes, scene, row, plane, lambda color: {"colors": [_pale(color, paleness)]})
    _draw_holds(axes, scene, row, plane, paleness)
    _draw_stalks(axes, scene, row, plane, paleness)
    if path:
        stop = row % len(scene.time) + 1
        for points in _MM * np.swapaxes(scene.path[:stop], 0, 1):
            axes.plot(*points[:, list(plane)].T, color=_pale(_INK, 0.3), linewidth=0.8, zorder=3)
    axes.set_aspect("equal")
    axes.autoscale_view()


def draw_arm_side(
    axes,
    of: "Trajectory | Scene",
    row: int = -1,
    plane: tuple[int, int] = FRONT,
    alpha: float = 1.0,
    color: str | None = None,
) -> None:
    """The outline of the arms in a plane of the world [mm] and their axes, transparent: many moments in one view.

    **Arguments:** `color`: of all arms; each has its own when not given.
    """
    scene, alpha = scene_of(of), min(alpha, 1.0)
    for number, arm in enumerate(scene.arms):
        points = _MM * arm.positions[row][:, list(plane)]
        along = np.gradient(points, axis=0)
        across = np.stack([-along[:, 1], along[:, 0]], -1)
        across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-12)
        width = _MM * arm.radii[row][:, None]
        outline = np.concatenate([points + width * across, (points - width * across)[::-1]])
        own = color or figures.COLORS[number % len(figures.COLORS)]
        axes.fill(*outline.T, color=own, alpha=0.35 * alpha, linewidth=0)
        axes.plot(*points.T, color=_INK, alpha=alpha, linewidth=0.8)
    _draw_frames(axes, scene, row, plane, lambda color: {"colors": [color], "alpha": alpha})


@dataclass(frozen=True)
class Piece:
    """A visible piece, projected to the plane of the view."""

    key: tuple[int, int]
    """Thing that the piece belongs to, and its number there."""
    nearness: float
    color: str
    outline: np.ndarray
    """Corners of the outline (m, 2) [m]."""
    rims: tuple[np.ndarray, ...] = ()
    """Ends of an arm that face the viewer (m, 2) [m]."""


def _pieces(scene: Scene, row: int, plane: tuple[int, int]) -> list[Piece]:
    """The pieces of a row that are to be drawn."""
    axis, sign = _NEARER[plane]
    pick, found = list(plane), []
    for number, arm in enumerate(scene.arms):
        color = figures.COLORS[number % len(figures.COLORS)]
        if arm.frame is not None:
            color = _pale(color, _SEEN_THROUGH)
        points = arm.positions[row]
        tangents = _tangents(points)
        rims = _rims(points, tangents, arm.radii[row])[..., pick]
        # The ends of an arm are flat; those that face the viewer are outlined.
        facing = sign * tangents[[0, -1], axis] * np.array([-1.0, 1.0]) > 0.0
        last = len(points) - 2
        for i in range(last + 1):
            ends = [rims[k] for k, at, seen in ((0, 0, facing[0]), (-1, last, facing[1])) if i == at and seen]
            nearness = sign * 0.5 * (points[i, axis] + points[i + 1, axis])
            outline = hull(rims[i : i + 2].reshape(-1, 2))
            found.append(Piece((number, i), nearness, color, outline, tuple(ends)))
    things = [
        (scene.objects[row, i], _circle(scene.objects[row, i, pick], radius), _OBJECT)
        for i, radius in enumerate(scene.object_radii)
    ]
    if scene.body is not None:
        things.append((scene.body_centre[row], scene.body_outline(row, plane), _BODY))
    for i, (centre, outline, color) in enumerate(things):
        found.append(Piece((len(scene.arms) + i, 0), sign * centre[axis], color, outline))
    return found


def _tangents(points: np.ndarray) -> np.ndarray:
    """Unit vectors along a line at its points (n, 3): the mean of those of the two neighbouring pieces."""
    along = np.diff(points, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-300)
    both = np.concatenate([along[:1], along[:-1] + along[1:], along[-1:]])
    return both / np.maximum(np.linalg.norm(both, axis=-1, keepdims=True), 1e-9)


def _rims(points: np.ndarray, tangents: np.ndarray, radii: np.ndarray, corners: int = 32) -> np.ndarray:
    """Circles about points, across the tangents there (n, corners, 3) [m]."""
    aside = np.eye(3)[np.argmin(np.abs(tangents), -1)]
    x = np.cross(tangents, aside)
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)
    y = np.cross(tangents, x)
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)[:, None]
    circle = np.cos(turn) * x[:, None] + np.sin(turn) * y[:, None]
    return points[:, None] + radii[:, None, None] * circle


def _circle(centre: np.ndarray, radius: float, begin: float = 0.0, end: float = 2.0 * np.pi, corners: int = 48):
    turn = np.linspace(begin, end, corners)
    return centre + radius * np.stack([np.cos(turn), np.sin(turn)], -1)


def _capsule(a: np.ndarray, b: np.ndarray, radius_a: float, radius_b: float) -> np.ndarray:
    """The outline of two circles and all between them."""
    away = b - a
    distance = float(np.hypot(*away))
    if distance <= abs(radius_a - radius_b):
        # One circle hides the other.
        return _circle(a, radius_a) if radius_a > radius_b else _circle(b, radius_b)
    heading = float(np.arctan2(away[1], away[0]))
    open_by = float(np.arccos((radius_a - radius_b) / distance))
    front = _circle(b, radius_b, heading - open_by, heading + open_by, 24)
    back = _circle(a, radius_a, heading + open_by, heading + 2.0 * np.pi - open_by, 24)
    return np.concatenate([front, back])


def hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in a plane, in order, by Andrew's monotone chain."""
    points = points[np.lexsort(points.T[::-1])]

    def half(ordered):
        corners: list[np.ndarray] = []
        for point in ordered:
            while len(corners) > 1:
                (ax, ay), (bx, by) = corners[-1] - corners[-2], point - corners[-2]
                if ax * by - ay * bx > 0.0:
                    break
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return np.array(half(points) + half(points[::-1]))


def _pale(color: str, paleness: float):
    """The colour, mixed with white."""
    from matplotlib.colors import to_hex, to_rgb

    if color == "none":
        return color
    red, green, blue = (1.0 - (1.0 - share) * (1.0 - paleness) for share in to_rgb(color))
    return to_hex((red, green, blue))


def _draw_holds(axes, scene: Scene, row: int, plane: tuple[int, int], paleness: float) -> None:
    """A dot at the end of every segment whose suckers hold something."""
    for arm in scene.arms:
        ends = _MM * arm.positions[row][arm.per_segment :: arm.per_segment][arm.holds[row] > 0.0]
        style = {"markerfacecolor": "white", "markeredgecolor": _pale(_INK, paleness), "markeredgewidth": 0.6}
        axes.plot(*ends[:, list(plane)].T, "o", markersize=3, zorder=4, **style)


def _draw_frames(axes, scene: Scene, row: int, plane: tuple[int, int], style) -> None:
    """The legs and rings of chains of platforms as lines, over their skin; `style`: options of lines for a colour."""
    from matplotlib.collections import LineCollection

    for arm in scene.arms:
        if arm.frame is not None:
            place = arm.positions[row], arm.rotations[row]
            kinds = ((arm.frame.rings(*place).circles(), _RING), (arm.frame.legs(*place), _LEG))
            for lines, color in kinds:
                seen = list(_MM * lines[..., list(plane)])
                axes.add_collection(LineCollection(seen, linewidths=0.6, zorder=2.5, **style(color)))


def _draw_stalks(axes, scene: Scene, row: int, plane: tuple[int, int], paleness: float) -> None:
    """Links from the body to arms whose bases are away from it."""
    if scene.body is None:
        return
    centre, sizes = scene.body_centre[row], np.maximum(scene.body_sizes, 1e-12)
    for arm in scene.arms:
        ends = np.stack([centre, arm.positions[row, 0]])
        # Over the size of the body in that direction.
        if np.linalg.norm((ends[1] - ends[0]) @ scene.body_rotation[row] / sizes) > 1.2:
            axes.plot(*_MM * ends[:, list(plane)].T, color=_pale(_BODY, paleness), linewidth=3.0, zorder=1)


def _draw_surroundings(axes, scene: Scene, row: int, plane: tuple[int, int]) -> None:
    """The ground, seen from the side, and obstacles."""
    if scene.ground is not None and 2 in plane:
        axes.axhline(_MM * scene.ground, color=_OBSTACLE, linewidth=0.8, zorder=0.5)
        axes.axhspan(_MM * (scene.ground - 10.0), _MM * scene.ground, color=_SOIL, linewidth=0, zorder=0.4)
    pick = list(plane)
    for shape, shift in zip(scene.obstacles, scene.obstacle_shifts[row], strict=True):
        if isinstance(shape, Sphere):
            outline = _circle(np.asarray(shape.centre)[pick], float(shape.radius))
        elif isinstance(shape, Capsule):
            radius = float(shape.radius)
            outline = _capsule(np.asarray(shape.a)[pick], np.asarray(shape.b)[pick], radius, radius)
        elif isinstance(shape, Box):
            outline = hull(box_corners(shape)[:, pick])
        elif isinstance(shape, Plane):
            outline = _half_plane(np.asarray(shape.point)[pick], np.asarray(shape.normal)[pick])
        else:
            continue
        if outline is not None:
            axes.fill(*(_MM * (outline + shift[pick])).T, color=_OBSTACLE, alpha=0.6, linewidth=0, zorder=0.6)


def box_corners(box: Box) -> np.ndarray:
    """The eight corners of a box in the world (8, 3) [m]."""
    signs = np.stack(np.meshgrid(*([-1.0, 1.0],) * 3, indexing="ij"), -1).reshape(-1, 3)
    return np.asarray(box.pose.position) + signs * np.asarray(box.half_sizes) @ np.asarray(box.pose.rotation).T


def _half_plane(point: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    """The region behind a plane that is seen from its edge; None for one that is not."""
    if np.hypot(*normal) < 0.999:
        return None
    along = np.array([-normal[1], normal[0]])
    return point + 10.0 * np.stack([along, -along, -along - normal, along - normal])


__all__ = [
    "ABOVE",
    "FRONT",
    "SIDE",
    "Scene",
    "box_corners",
    "draw_above",
    "draw_arm_side",
    "draw_side",
    "draw_view",
    "hull",
    "scene_of",
]
