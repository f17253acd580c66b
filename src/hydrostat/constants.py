"""Constants of nature that several parts of the package share; nothing here needs JAX."""

SEA_WATER = 1025.0
"""Density of sea water near the surface [kg/m^3]; `Water` has that of its source by default, 1022."""
