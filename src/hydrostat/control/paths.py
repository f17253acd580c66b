"""Paths for the tip of an arm: curves over 0 ... 1, their pace, and a user's own from a file."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial import KDTree

from hydrostat.errors import InputError, shown

_TURN = 2.0 * np.pi
_FARTHEST = 1e4  # m: beyond it a number is a slip of the pen

Curve = Callable[[np.ndarray], np.ndarray]
"""Points (m, 3) [m] for parameters (m,) from 0 to 1."""


def _curve(x, y, z) -> Curve:
    return lambda t: np.stack([np.broadcast_to(part(np.asarray(t, float)), np.shape(t)) for part in (x, y, z)], -1)


PAPER_PATHS: dict[str, Curve] = {
    "line": _curve(lambda t: 3 * t - 0.5, lambda t: 3 * t + 0.5, lambda t: t + 6),
    "ellipse": _curve(lambda t: np.cos(_TURN * t), lambda t: np.sin(_TURN * t), lambda t: 4 + np.sin(_TURN * t)),
    "sinusoid": _curve(lambda t: np.sin(_TURN * t), lambda t: 4 * t - 1, lambda t: 5 + np.exp(t) * np.sin(_TURN * t)),
    "reach": _curve(lambda t: 3 * np.exp(t) - 5, lambda t: 0.5 * np.cos(_TURN * t), lambda t: 1 + 6 * t),
    "fetch": _curve(lambda t: 3 * np.exp(1 - t) - 2, lambda t: 2 * np.cos(_TURN * (1 - t)), lambda t: 2 + 6 * (1 - t)),
}
"""Lafmejani et al. 2020, equations 26 to 30."""


def read_points(path: str, least: int = 1, columns: tuple[int, ...] = (3,)) -> np.ndarray:
    """The points of a CSV file with columns x, y, z [m]; a first line of names is allowed.

    **Arguments:** `least`: how many points there must be; `columns`: how many columns there may be, of 2, x and y, and
    3; all lines must have as many.
    """
    words = " or ".join(f"{('two', 'three')[count - 2]} numbers {', '.join('xyz'[:count])}" for count in columns)
    name = f"curve file {shown(path)}"
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{name} could not be read: {reason}") from None
    except csv.Error as error:
        raise InputError(f"{name} could not be read as CSV: {error}") from None
    points: list[tuple[float, ...]] = []
    for index, (number, row) in enumerate(rows):
        try:
            point = tuple(map(float, row))
        except ValueError:
            point = ()
        if len(point) not in columns:
            if index == 0 and not any(_is_number(cell) for cell in row):  # a line of names
                continue
            raise InputError(f"line {number} of {name} must be {words}; got {shown(','.join(row))}")
        if not all(abs(value) <= _FARTHEST for value in point):  # also where one is not a number
            raise InputError(
                f"line {number} of {name} must be {words}, finite and of at most {_FARTHEST:g} m; "
                f"got {shown(','.join(row))}"
            )
        if points and len(point) != len(points[0]):
            raise InputError(
                f"line {number} of {name} must have {len(points[0])} numbers, as the lines before; "
                f"got {shown(','.join(row))}"
            )
        points.append(point)
    if len(points) < least:
        coordinates = " or ".join(", ".join("xyz"[:count]) for count in columns)
        raise InputError(
            f"{name} must hold {'points' if least == 1 else f'at least {least} points'} {coordinates}; "
            f"it holds {len(points)}"
        )
    return np.array(points)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def curve_through(points: np.ndarray) -> Curve:
    """A smooth curve through points (m, 3), its parameter in proportion to the distance along them.

    A cubic spline; through three points a parabola, through two a straight line. Repeated points count once.
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    # A step that rounding would swallow is none.
    apart = np.concatenate([[True], steps > 1e-12 * max(float(steps.sum()), 1e-12)])
    points = points[apart]
    if len(points) < 2:
        raise InputError("a path must hold at least 2 different points; all of them are the same")
    marks = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = make_interp_spline(marks / marks[-1], points, k=min(3, len(points) - 1))
    return lambda t: spline(np.asarray(t, float))


def smooth_pace(times: np.ndarray, duration: float) -> np.ndarray:
    """How far along a path one is, from 0 to 1, starting and ending at rest and without acceleration."""
    t = np.clip(np.asarray(times) / duration, 0.0, 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t**2)


def distances_to(curve: Curve, points: np.ndarray, pieces: int = 4000) -> np.ndarray:
    """The distances of points (m, 3) from a curve [m], taken as a polygon of that many pieces."""
    corners = curve(np.linspace(0.0, 1.0, pieces + 1))
    nearest = KDTree(corners).query(points)[1]
    # The nearest point of the polygon lies on one of the two pieces that meet in the nearest corner.
    found = []
    for first in (np.maximum(nearest - 1, 0), np.minimum(nearest, pieces - 1)):
        a, b = corners[first], corners[first + 1]
        along = b - a
        square = np.maximum(np.sum(along * along, -1), 1e-300)
        share = np.clip(np.sum((points - a) * along, -1) / square, 0.0, 1.0)
        found.append(np.linalg.norm(points - a - share[:, None] * along, axis=-1))
    return np.minimum(*found)
