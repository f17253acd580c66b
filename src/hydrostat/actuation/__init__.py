"""Actuators: tendons and wires, and the stepper motors that pull them."""

from hydrostat.actuation.steppers import Stepper
from hydrostat.actuation.tendons import Tendons, hard_length, soft_length
from hydrostat.actuation.wire_shapes import WireShape, shape_from_lengths

__all__ = ["Stepper", "Tendons", "WireShape", "hard_length", "shape_from_lengths", "soft_length"]
