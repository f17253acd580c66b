"""octopus-crawl: eight arms on a free body that crawls over the ground, with its suckers and without."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from hydrostat.control.gaits import STROKES, Crawl, Stroke
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Animal, Seen, Witness, animal, draw_above, move, replay, row_steps, way, yaw
from hydrostat.stepping import Rows

NEAR = 0.01
"""From its goal where an octopus has arrived [m]."""
_RESERVE = 0.85  # of how far strokes could take it is how far it goes by itself in closed loop; the rest corrects


def crawl(run: Run) -> Outcome:
    """Strokes in one direction, with suckers and, beside it, without."""
    settings = run.settings
    octopus = animal(run)
    stroke = STROKES[settings.gait](octopus.anatomy, jnp.asarray(octopus.yaws))
    if settings.speed_mm_s:
        stroke = stroke.at_speed(1e-3 * settings.speed_mm_s)
    direction = np.deg2rad(settings.direction_deg)
    ahead = np.array([np.cos(direction), np.sin(direction)])
    most = settings.strokes * float(stroke.length) * (_RESERVE if settings.closed_loop else 1.0)
    distance = 1e-3 * settings.distance_mm if settings.distance_mm else most
    seconds, every = settings.strokes * float(stroke.duration), row_steps(run)
    goal = np.stack([np.zeros(2), distance * ahead])
    with Witness(run, octopus, seconds, every, "octopus-crawl") as witness:
        brain = crawling(octopus, stroke, goal, looks=settings.closed_loop)
        held = move(run, octopus, brain, seconds, every=every, share=(0.0, 0.5), on_rows=witness)
    seen = witness.seen
    brain = crawling(octopus, stroke, goal, looks=False, suckers=False)
    slips = move(run, octopus, brain, seconds, every=every, share=(0.5, 1.0))
    moved, slipped = way(held), way(slips)
    heading = np.arctan2(moved[-1, 1], moved[-1, 0])
    made, made_without = (max(int(rows.memory.brain.strokes[-1]), 1) for rows in (held, slips))
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
        "penetration_max_radii": float(np.max(seen.depth)),
    }
    title = f"octopus-crawl: {made} strokes towards {settings.direction_deg:g} deg"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, held, slips, seen, octopus, title),
        replay=lambda path: replay(path, held, seen, octopus, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(held.time) - 1),
        notes=octopus.notes,
    )


def crawling(
    octopus: Animal, stroke: Stroke, path: np.ndarray, *, looks: bool, suckers: bool = True, near: float = NEAR
) -> Crawl:
    """The brain that crawls along a path, to so near its end [m]."""
    grip = jnp.asarray(octopus.grip) * (1.0 if suckers else 0.0)
    numbers = (jnp.asarray(1.0 if looks else 0.0), jnp.asarray(near))
    return Crawl(stroke, jnp.asarray(path), jnp.asarray(octopus.yaws), grip, *numbers)


def _draw(path: Path, rows: Rows, without: Rows, seen: Seen, octopus: Animal, title: str) -> None:
    """From above at four moments, and the way of the body."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    for column, row in enumerate(np.linspace(0, len(rows.time) - 1, 5).astype(int)[1:]):
        draw_above(figure.add_subplot(grid[0, column]), rows, row, seen, octopus)
    axes = figure.add_subplot(grid[1, :2])
    for one, label, color in ((rows, "with suckers", 0), (without, "without", 2)):
        axes.plot(one.time, 1e3 * np.linalg.norm(way(one)[:, :2], axis=1), color=figures.COLORS[color], label=label)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "distance of the body from its start", "time [s]", "[mm]")
    turn = figure.add_subplot(grid[1, 2:])
    turn.plot(rows.time, yaw(rows), color=figures.COLORS[1])
    figures.style_axes(turn, "turn of the body", "time [s]", "[deg]")
    figures.save(figure, path)
