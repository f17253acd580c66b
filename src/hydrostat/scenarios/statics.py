"""statics: the equilibrium of any robot under its weight, its tendons or muscles, and a force at its tips."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.results import drawing, figures, panels, per_arm
from hydrostat.scenarios.any_robot import loaded_equilibria, system_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run

_ROWS = 11  # equilibria from the weight alone to the full load


def statics(run: Run) -> Outcome:
    """The equilibrium, reached through those under growing shares of the load."""
    system = system_of(run)
    rows = loaded_equilibria(run, system, np.linspace(0.0, 1.0, _ROWS))
    pose = rows.tip_pose
    metrics = {
        "tip_mm": tips_mm(pose.position[-1]),
        "tip_axis": np.asarray(pose.rotation)[-1, ..., :, 2].reshape(-1).tolist(),
        "tip_moved_mm": np.linalg.norm(1e3 * (pose.position[-1] - pose.position[0]), axis=-1).reshape(-1).tolist(),
        "bend_deg": np.rad2deg(_of_segments(rows, rows.bend)).tolist(),
        "stretch": _of_segments(rows, rows.stretch).tolist(),
    }
    title = f"statics of {system.robot.name}: from its weight alone to the full load, darker"
    return Outcome(metrics, figure=lambda path: _draw(path, rows, title), replay=lambda path: rows.replay(path, title))


def _of_segments(rows: hs.Trajectory, values) -> np.ndarray:
    """A quantity of every segment in the last row, arm after arm."""
    return np.concatenate([np.asarray(one)[-1].reshape(-1) for one in per_arm(rows.system.robot, values)])


def _draw(path: Path, rows: hs.Trajectory, title: str) -> None:
    """The robot under no, half and the full load, seen against y, against -x and from above."""
    figure, grid = panels.new_panels(title, 1, 3, (13.0, 5.0))
    scene = drawing.Scene.of(rows, [0, len(rows) // 2, len(rows) - 1])
    for column, plane in enumerate((drawing.FRONT, drawing.SIDE, drawing.ABOVE)):
        panels.draw_snapshots(figure.add_subplot(grid[0, column]), scene, 3, plane, panels.VIEWS[plane])
    figures.save(figure, path)
