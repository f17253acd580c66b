"""stewart-motions: the motions of an octopus arm, each alone: elongate, shorten, bend, twist.

Every motion is spread evenly over all segments. The recorded poses are those that the lengths of the legs and the radii
of the rings determine, solved for from the pose before.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control import Platforms, even_motion, outside_stroke, poses_by_actuators, smooth_pace
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.results import (
    PlatformMotion,
    accuracy,
    figures,
    panels,
    platform_figures,
    platform_motion,
)
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.recorded_tracking import recorded

MOTIONS = ("elongate", "shorten", "bend", "twist")
_ROWS = 100  # of one motion, there and back
_TILT = 0.25  # of the view from above, so that plates are seen as ellipses


def motions(run: Run) -> Outcome:
    """Make each motion there and back, by the actuators."""
    settings, arm = run.settings, Platforms.of(build_robot(run.robot))
    there = smooth_pace(np.linspace(0.0, 1.0, _ROWS // 2 + 1), 1.0)
    shares = np.concatenate([there, there[-2::-1]])
    azimuth = np.deg2rad(settings.bend_azimuth_deg)
    goals = {
        "elongate": {"stretch": 1.0 + settings.elongate_percent / 100.0},
        "shorten": {"stretch": 1.0 - settings.shorten_percent / 100.0},
        "bend": {"bend": np.deg2rad(settings.bend_deg), "azimuth": azimuth},
        "twist": {"twist": np.deg2rad(settings.twist_deg)},
    }
    courses = [even_motion(arm, shares, **goals[name]) for name in MOTIONS]
    goal = jax.tree.map(lambda *parts: jnp.concatenate(parts), *courses)
    lengths, rings = arm.segments.leg_lengths(goal), arm.segments.rings(goal)
    _check_stroke(arm, np.asarray(lengths))
    with run.compiling("compiling the legs"):
        poses_by_actuators(arm, lengths, rings, goal[0])
    with run.timed():
        T = poses_by_actuators(arm, lengths, rings, goal[0])
    times = np.arange(len(lengths)) * settings.seconds / _ROWS
    motion = platform_motion(arm, T, np.zeros((len(times), arm.count, 6)), times)
    metrics = {**_extremes(arm, T, motion), "pose_error_max": accuracy.largest_difference(T, goal), **motion.metrics}
    del metrics["rate_used_max_m_s"]
    with recorded(run, "stewart-motions", arm, len(times), times[1]) as recorder:
        recorder.append(T, motion.tip)
    title = f"stewart-motions: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, motion, azimuth, title),
        replay=lambda path: platform_figures.replay_platforms(path, motion, title),
        sim_seconds=float(times[-1]),
        notes=motion.notes,
    )


def _check_stroke(arm: Platforms, lengths: np.ndarray) -> None:
    """Refuse a motion that the legs cannot make."""
    found = outside_stroke(arm, lengths)
    if found is not None:
        row, segment, leg = found
        shortest, longest = (float(y[segment, leg]) for y in (arm.legs.shortest, arm.legs.longest))
        raise InputError(
            f"the motions must stay within the legs' strokes; {MOTIONS[row * len(MOTIONS) // len(lengths)]} takes leg "
            f"{leg + 1} of segment {segment + 1} to {lengths[row, segment, leg]:.3g} m, its range is {shortest:.3g} to "
            f"{longest:.3g} m"
        )


def _middles(motion: PlatformMotion) -> dict[str, int]:
    """The row at which each motion is complete, before it goes back."""
    rows = len(motion.times) // len(MOTIONS)
    return {name: rows * i + rows // 2 for i, name in enumerate(MOTIONS)}


def _extremes(arm: Platforms, T: SE3, motion: PlatformMotion) -> dict[str, float]:
    """The complete motions: how far they go, and how much of the other motions is in them."""
    rows, up = _middles(motion), np.asarray(arm.base.rotation)[:, 2]
    turns = {name: np.rad2deg(np.asarray(so3.log(T[row].rotation))) for name, row in rows.items()}
    heights = {name: (motion.tip[row] - np.asarray(arm.base.position)) @ up / arm.length for name, row in rows.items()}
    radii = {name: float(np.mean(motion.radii[row] / motion.radii[0])) for name, row in rows.items()}
    return {
        "elongate_percent": 100.0 * (heights["elongate"] - 1.0),
        "elongate_radius_percent": 100.0 * (radii["elongate"] - 1.0),
        "shorten_percent": 100.0 * (1.0 - heights["shorten"]),
        "shorten_radius_percent": 100.0 * (radii["shorten"] - 1.0),
        "bend_deg": float(np.linalg.norm(turns["bend"].sum(0))),
        "twist_deg": float(turns["twist"][:, 2].sum()),
        "elongate_rotation_deg": float(np.abs(turns["elongate"]).max()),
        "bend_twist_deg": float(np.abs(turns["bend"][:, 2]).max()),
        "twist_tip_move_mm": 1e3 * float(np.linalg.norm(motion.tip[rows["twist"]] - np.asarray(arm.tip.position))),
    }


def _draw(path: Path, motion: PlatformMotion, azimuth: float, title: str) -> None:
    """The arm at rest and at the extreme of each motion, from the side, and the legs of its last segment over time."""
    figure, grid = panels.new_panels(title, 2, len(MOTIONS), (13.0, 8.5), height_ratios=[3.2, 1])
    R, (sine, cosine) = np.asarray(motion.arm.base.rotation), (np.sin(azimuth), np.cos(azimuth))
    view = np.array([[cosine, sine, 0.0], [_TILT * sine, -_TILT * cosine, 1.0]]) @ R.T
    shared, rows, title = None, len(motion.times) // len(MOTIONS), "legs of the last segment"
    for i, (name, row) in enumerate(_middles(motion).items()):
        axes = figure.add_subplot(grid[0, i], sharex=shared, sharey=shared)
        shared = shared or axes
        platform_figures.draw_platforms_side(axes, motion, 0, view, 0.25)
        platform_figures.draw_platforms_side(axes, motion, row, view)
        figures.style_axes(axes, name, "across [m]", "up [m]" if i == 0 else "")
        legs = 1e3 * (motion.legs[rows * i : rows * (i + 1), -1] - motion.legs[0, -1])
        cell, words = figure.add_subplot(grid[1, i]), "share of the motion"
        curves = {f"leg {k + 1}": y for k, y in enumerate(legs.T)}
        unit = "from rest [mm]" if i == 0 else ""
        panels.draw_curves(cell, np.linspace(0.0, 1.0, rows), curves, title, unit, x_label=words, legend=i == 0)
    figures.save(figure, path)
