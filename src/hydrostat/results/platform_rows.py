"""Motions of chains of platforms: lengths and rates of legs, rings, volume, and what is wrong with poses."""

from dataclasses import dataclass
from typing import Any

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

_PADDING = 500  # rows: numbers of rows are filled up to multiples of it, which are compiled
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

    def columns(self, goal: np.ndarray) -> dict[str, tuple]:
        """The motion as columns for `record_arrays`, with the places (rows, 3) that the tip is to be at [m]."""
        return {
            "tip": (self.tip, ("axis",), "m", "tip in the world"),
            "tip_wanted": (goal, ("axis",), "m", "where it is to be"),
            "plate_position": (self.positions, ("plate", "axis"), "m", "centres of the plates in the world"),
            "plate_rotation": (self.rotations, ("plate", "row", "column"), "1", "their rotations in the world"),
            "leg_length": (self.legs, ("segment", "leg"), "m", "lengths of the legs"),
            "leg_rate": (self.rates, ("segment", "leg"), "m/s", "rates of the legs"),
            "ring": (self.rings, ("segment", "end"), "m", "radii of the lower and the upper ring"),
        }


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
    twist = np.asarray(twist)
    finite = np.isfinite(np.concatenate([np.asarray(T.position), twist], -1)).all(-1)
    if not finite.all():
        row, segment = np.argwhere(~finite)[0]
        raise DivergedError(
            f"the tracking diverged after {times[row]:.4g} s in segment {segment + 1}; a smaller tick or a lower gain "
            f"may help"
        )
    count = len(times)
    padded = np.minimum(np.arange(-(-count // _PADDING) * _PADDING), count - 1)
    out = _rows(arm.segments, arm.base, T[padded], jnp.asarray(twist)[padded])
    legs, rates, rings, volume, angle, plates, joints, found = jax.tree.map(lambda y: np.array(y[:count]), out)
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
        "plate_speed_max_m_s": _fastest_plate(plates.position, times),
        "conditioning_min": float(np.min(found.conditioning)),
        "folded_segments": int(found.folded.any(0).sum()),
        "crosses_itself": crossing is not None,
    }
    notes = [*_fault_notes(found, times), *_crossing_notes(crossing), *_stroke_notes(arm, legs, limited)]
    return PlatformMotion(arm, times, legs, rates, rings, plates.position, plates.rotation, joints, metrics, notes)


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
