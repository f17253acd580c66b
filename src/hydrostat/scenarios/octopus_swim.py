"""octopus-swim: all arms open and close, and the body goes mantle first, up and along a course."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.control.gaits import Swim
from hydrostat.results import figures, panels
from hydrostat.results.measures import axis_error, direction, displacement, momentum_error, stays_from
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import beat, move_both, octopus, outcome
from hydrostat.scenarios.octopus_figures import LEAST

_NEAR_DEG = 10.0  # from its new course, within which a turn counts as made
_UP = direction(0.0, 0.0)
_BEGIN_BEATS = 10.0  # after which its mean speed is steady


def swim(run: Run) -> Outcome:
    """Straight up, held on its course by unequal beats, and beside it along another course, level unless told."""
    settings = run.settings
    animal = octopus(run, ground=False, weight=1.0 - settings.buoyancy)
    course = direction(settings.turn_deg, settings.azimuth_deg)
    options = {"closed_loop": settings.closed_loop, **beat(settings)}
    controllers = [Swim(_UP, **options), Swim(course, hold_course=True, **options)]
    straight, steered = move_both(run, animal, controllers, settings.seconds)
    begun = min(int(np.searchsorted(straight.time, _BEGIN_BEATS * settings.period_s)), len(straight) - 2)
    moved = displacement(straight)
    speed = float((moved[-1] - moved[begun]) @ _UP / (straight.time[-1] - straight.time[begun]))
    off, height = _off_course(steered, course, settings.period_s), _height_error(steered, course)
    there = stays_from(off <= _NEAR_DEG)
    half = len(steered) // 2
    travelled = displacement(steered)
    on_course = float((travelled[-1] - travelled[half]) @ course / (steered.time[-1] - steered.time[half]))
    metrics = {
        "speed_body_lengths_s": speed / animal.length,
        "speed_mm_s": 1e3 * speed,
        "body_length_mm": 1e3 * animal.length,
        "weight_in_water_mn": 1e3 * animal.weight_in_water,
        "tilt_max_deg": float(axis_error(straight, _UP).max()),
        "drift_mm": 1e3 * float(np.linalg.norm(moved[-1, :2])),
        "course_speed_mm_s": 1e3 * on_course,
        "depth_error_max_mm": 1e3 * float(np.abs(height).max()),
        "turn_error_deg": float(off[-1]),
        "turn_s": None if there is None else float(steered.time[there]),
        "pitch_deg": float(90.0 - axis_error(steered, _UP)[half:].mean()),
    }
    if settings.momentum:
        two = run.simulate(animal.system, controllers[0], 2.0 * settings.period_s, share=(1.0, 1.0), compiled=False)
        metrics["momentum_error"] = momentum_error(two)
    notes = list(animal.notes)
    if there is None:
        notes.append(f"it did not stay within {_NEAR_DEG:g} deg of its new course, {off[-1]:.0f} deg off at the end")
    if speed <= 0.0:
        notes.append(f"its beats do not carry its weight: it sinks by {-1e3 * speed:.0f} mm/s")
    title = f"octopus-swim: {settings.seconds:g} s, closing {settings.ratio:g} times as fast as opening"
    return outcome(
        run,
        animal,
        (straight, steered),
        metrics,
        title,
        lambda path: _draw(path, straight, steered, course, settings, title),
        sim_seconds=2.0 * settings.seconds,
        notes=notes,
    )


def _off_course(steered: hs.Trajectory, course: np.ndarray, period: float) -> np.ndarray:
    """The angle between the mean velocity over two beats and a course (rows,) [deg]."""
    moved, times = displacement(steered), np.asarray(steered.time)
    before = np.searchsorted(times, times - 2.0 * period)
    path = moved - moved[before]
    size = np.maximum(np.linalg.norm(path, axis=1), 1e-12)
    return np.rad2deg(np.arccos(np.clip(path @ course / size, -1.0, 1.0)))


def _height_error(steered: hs.Trajectory, course: np.ndarray) -> np.ndarray:
    """The height of the body above the line of its course, across it in the vertical plane (rows,) [m]."""
    level = course - course[2] * _UP
    size = float(np.linalg.norm(level))
    if size < 1e-9:
        return np.zeros(len(steered))
    moved = displacement(steered)
    return size * moved[:, 2] - course[2] * (moved @ level) / size


def _draw(path: Path, straight: hs.Trajectory, steered: hs.Trajectory, course, settings, title: str) -> None:
    """From the side within a beat, how far it rises, and its height and course beside it."""
    figure, grid = panels.new_panels(title, 2, 4)
    last = max(0.0, straight.time[-1] - 2.0 * settings.period_s)
    opens = settings.ratio / (1.0 + settings.ratio)
    moments = [last + share * settings.period_s for share in (0.0, 0.5 * opens, opens, 0.5 + 0.5 * opens)]
    panels.draw_moments(figure, grid[0, :], straight, np.searchsorted(straight.time, moments).tolist())
    curves = (
        (straight.time, 1e3 * displacement(straight)[:, 2], "height, straight up"),
        (steered.time, 1e3 * displacement(steered) @ course, "distance along its course"),
        (steered.time, 1e3 * _height_error(steered, course), "height above its course"),
    )
    for column, (time, values, heading) in enumerate(curves):
        panels.draw_curves(figure.add_subplot(grid[1, column]), time, values, heading, "[mm]", least=LEAST)
    angles = {"straight up": axis_error(straight, _UP), "on its course": axis_error(steered, _UP)}
    times = dict(zip(angles, (straight.time, steered.time), strict=True))
    axes = figure.add_subplot(grid[1, 3])
    heading = "angle of the body from the vertical"
    panels.draw_curves(axes, times, angles, heading, "[deg]", colors=[1, 2], least=LEAST)
    figures.save(figure, path)
