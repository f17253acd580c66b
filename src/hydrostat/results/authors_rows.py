"""How well the tracker of the authors of Lafmejani et al. 2020 does, by their own measure and by ours."""

import jax.numpy as jnp
import numpy as np

from hydrostat.control.authors import AuthorsRun, AuthorsTracker
from hydrostat.control.paths import Curve, distances_to
from hydrostat.control.platforms import Platforms
from hydrostat.errors import DivergedError
from hydrostat.lie import SE3
from hydrostat.results.accuracy import rms
from hydrostat.results.platform_summary import PlatformMotion
from hydrostat.results.tip_tracking import TipTracking
from hydrostat.segments import StewartSegment


def authors_legs(radii, joints, P: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lengths of the legs (rows, n, 6), radii of the rings (rows, n, 2) and ends of the legs (rows, n, 2, 6, 3) [m].

    **Arguments:** `radii`, `joints`: of the discs, as the tracker has them; `P`, `R`: their positions (rows, n + 1, 3)
    and rotations.
    """
    places = np.einsum("tnij,nkj->tnki", R, joints) + P[:, :, None]
    ends = np.stack([places[:, :-1], places[:, 1:]], 2)
    legs = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1)
    rings = np.broadcast_to(np.stack([radii[:-1], radii[1:]], -1), (len(legs), len(radii) - 1, 2))
    return legs, rings, ends


def authors_motion(arm: Platforms, found: AuthorsRun) -> PlatformMotion:
    """The authors' discs as a motion of platforms, with legs from joint to joint of the discs.

    **Arguments:** `arm`: the chain of platforms that stands for theirs where limits are asked for.
    """
    if not np.all(np.isfinite(found.positions)):
        row = int(np.argmin(np.isfinite(found.positions).all((1, 2))))
        raise DivergedError(f"the authors' tracker diverged after {found.times[row]:.4g} s")
    legs, rings, ends = authors_legs(found.radii, found.joints, found.positions, found.rotations)
    # Volumes of the bodies between discs, by the relative poses.
    R = found.rotations[:, :-1]
    moves = np.einsum("tnji,tnj->tni", R, np.diff(found.positions, axis=1))
    T = SE3(jnp.asarray(np.einsum("tnji,tnjk->tnik", R, found.rotations[:, 1:])), jnp.asarray(moves))
    segments = StewartSegment(np.linalg.norm(moves[0], axis=-1), found.radii[:-1], found.radii[1:] / found.radii[:-1])
    volume = np.asarray(segments.body_volume(T, jnp.asarray(rings)))
    steps = np.diff(found.times)[:, None]
    ways = np.linalg.norm(np.diff(found.positions, axis=0), axis=-1)
    metrics = {
        "volume_error_max": float(np.max(np.abs(volume / volume[0] - 1.0))),
        "leg_ratio_min": float((legs / legs[0]).min()),
        "leg_ratio_max": float((legs / legs[0]).max()),
        "plate_speed_max_m_s": float(np.max(ways / steps, initial=0.0)),
    }
    tip, kept = found.positions[:, -1], np.arange(len(found.times))
    parts = found.times, tip, rings[:, -1].max(-1), kept, legs, rings, found.positions, found.rotations, ends
    return PlatformMotion(arm, *parts, metrics, [])


def authors_tracking(
    arm: Platforms, tracker: AuthorsTracker, found: AuthorsRun, curve: Curve, targets: np.ndarray
) -> TipTracking:
    """The errors of the authors' tracker: their root mean square over six numbers, and distances of the tip."""
    motion, ticks = authors_motion(arm, found), found.arrivals
    number, errors = len(ticks), distances_to(curve, motion.tip)
    begun = int(ticks[0]) if number else len(errors) - 1
    metrics = {
        "segments": tracker.segments,
        "targets_reached": number,
        "threshold": tracker.threshold,
        "pose_rms_at_arrival": float(np.mean(found.arrival_rms)) if number else None,
        "pose_rms_at_arrival_max": float(np.max(found.arrival_rms)) if number else None,
        "pose_rms_mean": float(np.mean(found.rms[1:])) if len(found.rms) > 1 else None,
        "arrival_rms_m": rms(np.linalg.norm(targets[:number] - motion.tip[ticks], axis=-1)) if number else None,
        "crosstrack_rms_m": rms(errors[begun:]) if number else None,
        "duration_s": float(found.times[-1]),
        "steps_taken": len(found.times) - 1,
        **motion.metrics,
    }
    notes = []
    if number < len(targets):
        notes.append(
            f"target {number + 1} not reached in {found.times[-1]:.3g} s: the error is {found.rms[-1]:.3g}, the "
            f"threshold {tracker.threshold:g}"
        )
    goal = targets[np.minimum(found.headed_for, len(targets) - 1)]
    return TipTracking(motion, goal, (found.times[ticks], targets[:number]), errors, metrics, notes)
