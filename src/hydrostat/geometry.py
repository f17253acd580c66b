"""Volumes of simple solids, for numbers as for arrays; nothing here needs JAX."""

import math


def frustum_volume(length, base_radius, tip_radius):
    """The volume of a truncated cone [m^3].

    **Arguments:** `length` [m]; `base_radius`, `tip_radius`: radii of its ends [m].
    """
    a, b = base_radius, tip_radius
    return math.pi / 3.0 * length * (a * a + a * b + b * b)
