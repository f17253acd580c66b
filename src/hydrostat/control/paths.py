"""Paths for the tip of an arm: curves over 0 ... 1, their pace, and curves read from a file."""

from collections.abc import Callable

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial import KDTree

from hydrostat.control.profiles import minimum_jerk
from hydrostat.errors import InputError

_TURN = 2.0 * np.pi

Curve = Callable[[np.ndarray], np.ndarray]
"""A function from parameters (m,) from 0 to 1 to points (m, 3) [m]."""


def _curve(x, y, z) -> Curve:
    return lambda t: np.stack([np.broadcast_to(part(np.asarray(t, float)), np.shape(t)) for part in (x, y, z)], -1)


PAPER_PATHS: dict[str, Curve] = {
    "line": _curve(lambda t: 3 * t - 0.5, lambda t: 3 * t + 0.5, lambda t: t + 6),
    "ellipse": _curve(lambda t: np.cos(_TURN * t), lambda t: np.sin(_TURN * t), lambda t: 4 + np.sin(_TURN * t)),
    "sinusoid": _curve(lambda t: np.sin(_TURN * t), lambda t: 4 * t - 1, lambda t: 5 + np.exp(t) * np.sin(_TURN * t)),
    "reach": _curve(lambda t: 3 * np.exp(t) - 5, lambda t: 0.5 * np.cos(_TURN * t), lambda t: 1 + 6 * t),
    "fetch": _curve(lambda t: 3 * np.exp(1 - t) - 2, lambda t: 2 * np.cos(_TURN * (1 - t)), lambda t: 2 + 6 * (1 - t)),
}
"""The paths of Lafmejani et al. 2020, equations 26 to 30."""

SPIRAL = _curve(lambda t: 3 * np.cos(_TURN * t), lambda t: np.sin(_TURN * t), lambda t: 3 + 2 * t)
"""The spiral in the code that the authors published, which their paper does not show."""


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
    """The fraction of a path at times [s], by the minimum-jerk time law of a duration [s]."""
    return minimum_jerk(np.clip(np.asarray(times) / duration, 0.0, 1.0))


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
