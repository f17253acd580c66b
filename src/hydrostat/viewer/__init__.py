"""The browser page: motions of arms as one HTML file that opens from disk, without a network."""

from hydrostat.viewer.replay import write_replay
from hydrostat.viewer.shapes import Line, Marks, Tube

__all__ = ["Line", "Marks", "Tube", "write_replay"]
