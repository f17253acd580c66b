"""The metrics and the figure of finger-grasp."""

from pathlib import Path

import numpy as np

from hydrostat.results import ObstacleContact, Trajectory, accuracy, drawing, figures, panels

_TOUCH = 1e-3  # N: contact forces below this do not count
_TIP_SHARE = 0.12  # of the finger's length: contact there is the tip's, the rest is the middle's


def grasp_metrics(times, touch: ObstacleContact, places, hold_until: float, pull: np.ndarray) -> dict:
    """Places and forces of contact before the pull, during it and after it."""
    at_tip = places > 1.0 - _TIP_SHARE
    held = int(np.searchsorted(times, hold_until)) - 1
    total, weights = touch.on_nodes.sum(-1), touch.on_nodes[held, ~at_tip]
    touching = total > _TOUCH
    began = np.flatnonzero(touching)
    changes = np.diff(touching[held:].astype(int))
    return {
        "first_touch_s": float(times[began[0]]) if len(began) else None,
        "first_touch_fraction": float(places[np.argmax(touch.on_nodes[began[0]])]) if len(began) else None,
        "middle_force_n": float(weights.sum()),
        "middle_place_fraction": float(weights @ places[~at_tip] / weights.sum()) if weights.sum() > 0 else None,
        "tip_force_n": float(touch.on_nodes[held, at_tip].sum()),
        "pull_force_max_n": float(np.max(-touch.on_obstacles[held:, 0] @ pull / np.linalg.norm(pull))),
        "separations": int(np.sum(changes < 0)),
        "recontacts": int(np.sum(changes > 0)),
        "penetration_max_mm": 1e3 * float(np.max(touch.penetration)),
        "final_force_n": float(total[-1]),
        "force_repeats_percent": accuracy.percent(total[-1], total[held]),
    }


def draw_grasp(path: Path, motion: Trajectory, touch: ObstacleContact, places, moments, title: str) -> None:
    """The finger and the object at some moments, and forces and places of contact over time."""
    figure, grid = panels.new_panels(title, 3, len(moments), (13.5, 7.5), height_ratios=[1.2, 1.0, 1.0])
    rows = [int(np.argmin(np.abs(motion.time - moment))) for moment in moments]
    scene = drawing.Scene.of(motion, rows)
    (left, low), (right, high) = 1e3 * scene.bounds(drawing.FRONT)
    for row, moment in enumerate(moments):
        axes = figure.add_subplot(grid[0, row])
        drawing.draw_view(axes, scene, row, drawing.FRONT, path=False)
        panels.label_view(axes, drawing.FRONT, f"{moment:.2f} s")
        axes.set(xlim=(left - 20.0, right + 90.0), ylim=(low - 20.0, high + 20.0))
    at_tip = places > 1.0 - _TIP_SHARE
    forces = {"middle": touch.on_nodes[:, ~at_tip].sum(-1), "tip": touch.on_nodes[:, at_tip].sum(-1)}
    panels.draw_curves(figure.add_subplot(grid[1, :]), motion.time, forces, "contact force", "[N]")
    where = figure.add_subplot(grid[2, :], sharex=figure.axes[-1])
    row, node = np.nonzero(touch.on_nodes > _TOUCH)
    size = 30.0 * touch.on_nodes[row, node] / max(touch.on_nodes.max(), _TOUCH)
    where.scatter(motion.time[row], places[node], s=size, color=figures.COLORS[3], linewidths=0)
    where.set_ylim(0.0, 1.02)
    figures.style_axes(where, "places of contact", "time [s]", "fraction of the length")
    figures.save(figure, path)
