"""Actuators: tendons and wires, and the stepper motors that pull them."""

from hydrostat.actuation.gcode import write_gcode
from hydrostat.actuation.pulses import PulseTrain, pulse_trains, write_pulses
from hydrostat.actuation.steppers import Stepper
from hydrostat.actuation.tendons import Tendons, hard_length, soft_length
from hydrostat.actuation.wire_shapes import WireShape, shape_from_lengths

__all__ = [
    "PulseTrain",
    "Stepper",
    "Tendons",
    "WireShape",
    "hard_length",
    "pulse_trains",
    "shape_from_lengths",
    "soft_length",
    "write_gcode",
    "write_pulses",
]
