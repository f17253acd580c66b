"""arm-reach: a bend travels from the base of the octopus arm to its tip, as planned or pushed by stiffening."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.control import smooth_pace
from hydrostat.control.commands import Anatomy, Reach, ReachAlong
from hydrostat.results import BendWave, bend_wave, drawing, figures, panels
from hydrostat.results.measures import speed, stays_from
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import arm_name, arm_system, balance_metrics, known_arm, move, muscle_gains
from hydrostat.scenarios.base import Outcome, Run

_PASSED = 0.85  # of the arm: where the bend counts as arrived
_LONGER = 0.6  # s after the wave's end that a reach is watched, unless a time is given
_REACHED = 0.95  # of its last distance from the base: where the tip counts as arrived
_PROXIMAL = 0.25  # of the arm: its proximal part, next to the base


def reach(run: Run) -> Outcome:
    """Bend, then reach; the course of the bend and of the tip."""
    settings = run.settings
    gains = muscle_gains(run, Anatomy.of(build_robot(run.robot)))
    system, azimuth = arm_system(run, current=settings.current_m_s, gains=gains), np.deg2rad(settings.azimuth_deg)
    times = {"duration": settings.prepare_seconds + settings.wave_seconds, "prepare": settings.prepare_seconds}
    if settings.wave and settings.pattern == "planned":
        command = ReachAlong(azimuth, np.deg2rad(settings.angle_deg), **times, known=known_arm(run))
    else:
        command = Reach(azimuth, **times, bend=settings.bend, stiffen=settings.stiffen, wave=settings.wave)
    seconds = settings.prepare_seconds + (settings.seconds_after or settings.wave_seconds + _LONGER)
    motion = move(run, system, command, seconds, record="arm-reach")
    scale = np.asarray(system.robot.arm.segments.scale)
    wave = bend_wave(hs.load(run.folder), scale, azimuth, settings.prepare_seconds)
    title = f"arm-reach: {arm_name(run)}{'' if settings.drag else ', no drag'}{'' if settings.wave else ', no wave'}"
    shown = motion.shown.between(settings.prepare_seconds, np.inf)
    return Outcome(
        {**_metrics(wave), "proximal_strain_max": _proximal_strain(shown), **balance_metrics([motion])},
        figure=lambda path: _draw(path, shown, wave, title),
        replay=lambda path: motion.shown.replay(path, title),
        sim_seconds=float(motion.time[-1]),
        dt=run.dt,
        steps=len(motion.time) - 1,
    )


def _metrics(wave: BendWave) -> dict:
    """How the bend went along the arm and through the water, and when the tip arrived."""
    end, arrived = _arrival(wave)
    pace = wave.speed[: max(end, 2) + 1]
    bell = np.gradient(smooth_pace(np.linspace(0.0, 1.0, len(pace)), 1.0))
    reached = stays_from(wave.reach / wave.reach[-1] >= _REACHED)
    return {
        "bend_speed_peak_m_s": float(pace.max()),
        "bend_speed_peak_time_fraction": float(int(np.argmax(pace)) / max(end, 1)),
        "minimum_jerk_correlation": float(np.corrcoef(pace, bell)[0, 1]),
        "bend_arrival_s": float(wave.time[end]),
        "bend_arrived": arrived,
        "extension": float(wave.extension[-1]),
        "tip_arrival_s": float(wave.time[reached]) if reached else 0.0,
        "tip_speed_peak_m_s": float(speed(wave.tip, wave.time).max()),
    }


def _proximal_strain(shown: hs.Trajectory) -> float:
    """The largest strain of the arm's proximal part since the wave began, over its length then."""
    points = np.asarray(shown.points)
    part = points[:, : max(round(_PROXIMAL * (points.shape[1] - 1)), 1) + 1]
    lengths = np.linalg.norm(np.diff(part, axis=1), axis=-1).sum(-1)
    return float(lengths.max() / lengths[0] - 1.0)


def _arrival(wave: BendWave) -> tuple[int, bool]:
    """The row in which the bend arrives, or the last one, and whether it does."""
    arrived = np.flatnonzero(wave.place >= _PASSED)
    return (int(arrived[0]), True) if len(arrived) else (len(wave.time) - 1, False)


def _draw(path: Path, shown: hs.Trajectory, wave: BendWave, title: str) -> None:
    """Snapshots with the bend marked, its place and speed until it arrives, and how straight the arm is.

    A straight arm has no bend: what is measured of it after its arrival says nothing.
    """
    figure, grid = panels.new_panels(title, 2, 3, (13.0, 6.0), width_ratios=[1.6, 1, 1])
    side = figure.add_subplot(grid[:, 0])
    rows = np.linspace(0, len(shown) - 1, 8).round().astype(int)
    panels.draw_snapshots(side, shown, rows, drawing.FRONT, "from bent to straight, the bend marked")
    since = np.asarray(shown.time)[rows] - shown.time[0]
    end, _ = _arrival(wave)
    marked = np.searchsorted(wave.time, since)
    panels.mark_points(side, wave.point[marked[marked <= end]], drawing.FRONT, markersize=4)
    bent = slice(0, end + 1)
    curves = (
        (grid[0, 1], wave.time[bent], wave.place[bent], "place of the bend along the arm until it arrives", "fraction"),
        (grid[0, 2], wave.time[bent], wave.speed[bent], "its speed through the water", "[m/s]"),
        (grid[1, 1], wave.time, wave.extension, "distance of the tip over the arm's length", ""),
    )
    for cell, time, values, heading, unit in curves:
        axes = figure.add_subplot(cell)
        panels.draw_curves(axes, time, values, heading, unit, x_label="time since the wave began [s]", colors=[1])
        axes.set_xlim(0.0, wave.time[-1])
    longitudinal = np.asarray(shown.activation)[:, :, :4].max(-1)
    heading = "most active longitudinal muscle"
    panels.draw_along_arm(figure.add_subplot(grid[1, 2]), float(wave.time[-1]), longitudinal, heading)
    figures.save(figure, path)
