"""arm-reach: a bend travels from the base of the octopus arm to its tip, pushed by a wave of stiffening."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hydrostat.control.commands import Reach
from hydrostat.control.paths import smooth_pace
from hydrostat.results import Trajectory, figures, load
from hydrostat.results.drawing import Scene, draw_arm_side
from hydrostat.scenarios.arm import arm_system, kept_metrics, move
from hydrostat.scenarios.base import Outcome, Run

_PASSED = 0.85  # of the arm: where the bend counts as arrived
_SMOOTHED = 0.075  # s: the bend's place is a mean over so long
_ROWS = 10_000  # that are read together


def reach(run: Run) -> Outcome:
    """Bend, then reach; how the bend and the tip went."""
    settings = run.settings
    system = arm_system(run)
    command = Reach(
        np.deg2rad(settings.azimuth_deg),
        duration=settings.prepare_seconds + settings.wave_seconds,
        prepare=settings.prepare_seconds,
        bend=settings.bend,
        stiffen=settings.stiffen,
        wave=settings.wave,
    )
    seconds = settings.prepare_seconds + settings.seconds_after
    motion = move(run, system, command, seconds, record="arm-reach")
    scale = np.asarray(system.robot.arm.segments.scale)
    metrics, course = _measured(load(run.folder), scale, settings.prepare_seconds, np.deg2rad(settings.azimuth_deg))
    title = (
        f"arm-reach: {run.robot.name}" + ("" if settings.drag else ", no drag") + ("" if settings.wave else ", no wave")
    )
    dt = 1e-3 * settings.dt_ms
    return Outcome(
        {**metrics, **kept_metrics([motion])},
        figure=lambda path: _draw(path, motion.shown, course, settings.prepare_seconds, title),
        replay=lambda path: motion.shown.replay(path, title),
        sim_seconds=float(motion.time[-1]),
        dt=dt,
        steps=len(motion.time) - 1,
    )


def _measured(recorded, scale: np.ndarray, start: float, azimuth: float) -> tuple[dict, dict]:
    """The bend's way along the arm and through the water, and the tip's arrival, of what has been recorded."""
    all_times = recorded["time"].values
    after = all_times >= start - 1e-9
    times = all_times[after] - start
    place = _bend_place(recorded, scale, azimuth, all_times)[after]
    point, tip, reach_of, along = (np.concatenate(y)[after] for y in zip(*_ways(recorded, place, after), strict=True))
    speed = _speed(point, times)
    arrived = np.flatnonzero(place >= _PASSED)
    end = int(arrived[0]) if len(arrived) else len(times) - 1
    window = slice(0, max(end, 2) + 1)
    peak = int(np.argmax(speed[window]))
    bell = np.gradient(smooth_pace(np.linspace(0.0, 1.0, len(speed[window])), 1.0))
    extension = reach_of / along
    far = reach_of / reach_of[-1] < 0.95
    arrival = times[min(int(np.flatnonzero(far)[-1]) + 1, len(times) - 1)] if far.any() else 0.0
    tip_speed = np.linalg.norm(np.gradient(tip, times, axis=0), axis=-1)
    metrics = {
        "bend_speed_peak_m_s": float(speed[window].max()),
        "bend_speed_peak_time_fraction": float(peak / max(end, 1)),
        "minimum_jerk_correlation": float(np.corrcoef(speed[window], bell)[0, 1]),
        "bend_arrival_s": float(times[end]),
        "bend_arrived": bool(len(arrived)),
        "extension": float(extension[-1]),
        "tip_arrival_s": float(arrival),
        "tip_speed_peak_m_s": float(tip_speed.max()),
    }
    return metrics, {"times": times, "place": place, "speed": speed, "extension": extension, "point": point}


def _pieces(recorded) -> Iterator[tuple[slice, Any]]:
    """The recorded rows, some at a time."""
    for begin in range(0, recorded.sizes["time"], _ROWS):
        rows = slice(begin, begin + _ROWS)
        yield rows, recorded.isel(time=rows)


def _bend_place(recorded, scale: np.ndarray, azimuth: float, times: np.ndarray) -> np.ndarray:
    """Where along the arm the bend is, as a fraction: the mean place of bending to its side, strong bends most."""
    places = []
    for _, piece in _pieces(recorded):
        bends = piece["q"].values * scale[:, None]
        weight = np.maximum(np.cos(azimuth) * bends[..., 1] - np.sin(azimuth) * bends[..., 0], 0.0) ** 2
        middles = (np.arange(weight.shape[1]) + 0.5) / weight.shape[1]
        places.append((weight * middles).sum(-1) / np.maximum(weight.sum(-1), 1e-12))
    place, half = np.concatenate(places), _half(times)
    kernel = np.ones(2 * half + 1) / (2 * half + 1)
    padded = np.concatenate([np.full(half, place[0]), place, np.full(half, place[-1])])
    return np.convolve(padded, kernel, "valid")


def _ways(recorded, place: np.ndarray, after: np.ndarray) -> Iterator[tuple]:
    """Of pieces of rows: the point of the bend, the tip, its distance from the base, and the length of the arm."""
    whole = np.zeros(len(after))
    whole[after] = place
    base = recorded["plate_position"][0, 0].values
    for rows, piece in _pieces(recorded):
        points = piece["plate_position"].values
        tip, lengths = points[:, -1], np.linalg.norm(np.diff(points, axis=1), axis=-1).sum(-1)
        yield _points_at(points, whole[rows]), tip, np.linalg.norm(tip - base, axis=-1), lengths


def _half(times: np.ndarray) -> int:
    """Rows of half the time that is smoothed over."""
    return max(round(0.5 * _SMOOTHED / (times[1] - times[0]) - 0.5), 1)


def _speed(point: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The speed of a point that goes along a polygon, where it turns in no time: over a time, not from row to row."""
    half, rows = _half(times), np.arange(len(times))
    before, after = np.maximum(rows - half, 0), np.minimum(rows + half, len(times) - 1)
    return np.linalg.norm(point[after] - point[before], axis=-1) / (times[after] - times[before])


def _points_at(positions: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Points of the arm's axis at fractions of it, row by row."""
    n = positions.shape[1] - 1
    at = np.clip(place * n, 0.0, n - 1e-9)
    first = at.astype(int)
    share = (at - first)[:, None]
    rows = np.arange(len(place))
    return positions[rows, first] * (1.0 - share) + positions[rows, first + 1] * share


def _draw(path: Path, shown: Trajectory, course: dict, start: float, title: str) -> None:
    """Snapshots with the bend marked, its place and speed over time, and how straight the arm is."""
    figure = figures.new_figure(13.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3, width_ratios=[1.6, 1, 1])
    side = figure.add_subplot(grid[:, 0])
    shown = shown.between(start, np.inf)
    scene, since = Scene.of(shown), np.asarray(shown.time) - start
    for row in np.linspace(0, len(shown) - 1, 8).round().astype(int):
        draw_arm_side(side, scene, row, alpha=0.25 + 0.75 * row / max(len(shown) - 1, 1))
        point = course["point"][min(np.searchsorted(course["times"], since[row]), len(course["times"]) - 1)]
        side.plot(*(1e3 * point[[0, 2]]), "o", color="#28666e", markersize=4)
    side.set_aspect("equal")
    figures.style_axes(side, "from bent to straight, the bend marked", "x [mm]", "z [mm]")
    panels = (
        ("place", "place of the bend along the arm", "fraction"),
        ("speed", "its speed through the water", "[m/s]"),
        ("extension", "distance of the tip over the arm's length", ""),
    )
    some = slice(None, None, max(1, len(course["times"]) // 2000))
    for i, (name, heading, unit) in enumerate(panels):
        axes = figure.add_subplot(grid[i // 2, 1 + i % 2])
        axes.plot(course["times"][some], course[name][some], color="#28666e", linewidth=1.3)
        figures.style_axes(axes, heading, "time since the wave began [s]", unit)
    waves = figure.add_subplot(grid[1, 2])
    extent = (0.0, float(course["times"][-1]), 0.0, 1.0)
    radial = np.asarray(shown.activation)[:, :, 4]
    waves.imshow(radial.T, origin="lower", aspect="auto", extent=extent, cmap="magma_r", vmin=0.0)
    figures.style_axes(waves, "activation of the radial muscles", "time [s]", "place along the arm")
    figures.save(figure, path)
