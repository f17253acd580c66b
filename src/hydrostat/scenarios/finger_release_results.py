"""The figure of finger-release, and its measures of single paths."""

from pathlib import Path

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.identification import TipHeights
from hydrostat.results import accuracy, figures, panels, planar_figures

EXACT_ARCS = 40
"""Arcs of the chain that two arcs are compared with."""
_STROBES = 4  # weights whose motion is drawn


def height_deviation(measured: TipHeights, number: int, time: np.ndarray, heights: np.ndarray) -> float | None:
    """The root mean square of measured less simulated heights of one weight [mm]; None where none was measured."""
    known = np.isfinite(measured.heights[:, number]) & (measured.time <= time[-1])
    if not np.any(known):
        return None
    return 1e3 * accuracy.rms(measured.heights[known, number] - np.interp(measured.time[known], time, heights))


def swing_frequency(time: np.ndarray, path: np.ndarray, rest_tip: np.ndarray) -> float | None:
    """The frequency at which the tip passes its place at rest upwards [Hz].

    By its angle, seen from the clamp: a heavy weight swings through below the clamp, where its height has a minimum.
    """
    return accuracy.crossing_frequency(time, accuracy.polar_angle(path) - np.arctan2(rest_tip[1], rest_tip[0]))


def draw_release(
    path: Path, arm: Arm, metrics: dict, time, q, tips, drifts, measured: TipHeights | None, title: str
) -> None:
    """The finger up to its first turning point, the height of the tip, the frequencies, and the drift of energy."""
    weights = metrics["tip_masses_g"]
    shown = min(len(weights), _STROBES)
    figure, grid = panels.new_panels(title, 2, 12, (13.5, 8.0), height_ratios=[1.0, 1.15])
    for i in range(shown):
        axes = figure.add_subplot(grid[0, 12 // shown * i : 12 // shown * (i + 1)])
        soon = int(np.searchsorted(time, 0.8 / metrics["f1_hz"][i])) + 1
        turn = int(np.argmin(accuracy.polar_angle(tips[i])[:soon]))
        planar_figures.draw_strobe(axes, arm, q[: turn + 1, i], i, tip_mass=1e-3 * weights[i], window=tips)
        figures.style_axes(axes, f"{weights[i]:g} g: to the first turn", "along [m]", "up [m]" if i == 0 else "")
    names = [f"{grams:g} g" for grams in weights]
    heights = figure.add_subplot(grid[1, :6])
    curves = dict(zip(names, 1e3 * tips[..., 1], strict=True))
    words = f"height of the tip (dotted: at rest{'' if measured is None else '; dots: measured'})"
    panels.draw_curves(heights, time, curves, words, "[mm]")
    for i, sag in enumerate(metrics["tip_sag_mm"]):
        color = figures.COLORS[i % len(figures.COLORS)]
        heights.axhline(-sag, color=color, linewidth=0.8, linestyle=":")
        if measured is not None:
            heights.plot(measured.time, 1e3 * measured.heights[:, i], ".", color=color, markersize=4)
    keys = {"two arcs": "f1_hz", f"{EXACT_ARCS} arcs": "f1_exact_hz", "two arcs, in the motion": "f1_observed_hz"}
    found = {name: np.array(metrics[key], float) for name, key in keys.items()}
    cell, styles = figure.add_subplot(grid[1, 6:9]), ("o-", "s--", "x")
    panels.draw_curves(cell, weights, found, "first frequency", "[Hz]", x_label="tip weight [g]", styles=styles)
    cell.set_ylim(bottom=0.0)
    curves = dict(zip(names, drifts[:, 1:], strict=True))
    cell, words, log = figure.add_subplot(grid[1, 9:]), "of the largest kinetic energy", {"log": True, "floor": 1e-16}
    panels.draw_curves(cell, time[1:], curves, "energy error without friction", words, legend=False, **log)
    figures.save(figure, path)
