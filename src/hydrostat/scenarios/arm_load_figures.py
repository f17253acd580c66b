"""The figure that arm-fetch and arm-throw share: the octopus arm with a load, and what became of both."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hydrostat.results import Digest, drawing, figures, panels

_AROUND = 15.0  # mm, margin of numbered pictures


def draw_load(path: Path, loaded, motion: Digest, title: str, course: tuple, places, fetched, moments) -> None:
    """Snapshots from the side and, of a load, from above; a curve over time; and the muscles' activation.

    Numbered pictures of some moments come first, where they are asked for.

    **Arguments:** `loaded`: the arm with its load; all else as in `arm_loads.load_outcome`.
    """
    heights = [0.8 * (-(-len(moments) // 3)), 2.0] if len(moments) else [1.0]
    figure, parts = panels.new_panels(title, len(heights), 1, (13.0, 3.0 * sum(heights)), height_ratios=heights)
    if len(moments):
        _draw_moments(figure, parts[0, 0], motion, moments)
    grid = parts[len(heights) - 1, 0].subgridspec(2, 2, width_ratios=[1.3, 1])
    scene = drawing.Scene.of(motion.shown, np.linspace(0, len(motion.shown) - 1, 7).round().astype(int))
    both = {drawing.FRONT: grid[0, 0], drawing.ABOVE: grid[1, 0]}
    for plane, cell in both.items() if loaded.ball is not None else [(drawing.FRONT, grid[:, 0])]:
        axes, heading = figure.add_subplot(cell), f"{panels.VIEWS[plane]}, later darker; the mouth is marked"
        panels.draw_snapshots(axes, scene, 7, plane, heading, cut=True)
        panels.mark_points(axes, loaded.mouth, plane, "x", markersize=8, markeredgewidth=2)
        for point, good in zip(places, fetched, strict=True):
            panels.mark_points(axes, point[None], plane, ".", color=figures.COLORS[1 if good else 2], markersize=4)
        if len(places):
            axes.autoscale()
    heading, values, unit = course
    width = 1.3 if len(places) < 2 else 0.8
    panels.draw_curves(figure.add_subplot(grid[0, 1]), motion.time, values, heading, unit, colors=[1], width=width)
    activation = np.asarray(motion.shown.activation).max(-1)
    panels.draw_along_arm(figure.add_subplot(grid[1, 1]), motion.time[-1], activation, "most active muscle")
    figures.save(figure, path)


def _draw_moments(figure, cell, motion: Digest, moments: Sequence[float]) -> None:
    """The arm and its load at some moments, numbered, three to a line and to one scale."""
    rows = [int(np.argmin(np.abs(motion.shown.time - moment))) for moment in moments]
    scene = drawing.Scene.of(motion.shown, rows)
    pick = list(drawing.FRONT)
    centres, size = scene.objects[:, :, pick].reshape(-1, 2), max(scene.object_radii, default=0.0)
    seen = [scene.arms[0].positions[:, :, pick].reshape(-1, 2), centres - size, centres + size]
    points = 1e3 * np.concatenate(seen)
    low, high = points.min(0) - _AROUND, points.max(0) + _AROUND
    places = cell.subgridspec(-(-len(rows) // 3), 3)
    for number in range(len(rows)):
        axes = figure.add_subplot(places[number // 3, number % 3])
        drawing.draw_view(axes, scene, number, drawing.FRONT, path=False)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        panels.label_view(axes, drawing.FRONT, f"{number + 1}: {scene.time[number]:.2f} s")
