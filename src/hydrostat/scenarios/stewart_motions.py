"""stewart-motions: what an octopus arm can do, each motion alone: elongate, shorten, bend, twist.

Every motion shares itself out over all segments. It is made by what the actuators do: the recorded poses are those that
the lengths of the legs and of the radial joints give, found from the pose before. (The legs alone do not determine a
flat segment: as its plates part its rings narrow, which shortens legs, and one set of lengths belongs to two poses.)
"""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.paths import smooth_pace
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.lie import SE3, so3
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.tracking import (
    Examined,
    Platforms,
    examine,
    limits_of,
    platforms,
    record,
    replay_tracking,
)
from hydrostat.segments.stewart import LegSolution, pose_from_legs

MOTIONS = ("elongate", "shorten", "bend", "twist")
_ROWS = 100  # of one motion, there and back


def motions(run: Run) -> Outcome:
    """Each motion there and back, by the legs."""
    arm = platforms(run.robot)
    settings = run.settings
    there = smooth_pace(np.linspace(0.0, 1.0, _ROWS // 2 + 1), 1.0)
    shares = np.concatenate([there, there[-2::-1]])
    goals = {name: _goal(arm, name, settings) for name in MOTIONS}
    wanted = jax.tree.map(
        lambda *parts: jnp.concatenate(parts), *(_course(arm, goals[name], shares) for name in MOTIONS)
    )
    lengths, rings = arm.segments.leg_lengths(wanted), arm.segments.rings(wanted)
    _check_stroke(arm, np.asarray(lengths))
    with run.compiling("compiling the legs"):
        jax.block_until_ready(_by_actuators(arm.segments, lengths, rings, wanted[0]))
    with run.timed():
        solution = jax.block_until_ready(_by_actuators(arm.segments, lengths, rings, wanted[0]))
    T, found = solution.T, np.asarray(solution.found)
    if not found.all():
        row, segment = np.argwhere(~found)[0]
        raise UnsolvedError(
            f"no pose was found for the legs of segment {segment + 1} in {MOTIONS[row // len(shares)]}, by "
            f"{float(solution.miss[row, segment]):.3g} m"
        )
    times = np.arange(len(shares) * len(MOTIONS)) * settings.seconds / _ROWS
    seen = examine(arm, T, np.zeros((len(times), arm.robot.arm.count, 6)), times, limits=True)
    metrics = {**_measured(arm, T, seen, len(shares)), "pose_error_max": _apart(T, wanted), **seen.metrics}
    del metrics["rate_used_max_m_s"]
    record(run, "stewart-motions", seen, times, seen.positions[:, -1])
    title = f"stewart-motions: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, seen, np.deg2rad(settings.bend_azimuth_deg), len(shares), title),
        replay=lambda path: replay_tracking(path, seen, times, lambda t: np.outer(t, seen.positions[0, -1]), title),
        sim_seconds=float(times[-1]),
        notes=seen.notes,
    )


def _goal(arm: Platforms, name: str, settings) -> tuple[np.ndarray, np.ndarray]:
    """The rotation vector [rad] and the stretch that every segment goes to."""
    n, lengths = arm.robot.arm.count, np.asarray(arm.segments.length)
    turn, stretch = np.zeros((n, 3)), np.ones(n)
    if name == "elongate":
        stretch = stretch + settings.elongate_percent / 100.0
    elif name == "shorten":
        stretch = stretch - settings.shorten_percent / 100.0
    elif name == "bend":
        azimuth = np.deg2rad(settings.bend_azimuth_deg)
        axis = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        turn = np.outer(np.deg2rad(settings.bend_deg) * lengths / lengths.sum(), axis)
    else:
        turn = np.outer(np.full(n, np.deg2rad(settings.twist_deg) / n), [0.0, 0.0, 1.0])
    return turn, stretch


def _course(arm: Platforms, goal, shares: np.ndarray) -> SE3:
    """The relative poses at shares of the way to a goal; a bent segment is an arc, its plate on the arc's chord."""
    turn, stretch = goal
    turns = shares[:, None, None] * turn
    stretches = 1.0 + shares[:, None] * (stretch - 1.0)
    lengths = stretches * np.asarray(arm.segments.length)
    half = so3.exp(jnp.asarray(0.5 * turns))
    angle = np.linalg.norm(turns[..., :2], axis=-1)
    chord = lengths * np.sinc(angle / (2.0 * np.pi))
    return SE3(so3.exp(jnp.asarray(turns)), jnp.asarray(chord)[..., None] * half[..., :, 2])


def _check_stroke(arm: Platforms, lengths: np.ndarray) -> None:
    """Refuse a motion that the legs cannot make."""
    can = limits_of(arm)
    short, long = lengths < np.asarray(can.shortest) - 1e-12, lengths > np.asarray(can.longest) + 1e-12
    if not (short | long).any():
        return
    row, segment, leg = np.argwhere(short | long)[0]
    rows = len(lengths) // len(MOTIONS)
    raise InputError(
        f"the motions must stay within the legs' strokes; {MOTIONS[row // rows]} takes leg {leg + 1} of segment "
        f"{segment + 1} to {lengths[row, segment, leg]:.3g} m, its range is {float(can.shortest[segment, leg]):.3g} to "
        f"{float(can.longest[segment, leg]):.3g} m"
    )


@eqx.filter_jit
def _by_actuators(segments, lengths, rings, start: SE3) -> LegSolution:
    """The poses that leg lengths (rows, n, 6) and ring radii (rows, n, 2) give, each sought from the row before."""

    def row(T, given):
        solution = pose_from_legs(segments, given[0], T, given[1])
        return solution.T, solution

    return jax.lax.scan(row, start, (lengths, rings))[1]


def _apart(T: SE3, wanted: SE3) -> float:
    """The largest difference between poses."""
    pairs = zip(jax.tree.leaves(T), jax.tree.leaves(wanted), strict=True)
    return float(max(np.max(np.abs(np.asarray(a) - np.asarray(b))) for a, b in pairs))


def _measured(arm: Platforms, T: SE3, seen: Examined, rows: int) -> dict:
    """What each motion did to the arm at its height, and what it should not have done."""
    tip, up = np.asarray(arm.tip.position), np.asarray(arm.base.rotation)[:, 2]
    heights = [rows * i + rows // 2 for i in range(len(MOTIONS))]
    turned = {name: np.asarray(so3.log(T[row].rotation)) for name, row in zip(MOTIONS, heights, strict=True)}
    ends = {name: seen.positions[row, -1] for name, row in zip(MOTIONS, heights, strict=True)}
    radii = {name: seen.radii[row] for name, row in zip(MOTIONS, heights, strict=True)}
    along = {name: (end - np.asarray(arm.base.position)) @ up for name, end in ends.items()}
    return {
        "elongate_percent": 100.0 * (along["elongate"] / arm.length - 1.0),
        "elongate_radius_percent": 100.0 * float(np.mean(radii["elongate"] / seen.radii[0]) - 1.0),
        "shorten_percent": 100.0 * (1.0 - along["shorten"] / arm.length),
        "shorten_radius_percent": 100.0 * float(np.mean(radii["shorten"] / seen.radii[0]) - 1.0),
        "bend_deg": float(np.rad2deg(np.linalg.norm(turned["bend"].sum(0)))),
        "twist_deg": float(np.rad2deg(turned["twist"][:, 2].sum())),
        "elongate_rotation_deg": float(np.rad2deg(np.abs(turned["elongate"]).max())),
        "bend_twist_deg": float(np.rad2deg(np.abs(turned["bend"][:, 2]).max())),
        "twist_tip_move_mm": 1e3 * float(np.linalg.norm(ends["twist"] - tip)),
    }


def _draw(path: Path, arm: Platforms, seen: Examined, azimuth: float, rows: int, title: str) -> None:
    """The arm at the height of each motion, seen from the side, and the legs of its last segment over time."""
    figure = figures.new_figure(13.0, 8.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4, height_ratios=[3.2, 1])
    R = np.asarray(arm.base.rotation)
    across = R @ np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    # Seen a little from above, so that plates are ellipses.
    view = np.stack([across, R @ np.array([-0.25 * -np.sin(azimuth), -0.25 * np.cos(azimuth), 1.0])])
    heights = [rows * i + rows // 2 for i in range(len(MOTIONS))]
    shared = None
    for i, (name, row) in enumerate(zip(MOTIONS, heights, strict=True)):
        axes = figure.add_subplot(grid[0, i], sharex=shared, sharey=shared)
        shared = shared or axes
        _draw_side(axes, seen, 0, view, 0.25)
        _draw_side(axes, seen, row, view, 1.0)
        axes.set_aspect("equal")
        figures.style_axes(axes, name, "across [m]", "up [m]" if i == 0 else "")
        legs = figure.add_subplot(grid[1, i])
        part = slice(rows * i, rows * (i + 1))
        legs.plot(np.linspace(0.0, 1.0, rows), 1e3 * (seen.legs[part, -1] - seen.legs[0, -1]), linewidth=1.0)
        figures.style_axes(legs, "legs of the last segment", "share of the motion", "from rest [mm]" if i == 0 else "")
    figures.save(figure, path)


def _draw_side(axes, seen: Examined, row: int, view: np.ndarray, alpha: float) -> None:
    """The rims of the plates, and a line along the skin, which shows a twist that the rims alone would hide."""
    turn = np.linspace(0.0, 2.0 * np.pi, 33)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], -1)
    for centre, rotation, radius in zip(seen.positions[row], seen.rotations[row], seen.radii[row], strict=True):
        axes.plot(*(view @ (centre + radius * circle @ rotation.T).T), color="#28666e", alpha=alpha, linewidth=1.0)
    skin = seen.positions[row] + seen.radii[row][:, None] * seen.rotations[row][..., 0]
    axes.plot(*(view @ skin.T), color="#c8553d", alpha=alpha, linewidth=1.5)
