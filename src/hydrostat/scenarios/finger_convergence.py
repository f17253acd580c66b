"""finger-convergence: the rod as ever more arcs with ever more modes against the exact rod, and what a step costs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.mechanics.statics import Modes, equilibrium, vibrations
from hydrostat.results import Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.elastica import Sag, sag
from hydrostat.robots.spec import MODES, RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger import (
    aside,
    clamp,
    padded_robot,
    plane_of,
    rgb,
    thick_tube,
    tip_position,
    with_weight,
)
from hydrostat.segments import StrainSegment
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.system import System
from hydrostat.viewer import write_replay

MODE_SETS = {"": ("bend_y",), "_planar": ("bend_y", "shear_x", "stretch"), "_six": MODES}
"""By the ending of their metrics."""
_NAMES = {"": "bend_y", "_planar": "bend_y, shear_x, stretch", "_six": "all six"}
_ROWS, _EVERY = 10, 20  # rows of a timed run, and steps from row to row
_ROUNDING = 1e-9  # percent: an upright rod has no error but this
_RUNS = 10  # timed runs, one after another


class Case(NamedTuple):
    """The rod as some arcs with some modes."""

    kind: str
    arcs: int
    tip: np.ndarray
    """In the plane of bending, along the clamp and up [m]."""
    frequency: float
    """Of the first vibration [Hz]."""


class Cost(NamedTuple):
    """What stepping costs, and the motion that was stepped."""

    microseconds: float
    times: np.ndarray
    q: np.ndarray


def convergence(run: Run) -> Outcome:
    """Refine the rod; compare its sag and its first frequency with the exact rod's, and time its steps."""
    set_ = run.settings
    arcs = [2 ** (i + 1) for i in range(set_.doublings + 1)]
    # More modes cost more to compile: every second number of arcs, the largest among them.
    plan = [(kind, n) for kind in MODE_SETS for n in (arcs if kind == "" else arcs[::-2][::-1])]
    spec = with_weight(run.robot, set_.tip_mass_g)
    exact = sag(spec)
    truth = np.array([exact.tip[2], -exact.tip[1]]), exact.first_frequency()
    length = sum(segment.length for segment in spec.segments)

    with run.compiling("compiling the equilibria"):
        _case(spec, exact, "", 2, arcs[-1])
    variables = [
        Variable("arcs", unit="1", description="number of arcs"),
        Variable("modes", unit="1", description="number of modes of each arc"),
        Variable("tip", ("direction",), (2,), "m", "along the clamp's axis, and up, at rest"),
        Variable("frequency", unit="Hz", description="of the first vibration"),
        Variable("microseconds_per_step", unit="us", description="of the fastest run"),
    ]
    attributes = {"scenario": "finger-convergence", "robot": run.robot.name}
    cases: list[Case] = []
    simulations: list[Simulation] = []
    for i, (kind, n) in enumerate(plan):
        run.progress(f"{n} arcs, {_NAMES[kind]}", i / len(plan))
        system = System(build_robot(spec.cut(n // 2, MODE_SETS[kind])))
        simulations.append(Simulation(system, dt=1e-3 * set_.dt_ms, every=_EVERY))
        with run.compiling(f"compiling {n} arcs, {_NAMES[kind]}"):
            simulations[-1].compile(_ROWS * _EVERY * simulations[-1].dt)
        with run.timed():
            cases.append(_case(spec, exact, kind, n, arcs[-1]))
    with run.timed(), run.recorder(variables, len(plan), axis="case", axis_unit="1", attributes=attributes) as recorder:
        costs = _costs(simulations, lambda done: run.progress("timing", done))
        recorder.append(
            np.arange(len(plan)),
            arcs=[case.arcs for case in cases],
            modes=[len(MODE_SETS[case.kind]) for case in cases],
            tip=[case.tip for case in cases],
            frequency=[case.frequency for case in cases],
            microseconds_per_step=[cost.microseconds for cost in costs],
        )

    metrics = {"tip_mass_g": set_.tip_mass_g, "f1_exact_hz": truth[1]}
    for kind in MODE_SETS:
        mine = [i for i, case in enumerate(cases) if case.kind == kind]
        tip = [100.0 * float(np.linalg.norm(cases[i].tip - truth[0])) / length for i in mine]
        tone = [100.0 * abs(cases[i].frequency / truth[1] - 1.0) for i in mine]
        metrics |= {
            f"arcs{kind}": [cases[i].arcs for i in mine],
            f"tip_error_percent{kind}": tip,
            f"f1_error_percent{kind}": tone,
            f"microseconds_per_step{kind}": [costs[i].microseconds for i in mine],
            f"order{kind}": _order([cases[i].arcs for i in mine], tip),
            f"order_f1{kind}": _order([cases[i].arcs for i in mine], tone),
        }
    title = f"finger-convergence: {run.robot.name} with {set_.tip_mass_g:g} g at its tip"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, metrics, title),
        replay=lambda path: _replay(path, spec, cases, costs, title),
    )


def _case(spec: RobotSpec, exact: Sag, kind: str, arcs: int, size: int) -> Case:
    """Sag and first frequency of the rod as some arcs, started from the bends that the exact rod has there."""
    robot = padded_robot(spec, arcs, size, MODE_SETS[kind], among=MODES)
    start = np.zeros(robot.one.stiffness.shape)
    start[:arcs, MODES.index("bend_y")] = _mean_curvature(robot.arm, exact)[:arcs]
    q = equilibrium(robot, q=start).q
    tip = plane_of(robot.arm, tip_position(robot.arm, q))
    return Case(kind, arcs, tip, _first_in_plane(vibrations(robot, q)))


def _first_in_plane(modes: Modes) -> float:
    """The lowest frequency of the vibrations that bend the rod in its plane [Hz]; free rods also swing across it."""
    bends = np.max(np.abs(modes.shapes), 1)
    within = bends[:, MODES.index("bend_y")] > np.maximum(
        bends[:, MODES.index("bend_x")], bends[:, MODES.index("twist")]
    )
    return float(modes.frequencies[np.argmax(within)])


def _mean_curvature(arm: Arm, exact: Sag) -> np.ndarray:
    """Of every arc beyond its rest, from the exact rod [1/m]."""
    assert isinstance(arm.segments, StrainSegment)
    lengths = np.asarray(arm.segments.length)
    ends = np.minimum(np.concatenate([[0.0], np.cumsum(lengths)]), exact.rod[-1].end)
    return np.diff(exact.at(ends)[:, 0]) / lengths - np.asarray(arm.segments.rest_strain)[:, 1]


def _costs(simulations: list[Simulation], on_progress: Callable[[float], None]) -> list[Cost]:
    """Let the rods fall from their rest shape and swing, all in turn in many short runs; the fastest run counts."""
    states = [simulation.system.rest() for simulation in simulations]
    fastest = np.full(len(simulations), np.inf)
    times, shapes = [[] for _ in simulations], [[] for _ in simulations]
    for run in range(_RUNS):
        for i, simulation in enumerate(simulations):
            marks: list[float] = []
            # The first row comes before the first step, the others all together after the last.
            rows = simulation(
                _ROWS * _EVERY * simulation.dt,
                state=states[i],
                on_rows=lambda _, marks=marks: marks.append(time.perf_counter()),
            )
            fastest[i] = min(fastest[i], marks[-1] - marks[0])
            states[i] = rows.final
            times[i].append(rows.time[:-1])
            shapes[i].append(rows.q[:-1])
        on_progress((run + 1) / _RUNS)
    step = 1e6 * fastest / (_ROWS * _EVERY)
    each = zip(step, times, shapes, strict=True)
    return [Cost(float(us), np.concatenate(t), np.concatenate(q)) for us, t, q in each]


def _order(arcs: list[int], errors: list[float]) -> float | None:
    """The slope of the error's logarithm over that of the arcs' number, downwards; None where there is no error."""
    if len(arcs) < 2 or min(errors) < _ROUNDING:
        return None
    return -float(np.polyfit(np.log(arcs), np.log(errors), 1)[0])


def _draw(path: Path, metrics: dict, title: str) -> None:
    """Errors by the number of arcs, the cost by it, and the errors by the cost."""
    figure = figures.new_figure(13.5, 5.2)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    by_arcs, costs, by_cost = (figure.add_subplot(1, 3, i) for i in (1, 2, 3))
    for color, marker, (kind, name) in zip(figures.COLORS, "os^", _NAMES.items(), strict=False):
        arcs = metrics[f"arcs{kind}"]
        tip, tone = metrics[f"tip_error_percent{kind}"], metrics[f"f1_error_percent{kind}"]
        cost = metrics[f"microseconds_per_step{kind}"]
        only = kind == ""
        look = {
            "color": color,
            "marker": marker,
            "markersize": 6 if only else 8,
            "fillstyle": "full" if only else "none",
        }
        by_arcs.loglog(arcs, tip, linewidth=1.5 if only else 0, label=f"tip: {name}", **look)
        by_arcs.loglog(arcs, tone, linewidth=1.0 if only else 0, linestyle="--", alpha=0.6, label=f"f₁: {name}", **look)
        costs.loglog(arcs, cost, linewidth=1.5, label=name, **look)
        by_cost.loglog(cost, tip, linewidth=1.5, label=name, **look)
        shift = {"": (-13, -8), "_six": (5, 4)}.get(kind)  # the planar ones lie on the first
        for n, x, y in zip(arcs, cost, tip, strict=True) if shift else ():
            by_cost.annotate(f"{n}", (x, y), xytext=shift, textcoords="offset points", fontsize=7, color=color)
    arcs = np.array(metrics["arcs"])
    slope = metrics["tip_error_percent"][0] * (arcs / arcs[0]) ** -2.0
    by_arcs.loglog(arcs, 0.35 * slope, ":", color="#888888", linewidth=1, label="slope −2")
    orders = [
        f"{name} {value:.2f}" for name, value in (("tip", metrics["order"]), ("f₁", metrics["order_f1"])) if value
    ]
    by_arcs.annotate(
        f"fitted orders: {', '.join(orders)}", (0.98, 0.96),
        xycoords="axes fraction", ha="right", va="top", fontsize=8,
    )  # fmt: skip
    for axes in (by_arcs, costs):
        axes.set_xticks(arcs, [str(n) for n in arcs])
        axes.minorticks_off()
    figures.style_axes(by_arcs, "error against the exact rod", "arcs", "[%]")
    figures.style_axes(costs, "cost of a step", "arcs", "[µs]")
    figures.style_axes(by_cost, "error of the tip by cost (numbers: arcs)", "cost of a step [µs]", "[% of length]")
    for axes in (by_arcs, costs, by_cost):
        axes.legend(fontsize=7.5, frameon=False)
    figures.save(figure, path)


def _replay(path: Path, spec: RobotSpec, cases: list[Case], costs: list[Cost], title: str) -> None:
    """The falling rods side by side, from two arcs to the most."""
    shown = [(case, cost) for case, cost in zip(cases, costs, strict=True) if case.kind == ""]
    tubes, lines = [], []
    for i, (case, cost) in enumerate(shown):
        arm = build_robot(spec.cut(case.arcs // 2, ("bend_y",))).arm
        shift = aside(arm, i, len(shown), gap=0.12)
        tubes.append(thick_tube(f"{case.arcs} arcs", arm, cost.q, shift, color=rgb(figures.COLORS[i % 6])))
        lines.append(clamp(arm, shift, f"clamp {i + 1}"))
    write_replay(path, shown[0][1].times, tubes, lines, title=title)
