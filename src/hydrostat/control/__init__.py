"""Controllers and planners: they turn a task into the control of a robot's actuators.

A `Controller` is made in one line, attached to a system, and asked once a step. `commands` are motions of muscular arms
and `gaits` of whole bodies; the others follow plans of legs and tendons.
"""

from hydrostat.control import commands, gaits
from hydrostat.control.agents import MESSAGES_PER_TICK, NUMBERS_DOWN, NUMBERS_UP
from hydrostat.control.base import Constant, Controller, Idle, Recipe
from hydrostat.control.combining import Combined, Then
from hydrostat.control.computed_torque import ComputedTorque, Plan, inverse_dynamics_along, plan_of, with_payload
from hydrostat.control.functions import FunctionController, controller
from hydrostat.control.leg_motions import even_motion, outside_stroke, poses_by_actuators
from hydrostat.control.paths import PAPER_PATHS, Curve, curve_through, distances_to, read_points, smooth_pace
from hydrostat.control.platforms import Platforms, milliseconds_per_tick, tracking_law
from hydrostat.control.profiles import Profile, minimum_jerk, scurve, trapezoid
from hydrostat.control.resolved_rate import Law, Obstacle, Posture, clearances
from hydrostat.control.schedules import ScheduledTension, SmoothSchedule
from hydrostat.control.shapes import CurveFit, PoseFit, fit_curve, fit_pose
from hydrostat.control.target_switching import TargetRun, TargetTracker
from hydrostat.control.tendon_servo import TendonServo
from hydrostat.control.timing import Playback, ZeroOrderHold, at_rate, steps_per_decision
from hydrostat.control.tip_goals import TipGoals, plan_tip_goals
from hydrostat.control.tracking import Tracked, follow, switch
from hydrostat.control.wire_motion import WireMotion, constant_speed_motion, smooth_motion, stepped_motion

__all__ = [
    "MESSAGES_PER_TICK",
    "NUMBERS_DOWN",
    "NUMBERS_UP",
    "PAPER_PATHS",
    "Combined",
    "ComputedTorque",
    "Constant",
    "Controller",
    "Curve",
    "CurveFit",
    "FunctionController",
    "Idle",
    "Law",
    "Obstacle",
    "Plan",
    "Platforms",
    "Playback",
    "PoseFit",
    "Posture",
    "Profile",
    "Recipe",
    "ScheduledTension",
    "SmoothSchedule",
    "TargetRun",
    "TargetTracker",
    "TendonServo",
    "Then",
    "TipGoals",
    "Tracked",
    "WireMotion",
    "ZeroOrderHold",
    "at_rate",
    "clearances",
    "commands",
    "constant_speed_motion",
    "controller",
    "curve_through",
    "distances_to",
    "even_motion",
    "fit_curve",
    "fit_pose",
    "follow",
    "gaits",
    "inverse_dynamics_along",
    "milliseconds_per_tick",
    "minimum_jerk",
    "outside_stroke",
    "plan_of",
    "plan_tip_goals",
    "poses_by_actuators",
    "read_points",
    "scurve",
    "smooth_motion",
    "smooth_pace",
    "stepped_motion",
    "steps_per_decision",
    "switch",
    "tracking_law",
    "trapezoid",
    "with_payload",
]
