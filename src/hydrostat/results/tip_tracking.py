"""How well the tip of a chain of platforms was tracked: errors at targets, along a path, and of orientation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from hydrostat.control.paths import Curve, distances_to
from hydrostat.control.resolved_rate import Law, Obstacle
from hydrostat.control.target_switching import TargetRun, TargetTracker
from hydrostat.control.tip_goals import TipGoals
from hydrostat.control.tracking import Tracked
from hydrostat.results.accuracy import rms
from hydrostat.results.platform_summary import PlatformMotion

_MARKS = 20  # goals along a path that are drawn as dots
_FALLS_BEHIND = 1e-3  # error of the tip that is reported, over the length of the arm
_TOUCHES = 5e-3  # m: of the margin around an obstacle, where it is what holds the arm up
_MARGIN_USED = 1e-3  # m: of the margin, that is reported


@dataclass(frozen=True)
class TipTracking:
    """A motion whose tip was to be somewhere, with its errors."""

    motion: PlatformMotion
    goal: np.ndarray
    """The place that the tip is to be at, row by row (rows, 3) [m]."""
    marks: tuple[np.ndarray, np.ndarray]
    """Times [s] and places (m, 3) [m] of targets that were reached, or of some of the goals."""
    errors: np.ndarray
    """Distance of the tip from the path between targets, or from its goal (rows,) [m]."""
    metrics: dict[str, Any]
    notes: list[str]
    """Sentences about targets that were not reached, tips that fall behind, and faults of the motion."""


def target_tracking(tracker: TargetTracker, found: TargetRun, motion: PlatformMotion, curve: Curve) -> TipTracking:
    """The errors of a tracker that heads for one target of a path after another."""
    ticks, count = found.arrivals, len(found.times)
    number = len(ticks)
    reached, errors = tracker.targets[:number], distances_to(curve, motion.tip)
    begun = min(int(ticks[0]) + 1, count - 1) if number else count - 1
    metrics = {
        "targets_reached": number,
        "arrival_rms_m": rms(np.linalg.norm(reached - motion.tip[ticks], axis=-1)) if number else None,
        "crosstrack_rms_m": rms(errors[begun:]) if number else None,
        "duration_s": float(found.times[-1]),
        **motion.metrics,
    }
    notes = [*tracker.notes(number, float(found.times[-1]), motion.tip[-1]), *motion.notes]
    return TipTracking(motion, found.headed_for, (found.times[ticks], reached), errors, metrics, notes)


def goal_tracking(
    goals: TipGoals,
    law: Law,
    rows: Tracked,
    motion: PlatformMotion,
    curve: Curve,
    targets: np.ndarray,
    radius: float,
    clear: np.ndarray | None = None,
) -> TipTracking:
    """The errors of an arm that follows goals along a path within the limits of its legs.

    **Arguments:** `targets` (m, 3), `radius`: places of the path, and how near the tip must come to reach one [m];
    `clear`: of a law with an obstacle, the distance of the arm from it in all rows [m].
    """
    arm, begun = goals.arm, goals.first
    errors = goals.errors(rows.T_world_tip)
    on_path, tip = errors[begun:], motion.tip[begun:]
    nearest = KDTree(tip).query(targets)[0]
    metrics = {
        "tracking_rmse_percent": goals.rmse_percent(rows.T_world_tip),
        "tracking_max_mm": 1e3 * float(on_path.max()),
        "targets_reached": int(np.sum(nearest <= radius)),
        "crosstrack_rms_m": rms(distances_to(curve, tip)),
        "approach_s": begun * goals.dt,
        "duration_s": float(goals.times[-1]),
        **motion.metrics,
    }
    notes, held_up = [], np.zeros(len(goals.times), bool)
    if law.orient:
        metrics["orientation_rmse_deg"] = float(np.rad2deg(rms(goals.rotation_errors(rows.T_world_tip)[begun:])))
    if law.obstacle is not None and clear is not None:
        metrics["obstacle_clearance_min_m"] = float(np.min(clear))
        notes += _obstacle_notes(goals, law.obstacle, motion, clear)
        held_up = clear < float(law.obstacle.margin) + _TOUCHES
    if not np.all(rows.solved):
        first = goals.times[int(np.argmin(np.asarray(rows.solved)))]
        notes.append(f"no motion within all bounds was found in {int(np.sum(~np.asarray(rows.solved)))} ticks, first "
                     f"at {first:.3f} s: the arm stayed")  # fmt: skip
    if on_path.max() > _FALLS_BEHIND * arm.length:
        worst = int(np.argmax(on_path)) + begun
        reason = "legs are at the ends of their strokes or at their fastest"
        if held_up[worst]:
            reason = "the obstacle holds the arm up"
        words = f"the tip falls behind its path by up to {errors[worst]:.3g} m, at {goals.times[worst]:.3g} s"
        notes.append(f"{words}: {reason}")
    dots = slice(begun, None, max(1, len(on_path) // _MARKS))
    marks = goals.times[dots], goals.positions[dots]
    return TipTracking(motion, goals.positions, marks, errors, metrics, notes + motion.notes)


def _obstacle_notes(goals: TipGoals, obstacle: Obstacle, motion: PlatformMotion, clear: np.ndarray) -> list[str]:
    """Whether the path of the tip leads into the obstacle, and whether the arm comes too near to it."""
    notes, margin = [], float(obstacle.margin)
    away = np.linalg.norm(goals.positions - np.asarray(obstacle.centre), axis=-1) - float(obstacle.radius)
    # The tip's own plate has to fit as well.
    inside = away < motion.tip_radius + margin
    if inside.any():
        first, last = goals.times[np.flatnonzero(inside)[[0, -1]]]
        where = "inside the obstacle" if away.min() < 0.0 else "within the margin of the obstacle"
        notes.append(f"tip target {where} between {first:.3g} and {last:.3g} s: the tip stays outside")
    if clear.min() < margin - _MARGIN_USED:
        when = goals.times[int(np.argmin(clear))]
        words = (
            f"{-clear.min():.3g} m into the obstacle" if clear.min() < 0.0 else f"as near as {clear.min():.3g} m to it"
        )
        notes.append(f"the arm comes {words}, at {when:.3g} s, where {margin:g} m were to be kept")
    return notes
