"""octopus-walk-path: an octopus crawls along waypoints, and observes its pose before every stroke."""

from pathlib import Path

import numpy as np

from hydrostat.control import read_points
from hydrostat.control.gaits import Walk
from hydrostat.errors import InputError
from hydrostat.results import Trajectory, drawing, figures, panels
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus
from hydrostat.scenarios.octopus_figures import LEAST, yaw
from hydrostat.sensing import Sensor, Sensors
from hydrostat.viewer import Line

_SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0))
_RESERVE = 1.3  # by how many more strokes than its length asks for the path may take
_ROW_S = 0.05


def walk_path(run: Run) -> Outcome:
    """Along the whole path, or as far as it comes."""
    settings = run.settings
    animal = octopus(run)
    path = _waypoints(settings)
    controller = Walk(path, gait=settings.gait, failed_suckers=animal.failed_suckers)
    stroke = controller.stroke(animal.system)
    length = float(np.sum(np.linalg.norm(np.diff(path, axis=0), axis=1)))
    strokes = int(np.ceil(_RESERVE * length / float(stroke.length))) + len(path)
    seconds, dt = strokes * float(stroke.duration), 1e-3 * settings.dt_ms
    every = max(1, round(_ROW_S / dt))
    walked = move(run, animal, controller, seconds, every=every, record=True, sensors=_sensors(run))
    arrived = np.asarray(walked.memory.arrived)
    last = int(np.argmax(arrived)) if arrived.any() else len(arrived) - 1
    position = np.asarray(walked.body)[:, :2]
    off = distance_to(position[: last + 1], path)
    metrics = {
        "path_error_max_mm": 1e3 * float(off.max()),
        "path_error_mean_mm": 1e3 * float(off.mean()),
        "arrived": bool(arrived.any()),
        "end_error_mm": 1e3 * float(np.linalg.norm(position[-1] - path[-1])),
        "path_length_m": length,
        "strokes": int(walked.memory.strokes[-1]),
        "walk_s": float(walked.time[last]),
        "speed_mm_s": 1e3 * length / float(walked.time[last]),
        "yaw_deg": float(yaw(walked)[-1]),
        "penetration_max_radii": float(np.max(walked.ground_depth)),
    }
    notes = list(animal.notes)
    if not arrived.any():
        notes.append(f"it did not arrive within {strokes} strokes; {metrics['end_error_mm']:.0f} mm were left")
    title = f"octopus-walk-path: {length:.3g} m in {metrics['strokes']} strokes"
    lines = (Line("waypoints", np.column_stack([path, np.zeros(len(path))]), color=(70, 110, 60), width=0.0015),)
    return Outcome(
        metrics,
        figure=lambda file: _draw(file, walked, path, off, title),
        replay=lambda file: walked.replay(file, title, lines=lines),
        sim_seconds=seconds,
        dt=dt,
        steps=every * (len(walked) - 1),
        notes=notes,
    )


def _sensors(run: Run) -> Sensors:
    """How well the octopus knows where it is."""
    settings = run.settings
    rate = settings.pose_rate_hz or None
    sense = Sensor(
        noise=1e-3 * settings.pose_noise_mm,
        turn_noise=float(np.deg2rad(settings.heading_noise_deg)),
        rate=rate,
        delay=settings.pose_delay_s,
        dropout=settings.pose_dropout,
    )
    return Sensors(pose=sense, seed=run.seed)


def _waypoints(settings) -> np.ndarray:
    """The square, or the points of a file, which begin where the octopus is."""
    if not settings.path_file:
        return settings.side_m * np.array(_SQUARE)
    points = read_points(settings.path_file, least=2, columns=(2, 3))[:, :2]
    points = points - points[0]
    gaps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if gaps.min() < 1e-3:
        raise InputError(f"waypoints must be 1 mm apart at least; point {int(np.argmin(gaps)) + 2} is not")
    return points


def distance_to(points: np.ndarray, path: np.ndarray) -> np.ndarray:
    """How far points are from a line of straight legs."""
    start, leg = path[:-1], np.diff(path, axis=0)
    along = np.einsum("pkj,kj->pk", points[:, None] - start, leg) / np.sum(leg**2, axis=1)
    nearest = start + np.clip(along, 0.0, 1.0)[..., None] * leg
    return np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1)


def _draw(file: Path, walked: Trajectory, path: np.ndarray, off: np.ndarray, title: str) -> None:
    """The path, the way, and how far apart they were."""
    figure = figures.new_figure(12.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2)
    axes = figure.add_subplot(grid[:, 0])
    drawing.draw_above(axes, walked, len(walked) - 1)
    axes.plot(*(1e3 * path).T, "--", color=figures.COLORS[2], linewidth=1.0)
    figures.style_axes(axes, f"from above, {walked.time[-1]:.0f} s", "x [mm]", "y [mm]")
    axes, time = figure.add_subplot(grid[0, 1]), walked.time[: len(off)]
    panels.draw_curves(axes, time, 1e3 * off, "distance from the path", "[mm]", least=LEAST)
    axes = figure.add_subplot(grid[1, 1])
    panels.draw_curves(axes, walked.time, yaw(walked), "turn of the body", "[deg]", colors=[1], least=LEAST)
    figures.save(figure, file)
