"""What is drawn around the arms: the body, free objects, obstacles, trails, the water's current, forces."""

from typing import TYPE_CHECKING

import numpy as np

from hydrostat.bodies.hull import Hull
from hydrostat.live.pictures import Picture
from hydrostat.results.scene import Scene, membrane_faces
from hydrostat.surroundings.shapes import Box, Capsule, Plane, Sphere
from hydrostat.viewer import colors
from hydrostat.viewer.rendering import ball
from hydrostat.viewer.skin_marks import quaternions

if TYPE_CHECKING:
    from viser import SceneApi

_TRAIL_POINTS = 400  # of each path, the oldest being dropped
_LIGHT_THINNED = 8  # points of a path for one that is drawn in light detail
_ARROWS = 4  # of the current, along each axis
_ARROW_SECONDS = 0.3  # of the current's way by which an arrow is longer than the shortest
_SHORTEST_ARROW = 0.07  # of the scene's size


class Things:
    """The body with its fins, free objects and obstacles."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture, opacity: float | None = None):
        scene = picture.scene
        self.body = None
        if scene.body is not None and scene.hull is not None:
            self.body = api.add_mesh_simple(
                f"{root}/body", *hull_mesh(scene.hull), color=colors.BODY, opacity=opacity, flat_shading=False
            )
        elif scene.body is not None and scene.body_radius > 0.0:
            self.body = api.add_icosphere(
                f"{root}/body", scene.body_radius, color=colors.BODY, subdivisions=3, opacity=opacity
            )
        self.fins = None
        if scene.fins is not None:
            self.fins = api.add_mesh_simple(
                f"{root}/fins", *fin_mesh(scene.fins[picture.row]), color=colors.FIN, opacity=opacity, side="double"
            )
        self.objects = [
            api.add_icosphere(f"{root}/objects/{i + 1}", float(radius), color=colors.PREY, subdivisions=3)
            for i, radius in enumerate(scene.object_radii)
        ]
        self.obstacles = [
            _add_shape(api, f"{root}/obstacles/{i + 1}", shape) for i, shape in enumerate(scene.obstacles)
        ]
        self.update(picture)

    def update(self, picture: Picture) -> None:
        """Move everything to where it is."""
        scene, row = picture.scene, picture.row
        if self.body is not None:
            assert scene.body is not None
            self.body.position, self.body.wxyz = scene.body[row], quaternions(scene.body_rotation[row])
        if self.fins is not None:
            assert scene.fins is not None
            self.fins.vertices = scene.fins[row].reshape(-1, 3).astype(np.float32)
        for node, place in zip(self.objects, scene.objects[row], strict=True):
            node.position = place
        for node, shift in zip(self.obstacles, scene.obstacle_shifts[row], strict=True):
            if node is not None and np.any(node.position != shift):
                node.position = shift


def hull_mesh(hull: Hull, rings: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and faces of a hull, a spheroid about its z, in the body's frame."""
    unit = ball(np.zeros(3), 1.0, colors.BODY, rings)
    size = np.array([float(hull.radius), float(hull.radius), float(hull.half_length)])
    faces = np.concatenate([unit.faces[:, [0, 1, 2]], unit.faces[:, [0, 2, 3]]])
    return (np.asarray(hull.centre) + size * unit.vertices).astype(np.float32), faces.astype(np.uint32)


def fin_mesh(fins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and faces of membranes between the rays of fins (sections, rays, 2, 3) [m]."""
    quads = membrane_faces(fins).astype(np.uint32)
    return fins.reshape(-1, 3).astype(np.float32), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _add_shape(api: "SceneApi", name: str, shape):
    """A frame with the mesh of an obstacle; None for one that is not bounded."""
    if isinstance(shape, Plane):
        return None
    frame = api.add_frame(name, show_axes=False)
    if isinstance(shape, Sphere):
        centre = tuple(np.asarray(shape.centre))
        api.add_icosphere(f"{name}/shape", float(shape.radius), color=colors.OBSTACLE, position=centre)
    elif isinstance(shape, Box):
        pose = shape.pose
        size = tuple(2.0 * np.asarray(shape.half_sizes))
        turned, place = quaternions(np.asarray(pose.rotation)), np.asarray(pose.position)
        api.add_box(f"{name}/shape", dimensions=size, color=colors.OBSTACLE, wxyz=turned, position=place)
    elif isinstance(shape, Capsule):
        a, b, radius = np.asarray(shape.a), np.asarray(shape.b), float(shape.radius)
        for end, place in (("a", a), ("b", b)):
            api.add_icosphere(f"{name}/{end}", radius, color=colors.OBSTACLE, position=place)
        turned = quaternions(_along(b - a))
        height = float(np.linalg.norm(b - a))
        api.add_cylinder(
            f"{name}/shape", radius, height, color=colors.OBSTACLE, wxyz=turned, position=tuple(0.5 * (a + b))
        )
    return frame


def _along(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z points along an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], -1)


class Trails:
    """The paths of the body or of the tips, as far back as some hundred points go."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        scene = picture.scene
        self._points = np.repeat(scene.path[0][:, None], _TRAIL_POINTS, 1)
        self._spacing, self._thinned = 0.01 * _size(scene), 1
        self.lines = api.add_line_segments(
            f"{root}/trails", self._segments(), colors.TRAIL, thickness=2.0, thickness_units="screen"
        )
        self._visible = True

    def set_light(self, light: bool, picture: Picture) -> None:
        """Draw them with less detail, or with all: each piece of a line is a draw where the processor draws."""
        self._thinned = _LIGHT_THINNED if light else 1
        self.lines.points = self._segments()

    def update(self, picture: Picture) -> None:
        """Go on with the paths, where something has moved by a hundredth of the scene."""
        here = picture.scene.path[picture.row]
        if np.max(np.linalg.norm(here - self._points[:, -1], axis=-1)) >= self._spacing:
            self._points = np.concatenate([self._points[:, 1:], here[:, None]], 1)
            if self._visible:
                self.lines.points = self._segments()

    def restart(self, picture: Picture) -> None:
        """Forget the paths so far."""
        self._points = np.repeat(picture.scene.path[picture.row][:, None], _TRAIL_POINTS, 1)
        self.lines.points = self._segments()

    def show(self, visible: bool) -> None:
        """Show or hide the paths."""
        self._visible = self.lines.visible = visible
        if visible:
            self.lines.points = self._segments()

    def _segments(self) -> np.ndarray:
        points = self._points[:, :: -self._thinned]  # from the newest
        return np.stack([points[:, :-1], points[:, 1:]], 2).reshape(-1, 2, 3).astype(np.float32)


class Current:
    """The water's current as arrows that drift with it, longer the faster it flows."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        scene = picture.scene
        self._size = _size(scene)
        low = np.min([arm.positions[0].min(0) for arm in scene.arms], 0)
        high = np.max([arm.positions[0].max(0) for arm in scene.arms], 0)
        self._middle = 0.5 * (low + high)
        height = max(float(high[2] - low[2]), 0.3 * self._size)
        sides = [np.linspace(-0.9, 0.9, _ARROWS) * self._size] * 2 + [np.array([0.15, 0.6]) * height]
        self._grid = np.stack(np.meshgrid(*sides, indexing="ij"), -1).reshape(-1, 3)
        if scene.ground is not None:
            self._middle[2] = scene.ground
        self._velocity = np.zeros(3)
        thick = 0.002 * self._size
        self.arrows = api.add_arrows(
            f"{root}/current",
            self._points(0.0),
            colors.of_instances(np.array(colors.CURRENT)),
            shaft_radius=thick,
            head_radius=3.0 * thick,
            head_length=10.0 * thick,
            visible=False,
        )
        self._visible = True

    def update(self, picture: Picture) -> None:
        """Show the current, and let the arrows drift."""
        scene, row = picture.scene, picture.row
        if scene.current is None:
            return
        self._velocity = scene.current
        moves = bool(np.linalg.norm(self._velocity) > 1e-6) and self._visible
        if moves != self.arrows.visible:
            self.arrows.visible = moves
        if moves:
            self.arrows.points = self._points(float(scene.time[row]))

    def show(self, visible: bool) -> None:
        """Show or hide the current."""
        self._visible = visible

    def _points(self, time: float) -> np.ndarray:
        spacing = 1.8 * self._size / (_ARROWS - 1)
        drift = np.mod(time * self._velocity + 0.5 * spacing, spacing) - 0.5 * spacing
        begin = self._middle + self._grid + drift
        speed = max(float(np.linalg.norm(self._velocity)), 1e-9)
        along = self._velocity * (_ARROW_SECONDS + _SHORTEST_ARROW * self._size / speed)
        return np.stack([begin, begin + along], 1).astype(np.float32)


class ForceArrows:
    """Forces as arrows, as long as the largest so far is a third of the scene."""

    def __init__(self, api: "SceneApi", root: str, picture: Picture):
        scene = picture.scene
        self._size = _size(scene)
        self.most = 1e-9
        """The largest force so far [N]."""
        thick = 0.004 * self._size
        self.arrows = api.add_arrows(
            f"{root}/forces",
            np.zeros((1, 2, 3), np.float32),
            colors.of_instances(np.array(colors.FORCE)),
            shaft_radius=thick,
            head_radius=2.5 * thick,
            head_length=6.0 * thick,
            visible=False,
        )

    def update(self, points: np.ndarray, forces: np.ndarray) -> None:
        """Show forces [m, 3] [N] at points [m, 3] [m]; those below a hundredth of the largest are left out."""
        sizes = np.linalg.norm(forces, axis=-1)
        self.most = max(self.most, float(sizes.max(initial=0.0)))
        seen = sizes > 0.01 * self.most
        if not seen.any():
            self.arrows.visible = False
            return
        ends = points[seen] + 0.33 * self._size / self.most * forces[seen]
        self.arrows.points = np.stack([points[seen], ends], 1).astype(np.float32)
        self.arrows.visible = True

    def hide(self) -> None:
        """Hide the forces."""
        self.arrows.visible = False


def _size(scene: Scene) -> float:
    """The size of a robot, from one end of it to the other [m]."""
    points = np.concatenate([arm.positions[0] for arm in scene.arms])
    return float(np.linalg.norm(np.ptp(points, axis=0)))
