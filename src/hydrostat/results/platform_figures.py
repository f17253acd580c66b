"""Figures and replays of chains of platforms: plates with their radii, the legs between them, and paths of the tip."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hydrostat.control.paths import Curve
from hydrostat.results import figures, panels
from hydrostat.results.platform_frame import Rings
from hydrostat.results.platform_summary import PlatformMotion
from hydrostat.viewer import Line, Marks, Tube, write_replay
from hydrostat.viewer.platform_marks import CLEAR, hoop, legs_of, rings_of, rod
from hydrostat.viewer.shapes import resample
from hydrostat.viewer.skin_marks import Copies

PATH_COLOR = "#c8553d"
"""The colour of paths that the tip is to follow."""
_PLATE, _RIM, _LEG, _OBSTACLE = "#8fb3b5", "#28666e", "#33322e", "#b9b4a8"
_CORNERS = 33  # of the rim of a plate
_FRAMES = 400  # of a replay, at most
_SNAPSHOTS = 7


def rims(motion: PlatformMotion, row: int) -> np.ndarray:
    """The rims of the plates in the world at a row of those that are kept (n + 1, corners, 3) [m]."""
    turn = np.linspace(0.0, 2.0 * np.pi, _CORNERS)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], -1)
    turned = circle @ np.swapaxes(motion.rotations[row], -1, -2)
    return motion.positions[row][:, None] + motion.radii[row][:, None, None] * turned


def rings(motion: PlatformMotion, row: int) -> np.ndarray:
    """Both rings of every segment in the world at a row of those that are kept (2 n, corners, 3) [m]."""
    found = Rings.of_plates(motion.positions[row], motion.rotations[row], motion.rings[row])
    return found.circles(_CORNERS)


def legs(motion: PlatformMotion, row: int) -> np.ndarray:
    """The legs in the world at a row of those that are kept, from end to end (6 n, 2, 3) [m]."""
    return np.moveaxis(motion.joints[row], 1, 2).reshape(-1, 2, 3)


def draw_platforms(axes, motion: PlatformMotion, row: int = -1, alpha: float = 1.0) -> None:
    """Draw an arm in space at one of the rows that are kept: its plates as discs, its rings, and its legs [m]."""
    from matplotlib.colors import to_rgba
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    face, edge = to_rgba(_PLATE, 0.7 * alpha), to_rgba(_RIM, alpha)
    axes.add_collection3d(Poly3DCollection(list(rims(motion, row)), facecolors=face, edgecolors=edge, linewidths=0.5))
    axes.add_collection3d(Line3DCollection(list(rings(motion, row)), colors=_RIM, linewidths=0.7, alpha=alpha))
    axes.add_collection3d(Line3DCollection(list(legs(motion, row)), colors=_LEG, linewidths=0.6, alpha=alpha))


def draw_platforms_side(axes, motion: PlatformMotion, row: int, view: np.ndarray, alpha: float = 1.0) -> None:
    """Draw an arm at one row in a plane [m]: plates as discs, rings, legs, and a line along its skin that shows twist.

    **Arguments:** `view`: the two axes of the plane in the world (2, 3), horizontal first.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    plates = list(rims(motion, row) @ view.T)
    axes.add_collection(PolyCollection(plates, facecolors=_PLATE, edgecolors=_RIM, linewidths=0.8, alpha=0.7 * alpha))
    axes.add_collection(LineCollection(list(rings(motion, row) @ view.T), colors=_RIM, linewidths=0.7, alpha=alpha))
    axes.add_collection(LineCollection(list(legs(motion, row) @ view.T), colors=_LEG, linewidths=0.6, alpha=alpha))
    skin = motion.positions[row] + motion.radii[row][:, None] * motion.rotations[row][..., 0]
    axes.plot(*(skin @ view.T).T, color=PATH_COLOR, alpha=alpha, linewidth=1.5)
    axes.set_aspect("equal")
    axes.autoscale_view()


def draw_ball(axes, obstacle) -> None:
    """Draw a ball in space from its centre x, y, z and its radius [m]."""
    *centre, radius = obstacle
    azimuth, polar = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 25), np.linspace(0.0, np.pi, 13))
    unit = (np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar))
    x, y, z = (middle + radius * part for middle, part in zip(centre, unit, strict=True))
    axes.plot_surface(x, y, z, color=_OBSTACLE, alpha=0.8, linewidth=0)


def draw_tip_tracking(
    path: Path,
    motion: PlatformMotion,
    curve: Curve,
    goals: tuple[np.ndarray, np.ndarray],
    title: str,
    draw_below: Callable[..., None],
    obstacle=(),
) -> None:
    """Draw snapshots of an arm over the path of its tip, the coordinates of the tip over time, and one more panel.

    **Arguments:** `goals`: times [s] and places (m, 3) [m] that the tip is to be at, drawn as dots; `draw_below`: draws
    into the axes of the panel below; `obstacle`: centre x, y, z and radius of a ball [m].
    """
    figure, grid = panels.new_panels(title, 2, 2, (12.5, 7.5), width_ratios=[1.25, 1])
    space = figure.add_subplot(grid[:, 0], projection="3d")
    points = curve(np.linspace(0.0, 1.0, 400))
    rows = np.linspace(0, len(motion.kept) - 1, _SNAPSHOTS).round().astype(int)
    for row in rows:
        draw_platforms(space, motion, row, 1.0 if row in (rows[0], rows[-1]) else 0.15)
    if len(obstacle):
        draw_ball(space, obstacle)
    space.plot(*points.T, "--", color=PATH_COLOR, linewidth=1.5)
    closed = np.allclose(points[0], points[-1])
    for place, word in ((points[0], " start and end" if closed else " start"), (points[-1], "" if closed else " end")):
        space.text(place[0], place[1], place[2], word, fontsize=8, color=PATH_COLOR)
    figures.frame_space(space, np.concatenate([motion.positions[rows].reshape(-1, 3), points]))
    space.view_init(elev=16, azim=-60)
    coordinates = figure.add_subplot(grid[0, 1])
    curves = {f"{name} of the tip": y for name, y in zip("xyz", motion.tip.T, strict=True)}
    panels.draw_curves(coordinates, motion.times, curves, "tip (lines) and its goals (dots)", "[m]")
    for color, y in zip(figures.COLORS, goals[1].T, strict=False):
        coordinates.plot(goals[0], y, ".", color=color, markersize=4, alpha=0.7)
    draw_below(figure.add_subplot(grid[1, 1]))
    figures.save(figure, path)


def replay_platforms(path: Path, motion: PlatformMotion, title: str, curve: Curve | None = None, obstacle=()) -> None:
    """Write the replay of an arm, its legs and rings in a clear tube of the rings' radii, with the path of its tip.

    **Arguments:** `curve`: the path that the tip is to follow; `obstacle`: centre x, y, z and radius of a ball [m].
    """
    shown = slice(None, None, max(1, -(-len(motion.kept) // _FRAMES)))
    rows = motion.kept[shown]
    tubes = [Tube("arm", motion.positions[shown], motion.rotations[shown], motion.radii[shown], opacity=CLEAR)]
    lines = [Line("path of the tip", motion.tip[rows], color=(120, 120, 120), width=0.006)]
    if curve is not None:
        lines.append(Line("path", curve(np.linspace(0.0, 1.0, 300)), color=(200, 85, 61), width=0.01))
    if len(obstacle):
        *centre, radius = obstacle
        tubes.append(Tube.ball("obstacle", np.broadcast_to(centre, (len(tubes[0].positions), 3)), radius))
    write_replay(path, motion.times[rows], tubes, lines, title=title, marks=_marks(motion))


def _marks(motion: PlatformMotion) -> list[Marks]:
    """The legs and the rings of an arm over time."""
    times, widest = motion.times[motion.kept], float(np.asarray(motion.arm.segments.radius).max())

    def legs_at(time: float) -> Copies:
        joints = resample(motion.joints, times, np.array([time]))[0]
        return legs_of(np.moveaxis(joints, 1, 2).reshape(-1, 2, 3), widest)

    def rings_at(time: float) -> Copies:
        plates = (motion.positions, motion.rotations, motion.rings)
        found = Rings.of_plates(*(resample(y, times, np.array([time]))[0] for y in plates))
        return rings_of(found.centres, found.rotations, found.radii)

    count = motion.rings.shape[1]
    return [Marks("legs", rod(), legs_at, 6 * count), Marks("rings", hoop(), rings_at, 2 * count)]
