"""Step and direction signals: when each motor gets a pulse, and in which direction it turns."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_SAMPLES = 20_000  # of a movement, to bracket the pulses in
_POLISH = 3  # Newton steps, kept within the bracket


@dataclass(frozen=True)
class PulseTrain:
    """The pulses of one motor."""

    times: np.ndarray
    """When each pulse is due [s], ascending."""
    directions: np.ndarray
    """+1 lengthens the wire, -1 draws it in."""

    @property
    def net(self) -> int:
        """The net number of pulses: those forward minus those back."""
        return int(np.sum(self.directions, dtype=np.int64))

    @property
    def rate_max(self) -> float:
        """The highest momentary pulse rate [1/s]."""
        if len(self.times) < 2:
            return 0.0
        # A pulse back that undoes one forward at the same point is a dwell, not a rate: only runs of one sign count.
        same = self.directions[1:] == self.directions[:-1]
        gaps = np.diff(self.times)[same]
        return float(1.0 / np.min(gaps)) if len(gaps) else 0.0


def pulse_trains(
    course: Callable[[np.ndarray, int], np.ndarray], duration: float, step: float, wires: int
) -> list[PulseTrain]:
    """The pulses that make each motor follow its wire to within half a step.

    A pulse is due when the wire's length, counted in steps from its start, passes the middle between two whole numbers.

    **Arguments:** `course`: lengths [m] at times [s], and with derivative 1 their rates, (m,) -> (m, wires);
    `duration` [s]; `step`: wire per pulse [m].
    """
    grid = np.linspace(0.0, duration, _SAMPLES + 1)
    counts = (course(grid, 0) - course(grid[:1], 0)) / step
    return [_pulse_train(course, grid, counts, wire, step) for wire in range(wires)]


def pulses_at(trains: list[PulseTrain], times: np.ndarray) -> np.ndarray:
    """Pulses forward minus pulses back of every motor up to some times, (m,) -> (m, wires)."""
    sums = [np.concatenate([[0], np.cumsum(train.directions, dtype=np.int64)]) for train in trains]
    due = [np.searchsorted(train.times, times, "right") for train in trains]
    return np.stack([total[index] for total, index in zip(sums, due, strict=True)], -1)


def _pulse_train(course, grid, counts, wire: int, step: float) -> PulseTrain:
    """One motor's pulses: bracketed on the grid, then found by Newton's method."""
    count = counts[:, wire]
    start = course(grid[:1], 0)[0, wire]
    # The whole numbers passed within each interval of the grid, up or down.
    cell = np.floor(count + 0.5).astype(np.int64)
    passed = np.diff(cell)
    interval = np.repeat(np.arange(len(passed)), np.abs(passed))
    if len(interval) == 0:
        return PulseTrain(np.zeros(0), np.zeros(0, np.int8))
    direction = np.sign(passed)[interval]
    first = np.cumsum(np.abs(passed)) - np.abs(passed)
    order = np.arange(len(interval)) - first[interval]
    level = cell[interval] + direction * (order + 0.5)

    early, late = grid[interval], grid[interval + 1]
    times = early + (level - count[interval]) / (count[interval + 1] - count[interval]) * (late - early)
    for _ in range(_POLISH):
        miss = (course(times, 0)[:, wire] - start) / step - level
        rate = course(times, 1)[:, wire] / step
        change = np.divide(miss, rate, out=np.zeros_like(miss), where=rate * direction > 0.0)
        times = np.clip(times - change, early, late)
    return PulseTrain(np.maximum.accumulate(times), direction.astype(np.int8))


def write_pulses(path: Path, trains: list[PulseTrain]) -> int:
    """Write all pulses in order of time as CSV (time [s], wire from 1, direction +1 or -1); the number of them.

    A movement has a million pulses or more: the rows have a fixed width and are made as bytes, all at once.
    """
    times = np.concatenate([train.times for train in trains])
    wires = np.concatenate([np.full(len(train.times), i + 1) for i, train in enumerate(trains)])
    directions = np.concatenate([train.directions for train in trains])
    order = np.argsort(times, kind="stable")
    nanoseconds = np.round(times[order] * 1e9).astype(np.int64)
    columns = [
        *_digits(nanoseconds // 1_000_000_000, 6),
        np.full(len(order), ord("."), np.uint8),
        *_digits(nanoseconds % 1_000_000_000, 9),
        np.full(len(order), ord(","), np.uint8),
        *_digits(wires[order], max(3, len(str(len(trains))))),
        np.full(len(order), ord(","), np.uint8),
        np.where(directions[order] > 0, ord("+"), ord("-")).astype(np.uint8),
        np.full(len(order), ord("1"), np.uint8),
        np.full(len(order), ord("\n"), np.uint8),
    ]
    with path.open("wb") as file:
        file.write(b"time_s,wire,direction\n")
        np.stack(columns, -1).tofile(file)
    return len(order)


def _digits(values: np.ndarray, width: int) -> list[np.ndarray]:
    """The decimal digits of non-negative integers as ASCII, most significant first, with leading zeros."""
    return [(values // 10**place % 10 + ord("0")).astype(np.uint8) for place in range(width - 1, -1, -1)]
