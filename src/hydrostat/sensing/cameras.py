"""Cameras: what a pinhole camera sees of points and balls, and where two of them say that these are.

A camera's frame has z along its view, x to the right and y down in the picture. With the focal length f in pixels a
point (X, Y, Z) is seen at u = c + f (X, Y) / Z. Two cameras side by side at a distance b see it with a disparity
d = f b / Z, so that noise of s pixels in each picture makes an error of the depth of sqrt(2) s Z^2 / (f b).

A ball of radius r whose centre is at the distance D is seen within a cone about the direction a of its centre, of half
the angle A with sin A = r / D. Rays n along the outline have n . a = cos A, which is linear in a / cos A: from a few
points of the outline least squares give direction and angle, two cameras the centre, and D sin A the radius.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.errors import number, whole
from hydrostat.lie import SE3

_OUTLINE = 48  # points of an outline that are measured


@dataclass(frozen=True)
class Camera:
    """A pinhole camera, with noise and a rate."""

    width: int = 640
    """Width of its pictures [pixels]."""
    height: int = 480
    """Height of its pictures [pixels]."""
    field_of_view: float = np.deg2rad(60.0)
    """Vertical field of view [rad]."""
    noise: float = 0.0
    """Standard deviation of a place that is found in a picture [pixels]."""
    rate: float = 25.0
    """Rate of its pictures [Hz]."""

    def __post_init__(self):
        whole("width", self.width, least=1, most=100_000)
        whole("height", self.height, least=1, most=100_000)
        number("field_of_view", self.field_of_view, above=0.0, most=3.1)
        number("noise", self.noise, least=0.0, most=1e4)
        number("rate", self.rate, above=0.0, most=1e6)

    @property
    def focal(self) -> float:
        """The focal length [pixels]."""
        return 0.5 * self.height / np.tan(0.5 * self.field_of_view)

    def project(self, T_world_camera: SE3, points: np.ndarray) -> np.ndarray:
        """Where points of the world (..., 3) [m] are in the picture (..., 2) [pixels]; not a number behind it."""
        R, p = np.asarray(T_world_camera.rotation), np.asarray(T_world_camera.position)
        own = (np.asarray(points, float) - p) @ R
        depth = np.where(own[..., 2:] > 0.0, own[..., 2:], np.nan)
        return np.array([0.5 * self.width, 0.5 * self.height]) + self.focal * own[..., :2] / depth

    def rays(self, pixels: np.ndarray) -> np.ndarray:
        """Unit vectors (..., 3) in the camera's frame through places of the picture (..., 2)."""
        away = (np.asarray(pixels) - [0.5 * self.width, 0.5 * self.height]) / self.focal
        rays = np.concatenate([away, np.ones((*away.shape[:-1], 1))], -1)
        return rays / np.linalg.norm(rays, axis=-1, keepdims=True)

    def inside(self, pixels: np.ndarray) -> np.ndarray:
        """Whether places (..., 2) are within the picture."""
        pixels = np.asarray(pixels)
        return np.all((pixels >= 0.0) & (pixels <= [self.width, self.height]), -1)

    def outline(self, T_world_camera: SE3, centre: np.ndarray, radius: float) -> np.ndarray | None:
        """The outline of a ball in the picture (m, 2) [pixels], without noise; None where it is not all within it."""
        R, p = np.asarray(T_world_camera.rotation), np.asarray(T_world_camera.position)
        away = (np.asarray(centre, float) - p) @ R
        distance = float(np.linalg.norm(away))
        if distance <= radius or away[2] <= radius:
            return None
        axis, sine = away / distance, radius / distance
        # Points of the circle in which a cone about the centre's direction touches the ball.
        first = np.cross(axis, [0.0, 1.0, 0.0] if abs(axis[1]) < 0.9 else [1.0, 0.0, 0.0])
        first /= np.linalg.norm(first)
        turn = 2.0 * np.pi * np.arange(_OUTLINE) / _OUTLINE
        around = np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * np.cross(axis, first)
        rays = np.sqrt(1.0 - sine**2) * axis + sine * around
        if np.any(rays[:, 2] <= 0.0):
            return None
        pixels = np.array([0.5 * self.width, 0.5 * self.height]) + self.focal * rays[:, :2] / rays[:, 2:]
        return pixels if self.inside(pixels).all() else None


class BallEstimate(NamedTuple):
    """A ball that two cameras have seen."""

    number: int
    """Number of the ball among those that were shown."""
    centre: np.ndarray
    """Estimated place of its centre in the world (3,) [m]."""
    radius: float
    """Estimated radius [m]."""


class StereoHead:
    """Two equal cameras side by side, which estimate obstacles as balls.

    head = StereoHead(Camera(noise=0.5, rate=5.0), baseline=0.1)
    head.observe(0.0, pose, [((0.6, 0.0, 0.0), 0.05)])
    """

    def __init__(self, camera: Camera, baseline: float, seed: int = 0):
        """**Arguments:** `baseline`: distance of the two cameras [m]; `seed`: of their noise."""
        self.camera, self.baseline = camera, number("baseline", baseline, above=0.0, most=1e3)
        self._random, self._next = np.random.default_rng(seed), -np.inf

    def depth_noise(self, depth: float) -> float:
        """The standard deviation of the depth of a point at a depth [m]: sqrt(2) s Z^2 / (f b)."""
        return np.sqrt(2.0) * self.camera.noise * depth**2 / (self.camera.focal * self.baseline)

    def poses(self, T_world_head: SE3) -> tuple[SE3, SE3]:
        """The frames of the left and of the right camera, from that of the middle between them."""
        R, p = np.asarray(T_world_head.rotation), np.asarray(T_world_head.position)
        aside = 0.5 * self.baseline * R[:, 0]
        return tuple(SE3(jnp.asarray(R), jnp.asarray(place)) for place in (p - aside, p + aside))  # type: ignore[return-value]

    def triangulate(self, T_world_head: SE3, points: np.ndarray) -> np.ndarray:
        """Where the cameras say that points of the world (m, 3) are [m]; not a number where one does not see them."""
        places = []
        for pose in self.poses(T_world_head):
            seen = self.camera.project(pose, points)
            seen = np.where(self.camera.inside(seen)[:, None], seen, np.nan)
            places.append(seen + self._random.normal(0.0, 1.0, seen.shape) * self.camera.noise)
        left, right = places
        depth = self.camera.focal * self.baseline / (left[:, 0] - right[:, 0])
        middle = 0.5 * (left + right) - [0.5 * self.camera.width, 0.5 * self.camera.height]
        own = np.column_stack([middle * (depth / self.camera.focal)[:, None], depth])
        R, p = np.asarray(T_world_head.rotation), np.asarray(T_world_head.position)
        return own @ R.T + p

    def observe(self, now: float, T_world_head: SE3, balls) -> list[BallEstimate]:
        """The balls that both cameras see at a time [s]; none before the next picture is due.

        **Arguments:** `balls`: centre (3,) [m] and radius [m] of each ball that is there.
        """
        if now < self._next:
            return []
        self._next = now + 1.0 / self.camera.rate
        found = []
        for index, (centre, radius) in enumerate(balls):
            outlines = [self.camera.outline(pose, centre, radius) for pose in self.poses(T_world_head)]
            if all(outline is not None for outline in outlines):
                found.append(BallEstimate(index, *self._estimate(T_world_head, outlines)))
        return found

    def _estimate(self, T_world_head: SE3, outlines) -> tuple[np.ndarray, float]:
        """Centre and radius of a ball from its two outlines."""
        axes, sines = [], []
        for outline in outlines:
            seen = outline + self._random.normal(0.0, 1.0, outline.shape) * self.camera.noise
            x = np.linalg.lstsq(self.camera.rays(seen), np.ones(len(seen)), rcond=None)[0]
            cosine = min(1.0 / float(np.linalg.norm(x)), 1.0)
            axes.append(x * cosine)
            sines.append(np.sqrt(1.0 - cosine**2))
        # The point that is nearest to both rays, in the frame of the head; the cameras are aside by half the baseline.
        starts = [np.array([side * 0.5 * self.baseline, 0.0, 0.0]) for side in (-1.0, 1.0)]
        across = [np.eye(3) - np.outer(axis, axis) for axis in axes]
        own = np.linalg.solve(sum(across), sum(P @ start for P, start in zip(across, starts, strict=True)))
        distances = [np.linalg.norm(own - start) for start in starts]
        radius = float(np.mean([d * s for d, s in zip(distances, sines, strict=True)]))
        R, p = np.asarray(T_world_head.rotation), np.asarray(T_world_head.position)
        return R @ own + p, radius


@dataclass(frozen=True)
class Spotlight:
    """A lamp that shines along the z of its frame, in water that takes away some of its light."""

    half_angle: float = np.deg2rad(25.0)
    """Half the angle of its cone, at which half of the light is left [rad]."""
    attenuation: float = 0.3
    """Attenuation of the water [1/m]; about that of coastal water (Jerlov 1976)."""
    near: float = 0.5
    """Distance on its axis at which a surface that faces it gets the light 1 [m]."""

    def light(self, T_world_lamp: SE3, points: np.ndarray) -> np.ndarray:
        """The light that a surface facing the lamp gets at points (..., 3), over that at `near` on its axis."""
        R, p = np.asarray(T_world_lamp.rotation), np.asarray(T_world_lamp.position)
        own = (np.asarray(points, float) - p) @ R
        distance = np.maximum(np.linalg.norm(own, axis=-1), 1e-6)
        angle = np.arccos(np.clip(own[..., 2] / distance, -1.0, 1.0))
        cone = 1.0 / (1.0 + (angle / self.half_angle) ** 8)
        return cone * (self.near / distance) ** 2 * np.exp(-self.attenuation * (distance - self.near))
