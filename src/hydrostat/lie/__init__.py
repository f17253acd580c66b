"""Rotations and rigid motions: exp, log, adjoint and tangent operators, exact at and near zero."""

from hydrostat.lie import se3, so3
from hydrostat.lie._stumpff import stumpff
from hydrostat.lie.se3 import SE3

__all__ = ["SE3", "se3", "so3", "stumpff"]
