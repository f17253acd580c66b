"""Motions of chains of platforms: lengths and rates of legs, rings, volume, and what is wrong with poses."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation.legs import leg_rates, rest_poses
from hydrostat.compiling import quick_jit
from hydrostat.control.platforms import Platforms
from hydrostat.errors import DivergedError
from hydrostat.lie import SE3, so3
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import faults
from hydrostat.surroundings.crossings import crossings

_PIECE = 100  # rows that are computed together: numbers of rows are filled up to multiples of it
_CHECKED = 100  # moments at which an arm is checked for crossings of itself, at most


@dataclass(frozen=True)
class PlatformMotion:
    """A chain of platforms in motion, row by row; `platform_motion` makes it."""

    arm: Platforms
    times: np.ndarray
    """[s]"""
    legs: np.ndarray
    """Lengths of the legs (rows, n, 6) [m]."""
    rates: np.ndarray
    """Rates of the legs (rows, n, 6) [m/s]."""
    rings: np.ndarray
    """Radii of the lower and the upper rings (rows, n, 2) [m]."""
    positions: np.ndarray
    """Positions of the plates in the world (rows, n + 1, 3) [m]."""
    rotations: np.ndarray
    """Rotations of the plates in the world (rows, n + 1, 3, 3)."""
    joints: np.ndarray
    """Lower and upper ends of the legs in the world (rows, n, 2, 6, 3) [m]."""
    metrics: dict[str, Any]
    """Volume error, rotation of segments, strokes and rates that were used, conditioning and faults."""
    notes: list[str]
    """Sentences about faults: folded and singular poses, crossings, strokes that were left."""

    @property
    def tip(self) -> np.ndarray:
        """The tip in the world (rows, 3) [m]."""
        return self.positions[:, -1]

    @property
    def radii(self) -> np.ndarray:
        """Radii of the plates (rows, n + 1) [m]."""
        return np.concatenate([self.rings[:, :1, 0], self.rings[:, :, 1]], 1)


class PlatformRows(NamedTuple):
    """Quantities of a chain of platforms in each of some poses, with the row as leading axis."""

    legs: np.ndarray
    """Lengths of the legs (rows, n, 6) [m]."""
    rates: np.ndarray
    """Rates of the legs (rows, n, 6) [m/s]."""
    rings: np.ndarray
    """Radii of the lower and the upper rings (rows, n, 2) [m]."""
    volume: np.ndarray
    """Relative change of the volume of each segment (rows, n)."""
    angle: np.ndarray
    """Rotation of each segment (rows, n) [rad]."""
    plates: SE3
    """Poses of the plates in the world (rows, n + 1)."""
    joints: np.ndarray
    """Lower and upper ends of the legs in the world (rows, n, 2, 6, 3) [m]."""
    faults: Any
    """Conditioning, and which segments are folded or singular (rows, n)."""


def platform_rows(arm: Platforms, T: SE3, twist=None) -> PlatformRows:
    """The quantities of a chain of platforms in some poses.

    **Arguments:** `T`: relative poses (rows, n); `twist`: relative twists (rows, n, 6), zero when not given.
    """
    T = jax.tree.map(jnp.asarray, T)
    count = len(T.position)
    twist = jnp.zeros((count, arm.count, 6)) if twist is None else jnp.asarray(twist)
    parts = []
    for begin in range(0, count, _PIECE):
        some = np.minimum(np.arange(begin, begin + _PIECE), count - 1)
        parts.append(jax.tree.map(np.asarray, _rows(arm.segments, arm.base, T[some], twist[some])))
    return PlatformRows(*jax.tree.map(lambda *y: np.concatenate(y)[:count], *parts))


def first_diverged(T: SE3, twist=None) -> tuple[int, int] | None:
    """The first row, and its first segment, that is not a number; None where all are."""
    parts = [np.asarray(T.position)] + ([] if twist is None else [np.asarray(twist)])
    bad = np.argwhere(~np.isfinite(np.concatenate(parts, -1)).all(-1))
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


def diverged(time: float, segment: int) -> DivergedError:
    """The error of a tracking that diverged after some seconds in a segment, counted from 0."""
    return DivergedError(
        f"the tracking diverged after {time:.4g} s in segment {segment + 1}; a smaller tick or a lower gain may help"
    )


@quick_jit
def _rows(segments: StewartSegment, base: SE3, T: SE3, twist):
    """Legs, rings, volume, rotations, plates, joints and faults of rows of poses."""
    rings = segments.rings(T)
    rest = rest_poses(segments)
    volume = segments.body_volume(T, rings) / segments.body_volume(rest, segments.rings(rest)) - 1.0
    skew = so3.vee(T.rotation)
    cosine = 0.5 * (jnp.trace(T.rotation, axis1=-2, axis2=-1) - 1.0)
    angle = jnp.arctan2(jnp.linalg.norm(skew, axis=-1), cosine)
    ends = jax.vmap(lambda T: jax.lax.scan(lambda a, b: ((a @ b), (a @ b)), base, T)[1])(T)
    plates = jax.tree.map(
        lambda first, others: jnp.concatenate([jnp.broadcast_to(first, (len(others), 1, *first.shape)), others], 1),
        base,
        ends,
    )
    circle = jnp.stack([jnp.cos(segments.lower), jnp.sin(segments.lower), jnp.zeros_like(segments.lower)], -1)
    lower = rings[..., :1, None] * circle
    both = jnp.stack([lower, lower + segments.leg_vectors(T, rings)], -3)
    joints = plates.position[:, :-1, None, None] + jnp.einsum("tnij,tnelj->tneli", plates.rotation[:, :-1], both)
    rates, wrong = leg_rates(segments, T, twist), faults(segments, T)
    return segments.leg_lengths(T), rates, rings, volume, angle, plates, joints, wrong


def platform_motion(
    arm: Platforms, T: SE3, twist, times: np.ndarray, *, limited: bool = True, dt: float | None = None
) -> PlatformMotion:
    """The motion of a chain of platforms from the relative poses and twists of its plates.

    **Arguments:** `T`: relative poses (rows, n); `twist`: relative twists (rows, n, 6); `times` [s]; `limited`: whether
    the limits of the legs were in force; `dt`: of rows that are ticks [s]: rates of legs are then the changes of their
    lengths within each tick.
    """
    found = first_diverged(T, twist)
    if found is not None:
        raise diverged(times[found[0]], found[1])
    count = len(times)
    legs, rates, rings, volume, angle, plates, joints, found = platform_rows(arm, T, twist)
    positions, rotations = np.asarray(plates.position), np.asarray(plates.rotation)
    if dt is not None and count > 1:
        rates[:-1] = np.diff(legs, axis=0) / dt
        rates[-1] = rates[-2]
    rest = np.asarray(arm.segments.leg_lengths(arm.rest))
    crossing = _first_crossing(plates, rings, times)
    metrics = {
        "volume_error_max": float(np.max(np.abs(volume))),
        "segment_rotation_max_deg": float(np.rad2deg(np.max(angle))),
        "leg_ratio_min": float((legs / rest).min()),
        "leg_ratio_max": float((legs / rest).max()),
        "stroke_used_max_m": float(np.max(np.abs(legs - rest))),
        "rate_used_max_m_s": float(np.max(np.abs(rates))),
        "plate_speed_max_m_s": _fastest_plate(positions, times),
        "conditioning_min": float(np.min(found.conditioning)),
        "folded_segments": int(found.folded.any(0).sum()),
        "crosses_itself": crossing is not None,
    }
    notes = [*_fault_notes(found, times), *_crossing_notes(crossing), *_stroke_notes(arm, legs, limited)]
    return PlatformMotion(arm, times, legs, rates, rings, positions, rotations, joints, metrics, notes)


def _fastest_plate(positions: np.ndarray, times: np.ndarray) -> float:
    """The fastest that the centre of a plate really moved in the world from row to row [m/s]."""
    ways = np.linalg.norm(np.diff(positions, axis=0), axis=-1).max(-1, initial=0.0)
    return float(np.max(ways / np.diff(times), initial=0.0))


def _fault_notes(found, times: np.ndarray) -> list[str]:
    """Which segments fold or become singular, and when first."""
    kinds = ((found.folded, "folded through the plate below"), (found.singular, "in a pose that its legs cannot hold"))
    return [
        f"segment {_numbers(bad.any(0))} {words}, first at {times[int(np.argmax(bad.any(-1)))]:.3f} s"
        for bad, words in kinds
        if bad.any()
    ]


def _crossing_notes(crossing: tuple[float, int, int] | None) -> list[str]:
    """When the arm first passes through itself."""
    if crossing is None:
        return []
    time, first, second = crossing
    return [f"the arm passes through itself at {time:.3f} s: segments {first} and {second}"]


def _stroke_notes(arm: Platforms, legs: np.ndarray, limited: bool) -> list[str]:
    """Which segments have legs that are shorter or longer than they can be."""
    shortest, longest = np.asarray(arm.legs.shortest), np.asarray(arm.legs.longest)
    beyond = (legs < shortest - 1e-9).any((0, 2)) | (legs > longest + 1e-9).any((0, 2))
    reason = "" if limited else ": this controller knows no limits"
    return [f"legs of segment {_numbers(beyond)} leave their stroke{reason}"] if beyond.any() else []


def _numbers(chosen) -> str:
    """The numbers of the chosen segments, counted from 1."""
    return ", ".join(str(i + 1) for i in np.flatnonzero(chosen))


def _first_crossing(plates: SE3, rings: np.ndarray, times: np.ndarray) -> tuple[float, int, int] | None:
    """The time at which the arm first passes through itself, and two of its segments that cross there."""
    rows = np.unique(np.linspace(0, len(times) - 1, _CHECKED).round().astype(int))
    radii = np.concatenate([rings[rows, :1, 0], rings[rows, :, 1]], 1)
    some = jax.tree.map(lambda y: jnp.asarray(y[rows]), plates)
    found = np.asarray(_all_crossings(some, jnp.asarray(radii)))
    if not found.any():
        return None
    row = int(np.argmax(found.any((1, 2))))
    first, second = np.argwhere(found[row])[0]
    return float(times[rows[row]]), max(int(first), 1), int(second)


@quick_jit
def _all_crossings(plates: SE3, radii):
    return jax.lax.map(lambda each: crossings(*each), (plates, radii))
