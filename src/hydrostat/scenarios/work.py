"""The work that settings ask for, estimated before JAX is there: steps, rows, and the memory that rows need.

The estimates are from above and coarse: they are there to refuse what would take days or all of the memory, such as a
time step of a nanosecond, not to foretell how long a run takes.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from hydrostat.errors import InputError
from hydrostat.robots import AnySpec
from hydrostat.robots.variants import arms_of
from hydrostat.tables import read_cells, read_points

MOST_STEPS = 10**9
"""Largest number of steps of a run."""
MOST_BYTES = 8 * 2**30
"""Largest size of all rows of a run, in memory or on disk [bytes]."""
_MOST_DELAYED = 100_000
_SEGMENT_BYTES = 200  # of a row: coordinates, rates, muscles, contacts; an octopus has 190 in memory, 119 on disk
_ROW_BYTES = 400
_STROKE_S = 2.0  # of the gaits' strokes, from above: they take 1.7 s without a rest
_STROKE_LENGTHS = 0.07  # displacement by a stroke in arm lengths, from below: the gaits have 0.078 and 0.12
_FETCH_S = 18.0  # in which an arm brings prey to the mouth, from above

_RUNS = ("activations", "tip_masses_g")
"""Keys with a list of which each entry is a run."""
_ROW_SECONDS = {
    "drive": 5e-3,
    "finger": 0.01,
    "octopus": 0.01,
    "octopus-walk-path": 0.05,
    "squid": 0.01,
    "tentacle": 0.008,
}
"""Time from row to row by a scenario's name, or its first word; where it has none, every step is a row [s]."""


class Work(NamedTuple):
    """The work of a run."""

    steps: float
    rows: float
    """Rows of which each holds all segments."""


def work_of(name: str, spec: AnySpec, settings: SimpleNamespace) -> Work:
    """The work of a scenario with a time step; none for one without."""
    steps = getattr(settings, "dt_ms", None)
    if steps is None:
        return Work(0.0, 0.0)
    dt = 1e-3 * min(steps if isinstance(steps, tuple) else (steps,))
    seconds = _seconds(name, spec, settings)
    row = max(_ROW_SECONDS.get(name, _ROW_SECONDS.get(name.partition("-")[0], 0.0)), dt)
    return Work(seconds / dt, seconds / row)


def check_work(name: str, spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse settings that ask for more steps, rows or memory than a run can have."""
    work = work_of(name, spec, settings)
    if work.steps > MOST_STEPS:
        raise InputError(
            f"a run can have at most {MOST_STEPS:g} steps; these settings ask for some {work.steps:.1g}: "
            f"take a longer `dt_ms` or less time"
        )
    # Segments that are cut into pieces are as many more; 0 stands for a scenario's own choice.
    pieces = max(1, getattr(settings, "pieces", 1) or 4)
    segments = pieces * sum(len(arm.segments) for arm in arms_of(spec))
    needed = work.rows * (_ROW_BYTES + _SEGMENT_BYTES * segments)
    if needed > MOST_BYTES:
        raise InputError(
            f"the rows of a run can take at most {MOST_BYTES / 2**30:g} GiB; these settings ask for some "
            f"{work.rows:.1g} rows and {needed / 2**30:.2g} GiB: take a longer `dt_ms` or less time"
        )
    for key in {"pose_delay_s", "proprioception_delay_s"} & vars(settings).keys():
        if getattr(settings, key) > _MOST_DELAYED * 1e-3 * settings.dt_ms:
            raise InputError(f"`{key}` must be at most {_MOST_DELAYED} steps; got {getattr(settings, key):g} s")


def _seconds(name: str, spec: AnySpec, settings: SimpleNamespace) -> float:
    """The simulated time of all motions of a scenario, from above [s]."""
    if name in ("octopus-crawl", "octopus-turn", "octopus-walk-path", "octopus-forage"):
        return _crawling_seconds(name, spec, settings)
    if name == "octopus-tethered":
        return 2.0 * settings.beats * settings.period_s
    if name == "octopus-jet":
        return 2.0 * (settings.delay_s + settings.bursts * (settings.burst_s + settings.refill_s))
    if name == "finger-convergence":  # a fixed number of steps
        return settings.dt_ms
    total = _sum(settings, "seconds", "seconds_after", "seconds_max", "approach_seconds", "prepare_seconds")
    total += _sum(settings, "hold_until") + 2.0 * _sum(settings, "close_seconds", "pull_seconds")
    if name == "drive" and not settings.seconds:
        total += _last_time(settings.csv) if settings.csv else 2.0 * settings.rise_s
    return total * max(1, getattr(settings, "places", 0), *(len(getattr(settings, key, ())) for key in _RUNS))


def _crawling_seconds(name: str, spec: AnySpec, settings: SimpleNamespace) -> float:
    """The simulated time of octopuses that crawl [s]."""
    stroke = _STROKE_LENGTHS * sum(segment.length for segment in arms_of(spec)[0].segments)
    if name == "octopus-walk-path":
        length, legs = 4.0 * settings.side_m, 4
        if settings.path_file:
            points = read_points(settings.path_file, columns=(2, 3))[:, :2]
            length, legs = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()), len(points)
        return (1.3 * length / stroke + legs) * _STROKE_S
    if name == "octopus-forage":
        targets = np.reshape(settings.target_mm, (-1, 2))
        far = 1e-3 * float(np.linalg.norm(targets, axis=1).max()) if len(targets) else max(settings.distance_m)
        hunt = (1.3 * far / stroke + 3.0) * _STROKE_S + _FETCH_S
        return (len(targets) or settings.placements) * hunt
    speed = 1e-3 * getattr(settings, "speed_mm_s", 0.0)
    rest = 2.0 * stroke / speed if speed else 0.0
    return 2.0 * settings.strokes * (_STROKE_S + rest)


def _last_time(file: str) -> float:
    """The last time of a file that has been checked [s]."""
    return max(float(read_cells(file, "command file")[-1][1][0]), 0.0)


def _sum(settings: SimpleNamespace, *names: str) -> float:
    """The sum of keys that a scenario may have."""
    return sum(float(getattr(settings, name, 0.0)) for name in names)
