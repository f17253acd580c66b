"""One picture of a scene: the arrays of a row, arms that are alike stacked so that they are worked out together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hydrostat.results.scene import Scene


@dataclass(frozen=True)
class AlikeArms:
    """Arms with as many points, segments and muscles each, at one moment; the arm is the first axis."""

    members: tuple[int, ...]
    """The numbers of the arms in the scene."""
    positions: np.ndarray
    rotations: np.ndarray
    radii: np.ndarray
    holds: np.ndarray
    takes: np.ndarray
    activation: np.ndarray
    per_segment: int


class Picture:
    """One row of a scene."""

    def __init__(self, scene: Scene, row: int):
        self.scene, self.row = scene, row

    @cached_property
    def alike(self) -> list[AlikeArms]:
        """All arms, those that are alike together."""
        kinds: dict[tuple, list[int]] = {}
        for i, arm in enumerate(self.scene.arms):
            kinds.setdefault((arm.positions.shape[1], arm.activation.shape[1:], arm.per_segment), []).append(i)
        return [self._stacked(members) for members in kinds.values()]

    def _stacked(self, members: list[int]) -> AlikeArms:
        arms = [self.scene.arms[i] for i in members]
        names = ("positions", "rotations", "radii", "holds", "takes", "activation")
        arrays = {name: np.stack([getattr(arm, name)[self.row] for arm in arms]) for name in names}
        return AlikeArms(tuple(members), **arrays, per_segment=arms[0].per_segment)


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (w, x, y, z) [..., 4] of rotation matrices [..., 3, 3]."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return flat.reshape(*rotations.shape[:-2], 4).astype(np.float32)


def turned_about_z(wxyz: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Quaternions [..., 4] of rotations, each followed about its own z by the angles [k]: [..., k, 4]."""
    w, x, y, z = (wxyz[..., i, None] for i in range(4))
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], -1).astype(np.float32)
