"""statics: where any robot rests under its weight, its tendons or muscles, and a force at its tips."""

from pathlib import Path

import numpy as np

from hydrostat.mechanics.robot import PerArm
from hydrostat.results import Trajectory, drawing, figures
from hydrostat.scenarios.any_robot import ramp, system_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run

_ROWS = 11  # equilibria from none to all of what acts besides the weight


def statics(run: Run) -> Outcome:
    """The equilibrium, reached through those under growing shares of what acts besides the weight."""
    system = system_of(run)
    rows = ramp(run, system, np.linspace(0.0, 1.0, _ROWS))
    pose = rows.tip_pose
    metrics = {
        "tip_mm": tips_mm(pose.position[-1]),
        "tip_axis": np.asarray(pose.rotation)[-1, ..., :, 2].reshape(-1).tolist(),
        "tip_moved_mm": np.linalg.norm(1e3 * (pose.position[-1] - pose.position[0]), axis=-1).reshape(-1).tolist(),
        "bend_deg": np.rad2deg(_of_segments(rows, rows.bend)).tolist(),
        "stretch": _of_segments(rows, rows.stretch).tolist(),
    }
    title = f"statics of {system.robot.name}: from its weight alone to all that acts, darker"
    return Outcome(metrics, figure=lambda path: _draw(path, rows, title), replay=lambda path: rows.replay(path, title))


def _of_segments(rows: Trajectory, values: PerArm) -> np.ndarray:
    """A quantity of every segment in the last row, arm after arm."""
    return np.concatenate([np.asarray(one)[-1].reshape(-1) for one in drawing.per_arm(rows.system.robot, values)])


def _draw(path: Path, rows: Trajectory, title: str) -> None:
    """From two sides and from above."""
    figure = figures.new_figure(13.0, 5.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    scene = drawing.Scene.of(rows, [0, len(rows) // 2, len(rows) - 1])
    views = ((drawing.FRONT, "against y"), (drawing.SIDE, "against -x"), (drawing.ABOVE, "from above"))
    for axes, (plane, name) in zip(figure.subplots(1, 3), views, strict=True):
        for row, paleness in enumerate((0.75, 0.5, 0.0)):
            drawing.draw_view(axes, scene, row, plane, paleness=paleness, path=False)
        x, y = ("xyz"[k] for k in plane)
        figures.style_axes(axes, name, f"{x} [mm]", f"{y} [mm]")
    figures.save(figure, path)
