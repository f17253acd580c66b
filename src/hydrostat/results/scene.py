"""Scenes: all that is seen of a trajectory, as arrays that drawings and replays are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from hydrostat.mechanics.robot import split
from hydrostat.results import rows
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.obstacles import Obstacles
from hydrostat.surroundings.suckers import Suckers

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

PIECES = 24
"""Pieces of an arm, at least."""


@dataclass(frozen=True)
class DrawnArm:
    """An arm for drawing, by rows."""

    positions: np.ndarray
    """Points along the axis, the base first (rows, points, 3) [m]."""
    rotations: np.ndarray
    radii: np.ndarray
    """Radius at each point (rows, points) [m]."""
    per_segment: int
    """Number of points of each segment."""
    holds: np.ndarray
    """Indicator of segments whose suckers hold something (rows, segments)."""


@dataclass(frozen=True)
class Scene:
    """All visible parts of a trajectory, or of some of its rows."""

    time: np.ndarray
    arms: tuple[DrawnArm, ...]
    names: tuple[str, ...]
    body: np.ndarray | None
    """Centre of the body (rows, 3) [m]; None for a robot without a body of its own."""
    body_rotation: np.ndarray
    body_radius: float
    """Radius of the body [m]."""
    objects: np.ndarray
    """Centres of free objects (rows, o, 3) [m]."""
    object_radii: np.ndarray
    ground: float | None
    """Height of the ground [m]."""
    obstacles: tuple[Any, ...]
    """Shapes, where they start."""
    obstacle_shifts: np.ndarray
    """Displacements of the obstacles from where they start (rows, shapes, 3) [m]."""
    path: np.ndarray
    """Path of the body or, where it is fixed, of the tips (rows, paths, 3) [m]."""

    @staticmethod
    def of(trajectory: "Trajectory", at: Sequence[int] | np.ndarray | slice | None = None) -> "Scene":
        """The scene of a trajectory, or of some of its rows."""
        some: Any = trajectory if at is None else trajectory[at if isinstance(at, slice) else np.asarray(at)]
        system, robot = trajectory.system, trajectory.system.robot
        fine = max(1, -(-PIECES // max(arm.arm.count for arm in robot.each)))
        functions = [rows.Centreline(fine), rows.objects]
        holding = system.part(Suckers) is not None
        functions += [rows.held, rows.taken] if holding else []
        lines, things, *held = some.all_derived(*functions)
        shapes = per_arm(robot, lines)
        holds = [np.zeros((len(some), arm.arm.count)) for arm in robot.each]
        if holding:
            each = zip(per_arm(robot, held[0]), per_arm(robot, held[1]), strict=True)
            holds = [np.maximum(ground, taken) for ground, taken in each]
        arms = tuple(
            DrawnArm(np.asarray(one.pose.position), np.asarray(one.pose.rotation), np.asarray(one.radius), fine, held)
            for one, held in zip(shapes, holds, strict=True)
        )
        ground, pose = system.part(Ground), some.body_pose
        tips = np.stack([arm.positions[:, -1] for arm in arms], 1)
        shapes, shifts = _obstacles(system, some.state)
        return Scene(
            np.asarray(some.time),
            arms,
            robot.names if len(robot.names) == robot.count else tuple(f"arm {i + 1}" for i in range(robot.count)),
            None if robot.body is None else np.asarray(pose.position),
            np.asarray(pose.rotation),
            0.0 if robot.body is None else float(robot.body.radius),
            np.asarray(things.position),
            np.asarray([float(r) for r in rows.object_radii(system)]),
            None if ground is None else float(ground.height),
            shapes,
            shifts,
            np.asarray(pose.position)[:, None] if robot.free_base else tips,
        )

    @staticmethod
    def joined(scenes: "Sequence[Scene]", names: Sequence[str]) -> "Scene":
        """Robots without a body of their own, with the same times and surroundings, in one scene; a name for each."""
        first = scenes[0]
        arms = tuple(arm for scene in scenes for arm in scene.arms)
        return replace(first, arms=arms, names=tuple(names), path=np.concatenate([scene.path for scene in scenes], 1))

    def rows(self, kept: slice) -> "Scene":
        """The scene at some of its rows."""
        arms = tuple(
            replace(
                arm,
                positions=arm.positions[kept],
                rotations=arm.rotations[kept],
                radii=arm.radii[kept],
                holds=arm.holds[kept],
            )
            for arm in self.arms
        )
        body = None if self.body is None else self.body[kept]
        moving = {
            name: getattr(self, name)[kept] for name in ("time", "body_rotation", "objects", "obstacle_shifts", "path")
        }
        return replace(self, arms=arms, body=body, **moving)

    def moved(self, by: np.ndarray) -> "Scene":
        """The scene with its arms elsewhere, by a vector (3,) [m], such as to draw several below each other."""
        return replace(self, arms=tuple(replace(arm, positions=arm.positions + by) for arm in self.arms))

    def bounds(self, plane: tuple[int, int]) -> np.ndarray:
        """The bounds of all moving parts, in a plane (2, 2) [m]."""
        low, high = [], []
        balls = [(self.objects[:, i], radius) for i, radius in enumerate(self.object_radii)]
        balls += [] if self.body is None else [(self.body, self.body_radius)]
        for centres, radii in [*((arm.positions, arm.radii[..., None]) for arm in self.arms), *balls]:
            seen = centres[..., list(plane)]
            low.append((seen - radii).reshape(-1, 2).min(0))
            high.append((seen + radii).reshape(-1, 2).max(0))
        if self.ground is not None and 2 in plane:
            low.append(np.array([low[0][0], self.ground]))
        return np.stack([np.min(low, 0), np.max(high, 0)])


def _obstacles(system, state) -> tuple[tuple[Any, ...], np.ndarray]:
    """The shapes of all obstacles, and their displacements by rows (rows, shapes, 3) [m]."""
    shapes, shifts = [], [np.zeros((len(state.time), 0, 3))]
    for part, own in zip(system.surroundings, state.surroundings, strict=True):
        if isinstance(part, Obstacles):
            moved = np.zeros((len(state.time), 3)) if part.motion is None else np.asarray(jax.vmap(part.motion)(own))
            shapes += part.shapes
            shifts.append(np.repeat(moved[:, None], len(part.shapes), 1))
    return tuple(shapes), np.concatenate(shifts, 1)


def per_arm(robot, values) -> tuple:
    """Quantities of each arm, by rows, as a tuple of arms; equal arms have the arm as their second axis."""
    if robot.equal:
        return tuple(jax.tree.map(lambda y, i=i: np.asarray(y)[:, i], values) for i in range(robot.count))
    return split(robot, values)
