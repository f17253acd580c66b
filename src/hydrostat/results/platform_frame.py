"""The legs and rings of a chain of platforms, for drawing: where they are follows from the plates alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.segments import StewartSegment

if TYPE_CHECKING:
    from hydrostat.mechanics.model import ArmModel


@dataclass(frozen=True)
class Rings:
    """Rings in the world, the lower and the upper one of each segment in turn."""

    centres: np.ndarray
    """Centres (..., rings, 3) [m]."""
    rotations: np.ndarray
    """Rotations (..., rings, 3, 3), z across the ring."""
    radii: np.ndarray
    """Radii (..., rings) [m]."""

    @staticmethod
    def of_plates(positions: np.ndarray, rotations: np.ndarray, radii: np.ndarray) -> "Rings":
        """The rings of n segments on their plates.

        **Arguments:** `positions`, `rotations`: of the n + 1 plates, after leading axes such as rows; `radii`: of the
        lower and the upper ring of each segment (..., n, 2) [m].
        """
        count, lead = radii.shape[-2], radii.shape[:-2]
        plates = np.stack([np.arange(count), np.arange(count) + 1], -1).reshape(-1)
        turned = rotations[..., plates, :, :]
        return Rings(positions[..., plates, :], turned, radii.reshape(*lead, 2 * count))

    def circles(self, corners: int = 33) -> np.ndarray:
        """The rings as closed polygons (..., rings, corners, 3) [m]."""
        turn = np.linspace(0.0, 2.0 * np.pi, corners)
        circle = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], -1)
        turned = circle @ np.swapaxes(self.rotations, -1, -2)
        return self.centres[..., None, :] + self.radii[..., None, None] * turned


@dataclass(frozen=True)
class PlatformFrame:
    """The segments of a chain of platforms, along the points of a drawn arm."""

    per_segment: int
    """Number of points of each segment."""
    length: np.ndarray
    """Distance of the plates at rest (n,) [m]."""
    radius: np.ndarray
    """Radii of the lower and the upper ring at rest (n, 2) [m]."""
    azimuths: np.ndarray
    """Azimuths of the legs' joints on the lower and on the upper plate (n, 2, 6) [rad]."""

    @staticmethod
    def of(arm: "ArmModel", per_segment: int) -> "PlatformFrame | None":
        """The frame of an arm that is drawn with some points for each segment; None for one without platforms."""
        segments = arm.arm.segments
        if not isinstance(segments, StewartSegment):
            return None
        lower = np.asarray(segments.radius)
        radius = np.stack([lower, np.asarray(segments.taper) * lower], -1)
        azimuths = np.stack([np.asarray(segments.lower), np.asarray(segments.upper)], -2)
        return PlatformFrame(per_segment, np.asarray(segments.length), radius, azimuths)

    def rings(self, positions: np.ndarray, rotations: np.ndarray) -> Rings:
        """The rings of an arm, of the radii that keep the volume of each segment.

        **Arguments:** `positions`, `rotations`: of the points of the whole arm, after leading axes such as rows.
        """
        plates, turned = positions[..., :: self.per_segment, :], rotations[..., :: self.per_segment, :, :]
        apart = np.linalg.norm(np.diff(plates, axis=-2), axis=-1)
        return Rings.of_plates(plates, turned, self.radius * np.sqrt(self.length / apart)[..., None])

    def legs(self, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """The legs of an arm from end to end (..., 6 n, 2, 3) [m]; the arguments are those of `rings`."""
        rings = self.rings(positions, rotations)
        outwards = np.stack([np.cos(self.azimuths), np.sin(self.azimuths), np.zeros_like(self.azimuths)], -1)
        turned = outwards.reshape(-1, 6, 3) @ np.swapaxes(rings.rotations, -1, -2)
        joints = rings.centres[..., None, :] + rings.radii[..., None, None] * turned
        ends = joints.reshape(*joints.shape[:-3], -1, 2, 6, 3)
        return np.swapaxes(ends, -3, -2).reshape(*joints.shape[:-3], -1, 2, 3)
