"""A bend that travels along an arm: where it is, how fast it moves, and how far the tip has come. Of recorded rows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hydrostat.results.measures import moving_average, points_along, speed_over

_SMOOTHED = 0.075  # s: the window over which the bend's place and speed are averaged
_ROWS = 10_000  # that are read together


class BendWave(NamedTuple):
    """The course of a bend along an arm, by rows from its start on."""

    time: np.ndarray
    """Time since the start [s]."""
    place: np.ndarray
    """Place of the bend along the arm, 0 at the base and 1 at the tip."""
    point: np.ndarray
    """Where the bend is in the world (rows, 3) [m]."""
    speed: np.ndarray
    """Speed of the point of the bend [m/s]."""
    tip: np.ndarray
    """Where the tip is (rows, 3) [m]."""
    reach: np.ndarray
    """Distance of the tip from the base [m]."""
    extension: np.ndarray
    """The same over the length of the arm."""


def bend_wave(recorded: Any, scale: np.ndarray, azimuth: float, start: float) -> BendWave:
    """The bend towards an azimuth in the recording of one arm, from a start time on.

    The place of the bend is the mean place of bending to its side, weighted by the square of the bend.

    **Arguments:** `recorded`: as `hydrostat.load` opens it; `scale`: of the segments' coordinates to angles, (n,);
    `azimuth` [rad]; `start` [s].
    """
    times = recorded["time"].values
    after = times >= start - 1e-9
    place = _place(recorded, scale, azimuth, times)
    rows = zip(*_courses(recorded, np.where(after, place, 0.0)), strict=True)
    point, tip, reach, length = (np.concatenate(one)[after] for one in rows)
    since = times[after] - start
    return BendWave(since, place[after], point, speed_over(point, since, _SMOOTHED), tip, reach, reach / length)


def _pieces(recorded) -> Iterator[tuple[slice, Any]]:
    """The recorded rows, some at a time."""
    for begin in range(0, recorded.sizes["time"], _ROWS):
        rows = slice(begin, begin + _ROWS)
        yield rows, recorded.isel(time=rows)


def _place(recorded, scale: np.ndarray, azimuth: float, times: np.ndarray) -> np.ndarray:
    """The place of the bend in every row."""
    places = []
    for _, piece in _pieces(recorded):
        bends = piece["q"].values * scale[:, None]
        weight = np.maximum(np.cos(azimuth) * bends[..., 1] - np.sin(azimuth) * bends[..., 0], 0.0) ** 2
        middles = (np.arange(weight.shape[1]) + 0.5) / weight.shape[1]
        places.append((weight * middles).sum(-1) / np.maximum(weight.sum(-1), 1e-12))
    return moving_average(np.concatenate(places), times, _SMOOTHED)


def _courses(recorded, place: np.ndarray) -> Iterator[tuple]:
    """For pieces of rows, the point of the bend, the tip, its distance from the base, and the length of the arm."""
    base = recorded["plate_position"][0, 0].values
    for rows, piece in _pieces(recorded):
        points = piece["plate_position"].values
        tip, lengths = points[:, -1], np.linalg.norm(np.diff(points, axis=1), axis=-1).sum(-1)
        yield points_along(points, place[rows]), tip, np.linalg.norm(tip - base, axis=-1), lengths
