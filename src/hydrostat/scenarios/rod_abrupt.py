"""rod-abrupt: a stiff rod is pulled sideways and released; its energy must not grow, whatever the time step."""

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat import State, System
from hydrostat.errors import DivergedError
from hydrostat.mechanics import equilibrium, no_inputs
from hydrostat.results import Recorder, Trajectory, Variable, accuracy, drawing, figures, panels
from hydrostat.robots import alterations, build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.simulation import Simulation

_LOAD_STEPS = 20
_THINNEST = 0.004  # m: radius in the replay, where a rod of 1 mm would be hard to see
_ENERGIES = ("kinetic", "elastic", "gravitational")


class Release(NamedTuple):
    """One run of the rod."""

    label: str
    dt: float
    damped: bool
    motion: Trajectory
    tip: np.ndarray
    """Path of the tip (rows, 3) [m]."""
    energies: np.ndarray
    """Kinetic, elastic and gravitational energy (rows, 3) [J]."""
    wall_seconds: float


def abrupt(run: Run) -> Outcome:
    """Release the rod without and with damping, with every step, and follow its energy."""
    set_ = run.settings
    damping = {False: 0.0, True: 1e-3 * set_.damping_time_ms}
    specs = {damped: alterations.with_damping_time(run.robot, time) for damped, time in damping.items()}
    systems = {damped: System(build_robot(spec, load_places=[1.0])) for damped, spec in specs.items()}
    undamped = systems[False]
    with run.compiling("solving for the pulled rod at rest"):
        pulled = no_inputs(undamped.robot)._replace(force=np.array([[0.0, 0.0, 0.0, *set_.pull_n]]))
        start = undamped.rest(equilibrium(undamped.robot, pulled, load_steps=_LOAD_STEPS).q)
    kinds = list(product((False, True), set_.dt_ms))
    rows = sum(max(round(set_.seconds / (1e-3 * step)), 1) + 1 for _, step in kinds)
    releases: list[Release] = []
    with _recorder(run, undamped, rows) as recorder:
        for number, (damped, step) in enumerate(kinds, 1):
            releases.append(_release(run, systems[damped], 1e-3 * step, start, recorder, damped, number))

    changes = [accuracy.energy_change(one.energies) for one in releases]
    finest = {kind: min((one for one in releases if one.damped == kind), key=lambda one: one.dt) for kind in systems}
    deviations = [
        accuracy.path_deviation(one.motion.time, one.tip, finest[one.damped].motion.time, finest[one.damped].tip)
        for one in releases
    ]
    metrics = {
        "dt_ms": [1e3 * one.dt for one in releases],
        "damped": [one.damped for one in releases],
        "energy_gain_max": [float(np.max(change)) for change in changes],
        "energy_loss_max": [float(-np.min(change)) for change in changes],
        "peak_kinetic_j": [float(np.max(one.energies[:, 0])) for one in releases],
        "tip_speed_max_m_s": [float(np.max(np.linalg.norm(np.diff(o.tip, axis=0), axis=-1)) / o.dt) for o in releases],
        "tip_deviation_max_mm": [1e3 * deviation for deviation in deviations],
        "iterations_per_step": [float(np.mean(one.motion.iterations[1:])) for one in releases],
        "real_time_factors": [set_.seconds / one.wall_seconds for one in releases],
    }
    newtons = ", ".join(f"{part:g}" for part in set_.pull_n)
    title = f"rod-abrupt: {run.robot.name} let go out of a pull of ({newtons}) N"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, releases, changes, title),
        replay=lambda path: releases[0].motion.replay(path, f"{title} ({releases[0].label})", min_radius=_THINNEST),
        sim_seconds=sum(float(one.motion.time[-1]) for one in releases),
        dt=min(one.dt for one in releases),
        steps=sum(len(one.motion) - 1 for one in releases),
    )


def _release(
    run: Run, system: System, dt: float, start: State, recorder: Recorder, damped: bool, number: int
) -> Release:
    """Simulate and record one run; `number` counts runs from 1, in the order of the metrics' lists."""
    label = f"{'damped' if damped else 'undamped'}, {1e3 * dt:g} ms"
    simulation = Simulation(system, dt=dt)
    with run.compiling(f"compiling ({label})"):
        trial = simulation.compile(run.settings.seconds, state=start)[:1]
        _ = trial.tip, trial.energy()

    def record(rows: Trajectory) -> None:
        columns = {"time": rows.time, "q": rows.q, "v": rows.v, "tip": rows.tip, "iterations": rows.iterations}
        columns |= dict(zip(_ENERGIES, rows.energy(), strict=False))
        recorder.append(recorder.rows + np.arange(len(rows)), run=np.full(len(rows), number), **columns)

    before = run.wall_seconds
    try:
        with run.timed():
            options = {"state": start, "on_rows": record, "on_progress": lambda done: run.progress(label, done)}
            motion = simulation(run.settings.seconds, **options)
    except DivergedError as error:
        raise DivergedError(f"{label}: {error}") from None
    tip, energies = np.asarray(motion.tip), np.stack(motion.energy()[:3], -1)
    return Release(label, dt, damped, motion, tip, energies, run.wall_seconds - before)


def _recorder(run: Run, system: System, rows: int) -> Recorder:
    """The recorder of all runs one after another."""
    arm = system.robot.arm
    shape = (arm.count, arm.coordinates)
    variables = [
        Variable("run", description="number of the run, in the order of the metrics' lists"),
        Variable("time", unit="s", description="since the release"),
        Variable("q", ("segment", "mode"), shape, "1/m or 1", "strains: " + ", ".join(arm.segments.modes)),
        Variable("v", ("segment", "mode"), shape, "1/(m s) or 1/s", "their rates"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        *(Variable(name, unit="J") for name in _ENERGIES),
        Variable("iterations", description="of the stepper since the row before"),
    ]
    attributes = {"scenario": "rod-abrupt", "robot": run.robot.name}
    return run.recorder(variables, rows, axis="row", axis_unit="", attributes=attributes)


def _draw(path: Path, releases: list[Release], changes: list[np.ndarray], title: str) -> None:
    """The rod and the paths of its tip from three sides, its energies, and the change of their sum with each step."""
    figure, grid = panels.new_panels(title, 2, 3, (14.0, 7.5))
    free, first = [one for one in releases if not one.damped], releases[0]
    shown: list[tuple[Release, str, float]] = [*zip(free, figures.COLORS, (4.0, 1.8, 0.8), strict=False)]
    shown.append((next(one for one in releases if one.damped), "#888888", 0.8))
    scene = drawing.Scene.of(first.motion, np.linspace(0, len(first.motion) - 1, 13).astype(int))
    for cell, plane in ((grid[0, 0], drawing.SIDE), (grid[1, 0], drawing.FRONT), (grid[1, 1], drawing.ABOVE)):
        axes = figure.add_subplot(cell)
        for row in range(len(scene.time)):
            drawing.draw_arm_side(axes, scene, row, plane, alpha=1.0 if row == 0 else 0.3)
        # The path of the smallest step as a broad line, the others upon it: they should hardly leave it.
        for one, color, width in shown:
            options = {"color": color, "linewidth": width, "label": one.label, "zorder": 1}
            panels.mark_points(axes, one.tip, plane, ":" if one.damped else "-", **options)
        panels.label_view(axes, plane, f"{panels.VIEWS[plane]}; lines: tips")
    figure.axes[0].legend(fontsize=7, frameon=False)
    energies = dict(zip(_ENERGIES, first.energies.T, strict=True)) | {"total": first.energies.sum(-1)}
    cell, colors = figure.add_subplot(grid[0, 1:]), (0, 1, 2, "#33322e")
    panels.draw_curves(cell, first.motion.time, energies, f"energies, {first.label}", "[J]", colors=colors)
    names = [f"{1e3 * one.dt:g} ms" for one in free]
    times = {name: one.motion.time for name, one in zip(names, free, strict=True)}
    drift = {name: 100.0 * change for name, change in zip(names, changes, strict=False)}
    cell, words = figure.add_subplot(grid[1, 2]), "% of the peak kinetic energy"
    panels.draw_curves(cell, times, drift, "change of the energy, undamped", words)
    figures.save(figure, path)
