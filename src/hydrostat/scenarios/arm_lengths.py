"""arm-elongate, arm-shorten, arm-bend, arm-twist: single motions of the octopus arm at several activations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from hydrostat.control.commands import AbstractCommand, Bend, Elongate, Shorten, Twist, part
from hydrostat.results import figures
from hydrostat.scenarios.arm import (
    Hydrostat,
    Seen,
    command_arm,
    draw_arm_side,
    energy_balance_error,
    hydrostat,
    record,
    replay,
    volume_metrics,
)
from hydrostat.scenarios.base import Outcome, Run

_HOLD = 10.0  # s that a command outlasts the run: it is watched while it is held
_WIDER = 2.5  # by which twisted arms are drawn wider than they are


@dataclass(frozen=True)
class _View:
    """What a figure shows of a motion."""

    heading: str
    unit: str
    course: Callable[[Seen], np.ndarray]
    """What is plotted over time (rows,)."""
    plane: tuple[int, int] = (0, 2)
    """The axes of the world that the arm is seen in."""
    marked: slice | None = None
    """Segments to mark."""
    apart: float = 0.0
    """By how much each arm is drawn below the one before [m]."""
    twisted: bool = False
    """Whether lines along the skin show a twist."""


def _length(seen: Seen) -> np.ndarray:
    """The length over that at rest."""
    rest = np.linalg.norm(np.diff(seen.positions[0], axis=0), axis=-1)
    return seen.stretch @ rest / rest.sum()


_LENGTH = _View("length over that at rest", "", _length)
_SHORTER = replace(_LENGTH, apart=0.03)  # all of them would lie within the first


def elongate(run: Run) -> Outcome:
    """By radial muscles."""
    return _series(run, "arm-elongate", partial(Elongate, rise=run.settings.rise_seconds))


def shorten(run: Run) -> Outcome:
    """By longitudinal muscles."""
    return _series(run, "arm-shorten", Shorten, view=_SHORTER)


def bend(run: Run) -> Outcome:
    """By the longitudinal muscles of one side."""
    settings = run.settings
    first, last = part(settings.first_segment, settings.last_segment, len(run.robot.segments))
    chosen = slice(settings.first_segment - 1, settings.last_segment)

    def command(amount, seconds):
        return Bend(amount, seconds, first, last, settings.azimuth_deg)

    def measured(arm: Hydrostat, seen: list[Seen]) -> dict:
        about_x, about_y = (np.array([one.q[-1, chosen, i].sum() for one in seen]) for i in (0, 1))
        azimuth = np.rad2deg(np.arctan2(-about_x, about_y))
        return {
            "bend_deg": np.rad2deg(np.hypot(about_x, about_y)).tolist(),
            "bend_azimuth_deg": azimuth.tolist(),
        }

    def bent(one: Seen) -> np.ndarray:
        return np.rad2deg(np.hypot(one.q[:, chosen, 0].sum(-1), one.q[:, chosen, 1].sum(-1)))

    sideways = abs(np.sin(np.deg2rad(settings.azimuth_deg))) > np.sqrt(0.5)
    view = _View("bend of the marked segments", "[deg]", bent, (0, 1) if sideways else (0, 2), chosen)
    return _series(run, "arm-bend", command, measured, view)


def twist(run: Run) -> Outcome:
    """By an oblique muscle."""
    column = run.robot.segments[0].modes.index("twist") if "twist" in run.robot.segments[0].modes else None

    def measured(arm: Hydrostat, seen: list[Seen]) -> dict:
        assert column is not None  # the command refuses arms without oblique muscles
        return {"twist_deg": [float(np.rad2deg(one.q[-1, :, column].sum())) for one in seen]}

    def twisted(one: Seen) -> np.ndarray:
        return np.rad2deg(one.q[:, :, column].sum(-1))

    view = _View("twist from base to tip", "[deg]", twisted, apart=0.05, twisted=True)
    return _series(run, "arm-twist", Twist, measured, view)


def _series(run: Run, name: str, make, measured=None, view: _View = _LENGTH) -> Outcome:
    """One run for each activation, held until its end."""
    settings = run.settings
    arm = hydrostat(run.robot, settings)
    amounts = list(settings.activations)
    seen: list[Seen] = []
    for i, amount in enumerate(amounts):
        command: AbstractCommand = make(amount, settings.seconds + _HOLD)
        share = (i / len(amounts), (i + 1) / len(amounts))
        seen.append(command_arm(run, arm, command, settings.seconds, share=share))
    record(run, name, seen[-1])
    rest = np.asarray(arm.robot.arm.segments.length)
    lengths = [float((one.stretch[-1] * rest).sum()) / arm.length for one in seen]
    metrics = {
        "activation": amounts,
        "length_ratio": lengths,
        **(measured(arm, seen) if measured else {}),
        "tip_distance_mm": [1e3 * float(np.linalg.norm(one.positions[-1, -1] - one.positions[-1, 0])) for one in seen],
        **volume_metrics(seen),
        "muscle_work_mj": [1e3 * float(np.trapezoid(one.muscle_power, one.times)) for one in seen],
        "energy_balance_error": max(energy_balance_error(one) for one in seen),
    }
    title = f"{name}: {run.robot.name}"
    dt = 1e-3 * settings.dt_ms
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, seen, amounts, view, title),
        replay=lambda path: replay(path, seen[-1], title),
        sim_seconds=len(amounts) * float(seen[0].times[-1]),
        dt=dt,
        steps=len(amounts) * round(float(seen[0].times[-1]) / dt),
    )


def _draw(path: Path, seen: list[Seen], amounts: list[float], view: _View, title: str) -> None:
    """The arm at the end of each run, what it did over time, and its muscles' power."""
    figure = figures.new_figure(13.0, 6.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.4, 1])
    side = figure.add_subplot(grid[:, 0])
    across = "xyz"[view.plane[1]]
    for i, (one, amount) in enumerate(zip(seen, amounts, strict=True)):
        color = figures.COLORS[i % len(figures.COLORS)]
        drawn = replace(one, positions=one.positions - i * view.apart * np.eye(3)[2])
        points = 1e3 * drawn.positions[-1][:, list(view.plane)]
        if view.twisted:
            _draw_twisted(side, drawn, color)
        else:
            draw_arm_side(side, drawn, 0, view.plane, alpha=0.15 if i == 0 or view.apart else 0.0)
            draw_arm_side(side, drawn, -1, view.plane, alpha=0.35 + 0.65 * (i + 1) / len(seen))
        if view.marked is not None:
            marked = points[view.marked.start : view.marked.stop + 1]
            side.plot(*marked.T, "o-", color=color, markersize=2.5, linewidth=2.2)
        side.annotate(f"{amount:g}", points[-1], fontsize=8, color=color, xytext=(4, 3), textcoords="offset points")
    side.set_aspect("equal")
    heading = "at the end of each run, by activation"
    heading += ", one below the other" if view.apart else ""
    heading += f"; width x {_WIDER:g}, lines along the skin" if view.twisted else " (pale: at rest)"
    heading += "; active segments marked" if view.marked is not None else ""
    figures.style_axes(side, heading, "x [mm]", f"{across} [mm]")
    courses, powers = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for i, (one, amount) in enumerate(zip(seen, amounts, strict=True)):
        color = figures.COLORS[i % len(figures.COLORS)]
        courses.plot(one.times, view.course(one), color=color, linewidth=1.2, label=f"{amount:g}")
        powers.plot(one.times, 1e3 * one.muscle_power, color=color, linewidth=1.2)
    figures.style_axes(courses, view.heading, "time [s]", view.unit)
    courses.legend(fontsize=7, frameon=False, title="activation", title_fontsize=7)
    figures.style_axes(powers, "power of all muscles", "time [s]", "[mW]")
    figures.save(figure, path)


def _draw_twisted(axes, seen: Seen, color: str) -> None:
    """The arm at the end of a run with four lines that were straight along its skin, those behind it pale."""
    centres, radii = 1e3 * seen.positions[-1][:, [0, 2]], _WIDER * 1e3 * seen.radii[-1]
    width = np.array([0.0, 1.0]) * radii[:, None]
    axes.fill(*np.concatenate([centres + width, (centres - width)[::-1]]).T, color=color, alpha=0.15, linewidth=0)
    # Between the plates the lines wind on evenly.
    plates = np.arange(len(radii))
    fine = np.linspace(0.0, plates[-1], 12 * len(plates))
    x, z, radius = (np.interp(fine, plates, part) for part in (*centres.T, radii))
    turned = np.unwrap(np.arctan2(seen.rotations[-1][:, 1, 0], seen.rotations[-1][:, 2, 0]))
    for quarter in range(4):
        turn = np.interp(fine, plates, turned) + 0.5 * np.pi * (quarter + 0.5)
        line, front = z + radius * np.cos(turn), np.sin(turn) < 0.0  # seen from -y
        axes.plot(x, np.where(front, np.nan, line), color=color, alpha=0.2, linewidth=0.8)
        axes.plot(x, np.where(front, line, np.nan), color=color, linewidth=1.4)
