"""octopus-turn and octopus-stand: an octopus that stays where it is, and turns, or holds on in a current."""

from pathlib import Path

import numpy as np

from hydrostat.control.gaits import Stand, Turn
from hydrostat.results import Trajectory, drawing, figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus, row_steps, way, yaw
from hydrostat.surroundings import Water

_NEAR_DEG = 2.0  # from where it shall face, where an octopus need not turn


def turn(run: Run) -> Outcome:
    """On the spot by an angle, and, beside it, without suckers."""
    settings = run.settings
    animal = octopus(run)

    def controller(suckers: bool, closed_loop: bool) -> Turn:
        angle, near = np.deg2rad(settings.turn_deg), float(np.deg2rad(_NEAR_DEG))
        failed = animal.failed_suckers
        return Turn(angle, closed_loop=closed_loop, near=near, suckers=suckers, failed_suckers=failed)

    stroke = controller(True, True).stroke(animal.system)
    seconds, every = settings.strokes * float(stroke.duration), row_steps(run)
    turning = controller(True, settings.closed_loop)
    held = move(run, animal, turning, seconds, every=every, share=(0.0, 0.5), record=True)
    without = move(run, animal, controller(False, False), seconds, every=every, share=(0.5, 1.0))
    turned, away = yaw(held), 1e3 * np.linalg.norm(way(held)[:, :2], axis=1)
    off = np.abs(turned - settings.turn_deg) > 2.0 * _NEAR_DEG
    metrics = {
        "turned_deg": float(turned[-1]),
        "turn_error_deg": abs(float(turned[-1]) - settings.turn_deg),
        "turned_without_suckers_deg": float(yaw(without)[-1]),
        "strokes": int(held.memory.strokes[-1]),
        "turn_s": None if off[-1] else float(held.time[len(off) - int(np.argmax(off[::-1])) if off.any() else 0]),
        "drift_mm": float(away[-1]),
        "drift_max_mm": float(away.max()),
        "penetration_max_radii": float(np.max(held.ground_depth)),
    }
    title = f"octopus-turn: {settings.turn_deg:g} deg on the spot in {metrics['strokes']} strokes"
    return _outcome(run, (held, without), metrics, title, seconds, every, animal.notes)


def stand(run: Run) -> Outcome:
    """In a current, with suckers and, beside it, without."""
    settings = run.settings
    azimuth = np.deg2rad(settings.azimuth_deg)
    flow = settings.current_m_s * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    animal = octopus(run, water=Water(current=flow))
    every, failed = row_steps(run), animal.failed_suckers
    controller = Stand(failed_suckers=failed)
    held = move(run, animal, controller, settings.seconds, every=every, share=(0.0, 0.5), record=True)
    without = move(run, animal, Stand(suckers=False), settings.seconds, every=every, share=(0.5, 1.0))
    moved, swept = (1e3 * np.linalg.norm(way(one)[:, :2], axis=1) for one in (held, without))
    up = np.asarray(held.body_pose.rotation)[:, 2, 2]
    metrics = {
        "drift_mm": float(moved[-1]),
        "drift_max_mm": float(moved.max()),
        "drift_without_suckers_mm": float(swept[-1]),
        "tilt_max_deg": float(np.rad2deg(np.arccos(np.clip(up, -1.0, 1.0))).max()),
        "yaw_deg": float(yaw(held)[-1]),
        "held_segments": int(np.sum(held.held[-1])),
        "penetration_max_radii": float(np.max(held.ground_depth)),
    }
    title = f"octopus-stand: a current of {settings.current_m_s:g} m/s"
    return _outcome(run, (held, without), metrics, title, settings.seconds, every, animal.notes)


def _outcome(run: Run, both, metrics: dict, title: str, seconds: float, every: int, notes: list[str]) -> Outcome:
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, both, title),
        replay=lambda path: both[0].replay(path, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * run.settings.dt_ms,
        steps=2 * every * (len(both[0]) - 1),
        notes=notes,
    )


def _draw(path: Path, both: tuple[Trajectory, Trajectory], title: str) -> None:
    """From above at four moments, how far it was moved, and how far it turned."""
    held = both[0]
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    scene = drawing.Scene.of(held)
    for column, row in enumerate(np.linspace(0, len(held) - 1, 5).astype(int)[1:]):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_above(axes, scene, row)
        figures.style_axes(axes, f"from above, {held.time[row]:.2f} s", "x [mm]", "y [mm]")
    drifts, turns = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    for one, label, color in zip(both, ("with suckers", "without"), (0, 2), strict=True):
        away = 1e3 * np.linalg.norm(way(one)[:, :2], axis=1)
        drifts.plot(one.time, away, color=figures.COLORS[color], label=label)
        turns.plot(one.time, yaw(one), color=figures.COLORS[color], label=label)
    drifts.legend(fontsize=8, frameon=False)
    figures.style_axes(drifts, "distance of the body from its start", "time [s]", "[mm]")
    figures.style_axes(turns, "turn of the body", "time [s]", "[deg]")
    figures.save(figure, path)
