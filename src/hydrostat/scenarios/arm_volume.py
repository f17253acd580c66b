"""arm-volume: the octopus arm elongated, relaxed and shortened, side by side, as Fig. 12 of Kang et al. shows it."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Elongate, Shorten
from hydrostat.results import Digest, drawing, figures, panels
from hydrostat.results.measures import length_ratio
from hydrostat.scenarios.arm import arm_name, arm_system, balance_metrics, move
from hydrostat.scenarios.base import Outcome, Run

_HOLD = 10.0  # s that a command outlasts the run, which ends while it is held
_MARGIN = 15.0  # mm around the longest arm


def elongate_and_shorten(run: Run) -> Outcome:
    """One run in which radial muscles contract, and one in which longitudinal ones do, both from rest."""
    settings, system = run.settings, arm_system(run)
    chosen = {"rise": settings.rise_seconds}
    elongation = Elongate(settings.radial_activation, settings.seconds + _HOLD, **chosen)
    shortening = Shorten(settings.longitudinal_activation, settings.seconds + _HOLD, **chosen)
    longer = move(run, system, elongation, settings.seconds, share=(0.0, 0.5), record="arm-volume")
    shorter = move(run, system, shortening, settings.seconds, share=(0.5, 1.0))
    both = [longer, shorter]
    metrics = {
        "length_ratio": [float(length_ratio(one.shown)[-1]) for one in both],
        "radius_ratio": [float(_radii(one.shown)[-1].mean() / _radii(one.shown)[0].mean()) for one in both],
        **balance_metrics(both),
    }
    title = f"arm-volume: {arm_name(run)}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, longer, shorter, title),
        replay=lambda path: longer.shown.replay(path, title),
        sim_seconds=2.0 * float(longer.time[-1]),
        dt=run.dt,
        steps=2 * (len(longer.time) - 1),
    )


def _radii(rows: hs.Trajectory) -> np.ndarray:
    """The radius of the arm at points along it (rows, points) [m]."""
    return drawing.Scene.of(rows, [0, -1]).arms[0].radii


def _draw(path: Path, longer: Digest, shorter: Digest, title: str) -> None:
    """The three arms from the side to one scale; the radius along them; length and volume over time."""
    figure, grid = panels.new_panels(title, 2, 6, (13.0, 6.5), height_ratios=[1.0, 1.0])
    scenes = [drawing.Scene.of(one.shown, [0, -1]) for one in (longer, shorter)]
    shapes = {"elongated": (scenes[0], -1), "relaxed": (scenes[0], 0), "shortened": (scenes[1], -1)}
    points = 1e3 * np.concatenate([scene.arms[0].positions[row][:, [0, 2]] for scene, row in shapes.values()])
    low, high = points.min(0) - _MARGIN, points.max(0) + _MARGIN
    for column, (name, (scene, row)) in enumerate(shapes.items()):
        axes = figure.add_subplot(grid[0, 2 * column : 2 * column + 2])
        drawing.draw_arm_side(axes, scene, row, drawing.FRONT)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        panels.label_view(axes, drawing.FRONT, name)
    places = {name: np.linspace(0.0, 1.0, scene.arms[0].radii.shape[1]) for name, (scene, _) in shapes.items()}
    radii = {name: 1e3 * scene.arms[0].radii[row] for name, (scene, row) in shapes.items()}
    below = [figure.add_subplot(grid[1, 2 * column : 2 * column + 2]) for column in range(3)]
    panels.draw_curves(below[0], places, radii, "radius", "[mm]", x_label="place along the arm")
    named = {"elongation": longer, "shortening": shorter}
    lengths = {name: length_ratio(one.shown) for name, one in named.items()}
    panels.draw_curves(below[1], {n: one.shown.time for n, one in named.items()}, lengths, "length over that at rest")
    volume = {name: one.values["volume_error"] for name, one in named.items()}
    panels.draw_curves(
        below[2],
        {n: one.time for n, one in named.items()},
        volume,
        "largest relative error of a segment's volume",
        width=0.6,
    )
    figures.save(figure, path)
