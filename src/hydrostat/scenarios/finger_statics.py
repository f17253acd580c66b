"""finger-statics: the sagging rod as two arcs against the exact rod, as in figure 9 of Dehghani's paper."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.errors import UnsolvedError
from hydrostat.mechanics import equilibrium, planar
from hydrostat.results import Variable, accuracy, figures, panels, planar_figures
from hydrostat.robots import RobotSpec, Sag, alterations, build_robot, sag
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.viewer import Line

_FRAMES = 25  # of the replay, while the weight grows
_REPLAY_SECONDS = 6.0
_BY_WEIGHT: dict[str, Any] = {"x_label": "tip weight [g]"}
_VARIABLES = (
    Variable("theta", ("arc",), (2,), "rad", "bend of each of the two arcs, positive downwards"),
    Variable("tip_two_arcs", ("direction",), (2,), "m", "along the clamp's axis, and up"),
    Variable("tip_refined", ("direction",), (2,), "m", "the same of the refined chain"),
    Variable("tip_exact", ("direction",), (2,), "m", "the same of the exact rod"),
    Variable("base_moment_exact", (), (), "N m", "moment at the clamp of the exact rod"),
)


class Load(NamedTuple):
    """The rod at rest under one weight; positions are in the plane of bending: along the clamp, and up [m]."""

    exact: Sag
    theta: np.ndarray
    """Angles of the two arcs [rad]."""
    q: np.ndarray
    """Coordinates of the two arcs."""
    tips: np.ndarray
    """Tips of the two arcs, of the refined chain and of the exact rod, (3, 2) [m]."""
    exact_angle: float
    """Angle of the exact rod's tip, downwards [rad]."""


def statics(run: Run) -> Outcome:
    """Let the rod sag under each weight: as two arcs, as a chain of many, and exactly."""
    set_ = run.settings
    specs = [alterations.bare_rod(run.robot, 1e-3 * grams) for grams in set_.tip_masses_g]
    arm, arcs = build_robot(specs[0]).arm, 2 * set_.pieces
    with run.compiling():
        _load(alterations.bare_rod(run.robot), arcs)
    loads: list[Load] = []
    attributes = {"scenario": "finger-statics", "robot": run.robot.name}
    options = {"axis": "tip_mass", "axis_unit": "kg", "attributes": attributes}
    with run.timed(), run.recorder(_VARIABLES, len(specs), **options) as recorder:
        for grams, spec in zip(set_.tip_masses_g, specs, strict=True):
            loads.append(_load(spec, arcs))
            columns = (loads[-1].theta, *loads[-1].tips, loads[-1].exact.base_moment)
            rows = {variable.name: np.asarray(y)[None] for variable, y in zip(_VARIABLES, columns, strict=True)}
            recorder.append([1e-3 * grams], **rows)
            run.progress("sagging", len(loads) / len(specs))

    length, tips = float(arm.length), np.stack([load.tips for load in loads])
    errors = 100.0 * np.linalg.norm(tips[:, :2] - tips[:, 2:], axis=-1) / length
    sags = [(two - exact, exact) for two, exact in tips[:, [0, 2], 1]]
    metrics = {
        "tip_masses_g": list(set_.tip_masses_g),
        "arcs": arcs,
        "tip_error_percent": list(errors[:, 0]),
        "tip_error_converged_percent": float(np.max(errors[:, 1])),
        "sag_error_percent": [accuracy.percent(*pair, smallest=1e-9 * length) for pair in sags],
        "tip_sag_mm": list(-1e3 * tips[:, 0, 1]),
        "tip_sag_exact_mm": list(-1e3 * tips[:, 2, 1]),
        "tip_angle_deg": [-float(np.rad2deg(load.theta.sum())) for load in loads],
        "tip_angle_exact_deg": [-float(np.rad2deg(load.exact_angle)) for load in loads],
        "base_moment_exact_n_m": [load.exact.base_moment for load in loads],
    }
    title = f"finger-statics: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, loads, metrics, errors, title),
        replay=lambda path: _replay(path, run, arm, title),
    )


def _load(spec: RobotSpec, arcs: int) -> Load:
    """The rod under its weight and that at its tip."""
    exact = sag(spec)
    angle, x, z = exact.tip
    two, many = (build_robot(spec.cut(count // 2, ("bend_y",))) for count in (2, arcs))
    q = planar.rest(two)
    # The pieces of an arc start with its curvature; where that is too far off, with nothing.
    try:
        refined = equilibrium(many, q=np.repeat(q, arcs // 2, 0)).q
    except UnsolvedError:
        refined = planar.rest(many)
    tips = [planar.tip_in_plane(robot.arm, at) for robot, at in ((two, q), (many, refined))]
    return Load(exact, planar.arc_angles(two.arm, q), q, np.array([*tips, [z, -x]]), float(angle))


def _draw(path: Path, arm: Arm, loads: list[Load], metrics: dict, errors: np.ndarray, title: str) -> None:
    """Both rods, the distance between them and the turn of their tangents, and the errors of the tip by weight."""
    figure, grid = panels.new_panels(title, 2, 3, (13.5, 7.0), width_ratios=[1.5, 1, 1])
    shapes, apart, turns = (figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[0, 2]))
    places, weights = planar_figures.distances_along(arm), metrics["tip_masses_g"]
    middle = len(places) // 2
    for i, (grams, load) in enumerate(zip(weights, loads, strict=True)):
        color = figures.COLORS[i % len(figures.COLORS)]
        angle, x, z = load.exact.at(places).T
        exact = np.stack([z, -x], -1)
        axis = planar_figures.draw_plane_arm(shapes, arm, load.q, color, tip_mass=1e-3 * grams, label=f"{grams:g} g")
        shapes.plot(*exact.T, color=planar_figures.INK, linewidth=1.0, linestyle="--")
        apart.plot(places, 100.0 * np.linalg.norm(axis - exact, axis=-1) / float(arm.length), color=color)
        turns.plot(places[[0, middle, -1]], np.rad2deg([0.0, load.theta[0], load.theta.sum()]), color=color)
        turns.plot(places, np.rad2deg(angle), color=planar_figures.INK, linewidth=1.0, linestyle="--")
    figures.style_axes(shapes, "two arcs, and the exact rod (dashed)")
    planar_figures.draw_clamp(shapes, arm)
    shapes.legend(fontsize=8, frameon=False, loc="lower left", title="tip weight", title_fontsize=8)
    figures.style_axes(apart, "distance between the two", "along the rod [m]", "[% of length]")
    figures.style_axes(turns, "turn of the tangent (dashed: exact)", "along the rod [m]", "[deg]")
    sag_errors = [np.nan if error is None else abs(error) for error in metrics["sag_error_percent"]]
    by_weight = {"position, of the length": errors[:, 0], "sag, of the sag": sag_errors}
    cell, options = figure.add_subplot(grid[1, 1]), _BY_WEIGHT
    panels.draw_curves(cell, weights, by_weight, "tip of the two arcs: error", "[%]", styles=("o-", "s--"), **options)
    cell.set_ylim(bottom=0.0)
    finer = {"2 arcs": errors[:, 0], f"{metrics['arcs']} arcs": errors[:, 1]}
    cell, styles = figure.add_subplot(grid[1, 2]), ("o-", "^-")
    panels.draw_curves(
        cell, weights, finer, "tip: error of position", "[% of length]", log=True, styles=styles, **options
    )
    figures.save(figure, path)


def _replay(path: Path, run: Run, arm: Arm, title: str) -> None:
    """The weight grows and shrinks again; the two arcs as a tube, the exact rod as a line beside it."""
    kilograms = 1e-3 * np.linspace(0.0, max(run.settings.tip_masses_g), _FRAMES)
    specs = [alterations.bare_rod(run.robot, mass) for mass in kilograms]
    q = np.stack([planar.rest(build_robot(spec)) for spec in specs])
    exact = np.stack([sag(spec).at(planar_figures.distances_along(arm)[::3]) for spec in specs])
    kilograms, q, exact = (np.concatenate([y, y[-2::-1]]) for y in (kilograms, q, exact))
    beside = 0.02 * float(arm.length) * np.asarray(arm.T_world_base.rotation)[:, 1]
    points = planar.in_world(arm, np.stack([exact[..., 2], -exact[..., 1]], -1)) + beside
    line = Line("exact rod", points, color=planar_figures.rgb(figures.COLORS[1]))
    shown = planar_figures.ShownArm("two arcs", arm, q, kilograms)
    times = np.linspace(0.0, _REPLAY_SECONDS, len(kilograms))
    planar_figures.replay_side_by_side(path, times, [shown], title, lines=[line])
