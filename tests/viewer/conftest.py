"""An arm of three 0.35 m segments that swings from straight to an S, with nine wires on its surface."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.viewer import Line, Tube

NODES_PER_SEGMENT = 10
LENGTH = 1.05


def _bent(curvatures: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of a chain of arcs with `curvatures` [frame, segment] about y: stations, positions, rotations."""
    frames, segments = curvatures.shape
    stations = np.linspace(0, LENGTH, segments * NODES_PER_SEGMENT + 1)
    step = stations[1]
    turns = np.repeat(curvatures, NODES_PER_SEGMENT, axis=1) * step
    angles = np.concatenate([np.zeros((frames, 1)), np.cumsum(turns, axis=1)], axis=1)
    # Chord of each piece of arc: sinc of half its angle long, at the mean of the angles of its ends.
    chords = step * np.sinc(turns / 2 / np.pi)
    mean = angles[:, :-1] + turns / 2
    moves = np.stack([chords * np.sin(mean), np.zeros_like(mean), chords * np.cos(mean)], axis=-1)
    positions = np.concatenate([np.zeros((frames, 1, 3)), np.cumsum(moves, axis=1)], axis=1)
    rotations = Rotation.from_euler("y", angles.reshape(-1, 1)).as_matrix().reshape(*angles.shape, 3, 3)
    return stations, positions, rotations


@pytest.fixture(scope="session")
def swing() -> Callable[..., tuple[np.ndarray, list[Tube], list[Line]]]:
    def make(frames: int = 81, breathing: bool = False) -> tuple[np.ndarray, list[Tube], list[Line]]:
        times = np.linspace(0, 4, frames)
        bend = (1 - np.cos(np.pi * times / 4)) / 2
        stations, positions, rotations = _bent(bend[:, None] * np.array([2.6, -3.4, 3.0]))
        radii = np.interp(stations, [0, LENGTH], [0.05, 0.02])
        if breathing:
            radii = radii * (1 + 0.25 * np.sin(2 * np.pi * (stations / 0.35 - times[:, None])))
        lines = []
        for wire in range(9):
            azimuth = np.radians(40 * wire)
            spoke = np.array([np.cos(azimuth), np.sin(azimuth), 0])
            reach = np.broadcast_to(radii, positions.shape[:2])[..., None] + 0.001
            points = positions + reach * (rotations @ spoke)
            end = (wire % 3 + 1) * NODES_PER_SEGMENT + 1
            color = [(38, 70, 83), (42, 157, 143), (244, 190, 60)][wire % 3]
            lines.append(Line(f"wire {wire + 1}", points[:, :end], color, 0.004))
        lines.append(Line("path of the tip", positions[:, -1], (120, 130, 145)))
        return times, [Tube("arm", positions, rotations, radii)], lines

    return make
