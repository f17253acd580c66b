"""Actuators: tendons and wires with the stepper motors that pull them, and the legs of platforms."""

from hydrostat.actuation.gcode import write_gcode
from hydrostat.actuation.legs import Legs, leg_forces, leg_rates, make_legs, rest_poses
from hydrostat.actuation.pulses import PulseTrain, pulse_trains, write_pulses
from hydrostat.actuation.steppers import Stepper
from hydrostat.actuation.tendons import Tendons, hard_length, soft_length
from hydrostat.actuation.wire_shapes import WireShape, shape_from_lengths

__all__ = [
    "Legs",
    "PulseTrain",
    "Stepper",
    "Tendons",
    "WireShape",
    "hard_length",
    "leg_forces",
    "leg_rates",
    "make_legs",
    "pulse_trains",
    "rest_poses",
    "shape_from_lengths",
    "soft_length",
    "write_gcode",
    "write_pulses",
]
