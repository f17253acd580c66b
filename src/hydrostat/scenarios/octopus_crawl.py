"""octopus-crawl: eight arms on a free body that crawls over the ground, with its suckers and without."""

from pathlib import Path

import numpy as np

from hydrostat.control.gaits import Crawl
from hydrostat.results import Trajectory, drawing, figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus, row_steps, way, yaw

_RESERVE = 0.85  # of how far strokes could take it is how far it goes by itself in closed loop; the rest corrects


def crawl(run: Run) -> Outcome:
    """Strokes in one direction, with suckers and, beside it, without."""
    settings = run.settings
    animal = octopus(run)
    direction = np.deg2rad(settings.direction_deg)
    ahead = np.array([np.cos(direction), np.sin(direction)])
    speed = 1e-3 * settings.speed_mm_s if settings.speed_mm_s else None
    gait = {"gait": settings.gait, "speed": speed, "failed_suckers": animal.failed_suckers}
    stroke = Crawl(direction, **gait).stroke(animal.system)
    most = settings.strokes * float(stroke.length) * (_RESERVE if settings.closed_loop else 1.0)
    distance = 1e-3 * settings.distance_mm if settings.distance_mm else most
    seconds, every = settings.strokes * float(stroke.duration), row_steps(run)
    controller = Crawl(direction, distance, closed_loop=settings.closed_loop, **gait)
    held = move(run, animal, controller, seconds, every=every, share=(0.0, 0.5), record=True)
    controller = Crawl(direction, distance, closed_loop=False, suckers=False, **gait)
    slips = move(run, animal, controller, seconds, every=every, share=(0.5, 1.0))
    moved, slipped = way(held), way(slips)
    heading = np.arctan2(moved[-1, 1], moved[-1, 0])
    made, made_without = (max(int(one.memory.strokes[-1]), 1) for one in (held, slips))
    per = max(1, round(float(stroke.duration) / (held.time[1] - held.time[0])))
    metrics = {
        "advance_per_stroke_mm": 1e3 * float(moved[-1, :2] @ ahead) / made,
        "advance_without_suckers_mm": 1e3 * float(slipped[-1, :2] @ ahead) / made_without,
        "advance_of_strokes_mm": (1e3 * np.diff(moved[::per, :2] @ ahead)).tolist(),
        "strokes": made,
        "distance_mm": 1e3 * distance,
        "distance_error_percent": 100.0 * float(np.linalg.norm(moved[-1, :2] - distance * ahead)) / distance,
        "heading_error_deg": abs(float(np.rad2deg(np.angle(np.exp(1j * (heading - direction)))))),
        "yaw_deg": float(yaw(held)[-1]),
        "speed_mm_s": 1e3 * float(moved[-1, :2] @ ahead) / (made * float(stroke.duration)),
        "penetration_max_radii": float(np.max(held.ground_depth)),
    }
    title = f"octopus-crawl: {made} strokes towards {settings.direction_deg:g} deg"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, held, slips, title),
        replay=lambda path: held.replay(path, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(held) - 1),
        notes=animal.notes,
    )


def _draw(path: Path, held: Trajectory, without: Trajectory, title: str) -> None:
    """From above at four moments, and the way of the body."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    rows = np.linspace(0, len(held) - 1, 5).astype(int)[1:]
    scene = drawing.Scene.of(held)
    for column, row in enumerate(rows):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_above(axes, scene, row)
        figures.style_axes(axes, f"from above, {held.time[row]:.2f} s", "x [mm]", "y [mm]")
    axes = figure.add_subplot(grid[1, :2])
    for one, label, color in ((held, "with suckers", 0), (without, "without", 2)):
        axes.plot(one.time, 1e3 * np.linalg.norm(way(one)[:, :2], axis=1), color=figures.COLORS[color], label=label)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "distance of the body from its start", "time [s]", "[mm]")
    turn = figure.add_subplot(grid[1, 2:])
    turn.plot(held.time, yaw(held), color=figures.COLORS[1])
    figures.style_axes(turn, "turn of the body", "time [s]", "[deg]")
    figures.save(figure, path)
