"""finger-release: the clamped rod with weights at its tip is pulled up and let go, as in Dehghani's experiment."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.errors import DivergedError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.energy import energy
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.mechanics.statics import vibrations
from hydrostat.results import Coordinate, Trajectory, Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger import (
    aside,
    axes_of,
    ball,
    bends_of,
    clamp,
    held,
    padded_robot,
    plane_of,
    rgb,
    sagged,
    thick_tube,
    tip_position,
    undamped,
    with_weight,
)
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.stepping import SDIRK2
from hydrostat.system import State, System
from hydrostat.viewer import Line, write_replay

_EXACT_ARCS = 40
_TOLERANCE = 1e-7  # rad, of the stepper: far below what the step itself leaves
_ROW_SECONDS = 0.01  # between recorded rows
_PIECE_ROWS = 250  # rows that are simulated before they are recorded, at most
_STROBES = 4  # weights whose motion is drawn


class Rest(NamedTuple):
    """The finger with a weight, before it moves: as two arcs and, where there are two values, as many."""

    pulled: np.ndarray
    """Coordinates of the two arcs when it is let go."""
    force: float
    """That holds it there [N]."""
    hangs: np.ndarray
    """The tip at rest in the plane, (2, 2) [m]."""
    frequency: tuple[float, float]
    """Of the first vibration about the sagged finger [Hz]."""


class Seen(NamedTuple):
    """What is recorded of a finger's motion."""

    tip: np.ndarray
    """(rows, 3) [m]"""
    energy: np.ndarray
    """Kinetic, elastic and gravitational, (rows, 3) [J]."""


class Motion(NamedTuple):
    """All that a weight's motion has left."""

    q: np.ndarray
    """Of the finger with friction."""
    seen: Seen
    free: Seen
    """The same without friction."""


def release(run: Run) -> Outcome:
    """Let the finger go with each weight, once with its friction and once without."""
    set_ = run.settings
    dt = 1e-3 * set_.dt_ms
    every = max(round(_ROW_SECONDS / dt), 1)
    rows = -(-max(round(set_.seconds / dt), 1) // every)
    piece = -(-rows // -(-rows // _PIECE_ROWS))  # pieces of equal size, as far as that goes

    specs = [with_weight(run.robot, grams) for grams in set_.tip_masses_g]
    rests = []
    with run.compiling("equilibria and vibrations"):
        for spec in specs:
            rests.append(_rest(spec, set_.pull_deg))
            run.progress("equilibria and vibrations", len(rests) / len(specs))
    systems = [System(build_robot(spec)) for spec in (*specs, *map(undamped, specs))]
    starts = [system.rest(rest.pulled) for system, rest in zip(systems, 2 * rests, strict=True)]
    stepper = SDIRK2(tolerance=_TOLERANCE)
    simulations = [Simulation(system, dt=dt, stepper=stepper, every=every) for system in systems]
    arm = systems[0].robot.arm
    with run.compiling("compiling the motion"):
        for count in {piece, (rows - 1) % piece + 1}:
            simulations[0].compile(count * every * dt, state=starts[0])
        look(systems[0].robot, starts[0].q[None], starts[0].v[None], piece + 1)

    times: list[np.ndarray] = []
    parts: list[list[Motion]] = [[] for _ in specs]
    with run.timed(), _recorder(run, rows + 1) as recorder:

        def keep(block: list[Trajectory]) -> None:
            seen = [look(part.system.robot, part.q, part.v, piece + 1) for part in block]
            new = [Motion(block[i].q, seen[i], seen[i + len(specs)]) for i in range(len(specs))]
            recorder.append(
                block[0].time,
                theta=np.stack([bends_of(arm, motion.q) for motion in new], 1),
                tip=np.stack([motion.seen.tip for motion in new], 1),
                energy=np.stack([motion.seen.energy for motion in new], 1),
                energy_undamped=np.stack([motion.free.energy for motion in new], 1),
            )
            times.append(block[0].time)
            for part, motion in zip(parts, new, strict=True):
                part.append(motion)

        _side_by_side(simulations, starts, (rows, piece), keep, lambda done: run.progress("releasing", done))

    time = np.concatenate(times)
    motions = [jax.tree.map(lambda *y: np.concatenate(y), *part) for part in parts]
    paths = [plane_of(arm, motion.seen.tip) for motion in motions]
    metrics = {
        "tip_masses_g": list(set_.tip_masses_g),
        "f1_hz": [rest.frequency[0] for rest in rests],
        "f1_exact_hz": [rest.frequency[1] for rest in rests],
        "f1_observed_hz": [_observed(time, path, rest.hangs[0]) for path, rest in zip(paths, rests, strict=True)],
        "tip_sag_mm": [-1e3 * float(rest.hangs[0, 1]) for rest in rests],
        "tip_sag_exact_mm": [-1e3 * float(rest.hangs[1, 1]) for rest in rests],
        "tip_released_mm": [1e3 * float(path[0, 1]) for path in paths],
        "pull_force_n": [rest.force for rest in rests],
        "energy_drift": max(float(np.max(_imbalance(motion.free))) for motion in motions) / float(time[-1]),
    }
    title = f"finger-release: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, metrics, time, motions, paths, title),
        replay=lambda path: _replay(path, arm, set_.tip_masses_g, time, motions, title),
        sim_seconds=len(simulations) * rows * every * dt,
        dt=dt,
        steps=len(simulations) * rows * every,
        notes=[
            f"with {grams:g} g at its tip the finger is unstable where it hangs: a negative frequency is imaginary"
            for grams, rest in zip(set_.tip_masses_g, rests, strict=True)
            if min(rest.frequency) <= 0.0
        ],
    )


def _rest(spec: RobotSpec, pull_deg: float) -> Rest:
    """Where the finger hangs, how it would vibrate about it, and where it is pulled to."""
    tips, frequencies = [], []
    # In arrays of one size, so that one function is compiled for all.
    robots = [padded_robot(spec, arcs, _EXACT_ARCS) for arcs in (2, _EXACT_ARCS)]
    for robot in robots:
        q = sagged(robot)
        tips.append(plane_of(robot.arm, tip_position(robot.arm, q)))
        frequencies.append(float(vibrations(robot, q).frequencies[0]))
    up = held(robots[0], pull_deg)
    return Rest(up.q[:2], up.force, np.stack(tips), (frequencies[0], frequencies[1]))


def _side_by_side(
    simulations: list[Simulation],
    states: list[State],
    size: tuple[int, int],
    on_rows: Callable[[list[Trajectory]], None],
    on_progress: Callable[[float], None],
) -> None:
    """Run all simulations piece by piece, so that their rows are recorded together.

    When one of them cannot go on, the rows that all have are handed out before its error is raised.

    **Arguments:** `size`: rows in all, and rows of a piece.
    """
    rows, piece = size
    for done in range(0, rows, piece):
        count = min(piece, rows - done)
        parts, failed = [], []
        for i, simulation in enumerate(simulations):
            got: list[Trajectory] = []
            span = simulation.every * simulation.dt
            try:
                simulation(count * span, state=states[i], on_rows=got.append)
            except DivergedError as error:
                failed.append(error)
            parts.append(Trajectory.joined(got))
            states[i] = parts[-1].final
        # The first row of a piece is the last of the one before.
        common = slice(1 if done else 0, min(len(part) for part in parts))
        if common.stop > common.start:
            on_rows([part[common] for part in parts])
        if failed:
            raise failed[0]
        on_progress((done + count) / rows)


@quick_jit
def _look(robot: Robot, q, v):
    def one(q, v):
        energies = energy(robot, Coordinates(q, jnp.zeros(6)), Coordinates(v, jnp.zeros(6)), no_inputs(robot))
        return kinematics.tip_pose(robot.arm, q).position, jnp.stack(energies)

    return jax.vmap(one)(q, v)


def look(robot: Robot, q: np.ndarray, v: np.ndarray, most: int) -> Seen:
    """What is recorded of some states; for up to `most` of them the compiled function is the same."""
    count = len(q)
    tip, parts = _look(robot, *(np.concatenate([y, np.repeat(y[-1:], most - count, 0)]) for y in (q, v)))
    return Seen(np.asarray(tip)[:count], np.asarray(parts)[:count])


def _imbalance(seen: Seen) -> np.ndarray:
    """By how much the energy is not what it was, over the largest kinetic energy; gravity is part of it, and no other
    force does work."""
    total = np.sum(seen.energy, -1)
    return np.abs(total - total[0]) / np.max(seen.energy[:, 0])


def _polar(path: np.ndarray) -> np.ndarray:
    """The angle above the clamp's axis at which the tip is seen from the clamp, without jumps [rad].

    A heavy weight swings through below the clamp: there its height has a minimum, and this angle goes on.
    """
    return np.unwrap(np.arctan2(path[..., 1], path[..., 0]))


def _observed(time: np.ndarray, path: np.ndarray, hangs: np.ndarray) -> float | None:
    """The frequency at which the tip passes where it would hang, on its way up [Hz]; None where it does not twice."""
    above = _polar(path) - np.arctan2(hangs[1], hangs[0])
    before = np.flatnonzero((above[:-1] < 0.0) & (above[1:] >= 0.0))
    if len(before) < 2:
        return None
    passed = time[before] - above[before] * (time[before + 1] - time[before]) / (above[before + 1] - above[before])
    return float((len(passed) - 1) / (passed[-1] - passed[0]))


def _recorder(run: Run, total: int):
    """The recording: all weights side by side."""
    weights = run.settings.tip_masses_g
    count = len(weights)
    variables = [
        Variable("theta", ("weight", "arc"), (count, 2), "rad", "bend of each arc, positive downwards"),
        Variable("tip", ("weight", "axis"), (count, 3), "m", "tip in the world"),
        Variable("energy", ("weight", "kind"), (count, 3), "J", "of the finger with friction"),
        Variable("energy_undamped", ("weight", "kind"), (count, 3), "J", "of the finger without friction"),
    ]
    coordinates = [
        Coordinate("weight", [1e-3 * grams for grams in weights], "kg", "mass at the tip"),
        Coordinate("kind", ["kinetic", "elastic", "gravitational"]),
    ]
    attributes = {"scenario": "finger-release", "robot": run.robot.name}
    return run.recorder(variables, total, attributes=attributes, coordinates=coordinates)


def _draw(file: Path, arm: Arm, metrics: dict, time, motions: list[Motion], paths, title: str) -> None:
    """The finger on its way, the tip over time, its frequencies, and the energy's balance."""
    weights = metrics["tip_masses_g"]
    shown = min(len(weights), _STROBES)
    figure = figures.new_figure(13.5, 8.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 12, height_ratios=[1.0, 1.15])
    length = float(arm.length)
    everywhere = np.concatenate([np.zeros((1, 2)), *paths])
    (left, low), (_, high) = everywhere.min(0), everywhere.max(0)
    for i in range(shown):
        axes = figure.add_subplot(grid[0, 12 // shown * i : 12 // shown * (i + 1)])
        # From the release to the other turning point.
        soon = int(np.searchsorted(time, 0.8 / metrics["f1_hz"][i])) + 1
        turn = int(np.argmin(_polar(paths[i])[:soon]))
        lines = axes_of(arm, motions[i].q[np.unique(np.linspace(0, turn, 9).round().astype(int))])
        for j, line in enumerate(lines):
            ends = j in (0, len(lines) - 1)
            axes.plot(*line.T, color=figures.COLORS[i % 6], alpha=1.0 if ends else 0.3, linewidth=2.2 if ends else 1.2)
        axes.plot(*paths[i][: turn + 1].T, ":", color="#888888", linewidth=1)
        axes.plot(*lines[[0, -1], -1].T, "o", color="#33322e", markersize=3.0 + 0.6 * np.sqrt(min(weights[i], 100.0)))
        axes.plot([0, 0], [-0.06 * length, 0.06 * length], color="#33322e", linewidth=4)
        figures.style_axes(axes, f"{weights[i]:g} g: to the first turn", "along [m]", "up [m]" if i == 0 else "")
        axes.set_aspect("equal", "box")
        axes.set_xlim(left - 0.08 * length, 1.05 * length)
        axes.set_ylim(low - 0.08 * length, high + 0.08 * length)

    tips = figure.add_subplot(grid[1, :6])
    for i, path in enumerate(paths):
        tips.plot(time, 1e3 * path[:, 1], color=figures.COLORS[i % 6], linewidth=1.5, label=f"{weights[i]:g} g")
        tips.axhline(-metrics["tip_sag_mm"][i], color=figures.COLORS[i % 6], linewidth=0.8, linestyle=":")
    figures.style_axes(tips, "height of the tip (dotted: at rest)", "time [s]", "[mm]")
    tips.margins(x=0.0)
    tips.legend(fontsize=8, frameon=False, ncols=len(weights), loc="lower right", bbox_to_anchor=(1.0, 0.985))

    tones = figure.add_subplot(grid[1, 6:9])
    for marker, key, label in (
        ("o-", "f1_hz", "two arcs"),
        ("s--", "f1_exact_hz", f"{_EXACT_ARCS} arcs"),
        ("x", "f1_observed_hz", "two arcs, seen in the motion"),
    ):
        values = [np.nan if value is None else value for value in metrics[key]]
        tones.plot(weights, values, marker, markersize=5, linewidth=1, label=label)
    for line, color in zip(tones.lines, figures.COLORS, strict=False):
        line.set_color(color)
    tones.set_ylim(bottom=0.0)
    figures.style_axes(tones, "first frequency", "tip weight [g]", "[Hz]")
    tones.legend(fontsize=8, frameon=False)

    balance = figure.add_subplot(grid[1, 9:])
    for i, motion in enumerate(motions):
        balance.semilogy(
            time[1:], np.maximum(_imbalance(motion.free)[1:], 1e-16), color=figures.COLORS[i % 6], linewidth=1
        )
    figures.style_axes(balance, "energy error without friction", "time [s]", "of the largest kinetic energy")
    balance.margins(x=0.0)
    figures.save(figure, file)


def _replay(path: Path, arm: Arm, weights, time, motions: list[Motion], title: str) -> None:
    """The fingers side by side, each with its weight."""
    tubes, lines = [], []
    for i, (grams, motion) in enumerate(zip(weights, motions, strict=True)):
        shift = aside(arm, i, len(weights))
        tube = thick_tube(f"{i + 1}: {grams:g} g", arm, motion.q, shift, color=rgb(figures.COLORS[i % 6]))
        tubes.append(tube)
        if grams > 0.0:
            tubes.append(ball(f"weight {i + 1}: {grams:g} g", tube, grams, color=(70, 66, 60)))
        lines.append(clamp(arm, shift, f"clamp {i + 1}"))
        lines.append(Line(f"path of tip {i + 1}", motion.seen.tip + shift, color=(150, 150, 150), width=0.0015))
    write_replay(path, time, tubes, lines, title=title)
