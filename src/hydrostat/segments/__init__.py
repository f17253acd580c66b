"""Segments: the short pieces that an arm is a chain of."""

from hydrostat.segments.base import AbstractSegment
from hydrostat.segments.stewart import StewartSegment
from hydrostat.segments.strain import MODES, Arc, StrainSegment
from hydrostat.segments.strut import StrutSegment
from hydrostat.segments.swelling import SWELL, SwellingSegment

__all__ = [
    "MODES",
    "SWELL",
    "AbstractSegment",
    "Arc",
    "StewartSegment",
    "StrainSegment",
    "StrutSegment",
    "SwellingSegment",
]
