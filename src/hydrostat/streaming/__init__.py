"""Streaming of G-code to motion controllers that run GRBL, over serial lines, without further dependencies."""

from hydrostat.streaming.grbl import Status, parse_status
from hydrostat.streaming.program import read_gcode
from hydrostat.streaming.serial_line import SerialLine
from hydrostat.streaming.session import Streamed, stream

__all__ = ["SerialLine", "Status", "Streamed", "parse_status", "read_gcode", "stream"]
