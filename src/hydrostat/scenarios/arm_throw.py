"""arm-throw: the octopus arm takes a load from the ground, swings it up or whips it aside, and lets go."""

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Throw
from hydrostat.errors import InputError
from hydrostat.results.measures import speed
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import arm_name, balance_metrics, move
from hydrostat.scenarios.arm_loads import GATHERED, load_arm, load_outcome
from hydrostat.scenarios.base import Outcome, Run

_SWUNG, _WHIPPED = 0.4, 0.2  # of the arm: where it holds light loads, which it swings up, and those that it whips
_WHIPS = 0.388  # of the arm, from its base: what moves in a whip
_LIFTS = 0.2  # of the moment of a muscle at the base, that the weight of a load may have that is swung up
_SETTLE = 0.3  # s before the swing in which the arm takes hold and stiffens
_LATEST = 1.5  # s after the swing began, when suckers let go whatever is seen
_ELEVATION = np.deg2rad(25.0)  # of the load's motion, below which they let go


def throw(run: Run) -> Outcome:
    """Take hold of a load on the ground, swing it up and back or whip it aside, and let go."""
    settings = run.settings
    whip = _heavy(run)
    place = settings.holds_at or (_WHIPPED if whip else _SWUNG)
    loaded = load_arm(run, place, ground=True)
    if loaded.ball is None:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    end = settings.seconds
    if _SETTLE + settings.release_s >= end:
        raise InputError(f"`release_s` must end {_SETTLE:g} s before `seconds` = {end:g} s; got {settings.release_s:g}")
    n, segment = loaded.count, loaded.segment
    beside = 2 if whip else 1
    command = Throw(
        (max(0, segment - 1 - beside) / n, min(1.0, (segment + beside) / n)),
        settings.activation,
        settings.swing_share or (_WHIPS if whip else min(1.0, 0.05 + 1.25 * place)),
        elevation=None if settings.release_s else _ELEVATION,
        settle=_SETTLE,
        latest=settings.release_s or min(_LATEST, 0.9 * (end - _SETTLE)),
        whip=whip,
    )
    motion = move(run, loaded.system, command, end, record="arm-throw", functions=GATHERED)
    time, found = motion.time, motion.values
    ball = found["objects"].position[:, 0]
    # The row in which the step has ended that was the last to hold it.
    release = float(motion.shown.memory.release[-1])
    row = min(int(np.searchsorted(time, release - 1e-9)), len(time) - 1)
    held, pace = bool(found["taken"][row].any()), speed(ball, time)
    low = np.flatnonzero(ball[row:, 2] <= ball[0, 2] + 2e-3)
    lands = row + int(low[0]) if len(low) else len(time) - 1
    metrics = {
        "attached": held,
        "release_speed_m_s": float(pace[row]) if held else 0.0,
        "release_s": release - _SETTLE,
        "throw_range_m": float(np.linalg.norm((ball[lands] - ball[row])[:2])) if held else 0.0,
        "distance_from_start_m": float(np.linalg.norm((ball[lands] - ball[0])[:2])) if held else 0.0,
        "landed": bool(len(low)),
        "flight_s": float(time[lands] - time[row]),
        "highest_m": float(ball[:, 2].max() - ball[0, 2]),
        **balance_metrics([motion]),
    }
    title = f"arm-throw: {arm_name(run)} throws {settings.load_g:g} g"
    curve = ("speed of the load", pace, "[m/s]")
    return load_outcome(run, loaded, motion, metrics, title, curve, moments=_moments(time, ball, row, lands))


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
