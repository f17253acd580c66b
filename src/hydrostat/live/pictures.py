"""One picture of a scene: the arrays of a row, arms that are alike stacked so that they are worked out together."""

from functools import cached_property

import numpy as np

from hydrostat.results.scene import Scene
from hydrostat.viewer.skin_marks import AlikeArms


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
