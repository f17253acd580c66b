"""The version of hydrostat, its only source."""

__version__ = "0.1.0"
