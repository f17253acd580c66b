"""arm-elongate, arm-shorten, arm-bend, arm-twist: single motions of the octopus arm at several activations."""

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


def elongate(run: Run) -> Outcome:
    """By radial muscles."""
    return _series(run, "arm-elongate", Elongate)


def shorten(run: Run) -> Outcome:
    """By longitudinal muscles."""
    return _series(run, "arm-shorten", Shorten)


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

    return _series(run, "arm-bend", command, measured)


def twist(run: Run) -> Outcome:
    """By an oblique muscle."""
    column = run.robot.segments[0].modes.index("twist") if "twist" in run.robot.segments[0].modes else None

    def measured(arm: Hydrostat, seen: list[Seen]) -> dict:
        assert column is not None  # the command refuses arms without oblique muscles
        return {"twist_deg": [float(np.rad2deg(one.q[-1, :, column].sum())) for one in seen]}

    return _series(run, "arm-twist", Twist, measured)


def _series(run: Run, name: str, make, measured=None) -> Outcome:
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
        figure=lambda path: _draw(path, seen, amounts, rest, title),
        replay=lambda path: replay(path, seen[-1], title),
        sim_seconds=len(amounts) * float(seen[0].times[-1]),
        dt=dt,
        steps=len(amounts) * round(float(seen[0].times[-1]) / dt),
    )


def _draw(path: Path, seen: list[Seen], amounts: list[float], rest: np.ndarray, title: str) -> None:
    """The arm at the end of each run, its length over time, and its muscles' power."""
    figure = figures.new_figure(13.0, 6.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.4, 1])
    side = figure.add_subplot(grid[:, 0])
    for i, (one, amount) in enumerate(zip(seen, amounts, strict=True)):
        draw_arm_side(side, one, 0, alpha=0.15 if i == 0 else 0.0)
        draw_arm_side(side, one, -1, alpha=0.35 + 0.65 * (i + 1) / len(seen))
        x, _, z = 1e3 * one.positions[-1, -1]
        side.annotate(f"{amount:g}", (x, z), fontsize=8, xytext=(3, 3), textcoords="offset points")
    side.set_aspect("equal")
    figures.style_axes(side, "at the end of each run, by activation (pale: at rest)", "x [mm]", "z [mm]")
    lengths, powers = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for i, (one, amount) in enumerate(zip(seen, amounts, strict=True)):
        color = figures.COLORS[i % len(figures.COLORS)]
        ratio = (one.stretch * rest).sum(-1) / rest.sum()
        lengths.plot(one.times, ratio, color=color, linewidth=1.2, label=f"{amount:g}")
        powers.plot(one.times, 1e3 * one.muscle_power, color=color, linewidth=1.2)
    figures.style_axes(lengths, "length over that at rest", "time [s]", "")
    lengths.legend(fontsize=7, frameon=False, title="activation", title_fontsize=7)
    figures.style_axes(powers, "power of all muscles", "time [s]", "[mW]")
    figures.save(figure, path)
