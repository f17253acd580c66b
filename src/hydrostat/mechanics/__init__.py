"""Mechanics of a chain of segments, written once for all of them."""

from hydrostat.mechanics import kinematics

__all__ = ["kinematics"]
