"""octopus-turn and octopus-stand: an octopus that stays where it is, and turns, or holds on in a current."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.control.gaits import standing
from hydrostat.control.turning import Turn, bend_one_way_and_straighten
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import (
    Animal,
    Seen,
    Witness,
    animal,
    draw_above,
    holds,
    move,
    replay,
    row_steps,
    way,
    yaw,
)
from hydrostat.stepping import Rows

_NEAR_DEG = 2.0  # from where it shall face, where an octopus need not turn


def turn(run: Run) -> Outcome:
    """On the spot by an angle, and, beside it, without suckers."""
    settings = run.settings
    octopus = animal(run)
    stroke = bend_one_way_and_straighten(octopus.anatomy)
    seconds, every = settings.strokes * float(stroke.duration), row_steps(run)

    def brain(suckers: float, looks: bool) -> Turn:
        to, near = (jnp.asarray(np.deg2rad(angle)) for angle in (settings.turn_deg, _NEAR_DEG))
        return Turn(stroke, to, suckers * jnp.asarray(octopus.grip), jnp.asarray(1.0 if looks else 0.0), near)

    with Witness(run, octopus, seconds, every, "octopus-turn") as witness:
        turning = brain(1.0, settings.closed_loop)
        rows = move(run, octopus, turning, seconds, every=every, share=(0.0, 0.5), on_rows=witness)
    seen = witness.seen
    without = move(run, octopus, brain(0.0, False), seconds, every=every, share=(0.5, 1.0))
    turned, away = yaw(rows), 1e3 * np.linalg.norm(way(rows)[:, :2], axis=1)
    off = np.abs(turned - settings.turn_deg) > 2.0 * _NEAR_DEG
    metrics = {
        "turned_deg": float(turned[-1]),
        "turn_error_deg": abs(float(turned[-1]) - settings.turn_deg),
        "turned_without_suckers_deg": float(yaw(without)[-1]),
        "strokes": int(rows.memory.brain.strokes[-1]),
        "turn_s": None if off[-1] else float(rows.time[len(off) - int(np.argmax(off[::-1])) if off.any() else 0]),
        "drift_mm": float(away[-1]),
        "drift_max_mm": float(away.max()),
        "penetration_max_radii": float(np.max(seen.depth)),
    }
    title = f"octopus-turn: {settings.turn_deg:g} deg on the spot in {metrics['strokes']} strokes"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, (rows, without), seen, octopus, title),
        replay=lambda path: replay(path, rows, seen, octopus, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(rows.time) - 1),
        notes=octopus.notes,
    )


def stand(run: Run) -> Outcome:
    """In a current, with suckers and, beside it, without."""
    settings = run.settings
    octopus = animal(run)
    azimuth = np.deg2rad(settings.azimuth_deg)
    flow = settings.current_m_s * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    octopus = replace(octopus, sea=eqx.tree_at(lambda sea: sea.water.current, octopus.sea, jnp.asarray(flow)))
    every, grip = row_steps(run), jnp.asarray(octopus.grip)
    with Witness(run, octopus, settings.seconds, every, "octopus-stand") as witness:
        brain = standing(octopus.anatomy, grip)
        rows = move(run, octopus, brain, settings.seconds, every=every, share=(0.0, 0.5), on_rows=witness)
    seen = witness.seen
    without = move(run, octopus, standing(octopus.anatomy, 0.0 * grip), settings.seconds, every=every, share=(0.5, 1.0))
    moved, swept = (1e3 * np.linalg.norm(way(one)[:, :2], axis=1) for one in (rows, without))
    up = np.asarray(rows.state.base_pose.rotation)[:, 2, 2]
    metrics = {
        "drift_mm": float(moved[-1]),
        "drift_max_mm": float(moved.max()),
        "drift_without_suckers_mm": float(swept[-1]),
        "tilt_max_deg": float(np.rad2deg(np.arccos(np.clip(up, -1.0, 1.0))).max()),
        "yaw_deg": float(yaw(rows)[-1]),
        "held_segments": int(holds(rows, octopus)[-1].sum()),
        "penetration_max_radii": float(np.max(seen.depth)),
    }
    title = f"octopus-stand: a current of {settings.current_m_s:g} m/s"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, (rows, without), seen, octopus, title),
        replay=lambda path: replay(path, rows, seen, octopus, title),
        sim_seconds=2.0 * settings.seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(rows.time) - 1),
        notes=octopus.notes,
    )


def _draw(path: Path, both: tuple[Rows, Rows], seen: Seen, octopus: Animal, title: str) -> None:
    """From above at four moments, how far it was moved, and how far it turned."""
    rows = both[0]
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    for column, row in enumerate(np.linspace(0, len(rows.time) - 1, 5).astype(int)[1:]):
        draw_above(figure.add_subplot(grid[0, column]), rows, row, seen, octopus)
    drifts, turns = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    for one, label, color in zip(both, ("with suckers", "without"), (0, 2), strict=True):
        away = 1e3 * np.linalg.norm(way(one)[:, :2], axis=1)
        drifts.plot(one.time, away, color=figures.COLORS[color], label=label)
        turns.plot(one.time, yaw(one), color=figures.COLORS[color], label=label)
    drifts.legend(fontsize=8, frameon=False)
    figures.style_axes(drifts, "distance of the body from its start", "time [s]", "[mm]")
    figures.style_axes(turns, "turn of the body", "time [s]", "[deg]")
    figures.save(figure, path)
