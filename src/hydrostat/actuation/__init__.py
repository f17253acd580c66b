"""Actuators: tendons and wires with the stepper motors that pull them, the legs of platforms, and muscles."""

from hydrostat.actuation.fatigue import Fatigue
from hydrostat.actuation.gcode import AXES, write_gcode, write_gcode_files
from hydrostat.actuation.legs import Legs, leg_forces, leg_rates, make_legs, radial_forces, rest_poses
from hydrostat.actuation.limb_tendons import (
    TendonPull,
    TendonShape,
    arc_coordinates,
    arcs_of,
    coordinates_of,
    least_pull,
    shape_from_tendon_lengths,
    shape_under_lengths,
    shape_under_tensions,
    tensions_for_shape,
)
from hydrostat.actuation.muscles import HydrostatMuscles, NeoHookean, make_muscles, make_tissue
from hydrostat.actuation.pistons import PistonMuscles, Springs, Telescopes, make_pistons
from hydrostat.actuation.pulses import PulseTrain, pulse_trains, pulses_at, write_pulses
from hydrostat.actuation.steppers import Stepper
from hydrostat.actuation.tendons import Tendons, hard_length, soft_length
from hydrostat.actuation.wire_shapes import WireShape, shape_from_lengths

__all__ = [
    "AXES",
    "Fatigue",
    "HydrostatMuscles",
    "Legs",
    "NeoHookean",
    "PistonMuscles",
    "PulseTrain",
    "Springs",
    "Stepper",
    "Telescopes",
    "TendonPull",
    "TendonShape",
    "Tendons",
    "WireShape",
    "arc_coordinates",
    "arcs_of",
    "coordinates_of",
    "hard_length",
    "least_pull",
    "leg_forces",
    "leg_rates",
    "make_legs",
    "make_muscles",
    "make_pistons",
    "make_tissue",
    "pulse_trains",
    "pulses_at",
    "radial_forces",
    "rest_poses",
    "shape_from_lengths",
    "shape_from_tendon_lengths",
    "shape_under_lengths",
    "shape_under_tensions",
    "soft_length",
    "tensions_for_shape",
    "write_gcode",
    "write_gcode_files",
    "write_pulses",
]
