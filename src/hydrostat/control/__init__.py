"""Controllers and planners: what a robot is to do, turned into what its actuators do.

A `Controller` is made in one line, attached to a system, and asked once a step. `commands` are motions of muscular arms
and `gaits` of whole bodies; the others follow plans of legs and tendons.
"""

from hydrostat.control import commands, gaits, wire_errors
from hydrostat.control.base import Constant, Controller, Idle, Recipe
from hydrostat.control.combining import Combined, Then
from hydrostat.control.computed_torque import ComputedTorque
from hydrostat.control.feedback import KnownArm
from hydrostat.control.functions import FunctionController, controller
from hydrostat.control.limb_pilot import LimbPilot, PilotMemory, Press, aim_points, tip_force
from hydrostat.control.paths import read_points, smooth_pace
from hydrostat.control.profiles import Profile, scurve, trapezoid
from hydrostat.control.resolved_rate import Law, Obstacle, Posture
from hydrostat.control.shapes import CurveFit, PoseFit, configuration, fit_curve, fit_pose, space_curve
from hydrostat.control.tendon_plans import TendonPlan, TipTask, plan_tension, rest_under
from hydrostat.control.tendon_servo import Gaze, TendonServo, make_course, make_gaze, pointing_error
from hydrostat.control.timelines import Ramp, Timeline
from hydrostat.control.timing import Playback, ZeroOrderHold, at_rate, steps_per_decision
from hydrostat.control.tracking import follow, switch
from hydrostat.control.wire_motion import (
    MOTIONS,
    WireModel,
    WireMotion,
    bend_vectors,
    bends_of_angles,
    constant_speed_motion,
    smooth_motion,
    stepped_motion,
    three_motions,
)

__all__ = [
    "MOTIONS",
    "Combined",
    "ComputedTorque",
    "Constant",
    "Controller",
    "CurveFit",
    "FunctionController",
    "Gaze",
    "Idle",
    "KnownArm",
    "Law",
    "LimbPilot",
    "Obstacle",
    "PilotMemory",
    "Playback",
    "PoseFit",
    "Posture",
    "Press",
    "Profile",
    "Ramp",
    "Recipe",
    "TendonPlan",
    "TendonServo",
    "Then",
    "Timeline",
    "TipTask",
    "WireModel",
    "WireMotion",
    "ZeroOrderHold",
    "aim_points",
    "at_rate",
    "bend_vectors",
    "bends_of_angles",
    "commands",
    "configuration",
    "constant_speed_motion",
    "controller",
    "fit_curve",
    "fit_pose",
    "follow",
    "gaits",
    "make_course",
    "make_gaze",
    "plan_tension",
    "pointing_error",
    "read_points",
    "rest_under",
    "scurve",
    "smooth_motion",
    "smooth_pace",
    "space_curve",
    "stepped_motion",
    "steps_per_decision",
    "switch",
    "three_motions",
    "tip_force",
    "trapezoid",
    "wire_errors",
]
