"""arm-throw: the octopus arm takes a load from the ground, swings it up or whips it aside, and lets go."""

from typing import NamedTuple

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Anatomy, Throw
from hydrostat.errors import InputError
from hydrostat.results import Digest
from hydrostat.results.measures import speed
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import arm_name, balance_metrics, move, muscle_gains
from hydrostat.scenarios.arm_loads import GATHERED, Loaded, load_arm, load_outcome
from hydrostat.scenarios.base import Outcome, Run

_SWUNG, _WHIPPED = 0.4, 0.25  # of the arm: where it holds light loads, which it swings up, and those that it whips
_LIFTS = 0.2  # of the moment of a muscle at the base, that the weight of a load may have that is swung up
_SETTLE = 0.3  # s before the swing in which the arm takes hold and stiffens
_LATEST = 1.5  # s after the swing began, when suckers let go whatever is seen
_FAR = 0.2  # m: from where on a load counts as thrown
_DOWN = 2e-3  # m above its height at the start, up to which a load is down
_ELEVATION = np.deg2rad(25.0)  # of the load's motion, below which they let go


class Flight(NamedTuple):
    """The flight of a load that was let go."""

    row: int
    """Row at whose time it was let go."""
    lands: int
    """Row in which it is down again, the last one where it is not."""
    landed: bool
    """Whether it came down."""
    range: float
    """Level distance between both places [m]."""

    @staticmethod
    def of(ball: np.ndarray, time: np.ndarray, release: float) -> "Flight":
        """The flight of a load with positions (rows, 3) [m] that was let go at a time [s].

        It is down when it is as low as at the start. How far the arm had carried it before does not count.
        """
        # The row in which the step has ended that was the last to hold it.
        row = min(int(np.searchsorted(time, release - 1e-9)), len(time) - 1)
        low = np.flatnonzero(ball[row:, 2] <= ball[0, 2] + _DOWN)
        lands = row + int(low[0]) if len(low) else len(time) - 1
        return Flight(row, lands, bool(len(low)), float(np.linalg.norm((ball[lands] - ball[row])[:2])))


def throw(run: Run) -> Outcome:
    """Take hold of a load on the ground, swing it up and back or whip it aside, and let go."""
    settings = run.settings
    if settings.load_g == 0.0:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    end, whip = settings.seconds, _heavy(run)
    if _SETTLE + settings.release_s >= end:
        raise InputError(f"`release_s` must end {_SETTLE:g} s before `seconds` = {end:g} s; got {settings.release_s:g}")
    place = settings.holds_at or (_WHIPPED if whip else _SWUNG)
    all_gains = muscle_gains(run, Anatomy.of(build_robot(run.robot)), settings.throws)
    motions, throws, first = [], [], None
    for i, gains in enumerate(all_gains):
        loaded = load_arm(run, place, ground=True, gains=gains)
        first = loaded if first is None else first
        share, record = (i / len(all_gains), (i + 1) / len(all_gains)), None if i else "arm-throw"
        command = _command(run, loaded, place, whip)
        motions.append(move(run, loaded.system, command, end, record=record, share=share, functions=GATHERED))
        throws.append(_thrown(motions[-1]))
    assert first is not None
    metrics = throws[0]
    if len(throws) > 1:
        ranges = [one["throw_range_m"] for one in throws]
        metrics |= {
            "landed": all(one["landed"] for one in throws),
            "throw_range_min_m": min(ranges),
            "throw_range_median_m": float(np.median(ranges)),
            "throw_range_max_m": max(ranges),
            "thrown_rate": float(np.mean([one >= _FAR for one in ranges])),
        }
    metrics |= balance_metrics(motions)
    title = f"arm-throw: {arm_name(run)} throws {settings.load_g:g} g"
    shown = motions[0]
    time, ball = shown.time, shown.values["objects"].position[:, 0]
    flight = Flight.of(ball, time, float(shown.shown.memory.release[-1]))
    curve, moments = ("speed of the load", speed(ball, time), "[m/s]"), _moments(time, ball, flight.row, flight.lands)
    return load_outcome(run, first, shown, metrics, title, curve, moments=moments, count=len(motions))


def _command(run: Run, loaded: Loaded, place: float, whip: bool) -> Throw:
    """The throw of a load that lies beneath a place along the arm."""
    settings, n, segment = run.settings, loaded.count, loaded.segment
    beside = 2 if whip else 1
    return Throw(
        (max(0, segment - 1 - beside) / n, min(1.0, (segment + beside) / n)),
        settings.activation,
        settings.swing_share or (None if whip else min(1.0, 0.05 + 1.25 * place)),
        elevation=None if settings.release_s else _ELEVATION,
        settle=_SETTLE,
        latest=settings.release_s or min(_LATEST, 0.9 * (settings.seconds - _SETTLE)),
        whip=whip,
    )


def _thrown(motion: Digest) -> dict:
    """What became of the load in one throw."""
    time, found = motion.time, motion.values
    ball, release = found["objects"].position[:, 0], float(motion.shown.memory.release[-1])
    flight = Flight.of(ball, time, release)
    row, lands = flight.row, flight.lands
    held, pace = bool(found["taken"][row].any()), speed(ball, time)
    return {
        "attached": held,
        "release_speed_m_s": float(pace[row]) if held else 0.0,
        "release_s": release - _SETTLE,
        "throw_range_m": flight.range if held else 0.0,
        "distance_from_start_m": float(np.linalg.norm((ball[lands] - ball[0])[:2])) if held else 0.0,
        "landed": flight.landed,
        "flight_s": float(time[lands] - time[row]),
        "highest_m": float(ball[:, 2].max() - ball[0, 2]),
    }


def _moments(time, ball, row: int, lands: int) -> list[float]:
    """The times of the paper's Fig. 13 [s]: the load on the ground, held, lifted; swung, let go, in flight.

    **Arguments:** `ball`: where the load is in every row (rows, 3) [m]; `row`, `lands`: where it is let go, and lands.
    """
    path = np.cumsum(np.linalg.norm(np.diff(ball[: row + 1], axis=0, prepend=ball[:1]), axis=1))
    lifting, swinging = (int(np.searchsorted(path, share * path[-1])) for share in (0.25, 0.65))
    rows = (0, min(lifting, row), min(swinging, row), row, (row + lands) // 2)
    first, *later = (float(time[i]) for i in rows)
    return [first, min(_SETTLE, later[0]), *later]


def _heavy(run: Run) -> bool:
    """Whether the weight of the load in water, held where light ones are, asks for much of what muscles can lift."""
    spec, settings = run.robot, run.settings
    assert spec.muscles is not None
    radius, length = max(spec.segments[0].radius), sum(segment.length for segment in spec.segments)
    moment = spec.muscles.stress * 0.25 * np.pi * radius**2 * radius / np.sqrt(2.0)
    gravity = float(np.linalg.norm(build_robot(spec).gravity))
    weight = 1e-3 * settings.load_g * gravity * (1.0 - float(hs.Water().density) / settings.load_density)
    return weight * _SWUNG * length > _LIFTS * moment
