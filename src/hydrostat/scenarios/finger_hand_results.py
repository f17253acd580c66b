"""The metrics and the figure of finger-hand."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from hydrostat.results import BallContact, Trajectory, drawing, figures, panels, planar_figures
from hydrostat.scenarios.base import Run

_GRAVITY = 9.81  # m/s^2
_TOUCH = 1e-3  # N: contact forces below this do not count


def hand_metrics(run: Run, motion: Trajectory, touch: BallContact, withdrawn: int) -> dict:
    """How hard the fingers press, the friction that holding takes, and how far the ball sinks once it is let go."""
    set_, weight = run.settings, 1e-3 * run.settings.mass_g * _GRAVITY
    ball, time = np.asarray(motion.objects)[:, 0], np.asarray(motion.time)
    pressure = np.asarray(touch.pressure)
    up = np.asarray(touch.normal)[..., 2]
    # Held where sum of p (n_z + mu sqrt(1 - n_z^2)) is the weight, with the fingers as they are when the support goes.
    by_normal = float(np.sum(pressure[withdrawn] * up[withdrawn]))
    by_friction = float(np.sum(pressure[withdrawn] * np.sqrt(np.maximum(1.0 - up[withdrawn] ** 2, 0.0))))
    sunk = ball[withdrawn, 2] - ball[withdrawn:, 2]
    gone = np.flatnonzero(sunk > 1e-3 * set_.ball_radius_mm)
    held_rows = int(gone[0]) if len(gone) else len(sunk)
    last = len(sunk) - 1 - (len(sunk) - 1) // 4
    return {
        "held": not len(gone),
        "pinch_force_n": [float(p.sum()) for p in np.split(pressure[withdrawn], set_.fingers)],
        "friction_needed": max(0.0, (weight - by_normal) / by_friction) if by_friction > 0.0 else None,
        "aside_max_mm": float(1e3 * np.linalg.norm(ball[withdrawn : withdrawn + held_rows, :2], axis=1).max()),
        "sinks_mm": float(1e3 * sunk[-1]),
        "creep_mm_s": float(1e3 * (sunk[-1] - sunk[last]) / (time[-1] - time[withdrawn + last]))
        if not len(gone)
        else None,
        "lost_s": float(time[withdrawn + gone[0]] - time[withdrawn]) if len(gone) else None,
        "holding_force_n": float(np.sum(np.asarray(touch.force)[-1, :, 2])),
        "weight_n": weight,
        "penetration_max_mm": float(1e3 * np.max(np.asarray(touch.depth))),
    }


def draw_hand(path: Path, motion: Trajectory, touch: BallContact, gone: int, set_: SimpleNamespace, title: str) -> None:
    """The hand at some moments with the forces on the ball, its height, and how hard each finger presses."""
    figure, grid = panels.new_panels(title, 2, 4, (13.5, 7.5), height_ratios=[1.3, 1.0])
    radius_mm, fingers = set_.ball_radius_mm, set_.fingers
    time, ball = np.asarray(motion.time), 1e3 * np.asarray(motion.objects)[:, 0]
    sunk = np.flatnonzero(ball[gone, 2] - ball[gone:, 2] > 15.0)
    leaving = gone + int(sunk[0]) if len(sunk) else (gone + len(time)) // 2
    moments = [0, gone, leaving, len(time) - 1]
    scene = drawing.Scene.of(motion, moments)
    largest = max(float(np.max(np.linalg.norm(np.asarray(touch.force), axis=-1))), _TOUCH)
    for column, row in enumerate(moments):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_view(axes, scene, column, drawing.FRONT, path=False)
        for force, place in zip(np.asarray(touch.force)[row], 1e3 * np.asarray(touch.place)[row], strict=True):
            if np.linalg.norm(force) > _TOUCH:
                # Forces on the ball, drawn from outside to where they act.
                start = place - 25.0 * force / largest
                axes.annotate("", place[[0, 2]], start[[0, 2]], arrowprops={"arrowstyle": "->", "color": "#c1121f"})
        if row < gone:
            axes.axhline(float(ball[0, 2]) - radius_mm, color=planar_figures.INK, linewidth=2.0)
        when = "support withdrawn" if row == gone else ""
        panels.label_view(axes, drawing.FRONT, f"{time[row]:.2f} s {when}")
        low, high = min(float(ball[row, 2]), float(ball[0, 2])), 10.0
        size = 1.3 * float(np.ptp([low, high]))
        axes.set(xlim=(-0.5 * size, 0.5 * size), ylim=(low - 0.25 * size, high))
    cell = figure.add_subplot(grid[1, :2])
    height = {"ball": ball[:, 2] - ball[gone, 2]}
    words = "height of the ball above where it is when the support is withdrawn (dashed)"
    panels.draw_curves(cell, time, height, words, "[mm]", legend=False)
    panels.draw_level(cell, float(time[gone]), upright=True)
    each = np.split(np.asarray(touch.pressure), fingers, axis=1)
    curves = {f"finger {number}": p.sum(-1) for number, p in enumerate(each, 1)}
    cell = figure.add_subplot(grid[1, 2:])
    styles = ("-", "--", ":", "-.")
    panels.draw_curves(cell, time, curves, "pressure of each finger on the ball", "[N]", styles=styles)
    panels.draw_level(cell, float(time[gone]), upright=True)
    figures.save(figure, path)
