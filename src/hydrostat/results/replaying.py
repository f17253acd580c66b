"""Replays of trajectories: one HTML file in which everything moves."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.results.drawing import Scene, box_corners
from hydrostat.robots import LimbedSpec
from hydrostat.robots.build import base_pose
from hydrostat.surroundings.shapes import Box, Capsule, Sphere
from hydrostat.viewer import Line, Marks, Tube, write_replay
from hydrostat.viewer.platform_marks import CLEAR, hoop, legs_of, rings_of, rod
from hydrostat.viewer.shapes import resample
from hydrostat.viewer.skin_marks import AlikeArms, Copies, disc, muscles_of, patch, suckers_of

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

_FRAMES = 400  # at most
_ARM_COLORS = ((214, 96, 77), (230, 162, 60), (62, 128, 146), (120, 122, 180))
_BODY_COLOR, _OBSTACLE_COLOR, _GREY = (201, 120, 100), (150, 146, 136), (120, 120, 120)


def replay(
    trajectory: "Trajectory",
    path: str | os.PathLike[str],
    title: str | None = None,
    *,
    lines: Sequence[Line] = (),
    tubes: Sequence[Tube] = (),
    min_radius: float = 0.0,
) -> Path:
    """Write the motion of a robot and of its surroundings.

    **Arguments:** `lines`, `tubes`: what else is to be seen, row by row as the trajectory where it moves; `min_radius`:
    of arms as they are drawn [m], for those too thin to be seen.
    """
    name = trajectory.system.robot.name if title is None else title
    kept = _kept(len(trajectory))
    return _written(path, Scene.of(trajectory, kept), kept, len(trajectory), name, lines, tubes, min_radius)


def replay_scene(
    scene: Scene,
    path: str | os.PathLike[str],
    title: str,
    *,
    lines: Sequence[Line] = (),
    tubes: Sequence[Tube] = (),
    min_radius: float = 0.0,
) -> Path:
    """Write the motion of a scene, such as one joined of several robots; the arguments are those of `replay`."""
    kept = _kept(len(scene.time))
    return _written(path, scene.rows(kept), kept, len(scene.time), title, lines, tubes, min_radius)


def _kept(count: int) -> slice:
    """The rows that become frames."""
    return slice(None, None, max(1, -(-count // _FRAMES)))


def _written(path, scene: Scene, kept: slice, count: int, title: str, lines, tubes, min_radius: float) -> Path:
    """The file of a scene whose rows are the frames; lines and tubes still have all rows."""
    drawn = [*arm_tubes(scene, min_radius), *_things(scene), *(_thinned(tube, count, kept) for tube in tubes)]
    own = [*_paths(scene), *_outlines(scene)]
    more = [replace(line, points=line.points[kept]) if line.points.ndim == 3 else line for line in lines]
    marks = skin_marks_of(scene, min_radius)
    return write_replay(Path(path), scene.time, drawn, [*own, *more], title=title, marks=marks)


def skin_marks_of(scene: Scene, min_radius: float = 0.0) -> list[Marks]:
    """What is seen on the skin of a scene's arms: active muscles, suckers with what they hold, legs and rings."""
    skin = np.array([_ARM_COLORS[i % 4] for i in range(len(scene.arms))])

    kinds: dict[tuple, list[int]] = {}
    for i, arm in enumerate(scene.arms):
        kinds.setdefault((arm.positions.shape[1], arm.activation.shape[1:], arm.per_segment), []).append(i)

    def of_arms(time: float, on_alike: Callable[[AlikeArms, np.ndarray], Copies]) -> Copies:
        objects = resample(scene.objects, scene.time, np.array([time]))[0]
        return Copies.joined([on_alike(_at(scene, own, time, min_radius), objects) for own in kinds.values()])

    found = []
    if all(arm.activation.shape[2] >= 5 for arm in scene.arms):

        def muscles(time: float) -> Copies:
            return of_arms(time, lambda arm, _: muscles_of(arm, skin[list(arm.members)]))

        count = max(len(muscles(float(time)).positions) for time in scene.time[:: max(1, len(scene.time) // 20)])
        found.append(Marks("muscles", patch(), muscles, count))
    found += _platform_marks(scene)
    if scene.suckers:
        count = 2 * sum(arm.holds.shape[1] for arm in scene.arms)
        found.append(Marks("suckers", disc(), lambda time: of_arms(time, suckers_of), count))
    return found


def _platform_marks(scene: Scene) -> list[Marks]:
    """The legs and rings of the scene's chains of platforms."""
    arms = [(arm, arm.frame) for arm in scene.arms if arm.frame is not None]
    if not arms:
        return []

    def places(time: float):
        when = np.array([time])
        for arm, frame in arms:
            yield frame, *(resample(y, scene.time, when)[0] for y in (arm.positions, arm.rotations))

    def legs(time: float) -> Copies:
        return Copies.joined([legs_of(frame.legs(*place), frame.radius.max()) for frame, *place in places(time)])

    def rings(time: float) -> Copies:
        found = [frame.rings(*place) for frame, *place in places(time)]
        return Copies.joined([rings_of(own.centres, own.rotations, own.radii) for own in found])

    count = sum(len(frame.length) for _, frame in arms)
    return [Marks("legs", rod(), legs, 6 * count), Marks("rings", hoop(), rings, 2 * count)]


def _at(scene: Scene, members: list[int], time: float, min_radius: float) -> AlikeArms:
    """Arms that are alike at a time between a scene's rows; what suckers hold is that of the row before."""
    arms, when = [scene.arms[i] for i in members], np.array([time])
    row = max(int(np.searchsorted(scene.time, time, side="right")) - 1, 0)

    def between(name: str) -> np.ndarray:
        return np.concatenate([resample(getattr(arm, name), scene.time, when) for arm in arms])

    return AlikeArms(
        tuple(members),
        between("positions"),
        between("rotations"),
        np.maximum(between("radii"), min_radius),
        np.stack([arm.holds[row] for arm in arms]),
        np.stack([arm.takes[row] for arm in arms]),
        between("activation"),
        arms[0].per_segment,
    )


def arm_tubes(scene: Scene, min_radius: float = 0.0) -> list[Tube]:
    """The arms of a scene as tubes, each with a colour of its own."""
    return [
        Tube(
            name,
            arm.positions,
            arm.rotations,
            np.maximum(arm.radii, max(min_radius, 1e-6)),
            _ARM_COLORS[i % 4],
            None if arm.frame is None else CLEAR,
        )
        for i, (name, arm) in enumerate(zip(scene.names, scene.arms, strict=True))
    ]


def body_tubes(spec: LimbedSpec, frames: int) -> list[Tube]:
    """The round parts of a fixed body as its specification describes them, still over some frames."""
    pose, found = base_pose(spec.base), []
    position, rotation = np.asarray(pose.position), np.asarray(pose.rotation)
    for shape in spec.body.shapes:
        if shape.kind in ("cylinder", "capsule"):
            middle = position + rotation @ np.asarray(shape.position)
            half = 0.5 * shape.size[1] * rotation[:, 2]
            a, b = (np.broadcast_to(end, (frames, 3)) for end in (middle - half, middle + half))
            found.append(cylinder(shape.name, a, b, shape.size[0], _GREY))
    return found


def _thinned(tube: Tube, count: int, kept: slice) -> Tube:
    """The tube at the frames that are kept."""
    radii = tube.radii[kept] if tube.radii.ndim == 2 and len(tube.radii) == count else tube.radii
    return replace(tube, positions=tube.positions[kept], rotations=tube.rotations[kept], radii=radii)


def _things(scene: Scene) -> list[Tube]:
    """The body, free objects and obstacles."""
    found = []
    if scene.body is not None and scene.body_sizes.min() > 0.0:
        along = np.sin(np.linspace(-1.0, 1.0, 17) * np.arcsin(0.999))
        across, length = scene.body_sizes[[0, 2]]
        spots = scene.body_centre[:, None] + length * along[None, :, None] * scene.body_rotation[:, None, :, 2]
        turned = np.repeat(scene.body_rotation[:, None], len(along), 1)
        found.append(Tube("body", spots, turned, across * np.sqrt(1.0 - along**2), _BODY_COLOR))
    for i, radius in enumerate(scene.object_radii):
        found.append(Tube.ball(f"object {i + 1}", scene.objects[:, i], float(radius)))
    for i, shape in enumerate(scene.obstacles):
        if isinstance(shape, Sphere):
            centres = np.asarray(shape.centre) + scene.obstacle_shifts[:, i]
            found.append(Tube.ball(f"obstacle {i + 1}", centres, float(shape.radius), _OBSTACLE_COLOR))
        if isinstance(shape, Capsule):
            a, b = (np.asarray(end) + scene.obstacle_shifts[:, i] for end in (shape.a, shape.b))
            found.append(cylinder(f"obstacle {i + 1}", a, b, float(shape.radius), _OBSTACLE_COLOR))
    return found


def cylinder(name: str, a: np.ndarray, b: np.ndarray, radius: float, color=(40, 102, 110)) -> Tube:
    """A round object over time, from ends (frames, 3) to ends (frames, 3) [m]."""
    axis = (b - a)[0] / np.linalg.norm((b - a)[0])
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(axis, side), axis], -1)
    rotations = np.broadcast_to(frame, (len(a), 2, 3, 3))
    return Tube(name, np.stack([a, b], 1), rotations, np.full(2, radius), color)


def _paths(scene: Scene) -> list[Line]:
    """The path of the body, or those of the tips."""
    if len(scene.time) < 2:
        return []
    low, high = scene.bounds((0, 1))
    width = max(2e-3 * float(np.max(high - low)), 1e-4)
    what = "path of the body" if scene.path.shape[1] == 1 and len(scene.arms) > 1 else "path of the tip"
    names = [what] if scene.path.shape[1] == 1 else [f"path of {name}" for name in scene.names]
    return [Line(name, scene.path[:, i], color=_GREY, width=width) for i, name in enumerate(names)]


def _outlines(scene: Scene) -> list[Line]:
    """The ground as a square with lines across, boxes by their edges, and fins by their rays."""
    found = []
    low, high = scene.bounds((0, 1))
    middle, half = 0.5 * (low + high), 0.75 * float(np.max(high - low))
    width = max(2e-3 * half, 1e-4)
    if scene.ground is not None:
        turns = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1], [1, 1], [1, -1], [-1, 1]])
        points = np.column_stack([middle + half * turns, np.full(len(turns), scene.ground)])
        found.append(Line("ground", points, color=(205, 195, 175), width=width))
    if scene.fins is not None:
        # One line for each section, out along a ray and back along the next.
        rays = scene.fins.copy()
        rays[:, :, 1::2] = rays[:, :, 1::2, ::-1]
        for i, points in enumerate(np.moveaxis(rays.reshape(*rays.shape[:2], -1, 3), 1, 0)):
            found.append(Line(f"fin {i + 1}", points, color=_BODY_COLOR, width=width))
    for i, shape in enumerate(scene.obstacles):
        if isinstance(shape, Box):
            # One line that passes every edge, some of them twice.
            order = [0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4]
            edges = box_corners(shape)[order] + scene.obstacle_shifts[:, i, None]
            found.append(Line(f"obstacle {i + 1}", edges, color=_OBSTACLE_COLOR, width=width))
    return found
