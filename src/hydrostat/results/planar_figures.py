"""Figures and replays of arms that bend in one plane: fingers and rods with their thickness, clamps and tip weights."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.mechanics import kinematics, planar
from hydrostat.results import figures
from hydrostat.viewer import Line, Tube, write_replay

INK = "#33322e"
"""The colour of clamps, weights and references."""
_POINTS = 24  # of the axis as it is drawn, per segment
_NODES = 48  # of a tube along a whole arm, at least
_FRAMES = 600  # of a replay, at most
_LEAST_RADIUS = 0.004  # of tubes in a replay, over the length of the arm: thinner rods are lost on a screen
_BRASS = 8500.0  # density of the weights as they are drawn [kg/m^3], assumed
_WEIGHT_COLOR, _PATH_COLOR = (70, 66, 60), (150, 150, 150)


@quick_jit
def _centrelines(arm: Arm, q, per_segment: int):
    poses = jax.vmap(lambda q: kinematics.centreline(arm, q, per_segment))(q)
    return poses.position, poses.rotation


def _radii(arm: Arm, per_segment: int) -> np.ndarray:
    """The radii of an arm at the points of its centreline [m]."""
    inner = np.arange(1, per_segment + 1) / per_segment
    first, last = np.asarray(arm.section.radius_base), np.asarray(arm.section.radius_tip)
    return np.concatenate([first[:1], (first[:, None] + inner * (last - first)[:, None]).ravel()])


def plane_axes(arm: Arm, q: np.ndarray) -> np.ndarray:
    """The axes of an arm in its plane of bending (m, points, 2), for coordinates (m, n, k) [m]."""
    return planar.in_plane(arm, _centrelines(arm, jnp.asarray(q), _POINTS)[0])


def distances_along(arm: Arm) -> np.ndarray:
    """The distances from the base, along the unloaded arm, of the points of `plane_axes` [m]."""
    ends = np.concatenate([[0.0], np.cumsum(np.asarray(arm.segments.length))])
    return np.interp(np.arange(arm.count * _POINTS + 1) / _POINTS, np.arange(arm.count + 1), ends)


def weight_radius(mass):
    """The radius of a ball of brass of some mass [kg]: a weight as it is drawn [m]."""
    return np.cbrt(3.0 * np.asarray(mass) / (4.0 * np.pi * _BRASS))


def draw_plane_arm(
    axes, arm: Arm, q: np.ndarray, color: str, *, alpha: float = 1.0, tip_mass: float = 0.0, label: str | None = None
) -> np.ndarray:
    """Draw an arm with coordinates (n, k) in its plane of bending with its thickness, and a weight at its tip [m].

    Returns the axis that was drawn (points, 2).

    **Arguments:** `tip_mass`: of the weight [kg], drawn as a ball of brass.
    """
    points, radii = plane_axes(arm, q[None])[0], _radii(arm, _POINTS)
    tangent = np.gradient(points, axis=0)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], -1)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    outline = np.concatenate([points + radii[:, None] * normal, (points - radii[:, None] * normal)[::-1]])
    # The edge keeps a rod of a millimetre visible where the page is smaller than the arm.
    axes.fill(*outline.T, facecolor=color, edgecolor=color, linewidth=0.8, alpha=alpha, label=label)
    if tip_mass > 0.0:
        turn = np.linspace(0.0, 2.0 * np.pi, 33)
        ball = points[-1] + weight_radius(tip_mass) * np.stack([np.cos(turn), np.sin(turn)], -1)
        axes.fill(*ball.T, facecolor=INK, linewidth=0, alpha=alpha, zorder=3)
    return points


def draw_clamp(axes, arm: Arm) -> None:
    """Draw the wall that holds an arm in its plane of bending, and label the panel [m]."""
    half = 0.05 * float(arm.length)
    axes.plot([0.0, 0.0], [-half, half], color=INK, linewidth=4)
    axes.set_aspect("equal", "datalim")
    axes.set_xlabel("along [m]", fontsize=9)
    axes.set_ylabel("up [m]", fontsize=9)


def draw_strobe(
    axes, arm: Arm, q: np.ndarray, number: int, *, tip_mass: float = 0.0, window: np.ndarray, moments: int = 9
) -> None:
    """Draw an arm in its plane of bending at moments of a motion (rows, n, k), the first and the last in full colour.

    **Arguments:** `number`: of the colour; `tip_mass`: of a weight at the tip [kg]; `window`: positions in the plane
    (..., 2) that the panel has room for, besides the straight arm [m].
    """
    color, length = figures.COLORS[number % len(figures.COLORS)], float(arm.length)
    rows = np.unique(np.linspace(0, len(q) - 1, moments).round().astype(int))
    for row in rows:
        at_end = row in (rows[0], rows[-1])
        draw_plane_arm(axes, arm, q[row], color, alpha=1.0 if at_end else 0.3, tip_mass=tip_mass if at_end else 0.0)
    axes.plot(*plane_axes(arm, q)[:, -1].T, ":", color="#888888", linewidth=1)
    draw_clamp(axes, arm)
    everywhere = np.concatenate([np.zeros((1, 2)), np.reshape(window, (-1, 2))])
    (left, low), (_, high) = everywhere.min(0), everywhere.max(0)
    axes.set_aspect("equal", "box")
    axes.set(xlim=(left - 0.08 * length, 1.05 * length), ylim=(low - 0.08 * length, high + 0.08 * length))


def rgb(color: str) -> tuple[int, int, int]:
    """The three channels of a colour that is written as #rrggbb."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


@dataclass(frozen=True)
class ShownArm:
    """An arm in a replay."""

    name: str
    arm: Arm
    q: np.ndarray
    """Coordinates, row by row (m, n, k)."""
    tip_mass: float | np.ndarray = field(default=0.0)
    """Mass of a weight at the tip, constant or row by row [kg]."""


def replay_side_by_side(
    path: Path, times, arms: Sequence[ShownArm], title: str, *, gap: float = 0.2, lines: Sequence[Line] = ()
) -> None:
    """Write the replay of arms that move side by side, each with its clamp, its weight and the path of its tip.

    **Arguments:** `gap`: distance between neighbours, across their planes, over the length of an arm; `lines`: what
    else is to be seen, row by row where it moves.
    """
    kept = slice(None, None, max(1, -(-len(times) // _FRAMES)))
    tubes: list[Tube] = []
    drawn = [line if line.points.ndim < 3 else Line(line.name, line.points[kept], line.color) for line in lines]
    for i, shown in enumerate(arms):
        arm, length = shown.arm, float(shown.arm.length)
        rotation, base = np.asarray(arm.T_world_base.rotation), np.asarray(arm.T_world_base.position)
        shift = rotation[:, 1] * gap * length * (i - 0.5 * (len(arms) - 1))
        color = rgb(figures.COLORS[i % len(figures.COLORS)])
        tube = _tube(shown.name, arm, np.asarray(shown.q)[kept], shift, color)
        tubes.append(tube)
        mass = np.broadcast_to(shown.tip_mass, len(times))[kept]
        if mass.max() > 0.0:
            tubes.append(_weight(f"weight of {shown.name}", tube, mass))
        wall = np.stack([base + shift + side * 0.05 * length * rotation[:, 0] for side in (-1.0, 1.0)])
        drawn.append(Line(f"clamp of {shown.name}", wall, width=0.02 * length))
        width = 0.0025 * length
        drawn.append(Line(f"path of the tip of {shown.name}", tube.positions[:, -1], color=_PATH_COLOR, width=width))
    write_replay(path, np.asarray(times)[kept], tubes, drawn, title=title)


def _tube(name: str, arm: Arm, q: np.ndarray, shift: np.ndarray, color: tuple[int, int, int]) -> Tube:
    """An arm as a tube that is thick enough to be seen, moved aside [m]."""
    per_segment = max(1, -(-_NODES // arm.count))
    positions, rotations = _centrelines(arm, jnp.asarray(q), per_segment)
    radii = np.maximum(_radii(arm, per_segment), _LEAST_RADIUS * float(arm.length))
    return Tube(name, np.asarray(positions) + shift, np.asarray(rotations), radii, color=color)


def _weight(name: str, tube: Tube, mass: np.ndarray) -> Tube:
    """The weight at the tip of a tube as a ball of brass, which may grow."""
    radius = np.maximum(weight_radius(mass), 1.2 * tube.radii.max())
    polar = np.linspace(0.02, 0.98, 9) * np.pi
    offsets = -radius[:, None, None] * np.cos(polar)[:, None] * tube.rotations[:, -1, None, :, 2]
    positions = tube.positions[:, -1:] + offsets
    rotations = np.broadcast_to(tube.rotations[:, -1:], (*positions.shape[:2], 3, 3))
    return Tube(name, positions, rotations, radius[:, None] * np.sin(polar), color=_WEIGHT_COLOR)
