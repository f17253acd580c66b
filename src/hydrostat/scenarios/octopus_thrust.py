"""octopus-tethered: the thrust of an octopus that beats its arms with its body held."""

from pathlib import Path
from typing import Any

import numpy as np

import hydrostat as hs
from hydrostat.control.gaits import Swim
from hydrostat.results import figures, panels
from hydrostat.results.measures import direction
from hydrostat.robots import LimbedSpec, stronger
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Octopus, beat, move, octopus, outcome

_UP = direction(0.0, 0.0)
_RATIOS = np.array([0.2, 1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 5.0])
_FREQUENCIES = np.array([0.5, 0.71, 1.0, 1.41, 2.0])  # over that of the beat
_STIFFNESSES = np.array([1.0, 3.0, 10.0, 30.0, 100.0])


def tethered(run: Run) -> Outcome:
    """The body is held, and the mean thrust measured, at a ratio of closing to opening, at 1, and at the inverse."""
    settings, own = run.settings, run.limbed
    animal = _tied(run, own, settings.stiffness)
    ratios = {"ratio": settings.ratio, "one": 1.0, "inverse": 1.0 / settings.ratio}
    seconds = settings.beats * settings.period_s
    motions, thrusts = [], {}
    for index, (name, ratio) in enumerate(ratios.items()):
        share = (index / len(ratios), (index + 1) / len(ratios))
        shown = _beats(run, animal, {**beat(settings), "ratio": ratio}, share=share, record=index == 0)
        motions.append(shown)
        thrusts[name] = _thrust(run, shown)
    times = motions[0].time
    # The last beat, when the motion has become periodic.
    last = times > times[-1] - settings.period_s + 1e-9
    mean = {name: float(np.mean(force[last])) for name, force in thrusts.items()}
    metrics: dict[str, Any] = {
        "thrust_mn": 1e3 * mean["ratio"],
        "thrust_at_one_mn": 1e3 * mean["one"],
        "thrust_at_inverse_mn": 1e3 * mean["inverse"],
        "thrust_at_one_share": mean["one"] / mean["ratio"],
        "thrust_at_inverse_share": mean["inverse"] / mean["ratio"],
    }
    curves = _sweep(run, own) if settings.sweep else {}
    for name, (_, found) in curves.items():
        for label, values in found.items():
            metrics[f"thrust_over_{name}_{label}_mn"] = [1e3 * value for value in values]
    title = f"octopus-tethered: closing {settings.ratio:g} times as fast as opening, as fast, and the other way round"
    labels = dict(zip(ratios, (f"{settings.ratio:g}", "1", f"1/{settings.ratio:g}"), strict=True))
    courses = {f"ratio {labels[name]}: mean {1e3 * mean[name]:.2f} mN": 1e3 * thrusts[name] for name in ratios}
    options = {"sim_seconds": len(ratios) * seconds, "steps": len(ratios) * (len(times) - 1)}
    return outcome(
        run,
        animal,
        motions,
        metrics,
        title,
        lambda path: _draw(path, motions[0], courses, curves, title),
        **options,
    )


def _tied(run: Run, own: LimbedSpec, stiffness: float) -> Octopus:
    """The octopus with its body held, its arms and muscles some times as strong."""
    run.whole = stronger(own, stiffness)
    return octopus(run, ground=False, weight=1.0 - run.settings.buoyancy, free=False)


def _beats(run: Run, animal: Octopus, options: dict, **others) -> hs.Trajectory:
    """The motion of some beats, at their full size from the first on."""
    controller = Swim(_UP, closed_loop=False, begin_beats=1e-3, **options)
    return move(run, animal, controller, run.settings.beats * options["period"], **others)


def _thrust(run: Run, shown: hs.Trajectory) -> np.ndarray:
    """The force of the water on all arms along the body's axis (rows,) [N].

    The tether also carries the rate of the arms' momentum, whose mean over a whole beat is zero.
    """
    with run.timed():
        axis = np.asarray(shown.body_pose.rotation)[:, :, 2]
        return np.einsum("ti,ti->t", np.asarray(shown.drag_force()).sum((1, 2)), axis)


def _sweep(run: Run, own: LimbedSpec) -> dict[str, tuple[np.ndarray, dict[str, list[float]]]]:
    """The mean thrust of the last beat over ratio, frequency and stiffness [N]: the values of each, and curves."""
    settings = run.settings
    known: dict[tuple[float, float, float], float] = {}

    def mean(stiffness: float, ratio: float, frequency: float) -> float:
        key = (stiffness, ratio, frequency)
        if key not in known:
            # Whole steps in a beat, so that its mean is that of a beat.
            period = max(round(1.0 / (frequency * run.dt)), 1) * run.dt
            options = {**beat(settings), "ratio": ratio, "period": period}
            shown = _beats(run, _tied(run, own, stiffness), options, compiled=True)
            last = shown.time > shown.time[-1] - period + 1e-9
            known[key] = float(np.mean(_thrust(run, shown)[last]))
        return known[key]

    frequency = 1.0 / settings.period_s
    at = {f"stiffness_{x:g}": x for x in _STIFFNESSES[::2]}
    ratios = {"ratio_3": 3.0, "ratio_1": 1.0, "ratio_third": 1.0 / 3.0}
    return {
        "ratio": (_RATIOS, {name: [mean(x, r, frequency) for r in _RATIOS] for name, x in at.items()}),
        "frequency": (
            frequency * _FREQUENCIES,
            {name: [mean(x, settings.ratio, frequency * f) for f in _FREQUENCIES] for name, x in at.items()},
        ),
        "stiffness": (
            _STIFFNESSES,
            {name: [mean(x, r, frequency) for x in _STIFFNESSES] for name, r in ratios.items()},
        ),
    }


def _draw(path: Path, shown: hs.Trajectory, courses: dict, curves: dict, title: str) -> None:
    """The octopus at four moments of the last beat, the thrust over time, and that of other beats where measured."""
    figure, grid = panels.new_panels(title, 3 if curves else 2, 12, size=(13.0, 10.0 if curves else 7.0))
    rows = np.linspace(2 * len(shown) // 3, len(shown) - 1, 4).astype(int)
    panels.draw_moments(figure, grid[0, :], shown, rows)
    heading = "force of the water along the body's axis"
    panels.draw_curves(figure.add_subplot(grid[1, :]), shown.time, courses, heading, "[mN]")
    labels = {"ratio": "closing over opening speed", "frequency": "frequency [Hz]", "stiffness": "times as strong"}
    for column, (name, (values, found)) in enumerate(curves.items()):
        axes = figure.add_subplot(grid[2, 4 * column : 4 * column + 4])
        shares = {label.replace("_", " "): 1e3 * np.array(each) for label, each in found.items()}
        panels.draw_curves(axes, values, shares, "mean thrust of a beat", "[mN]", x_label=labels[name], styles=["o-"])
        axes.set_xscale("log")
        axes.set_xticks(values, [f"{value:.2g}" for value in values])
        axes.minorticks_off()
        panels.draw_level(axes, 0.0)
    figures.save(figure, path)
