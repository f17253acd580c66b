"""Controllers and planners: they turn a task into the control of a robot's actuators.

A `Controller` is made in one line, attached to a system, and asked once a step. `commands` are motions of muscular arms
and `gaits` of whole bodies; the others follow plans of legs and tendons.
"""

from hydrostat.control import commands, gaits
from hydrostat.control.base import Constant, Controller, Idle, Recipe
from hydrostat.control.combining import Combined, Then
from hydrostat.control.computed_torque import ComputedTorque
from hydrostat.control.functions import FunctionController, controller
from hydrostat.control.profiles import Profile, minimum_jerk, scurve, trapezoid
from hydrostat.control.resolved_rate import Law, Obstacle, Posture
from hydrostat.control.shapes import CurveFit, PoseFit, fit_curve, fit_pose
from hydrostat.control.tendon_servo import TendonServo
from hydrostat.control.timing import Playback, ZeroOrderHold, at_rate, steps_per_decision
from hydrostat.control.tracking import follow, switch
from hydrostat.control.wire_motion import WireMotion, constant_speed_motion, smooth_motion, stepped_motion

__all__ = [
    "Combined",
    "ComputedTorque",
    "Constant",
    "Controller",
    "CurveFit",
    "FunctionController",
    "Idle",
    "Law",
    "Obstacle",
    "Playback",
    "PoseFit",
    "Posture",
    "Profile",
    "Recipe",
    "TendonServo",
    "Then",
    "WireMotion",
    "ZeroOrderHold",
    "at_rate",
    "commands",
    "constant_speed_motion",
    "controller",
    "fit_curve",
    "fit_pose",
    "follow",
    "gaits",
    "minimum_jerk",
    "scurve",
    "smooth_motion",
    "stepped_motion",
    "steps_per_decision",
    "switch",
    "trapezoid",
]
