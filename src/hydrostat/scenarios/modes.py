"""modes: the natural frequencies and mode shapes of any robot about its equilibrium under weight and loads."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.results import drawing, figures, mode_swing, panels
from hydrostat.scenarios.any_robot import control_of, loaded_equilibria, system_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run

_SHOWN = 4  # mode shapes in the figure


def modes(run: Run) -> Outcome:
    """Small undamped vibrations about the equilibrium."""
    system, settings = system_of(run), run.settings
    rest = loaded_equilibria(run, system, np.array([0.0, 1.0]))
    with run.timed():
        found = hs.vibrations(system, control_of(system, settings), rest.final.q)
        frequencies = np.asarray(found.frequencies)
    metrics = {
        "frequency_hz": frequencies[: settings.count].tolist(),
        "stable": bool(np.all(frequencies > 0.0)),
        "tip_mm": tips_mm(rest.tip[-1]),
    }
    notes = [] if metrics["stable"] else ["the equilibrium is not stable: negative frequencies are rates of growth"]
    title = f"modes of {system.robot.name}"
    shapes = np.asarray(found.shapes).reshape(len(frequencies), -1)
    swings = [mode_swing(rest, shape) for shape in shapes[: min(_SHOWN, settings.count)]]
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, swings, frequencies, title),
        replay=lambda path: swings[0].replay(path, f"{title}: {frequencies[0]:.3g} Hz, slowed to one swing a second"),
        notes=notes,
    )


def _draw(path: Path, swings: list[hs.Trajectory], frequencies: np.ndarray, title: str) -> None:
    """Both turning points and the middle of each mode, in the plane of the world in which most is to be seen."""
    figure, grid = panels.new_panels(title, 1, len(swings), (3.4 * len(swings), 4.0))
    for column, (swing, frequency) in enumerate(zip(swings, frequencies, strict=False)):
        quarter = len(swing) // 4
        scene = drawing.Scene.of(swing, [quarter, 3 * quarter, 0])
        moved = np.ptp(np.asarray(swing.tip).reshape(len(swing), -1, 3), axis=0).max(0)
        extent = np.ptp(scene.arms[0].positions.reshape(-1, 3), axis=0)
        seen = {p: np.hypot(*moved[list(p)]) * np.hypot(*extent[list(p)]) for p in panels.VIEWS}
        plane = max(seen, key=lambda p: seen[p])
        panels.draw_snapshots(figure.add_subplot(grid[0, column]), scene, 3, plane, f"{frequency:.3g} Hz")
    figures.save(figure, path)
