"""track-segments: the paper's tracking by arms of few and of many segments, and the cost of a control tick."""

from pathlib import Path

import numpy as np

from hydrostat.control import PAPER_PATHS, Curve, Platforms, TargetTracker
from hydrostat.errors import InputError
from hydrostat.results import (
    PlatformSummary,
    TipTracking,
    accuracy,
    figures,
    panels,
    platform_figures,
    target_tracking,
)
from hydrostat.robots import alterations, build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.recorded_tracking import pieces

TIMED_SEGMENTS = (10, 15, 20, 25, 30)
PAPER_STEP_MS = (32.14, 77.48, 91.17, 135.84, 192.66)
"""The paper's calculation times for these numbers of segments (Table I)."""
_LISTED = (
    "targets_reached",
    "arrival_rms_m",
    "crosstrack_rms_m",
    "duration_s",
    "volume_error_max",
    "segment_rotation_max_deg",
    "leg_ratio_max",
    "conditioning_min",
    "folded_segments",
    "crosses_itself",
)


def study(run: Run) -> Outcome:
    """Follow the same path with other numbers of segments, the outline of the arm kept."""
    settings = run.settings
    counts = _counts(settings.segments)
    curve = PAPER_PATHS[settings.path]
    targets = curve(np.linspace(0.0, 1.0, settings.targets))
    options = {"radius": settings.gamma_m, "gain": settings.gain, "dt": 1e-3 * settings.dt_ms}
    tracked: dict[int, TipTracking] = {}
    costs: dict[int, float] = {}
    for count in sorted({*counts, *TIMED_SEGMENTS}):
        robot = build_robot(alterations.with_platforms(run.robot, count))
        tracker = TargetTracker(Platforms.of(robot), targets, **options)
        with run.compiling(f"compiling {count} segments"):
            tracker.compile()
        summary = PlatformSummary(tracker.arm, tracker.dt, limited=False)
        with run.timed():
            show = lambda done, count=count: run.progress(f"{count} segments", done)  # noqa: E731
            sum_up = lambda T, _, summary=summary: summary.append(T)  # noqa: E731
            found = tracker.run(settings.seconds_max, show, sum_up, piece=pieces(segments=count), keep=False)
        tracked[count] = target_tracking(tracker, found, summary.motion(), curve)
        costs[count] = tracker.milliseconds_per_tick()
    steps = [costs[count] for count in TIMED_SEGMENTS]
    exponent = accuracy.convergence_order(TIMED_SEGMENTS, steps)
    metrics = {
        "segments": counts,
        **{name: [tracked[count].metrics[name] for count in counts] for name in _LISTED},
        "control_step_segments": list(TIMED_SEGMENTS),
        "control_step_ms": steps,
        "paper_control_step_ms": list(PAPER_STEP_MS),
        "control_step_exponent": None if exponent is None else -exponent,
    }
    title = f"track-segments: {settings.path}, the paper's controller"
    chosen = {count: tracked[count] for count in counts}
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, chosen, metrics, curve, title),
        notes=[f"{count} segments: {note}" for count in counts for note in tracked[count].notes],
    )


def _counts(values: tuple[float, ...]) -> list[int]:
    """Numbers of segments, whole and each once."""
    counts = [int(value) for value in values]
    if not counts or any(count != value for count, value in zip(counts, values, strict=True)):
        raise InputError(f"`segments` must be a list of whole numbers; got {list(values)}")
    return sorted(set(counts))


def _draw(path: Path, tracked: dict[int, TipTracking], metrics: dict, curve: Curve, title: str) -> None:
    """The arms at the end of the path, the largest rotation of a segment, and the cost of a tick."""
    figure, grid = panels.new_panels(title, 2, 3, (13.5, 7.0), width_ratios=[1, 1, 1.1])
    points, last = curve(np.linspace(0.0, 1.0, 200)), len(tracked) - 1
    shown = [count for i, count in enumerate(tracked) if i in {0, 1, (last + 1) // 2, last}]
    for place, count in enumerate(shown):
        axes = figure.add_subplot(grid[place // 2, place % 2], projection="3d")
        motion = tracked[count].motion
        platform_figures.draw_platforms(axes, motion)
        axes.plot(*points.T, "--", color=platform_figures.PATH_COLOR, linewidth=1.0)
        figures.frame_space(axes, np.concatenate([motion.positions[-1], points]))
        axes.set_title(f"{count} segments", loc="left", fontsize=9)
    options = {"x_label": "segments", "styles": ("o-",), "colors": (1, 0)}
    turns, cell = metrics["segment_rotation_max_deg"], figure.add_subplot(grid[0, 2])
    panels.draw_curves(cell, metrics["segments"], turns, "largest rotation of a segment", "[deg]", **options)
    costs, cell = {"here": metrics["control_step_ms"], "paper": PAPER_STEP_MS}, figure.add_subplot(grid[1, 2])
    panels.draw_curves(cell, TIMED_SEGMENTS, costs, "cost of a control tick", "[ms]", log=True, **options)
    cell.set_xscale("log")
    cell.set_xticks(TIMED_SEGMENTS, [str(count) for count in TIMED_SEGMENTS], minor=False)
    cell.minorticks_off()
    figures.save(figure, path)
