"""finger-convergence: the rod as ever more arcs with ever more modes against the exact rod, and the cost of a step."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat import System
from hydrostat.mechanics import equilibrium, planar, vibrations
from hydrostat.results import accuracy, figures, panels, planar_figures, record_arrays
from hydrostat.robots import MODES, RobotSpec, Sag, alterations, build_robot, sag
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.segments import StrainSegment
from hydrostat.simulation import Simulation, time_steps

MODE_SETS = {"": ("bend_y",), "_planar": ("bend_y", "shear_x", "stretch"), "_six": MODES}
"""Modes of the arcs, by the ending of their metrics."""
_NAMES = {"": "bend_y", "_planar": "bend_y, shear_x, stretch", "_six": "all six"}
_ROWS, _EVERY = 10, 20  # rows of a timed run, and steps from row to row
_RUNS = 10  # timed runs, one after another
_ROUNDING = 1e-9  # percent: an upright rod has no error but this


class Case(NamedTuple):
    """The rod as some arcs with some modes."""

    kind: str
    arcs: int
    tip: np.ndarray
    """The tip in the plane of bending, along the clamp and up [m]."""
    frequency: float
    """Frequency of the first vibration [Hz]."""


def convergence(run: Run) -> Outcome:
    """Refine the rod; compare its sag and its first frequency with those of the exact rod, and time its steps."""
    set_ = run.settings
    arcs = [2 ** (i + 1) for i in range(set_.doublings + 1)]
    # More modes cost more to compile: every second number of arcs, the largest among them.
    plan = [(kind, n) for kind in MODE_SETS for n in (arcs if kind == "" else arcs[::-2][::-1])]
    spec = alterations.bare_rod(run.robot, 1e-3 * set_.tip_mass_g)
    exact = sag(spec)
    with run.compiling("compiling the equilibria"):
        _case(spec, exact, "", 2, arcs[-1])
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
    with run.timed():
        timed = time_steps(simulations, _ROWS, _RUNS, on_progress=lambda done: run.progress("timing", done))
    microseconds = [1e6 * one.seconds_per_step for one in timed]
    columns = {
        "arcs": ([case.arcs for case in cases], (), "1", "number of arcs"),
        "modes": ([len(MODE_SETS[kind]) for kind, _ in plan], (), "1", "number of modes of each arc"),
        "tip": ([case.tip for case in cases], ("direction",), "m", "along the clamp's axis, and up, at rest"),
        "frequency": ([case.frequency for case in cases], (), "Hz", "of the first vibration"),
        "microseconds_per_step": (microseconds, (), "us", "of the fastest run"),
    }
    attributes = {"scenario": "finger-convergence", "robot": run.robot.name}
    record_arrays(run.folder, np.arange(len(plan)), columns, axis="case", axis_unit="1", attributes=attributes)

    length, tip_exact, f1_exact = exact.rod[-1].end, np.array([exact.tip[2], -exact.tip[1]]), exact.first_frequency()
    metrics = {"tip_mass_g": set_.tip_mass_g, "f1_exact_hz": f1_exact}
    for kind in MODE_SETS:
        own = [i for i, case in enumerate(cases) if case.kind == kind]
        numbers = [cases[i].arcs for i in own]
        tip = [100.0 * float(np.linalg.norm(cases[i].tip - tip_exact)) / length for i in own]
        f1 = [100.0 * abs(cases[i].frequency / f1_exact - 1.0) for i in own]
        metrics |= {
            f"arcs{kind}": numbers,
            f"tip_error_percent{kind}": tip,
            f"f1_error_percent{kind}": f1,
            f"microseconds_per_step{kind}": [microseconds[i] for i in own],
            f"order{kind}": accuracy.convergence_order(numbers, tip, _ROUNDING),
            f"order_f1{kind}": accuracy.convergence_order(numbers, f1, _ROUNDING),
        }
    title = f"finger-convergence: {run.robot.name} with {set_.tip_mass_g:g} g at its tip"
    shown = [
        planar_figures.ShownArm(f"{case.arcs} arcs", one.run.system.robot.arm, one.motion.q, 1e-3 * set_.tip_mass_g)
        for case, one in zip(cases, timed, strict=True)
        if case.kind == ""
    ]
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, metrics, title),
        replay=lambda path: planar_figures.replay_side_by_side(path, timed[0].motion.time, shown, title, gap=0.12),
    )


def _case(spec: RobotSpec, exact: Sag, kind: str, arcs: int, size: int) -> Case:
    """Sag and first frequency of the rod as some arcs, started from the bends that the exact rod has there."""
    robot = alterations.padded_chain(spec, arcs, size, MODE_SETS[kind], among=MODES)
    start, segments = np.zeros(robot.one.stiffness.shape), robot.arm.segments
    lengths = np.asarray(segments.length)
    ends = np.minimum(np.concatenate([[0.0], np.cumsum(lengths)]), exact.rod[-1].end)
    assert isinstance(segments, StrainSegment)
    curvature = np.diff(exact.at(ends)[:, 0]) / lengths - np.asarray(segments.rest_strain)[:, 1]
    bend_x, bend_y, twist = (MODES.index(mode) for mode in ("bend_x", "bend_y", "twist"))
    start[:arcs, bend_y] = curvature[:arcs]
    q = equilibrium(robot, q=start).q
    modes = vibrations(robot, q)
    # The lowest vibration that bends the rod in its plane; a free rod also swings across it.
    size_of = np.max(np.abs(modes.shapes), 1)
    in_plane = size_of[:, bend_y] > np.maximum(size_of[:, bend_x], size_of[:, twist])
    return Case(kind, arcs, planar.tip_in_plane(robot.arm, q), float(modes.frequencies[np.argmax(in_plane)]))


def _draw(path: Path, metrics: dict, title: str) -> None:
    """Errors by the number of arcs, the cost of a step by it, and the errors by the cost."""
    figure, grid = panels.new_panels(title, 1, 3, (13.5, 5.2))
    by_arcs, costs, by_cost = (figure.add_subplot(grid[0, i]) for i in range(3))
    for color, marker, (kind, name) in zip(figures.COLORS, "os^", _NAMES.items(), strict=False):
        arcs, tip, f1, cost = (
            metrics[f"{key}{kind}"]
            for key in ("arcs", "tip_error_percent", "f1_error_percent", "microseconds_per_step")
        )
        first = kind == ""
        style = {"color": color, "marker": marker, "linewidth": 1.5, "markersize": 6 if first else 8}
        style["fillstyle"] = "full" if first else "none"
        few = style | {"linewidth": 1.5 if first else 0}
        by_arcs.loglog(arcs, tip, label=f"tip: {name}", **few)
        by_arcs.loglog(arcs, f1, linestyle="--", alpha=0.6, label=f"f₁: {name}", **few)
        costs.loglog(arcs, cost, label=name, **style)
        by_cost.loglog(cost, tip, label=name, **style)
        for n, x, y in zip(arcs, cost, tip, strict=True) if first else ():
            by_cost.annotate(f"{n}", (x, y), xytext=(-13, -8), textcoords="offset points", fontsize=7, color=color)
    arcs, slope = metrics["arcs"], 0.35 * metrics["tip_error_percent"][0]
    by_arcs.loglog(arcs, [slope * (n / arcs[0]) ** -2.0 for n in arcs], ":", color="#888888", label="slope −2")
    orders = [f"{name} {metrics[key]:.2f}" for name, key in (("tip", "order"), ("f₁", "order_f1")) if metrics[key]]
    figures.style_axes(by_arcs, f"error against the exact rod; fitted orders: {', '.join(orders)}", "arcs", "[%]")
    figures.style_axes(costs, "cost of a step", "arcs", "[µs]")
    figures.style_axes(by_cost, "error of the tip by cost (numbers: arcs)", "cost of a step [µs]", "[% of length]")
    for axes in (by_arcs, costs, by_cost):
        axes.legend(fontsize=7.5, frameon=False)
        if axes is not by_cost:
            axes.set_xticks(arcs, [str(n) for n in arcs])
            axes.minorticks_off()
    figures.save(figure, path)
