"""finger-statics: the sagging rod as two arcs against the exact rod, as in figure 9 of Dehghani's paper."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.mechanics.statics import equilibrium
from hydrostat.results import Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.elastica import Sag, sag
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger import (
    aside,
    axes_of,
    ball,
    bends_of,
    clamp,
    distances_of,
    plane_of,
    rgb,
    sagged,
    thick_tube,
    tip_position,
    with_weight,
)
from hydrostat.viewer import Line, write_replay

_FRAMES = 25  # of the replay, while the weight grows
_REPLAY_SECONDS = 6.0


class Load(NamedTuple):
    """The rod at rest under one weight; positions in the plane of bending: along the clamp, and up [m]."""

    grams: float
    exact: Sag
    theta: np.ndarray
    """Of the two arcs [rad]."""
    q: np.ndarray
    """Coordinates of the two arcs."""
    tips: np.ndarray
    """Of two arcs, of the refined chain and of the exact rod, (3, 2) [m]."""
    turned: float
    """Angle of the exact rod's tip, downwards [rad]."""


def statics(run: Run) -> Outcome:
    """Let the rod sag under each weight, as two arcs, as many, and exactly."""
    set_ = run.settings
    arm = build_robot(with_weight(run.robot, 0.0)).arm
    with run.compiling():
        _load(with_weight(run.robot, 0.0), 2 * set_.pieces)

    length = float(arm.length)
    loads: list[Load] = []
    variables = [
        Variable("theta", ("arc",), (2,), "rad", "bend of each of the two arcs, positive downwards"),
        Variable("tip_two_arcs", ("direction",), (2,), "m", "along the clamp's axis, and up"),
        Variable("tip_refined", ("direction",), (2,), "m", "the same of the refined chain"),
        Variable("tip_exact", ("direction",), (2,), "m", "the same of the exact rod"),
        Variable("base_moment_exact", (), (), "N m", "moment at the clamp of the exact rod"),
    ]
    attributes = {"scenario": "finger-statics", "robot": run.robot.name}
    options = {"axis": "tip_mass", "axis_unit": "kg", "attributes": attributes}
    with run.timed(), run.recorder(variables, len(set_.tip_masses_g), **options) as recorder:
        for grams in set_.tip_masses_g:
            load = _load(with_weight(run.robot, grams), 2 * set_.pieces)
            loads.append(load)
            recorder.append(
                [1e-3 * grams],
                theta=load.theta[None],
                tip_two_arcs=load.tips[None, 0],
                tip_refined=load.tips[None, 1],
                tip_exact=load.tips[None, 2],
                base_moment_exact=[load.exact.base_moment],
            )
            run.progress("sagging", len(loads) / len(set_.tip_masses_g))

    errors = np.array([np.linalg.norm(load.tips[:2] - load.tips[2], axis=-1) for load in loads])
    metrics = {
        "tip_masses_g": list(set_.tip_masses_g),
        "arcs": 2 * set_.pieces,
        "tip_error_percent": list(100.0 * errors[:, 0] / length),
        "tip_error_converged_percent": 100.0 * float(np.max(errors[:, 1])) / length,
        "sag_error_percent": [_percent(load.tips[0, 1] - load.tips[2, 1], load.tips[2, 1], length) for load in loads],
        "tip_sag_mm": [-1e3 * float(load.tips[0, 1]) for load in loads],
        "tip_sag_exact_mm": [-1e3 * float(load.tips[2, 1]) for load in loads],
        "tip_angle_deg": [-float(np.rad2deg(load.theta.sum())) for load in loads],
        "tip_angle_exact_deg": [-float(np.rad2deg(load.turned)) for load in loads],
        "base_moment_exact_n_m": [load.exact.base_moment for load in loads],
    }
    title = f"finger-statics: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, loads, metrics, list(100.0 * errors[:, 1] / length), title),
        replay=lambda path: _replay(path, run, arm, title),
    )


def _load(spec: RobotSpec, arcs: int) -> Load:
    """The rod under its weights."""
    exact = sag(spec)
    angle, x, z = exact.tip
    two, many = (build_robot(spec.cut(count // 2, ("bend_y",))) for count in (2, arcs))
    q = sagged(two)
    # An arc's pieces start with its curvature.
    refined = equilibrium(many, q=np.repeat(q, arcs // 2, 0)).q
    tips = [plane_of(robot.arm, tip_position(robot.arm, at)) for robot, at in ((two, q), (many, refined))]
    return Load(1e3 * spec.masses[-1].mass, exact, bends_of(two.arm, q), q, np.array([*tips, [z, -x]]), float(angle))


def _percent(part: float, whole: float, length: float) -> float | None:
    """One as percents of the other; None where that is nothing, as for an upright rod."""
    return 100.0 * float(part / whole) if abs(whole) > 1e-9 * length else None


def _draw(path: Path, arm: Arm, loads: list[Load], metrics: dict, refined: list[float], title: str) -> None:
    """Both rods, how far apart they are along their length, their bending, and the error by the weight."""
    figure = figures.new_figure(13.5, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3, width_ratios=[1.5, 1, 1])
    shapes, apart, bends = (figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[0, 2]))
    length, places = float(arm.length), distances_of(arm)
    middle = len(places) // 2
    axes = axes_of(arm, np.stack([load.q for load in loads]))
    for i, (load, arcs) in enumerate(zip(loads, axes, strict=True)):
        color = figures.COLORS[i % 6]
        angle, x, z = load.exact.at(places).T
        exact = np.stack([z, -x], -1)
        shapes.plot(*arcs.T, color=color, linewidth=2.2, label=f"{load.grams:g} g")
        shapes.plot(*exact.T, color="#33322e", linewidth=1.0, linestyle="--")
        shapes.plot(*arcs[[middle, -1]].T, "o", color=color, markersize=4.5)
        apart.plot(places, 100.0 * np.linalg.norm(arcs - exact, axis=-1) / length, color=color, linewidth=1.5)
        bends.plot(places[[0, middle, -1]], np.rad2deg([0.0, load.theta[0], load.theta.sum()]), color=color)
        bends.plot(places, np.rad2deg(angle), color="#33322e", linewidth=1.0, linestyle="--")
    shapes.plot([0, 0], [-0.05 * length, 0.05 * length], color="#33322e", linewidth=4)
    figures.style_axes(shapes, "two arcs, and the exact rod (dashed)", "along [m]", "up [m]")
    shapes.set_aspect("equal", "datalim")
    shapes.legend(fontsize=8, frameon=False, loc="lower left", title="tip weight", title_fontsize=8)
    figures.style_axes(apart, "distance between the two", "along the rod [m]", "[% of length]")
    figures.style_axes(bends, "turn of the tangent (dashed: exact)", "along the rod [m]", "[deg]")

    weights = metrics["tip_masses_g"]
    curves = (
        ("o-", metrics["tip_error_percent"], "position, of the length"),
        ("s--", [np.nan if e is None else abs(e) for e in metrics["sag_error_percent"]], "sag, of the sag"),
    )
    errors = figure.add_subplot(grid[1, 1])
    for color, (style, values, label) in zip(figures.COLORS, curves, strict=False):
        errors.plot(weights, values, style, color=color, markersize=4, label=label)
    errors.set_ylim(bottom=0.0)
    errors.legend(fontsize=8, frameon=False)
    figures.style_axes(errors, "tip of the two arcs: error", "tip weight [g]", "[%]")
    finer = figure.add_subplot(grid[1, 2])
    finer.semilogy(weights, metrics["tip_error_percent"], "o-", color=figures.COLORS[0], markersize=4, label="2 arcs")
    finer.semilogy(weights, refined, "^-", color=figures.COLORS[3], markersize=4, label=f"{metrics['arcs']} arcs")
    finer.legend(fontsize=8, frameon=False)
    figures.style_axes(finer, "tip: error of position", "tip weight [g]", "[% of length]")
    figures.save(figure, path)


def _replay(path: Path, run: Run, arm: Arm, title: str) -> None:
    """The weight grows and shrinks again; the two arcs as a tube, the exact rod as a line."""
    grams = np.linspace(0.0, max(run.settings.tip_masses_g), _FRAMES)
    q = np.stack([sagged(build_robot(with_weight(run.robot, w))) for w in grams])
    places, across, along = distances_of(arm)[::3], *np.asarray(arm.T_world_base.rotation)[:, [0, 2]].T
    exact = np.stack([sag(with_weight(run.robot, w)).at(places) for w in grams])
    grams, q, exact = (np.concatenate([y, y[-2::-1]]) for y in (grams, q, exact))
    nodes = np.asarray(arm.T_world_base.position) + exact[..., 1:2] * across + exact[..., 2:] * along
    tube = thick_tube("two arcs", arm, q, np.zeros(3), color=rgb(figures.COLORS[0]))
    weight = ball("weight", tube, grams, color=(70, 66, 60))
    # Beside the tube, so that both can be seen.
    beside = aside(arm, 1, 2, gap=0.04)
    lines = [Line("exact rod", nodes + beside, color=rgb(figures.COLORS[1])), clamp(arm, np.zeros(3), "clamp")]
    write_replay(path, np.linspace(0.0, _REPLAY_SECONDS, len(grams)), [tube, weight], lines, title=title)
