"""track-segments: the paper's tracking by arms of few and of many segments, and what a control tick costs."""

from dataclasses import replace

import numpy as np

from hydrostat.control.paths import PAPER_PATHS
from hydrostat.errors import InputError
from hydrostat.results import figures
from hydrostat.robots.spec import RobotSpec
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.track_switching import Switching, run_switching
from hydrostat.scenarios.tracking import draw_platforms, platforms

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
    """The same path with other numbers of segments, the arm's outline kept."""
    counts = _counts(run.settings.segments)
    curve = PAPER_PATHS[run.settings.path]
    targets = curve(np.linspace(0.0, 1.0, run.settings.targets))
    done: dict[int, Switching] = {}
    every = sorted({*counts, *TIMED_SEGMENTS})
    for i, count in enumerate(every):
        run.progress(f"{count} segments", i / len(every))
        done[count] = run_switching(run, platforms(resampled(run.robot, count)), curve, targets)
    steps = [done[count].step_ms for count in TIMED_SEGMENTS]
    metrics = {
        "segments": counts,
        **{name: [done[count].metrics[name] for count in counts] for name in _LISTED},
        "control_step_segments": list(TIMED_SEGMENTS),
        "control_step_ms": steps,
        "paper_control_step_ms": list(PAPER_STEP_MS),
        "control_step_exponent": float(np.polyfit(np.log(TIMED_SEGMENTS), np.log(steps), 1)[0]),
    }
    notes = [f"{count} segments: {note}" for count in counts for note in (*done[count].notes, *done[count].seen.notes)]
    title = f"track-segments: {run.settings.path}, the paper's controller"
    chosen = {count: done[count] for count in counts}
    return Outcome(metrics, figure=lambda path: _draw(path, chosen, metrics, curve, title), notes=notes)


def _counts(values: tuple[float, ...]) -> list[int]:
    """Numbers of segments, whole and each once."""
    counts = [int(value) for value in values]
    if not counts or any(count != value for count, value in zip(counts, values, strict=True)):
        raise InputError(f"`segments` must be a list of whole numbers; got {list(values)}")
    return sorted(set(counts))


def resampled(spec: RobotSpec, count: int) -> RobotSpec:
    """The arm with another number of segments of equal volume, its length and its radii at both ends kept."""
    first, last = spec.segments[0].radius[0], spec.segments[-1].radius[1]
    length = sum(segment.length for segment in spec.segments)
    other = stewart_arm(count, length, first, min((last / first) ** (1.0 / count), 1.0), spec.legs)
    return replace(other, base=spec.base, material=spec.material)


def _draw(path, done: dict[int, Switching], metrics: dict, curve, title: str) -> None:
    """The arms at the end of the path, how far segments turn, and what a tick costs."""
    figure = figures.new_figure(13.5, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3, width_ratios=[1, 1, 1.1])
    points = curve(np.linspace(0.0, 1.0, 200))
    shown = [count for i, count in enumerate(done) if i in {0, 1, len(done) // 2, len(done) - 1}][:4]
    for place, count in enumerate(shown):
        axes = figure.add_subplot(grid[place // 2, place % 2], projection="3d")
        seen = done[count].seen
        draw_platforms(axes, seen, len(done[count].times) - 1, 1.0)
        axes.plot(*points.T, "--", color="#c8553d", linewidth=1.0)
        figures.frame_space(axes, np.concatenate([seen.positions[-1], points]))
        axes.set_title(f"{count} segments", loc="left", fontsize=9)
    turns = figure.add_subplot(grid[0, 2])
    turns.plot(metrics["segments"], metrics["segment_rotation_max_deg"], "o-", color="#28666e", markersize=4)
    figures.style_axes(turns, "largest rotation of a segment", "segments", "[deg]")
    cost = figure.add_subplot(grid[1, 2])
    cost.loglog(TIMED_SEGMENTS, metrics["control_step_ms"], "o-", color="#28666e", markersize=4, label="here")
    cost.loglog(TIMED_SEGMENTS, PAPER_STEP_MS, "o-", color="#c8553d", markersize=4, label="paper")
    figures.style_axes(cost, "cost of a control tick", "segments", "[ms]")
    cost.legend(fontsize=7, frameon=False)
    figures.save(figure, path)
