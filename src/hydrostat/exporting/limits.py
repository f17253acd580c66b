"""Limits of the joints of a chain."""

import math
from dataclasses import dataclass

_MOST_HINGE = 1.5  # rad: two hinges in a row lock at a quarter turn


@dataclass(frozen=True)
class Limits:
    """The limits of the segments of a limb."""

    bend: float | None = None
    """Largest angle of a segment's arc [rad]; None: until the inner side of the bend vanishes."""
    length: tuple[float, float] = (0.5, 2.0)
    """Shortest and longest length of a segment over that at rest; the default is assumed."""


def hinge_range(length: float, radius: float, limits: Limits, sections: int) -> tuple[float, float]:
    """The range of a hinge that bends a piece of arm: by default until the inner side of the bend would vanish, l /
    r."""
    most = length / radius if limits.bend is None else limits.bend / sections
    most = min(most, _MOST_HINGE)
    return (-most, most)


def slide_range(length: float, limits: Limits) -> tuple[float, float]:
    """The range of a slide that stretches a piece of arm."""
    low, high = limits.length
    return ((low - 1.0) * length, (high - 1.0) * length)


def chord_range(length: float, limits: Limits, sections: int) -> tuple[float, float]:
    """The range of a slide that is the chord of a piece of arc, less its length at rest: chords of bent pieces are
    shorter."""
    low, high = limits.length
    half = 0.5 * (math.pi if limits.bend is None else limits.bend) / sections
    return (low * length * math.sin(half) / half - length, (high - 1.0) * length)
