"""finger-identify: the finger's Young's modulus and friction from a recorded path of its tip, by gradients.

The finger is bent up, released, and watched by a camera: 100 pictures a second with some noise. The two parameters with
which the tip of the model follows the record are found by least squares, with derivatives through the simulation.

A synthetic record is that of a finer model than the one that is fitted to it: more arcs, and smaller steps. The same
finer model tells by how much the fitted one is biased.
"""

from pathlib import Path

import numpy as np

from hydrostat.errors import InputError
from hydrostat.identification import TipFit, TipModel, TipRecord, read_tip_record
from hydrostat.results import accuracy, figures, panels, planar_figures, record_arrays
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

_FINER_PIECES, _FINER_STEPS = 2.5, 2  # pieces and steps of the finer model, for one of the model that is fitted
_LEAST_FINER = 20  # pieces of each arc in the finer model, at least
_LEAST_PICTURES = 4
_LARGEST_BIAS = 0.01  # of Young's modulus: more is said
_EXPECTED_EVALUATIONS = 12  # of a fit, for the progress bar


def identify(run: Run) -> Outcome:
    """Recover known values from a noisy record of a finer model, or find values from a measured record."""
    set_ = run.settings
    curvature = -np.deg2rad(set_.release_deg) / [segment.length for segment in run.robot.segments]
    record = read_tip_record(set_.record) if set_.record else None
    interval = record.interval if record else 1.0 / set_.rate_hz
    count = len(record.tip) if record else round(set_.seconds * set_.rate_hz)
    if count < _LEAST_PICTURES:
        raise InputError(
            f"the record must hold at least {_LEAST_PICTURES} pictures; {set_.seconds:g} s at `rate_hz` = "
            f"{set_.rate_hz:g} make {count}"
        )
    if not all(segment.friction > 0.0 for segment in run.robot.segments):
        raise InputError(f"this scenario needs friction to identify in both segments; {run.robot.name} has none in one")
    steps = max(1, round(1e3 * interval / set_.dt_ms))
    guess = np.array([set_.guess_youngs_modulus, set_.guess_friction])
    known = record is None
    with run.compiling():
        finer_pieces = max(_LEAST_FINER, round(_FINER_PIECES * set_.pieces))
        model, finer = (
            TipModel(run.robot.cut(pieces), np.repeat(curvature, pieces)[:, None], interval, count, number)
            for pieces, number in ((set_.pieces, steps), (finer_pieces, _FINER_STEPS * steps))
        )
        model.path_and_slopes(np.log(guess))
        true_path = finer.path(np.zeros(2))
        if record is None:
            noise = np.random.default_rng(run.seed).normal(scale=1e-3 * set_.noise_mm, size=true_path.shape)
            record = TipRecord(interval, true_path + noise)

    times = interval * np.arange(1, count + 1)
    with run.timed():
        fit = model.fit(record, guess, lambda n: run.progress("fitting", min(n / _EXPECTED_EVALUATIONS, 0.99)))
        columns = {
            "recorded": (record.tip, ("axis",), "m", "x and z of the tip as recorded"),
            "fitted": (fit.path, ("axis",), "m", "x and z of the tip of the fitted model"),
        }
        record_arrays(run.folder, times, columns, attributes={"scenario": "finger-identify", "robot": run.robot.name})
        bias = model.bias(fit.factors, finer)
    evaluations = len(fit.history)
    metrics = {
        "relative_error_percent": [100.0 * abs(f - 1.0) for f in fit.factors] if known else None,
        "standard_error_percent": [100.0 * s for s in fit.standard_errors],
        "bias_percent": [100.0 * b for b in bias],
        "arcs": 2 * set_.pieces,
        "youngs_modulus_gpa": 1e-9 * run.robot.material.youngs_modulus * fit.factors[0],
        "friction_n_m_s": run.robot.segments[0].friction * fit.factors[1],
        "residual_rms_mm": 1e3 * accuracy.rms(fit.path - record.tip),
        "evaluations": evaluations,
    }
    notes = []
    if abs(bias[0]) > _LARGEST_BIAS:
        words = "the fitted model has too few arcs, or too long steps, for this record"
        notes.append(f"{words}: Young's modulus is about {100.0 * bias[0]:.2g} % off; take more `pieces`")
    title = f"finger-identify: {run.robot.name}"

    def replay(path: Path) -> None:
        arm = build_robot(run.robot.cut(set_.pieces)).arm
        shown = planar_figures.ShownArm("finger", arm, model.coordinates(np.log(fit.factors)))
        planar_figures.replay_side_by_side(path, times, [shown], title)

    return Outcome(
        metrics,
        figure=lambda path: _draw(path, times, record, fit, "true" if known else "robot's", title),
        replay=replay,
        notes=notes,
        sim_seconds=count * interval * evaluations,
        dt=interval / steps,
        steps=count * steps * evaluations,
    )


def _draw(path: Path, times: np.ndarray, record: TipRecord, fit: TipFit, reference: str, title: str) -> None:
    """The record and the fitted path, the residual between them, and the parameters of each evaluation."""
    figure, grid = panels.new_panels(title, 2, 2, (11, 5.5))
    for column, name in enumerate("xz"):
        both = {"recorded": record.tip[:, column], "fitted": fit.path[:, column]}
        cell = figure.add_subplot(grid[0, column])
        panels.draw_curves(cell, times, both, f"tip, {name}", "[m]", styles=(".", "-"), colors=(1, 0))
    residuals = dict(zip("xz", 1e3 * (record.tip - fit.path).T, strict=True))
    panels.draw_curves(figure.add_subplot(grid[1, 0]), times, residuals, "residual", "[mm]", styles=(".",))
    cell, evaluations = figure.add_subplot(grid[1, 1]), np.arange(len(fit.history))
    factors = dict(zip(("Young's modulus", "friction"), fit.history.T, strict=True))
    options = {"x_label": "evaluation", "log": True, "styles": ("o-",)}
    panels.draw_curves(cell, evaluations, factors, "convergence of the fit", f"over the {reference} value", **options)
    if reference == "true":
        panels.draw_level(cell, 1.0)
    figures.save(figure, path)
