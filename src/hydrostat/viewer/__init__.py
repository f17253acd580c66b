"""The browser page: motions of arms as one HTML file that opens from disk, without a network."""

from hydrostat.viewer.replay import write_replay
from hydrostat.viewer.shapes import Line, Tube

__all__ = ["Line", "Tube", "write_replay"]
