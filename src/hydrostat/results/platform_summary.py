"""Motions of chains of platforms: what they did with their legs, what was wrong, and poses to draw.

A motion of many ticks is summed up piece after piece, so that the memory it takes hardly grows with its length.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.control.platforms import Platforms
from hydrostat.lie import SE3
from hydrostat.results.platform_rows import PlatformRows, diverged, first_diverged, platform_rows
from hydrostat.surroundings.crossings import crossings

KEPT = 800
"""Largest number of poses that are kept of a motion that is summed up."""
_CHECKED = 100  # moments at which an arm is checked for crossings of itself, at most


@dataclass(frozen=True)
class PlatformMotion:
    """A chain of platforms in motion; `platform_motion` or a `PlatformSummary` makes it."""

    arm: Platforms
    times: np.ndarray
    """Times of all rows [s]."""
    tip: np.ndarray
    """The tip in the world in all rows (rows, 3) [m]."""
    tip_radius: np.ndarray
    """Radius of the larger ring of the last segment in all rows (rows,) [m]."""
    kept: np.ndarray
    """Numbers of the rows that the following arrays are of (kept,): of long motions not all."""
    legs: np.ndarray
    """Lengths of the legs (kept, n, 6) [m]."""
    rings: np.ndarray
    """Radii of the lower and the upper rings (kept, n, 2) [m]."""
    positions: np.ndarray
    """Positions of the plates in the world (kept, n + 1, 3) [m]."""
    rotations: np.ndarray
    """Rotations of the plates in the world (kept, n + 1, 3, 3)."""
    joints: np.ndarray
    """Lower and upper ends of the legs in the world (kept, n, 2, 6, 3) [m]."""
    metrics: dict[str, Any]
    """Volume error, rotation of segments, strokes and rates that were used, conditioning and faults."""
    notes: list[str]
    """Sentences about faults: folded and singular poses, crossings, strokes that were left."""

    @property
    def radii(self) -> np.ndarray:
        """Radii of the plates (kept, n + 1) [m]."""
        return np.concatenate([self.rings[:, :1, 0], self.rings[:, :, 1]], 1)


class PlatformSummary:
    """Sums up a motion of a chain of platforms, some rows at a time.

        summary = PlatformSummary(arm, dt)
        goals.follow(law, gain, on_rows=lambda T, goal: summary.append(T), keep=False)
        motion = summary.motion()

    Extremes and faults are those of all rows, and so is the tip; poses are kept of every row at first, of every second
    when there are more than `KEPT`, and so on.

    **Arguments:** `dt`: time from row to row [s]; rates of legs are the changes of their lengths within it; `limited`:
    whether the limits of the legs were in force; `most`: number of poses that are kept, all when None.
    """

    def __init__(self, arm: Platforms, dt: float, *, limited: bool = True, most: int | None = KEPT):
        self._arm, self._dt, self._limited, self._most = arm, dt, limited, most
        self._tips: list[tuple[np.ndarray, ...]] = []
        self._poses: list[tuple[int, _Pose]] = []
        self._stride, self._rows = 1, 0
        self._last: tuple[np.ndarray, ...] | None = None
        self._largest: dict[str, float] = {}
        self._faults = {name: _Fault(np.zeros(arm.count, bool), None) for name in ("folded", "singular", "beyond")}

    def append(self, T: SE3, twist=None, times: np.ndarray | None = None) -> PlatformRows:
        """Sum up some more rows; gives their quantities.

        **Arguments:** `T`: relative poses (rows, n); `twist`: relative twists (rows, n, 6), from which rates of legs
        are taken where they are given; `times`: of the rows [s], one `dt` after the other when not given.
        """
        rows = platform_rows(self._arm, T, twist)
        count = len(rows.legs)
        times = self._dt * (self._rows + np.arange(count)) if times is None else times
        positions = np.asarray(rows.plates.position)
        # From row to row, also from the last one of the piece before.
        now = rows.legs, positions, times
        before = self._last or (rows.legs[:1], positions[:1], times[:1] - self._dt)
        legs, places, moments = (np.diff(np.concatenate(pair), axis=0) for pair in zip(before, now, strict=True))
        rates = legs / moments[:, None, None] if twist is None else rows.rates
        self._note_extremes(rows, rates, np.linalg.norm(places, axis=-1) / moments[:, None])
        self._note_faults(rows, times)
        self._tips.append((times, positions[:, -1].copy(), rows.rings[:, -1].max(-1)))
        self._keep(rows)
        self._last, self._rows = tuple(y[-1:].copy() for y in now), self._rows + count
        return rows

    def motion(self) -> PlatformMotion:
        """The motion so far."""
        times, tip, tip_radius = (np.concatenate(part) for part in zip(*self._tips, strict=True))
        kept = np.array([number for number, _ in self._poses])
        legs, rings, positions, rotations, joints = (
            np.stack(y) for y in zip(*(y for _, y in self._poses), strict=True)
        )
        crossing = _first_crossing(positions, rotations, rings, times[kept])
        largest = self._largest
        metrics = {
            "volume_error_max": largest["volume"],
            "segment_rotation_max_deg": float(np.rad2deg(largest["angle"])),
            "leg_ratio_min": -largest["less ratio"],
            "leg_ratio_max": largest["ratio"],
            "stroke_used_max_m": largest["stroke"],
            "rate_used_max_m_s": largest["rate"],
            "plate_speed_max_m_s": largest["speed"],
            "conditioning_min": -largest["less conditioning"],
            "folded_segments": int(self._faults["folded"].segments.sum()),
            "crosses_itself": crossing is not None,
        }
        drawn = kept, legs, rings, positions, rotations, joints
        return PlatformMotion(self._arm, times, tip, tip_radius, *drawn, metrics, self._notes(crossing))

    def _note_extremes(self, rows: PlatformRows, rates: np.ndarray, speeds: np.ndarray) -> None:
        """The extremes of these rows, and those before."""
        rest = np.asarray(self._arm.segments.leg_lengths(self._arm.rest))
        ratios = rows.legs / rest
        found = {
            "volume": np.abs(rows.volume),
            "angle": rows.angle,
            "ratio": ratios,
            "less ratio": -ratios,
            "stroke": np.abs(rows.legs - rest),
            "rate": np.abs(rates),
            "speed": speeds,
            "less conditioning": -np.asarray(rows.faults.conditioning),
        }
        for name, values in found.items():
            value = float(np.max(values))
            self._largest[name] = max(value, self._largest.get(name, value))

    def _note_faults(self, rows: PlatformRows, times: np.ndarray) -> None:
        """Which segments are folded, singular or have legs outside their strokes, and when first."""
        shortest, longest = np.asarray(self._arm.legs.shortest), np.asarray(self._arm.legs.longest)
        beyond = ((rows.legs < shortest - 1e-9) | (rows.legs > longest + 1e-9)).any(-1)
        for name, found in {"folded": rows.faults.folded, "singular": rows.faults.singular, "beyond": beyond}.items():
            bad, known = np.asarray(found), self._faults[name]
            first = float(times[int(np.argmax(bad.any(-1)))]) if known.first is None and bad.any() else known.first
            self._faults[name] = _Fault(known.segments | bad.any(0), first)

    def _keep(self, rows: PlatformRows) -> None:
        """Keep poses of these rows, and the last one in any case."""
        if self._poses and self._poses[-1][0] % self._stride:
            self._poses.pop()
        parts = rows.legs, rows.rings, np.asarray(rows.plates.position), np.asarray(rows.plates.rotation), rows.joints
        last = len(rows.legs) - 1
        for i in range(last + 1):
            if (self._rows + i) % self._stride == 0 or i == last:
                self._poses.append((self._rows + i, tuple(y[i].copy() for y in parts)))
        while self._most is not None and len(self._poses) > self._most:
            self._stride *= 2
            end = self._poses[-1][0]
            self._poses = [pose for pose in self._poses if pose[0] % self._stride == 0 or pose[0] == end]

    def _notes(self, crossing: tuple[float, int, int] | None) -> list[str]:
        """Sentences about what is wrong with the motion."""
        words = {"folded": "folded through the plate below", "singular": "in a pose that its legs cannot hold"}
        notes = [
            f"segment {_numbers(self._faults[name].segments)} {what}, first at {self._faults[name].first:.3f} s"
            for name, what in words.items()
            if self._faults[name].first is not None
        ]
        if crossing is not None:
            time, first, second = crossing
            notes.append(f"the arm passes through itself at {time:.3f} s: segments {first} and {second}")
        beyond = self._faults["beyond"].segments
        if beyond.any():
            reason = "" if self._limited else ": this controller knows no limits"
            notes.append(f"legs of segment {_numbers(beyond)} leave their stroke{reason}")
        return notes


_Pose = tuple[np.ndarray, ...]


class _Fault(NamedTuple):
    """A fault of poses."""

    segments: np.ndarray
    """Which segments have had it."""
    first: float | None
    """When first [s]."""


def platform_motion(
    arm: Platforms, T: SE3, twist, times: np.ndarray, *, limited: bool = True, dt: float | None = None
) -> PlatformMotion:
    """The motion of a chain of platforms from the relative poses and twists of its plates, with the poses of all rows.

    **Arguments:** `T`: relative poses (rows, n); `twist`: relative twists (rows, n, 6); `times` [s]; `limited`: whether
    the limits of the legs were in force; `dt`: of rows that are ticks [s]: rates of legs are then the changes of their
    lengths within each tick.
    """
    found = first_diverged(T, twist)
    if found is not None:
        raise diverged(times[found[0]], found[1])
    summary = PlatformSummary(arm, 1.0 if dt is None else dt, limited=limited, most=None)
    summary.append(T, twist if dt is None else None, times)
    return summary.motion()


def _numbers(chosen) -> str:
    """The numbers of the chosen segments, counted from 1."""
    return ", ".join(str(i + 1) for i in np.flatnonzero(chosen))


def _first_crossing(positions, rotations, rings: np.ndarray, times: np.ndarray) -> tuple[float, int, int] | None:
    """The time at which the arm first passes through itself, and two of its segments that cross there."""
    rows = np.unique(np.linspace(0, len(times) - 1, _CHECKED).round().astype(int))
    radii = np.concatenate([rings[rows, :1, 0], rings[rows, :, 1]], 1)
    some = SE3(jnp.asarray(rotations[rows]), jnp.asarray(positions[rows]))
    found = np.asarray(_all_crossings(some, jnp.asarray(radii)))
    if not found.any():
        return None
    row = int(np.argmax(found.any((1, 2))))
    first, second = np.argwhere(found[row])[0]
    return float(times[rows[row]]), max(int(first), 1), int(second)


@quick_jit
def _all_crossings(plates: SE3, radii):
    return jax.lax.map(lambda each: crossings(*each), (plates, radii))
