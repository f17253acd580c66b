"""Scenes: all that is seen of a trajectory, as arrays that drawings and replays are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics.robot import split
from hydrostat.results import rows
from hydrostat.results.platform_frame import PlatformFrame
from hydrostat.surroundings.fins import Fins
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.obstacles import Obstacles
from hydrostat.surroundings.suckers import Suckers
from hydrostat.surroundings.water import Water

if TYPE_CHECKING:
    from hydrostat.bodies.hull import Hull
    from hydrostat.mechanics.model import ArmModel
    from hydrostat.results.trajectory import Trajectory

PIECES = 24
"""Pieces of an arm, at least."""


@dataclass(frozen=True)
class TendonCourse:
    """The course of a tendon along the points of a drawn arm."""

    points: slice
    """The points of the arm that the tendon passes."""
    directions: np.ndarray
    """Unit vectors from the axis to the tendon, in the axes of the sections (points, 3)."""

    @staticmethod
    def all_of(arm: "ArmModel", per_segment: int) -> "tuple[TendonCourse, ...]":
        """The courses of all tendons of an arm that is drawn with some points for each segment."""
        course: Any = None if arm.wires is None else arm.wires.course
        if course is None:
            return ()
        azimuths, passes = np.asarray(course.azimuth), np.asarray(course.passes) > 0.0
        turns = np.zeros((*passes.shape, 2)) if course.turns is None else np.asarray(course.turns)
        return tuple(
            TendonCourse._of(float(azimuths[i]), passes[i], turns[i], per_segment) for i in range(len(azimuths))
        )

    @staticmethod
    def _of(azimuth: float, passes: np.ndarray, turns: np.ndarray, per_segment: int) -> "TendonCourse":
        passed = np.flatnonzero(passes)
        part = slice(passed[0] * per_segment, (passed[-1] + 1) * per_segment + 1)
        marks = azimuth + np.append(turns[passed, 0], turns[passed[-1], 1])
        angles = np.interp(np.arange(part.stop - part.start) / per_segment, np.arange(len(marks)), marks)
        return TendonCourse(part, np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], -1))

    def on_skin(self, positions: np.ndarray, rotations: np.ndarray, radii: np.ndarray, outside: float) -> np.ndarray:
        """Points of the tendon (..., points, 3) [m] on the skin of an arm.

        **Arguments:** `positions`, `rotations`, `radii`: of the whole arm, after leading axes such as rows; `outside`:
        distance of the tendon from the axis over the radius.
        """
        across = np.einsum("...nij,nj->...ni", rotations[..., self.points, :, :], self.directions)
        return positions[..., self.points, :] + outside * radii[..., self.points, None] * across


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
    takes: np.ndarray
    """Indicator of segments whose suckers hold a free object (rows, segments)."""
    activation: np.ndarray
    """Activation of the muscles (rows, segments, muscles), 0 to 1; without muscles for an arm that has none."""
    tension: np.ndarray
    """Tension of the tendons (rows, tendons) [N]."""
    tendons: tuple[TendonCourse, ...]
    frame: PlatformFrame | None = None
    """Legs and rings of a chain of platforms; None for other arms."""


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
    current: np.ndarray | None = None
    """Velocity of the water (3,) [m/s]; None without water."""
    suckers: bool = False
    """Whether arms have suckers."""
    hull: "Hull | None" = None
    """Hull of a body that swims, a spheroid about its own z; None for a body that is drawn as a ball."""
    fins: np.ndarray | None = None
    """Both ends of the rays of each section of its fins (rows, sections, rays, 2, 3) [m]; None without fins."""

    @staticmethod
    def of(trajectory: "Trajectory", at: Sequence[int] | np.ndarray | slice | None = None) -> "Scene":
        """The scene of a trajectory, or of some of its rows."""
        some: Any = trajectory if at is None else trajectory[at if isinstance(at, slice) else np.asarray(at)]
        system, robot = trajectory.system, trajectory.system.robot
        fine = max(1, -(-PIECES // max(arm.arm.count for arm in robot.each)))
        lines, things, held, taken, tension, fins = some.all_derived(
            rows.Centreline(fine),
            rows.objects,
            rows.held if system.part(Suckers) is not None else _none_per_segment,
            rows.taken if system.part(Suckers) is not None else _none_per_segment,
            rows.tension if any(arm.wires is not None for arm in robot.each) else _none_per_segment,
            rows.fins if system.part(Fins) is not None else _none_per_segment,
        )
        each = [per_arm(robot, values) for values in (lines, held, taken, some.activation, tension)]
        arms = tuple(
            DrawnArm(
                np.asarray(shape.pose.position),
                np.asarray(shape.pose.rotation),
                np.asarray(shape.radius),
                fine,
                np.maximum(own_held, own_taken),
                np.asarray(own_taken),
                np.asarray(activation),
                np.asarray(own_tension) if arm.wires is not None else np.zeros((len(some), 0)),
                TendonCourse.all_of(arm, fine),
                PlatformFrame.of(arm, fine),
            )
            for arm, shape, own_held, own_taken, activation, own_tension in zip(robot.each, *each, strict=True)
        )
        ground, pose, water = system.part(Ground), some.body_pose, system.part(Water)
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
            None if water is None else np.asarray(water.current),
            system.part(Suckers) is not None,
            None if robot.body is None else robot.body.hull,
            None if system.part(Fins) is None else np.asarray(fins),
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
                takes=arm.takes[kept],
                activation=arm.activation[kept],
                tension=arm.tension[kept],
            )
            for arm in self.arms
        )
        body, fins = (None if own is None else own[kept] for own in (self.body, self.fins))
        moving = {
            name: getattr(self, name)[kept] for name in ("time", "body_rotation", "objects", "obstacle_shifts", "path")
        }
        return replace(self, arms=arms, body=body, fins=fins, **moving)

    def moved(self, by: np.ndarray) -> "Scene":
        """The scene with its arms elsewhere, by a vector (3,) [m], such as to draw several below each other."""
        return replace(self, arms=tuple(replace(arm, positions=arm.positions + by) for arm in self.arms))

    @property
    def body_centre(self) -> np.ndarray:
        """Centre of the hull, or of the ball that stands for the body (rows, 3) [m]."""
        assert self.body is not None
        return self.body if self.hull is None else self.body + self.body_rotation @ np.asarray(self.hull.centre)

    @property
    def body_sizes(self) -> np.ndarray:
        """Half axes of the hull, or of the ball that stands for the body (3,) [m]."""
        if self.hull is None:
            return np.full(3, self.body_radius)
        return np.array([float(self.hull.radius), float(self.hull.radius), float(self.hull.half_length)])

    @property
    def body_extents(self) -> np.ndarray:
        """How far the body reaches from its centre along the axes of the world (rows, 3) [m]."""
        return np.linalg.norm(self.body_rotation * self.body_sizes, axis=-1)

    def body_outline(self, row: int, plane: tuple[int, int], corners: int = 48) -> np.ndarray:
        """The outline of the body in a plane of the world (corners, 2) [m].

        A spheroid with half axes S, turned by R, is all R S u with |u| <= 1. With P the rows of R S of the plane the
        outline is (P P^T)^(1/2) times the unit circle.
        """
        shadow = (self.body_rotation[row] * self.body_sizes)[list(plane)]
        squares, axes = np.linalg.eigh(shadow @ shadow.T)
        turn = np.linspace(0.0, 2.0 * np.pi, corners)
        circle = np.stack([np.cos(turn), np.sin(turn)])
        return self.body_centre[row, list(plane)] + ((axes * np.sqrt(squares)) @ circle).T

    def bounds(self, plane: tuple[int, int]) -> np.ndarray:
        """The bounds of all moving parts, in a plane (2, 2) [m]."""
        low, high = [], []
        balls: list = [(self.objects[:, i], radius) for i, radius in enumerate(self.object_radii)]
        balls += [] if self.body is None else [(self.body_centre, self.body_extents[:, list(plane)])]
        for centres, radii in [*((arm.positions, arm.radii[..., None]) for arm in self.arms), *balls]:
            seen = centres[..., list(plane)]
            low.append((seen - radii).reshape(-1, 2).min(0))
            high.append((seen + radii).reshape(-1, 2).max(0))
        if self.ground is not None and 2 in plane:
            low.append(np.array([low[0][0], self.ground]))
        return np.stack([np.min(low, 0), np.max(high, 0)])


def _none_per_segment(system, row):
    """Zero for every segment."""
    return rows.each_arm(system, row, lambda arm, base, q: jnp.zeros(arm.arm.count))


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


def membrane_faces(fins: np.ndarray) -> np.ndarray:
    """The faces of the membranes between the rays of fins (sections, rays, 2, 3), as four corners of each."""
    corner = np.arange(fins[..., 0].size).reshape(fins.shape[:3])
    return np.stack([corner[:, :-1, 0], corner[:, 1:, 0], corner[:, 1:, 1], corner[:, :-1, 1]], -1).reshape(-1, 4)
