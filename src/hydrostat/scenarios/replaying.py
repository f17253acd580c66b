"""Replays of arms in motion, from their coordinates."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.mechanics import kinematics
from hydrostat.viewer import Line, Tube, write_replay

_NODES = 48  # along a whole arm, at least
_FRAMES = 600  # at most


@eqx.filter_jit
def _nodes(arm: Arm, q, per_segment: int):
    poses = jax.vmap(lambda q: kinematics.centreline(arm, q, per_segment))(q)
    return poses.position, poses.rotation


def tube_of(name: str, arm: Arm, q: np.ndarray, **options) -> Tube:
    """The arm as a tube, for configurations (m, n, k)."""
    per_segment = max(1, -(-_NODES // arm.count))
    positions, rotations = _nodes(arm, jnp.asarray(q), per_segment)
    inner = np.arange(1, per_segment + 1) / per_segment
    first, last = np.asarray(arm.section.radius_base), np.asarray(arm.section.radius_tip)
    radii = np.concatenate([first[:1], (first[:, None] + inner * (last - first)[:, None]).ravel()])
    return Tube(name, np.asarray(positions), np.asarray(rotations), radii, **options)


def replay_arm(
    path: Path, arm: Arm, times: np.ndarray, q: np.ndarray, title: str, *, objects=(), min_radius=0.0, tip_path=True
) -> None:
    """Write the replay of one arm's movement (m, n, k), with the path of its tip.

    **Arguments:** `objects`: further tubes, a row for each of the m moments; `min_radius`: of the arm as drawn [m],
    for arms too thin to be seen; `tip_path`: whether to draw the path of the tip.
    """
    step = max(1, -(-len(times) // _FRAMES))
    tube = tube_of("arm", arm, np.asarray(q)[::step])
    tube = replace(tube, radii=np.maximum(tube.radii, min_radius))
    thinned = [replace(o, positions=o.positions[::step], rotations=o.rotations[::step]) for o in objects]
    lines = [Line("path of the tip", tube.positions[:, -1], color=(120, 120, 120), width=0.002)] if tip_path else []
    write_replay(path, np.asarray(times)[::step], [tube, *thinned], lines, title=title)


def cylinder(name: str, a: np.ndarray, b: np.ndarray, radius: float, color=(40, 102, 110)) -> Tube:
    """A round object over time, from ends (m, 3) to ends (m, 3) [m]."""
    axis = (b - a)[0] / np.linalg.norm((b - a)[0])
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(axis, side), axis], -1)
    rotations = np.broadcast_to(frame, (len(a), 2, 3, 3))
    return Tube(name, np.stack([a, b], 1), rotations, np.full(2, radius), color)
