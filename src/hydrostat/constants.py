"""Physical constants that several parts of the package share; nothing here needs JAX."""

SEA_WATER = 1025.0
"""Density of sea water near the surface [kg/m^3]; `Water` has that of its source by default, 1022."""
BALL_DRAG = 0.47
"""Drag coefficient of a sphere on its shadow, for Reynolds numbers of 1e3 to 1e5 (Hoerner)."""
