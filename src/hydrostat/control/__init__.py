"""Controllers and planners: they turn a task into the control of a robot's actuators.

A `Controller` is made in one line, attached to a system, and asked once a step. `commands` are motions of muscular arms
and `gaits` of whole bodies; the others follow plans of legs and tendons.
"""

from hydrostat.control import commands, gaits, hierarchy, wire_errors
from hydrostat.control.agent_links import Links, follow_by_links
from hydrostat.control.authors import AuthorsRun, AuthorsTracker, euler_angles
from hydrostat.control.base import Constant, Controller, Idle, Recipe
from hydrostat.control.combining import Combined, Then
from hydrostat.control.computed_torque import ComputedTorque
from hydrostat.control.feedback import KnownArm
from hydrostat.control.fin_allocation import FinAllocation
from hydrostat.control.functions import FunctionController, controller
from hydrostat.control.leg_demand import Plan, inverse_dynamics_along, plan_of, with_payload
from hydrostat.control.leg_motions import even_motion, outside_stroke, poses_by_actuators
from hydrostat.control.limb_pilot import LimbPilot, LimbPilots, PilotMemory, Press, pointed_at, tip_force
from hydrostat.control.paths import PAPER_PATHS, SPIRAL, Curve, curve_through, distances_to, smooth_pace
from hydrostat.control.platforms import Platforms, milliseconds_per_tick, tracking_law
from hydrostat.control.profiles import Profile, minimum_jerk, scurve, trapezoid
from hydrostat.control.resolved_rate import Law, Obstacle, Posture, clearances
from hydrostat.control.schedules import LimbSchedule, ScheduledLoad, ScheduledTension, SmoothSchedule
from hydrostat.control.shapes import CurveFit, PoseFit, configuration, fit_curve, fit_pose, space_curve
from hydrostat.control.target_switching import TargetRun, TargetTracker
from hydrostat.control.targets import distance_left, targets_before
from hydrostat.control.tendon_plans import TendonPlan, TipTask, plan_tension, rest_under
from hydrostat.control.tendon_servo import Gaze, TendonServo, make_course, make_gaze, pointing_error
from hydrostat.control.timelines import Ramp, Timeline
from hydrostat.control.timing import Playback, ZeroOrderHold, at_rate, steps_per_decision
from hydrostat.control.tip_goals import TipGoals, hold_goal, plan_tip_goals
from hydrostat.control.tracking import Tracked, follow, switch
from hydrostat.control.vehicle import PilotState, VehiclePilot
from hydrostat.control.wire_loads import LoadedShape, loaded_shape
from hydrostat.control.wire_motion import (
    MOTIONS,
    WireModel,
    WireMotion,
    bend_vectors,
    bends_of_angles,
    constant_speed_motion,
    rotation_vectors,
    smooth_motion,
    stepped_motion,
    three_motions,
)
from hydrostat.control.wire_sweeps import check_wire_speed, speed_jump, sweep_errors, sweep_motion
from hydrostat.control.wrapping import WrapPlan, plan_wrap
from hydrostat.tables import read_points

__all__ = [
    "MOTIONS",
    "PAPER_PATHS",
    "SPIRAL",
    "AuthorsRun",
    "AuthorsTracker",
    "Combined",
    "ComputedTorque",
    "Constant",
    "Controller",
    "Curve",
    "CurveFit",
    "FinAllocation",
    "FunctionController",
    "Gaze",
    "Idle",
    "KnownArm",
    "Law",
    "LimbPilot",
    "LimbPilots",
    "LimbSchedule",
    "Links",
    "LoadedShape",
    "Obstacle",
    "PilotMemory",
    "PilotState",
    "Plan",
    "Platforms",
    "Playback",
    "PoseFit",
    "Posture",
    "Press",
    "Profile",
    "Ramp",
    "Recipe",
    "ScheduledLoad",
    "ScheduledTension",
    "SmoothSchedule",
    "TargetRun",
    "TargetTracker",
    "TendonPlan",
    "TendonServo",
    "Then",
    "Timeline",
    "TipGoals",
    "TipTask",
    "Tracked",
    "VehiclePilot",
    "WireModel",
    "WireMotion",
    "WrapPlan",
    "ZeroOrderHold",
    "at_rate",
    "bend_vectors",
    "bends_of_angles",
    "check_wire_speed",
    "clearances",
    "commands",
    "configuration",
    "constant_speed_motion",
    "controller",
    "curve_through",
    "distance_left",
    "distances_to",
    "euler_angles",
    "even_motion",
    "fit_curve",
    "fit_pose",
    "follow",
    "follow_by_links",
    "gaits",
    "hierarchy",
    "hold_goal",
    "inverse_dynamics_along",
    "loaded_shape",
    "make_course",
    "make_gaze",
    "milliseconds_per_tick",
    "minimum_jerk",
    "outside_stroke",
    "plan_of",
    "plan_tension",
    "plan_tip_goals",
    "plan_wrap",
    "pointed_at",
    "pointing_error",
    "poses_by_actuators",
    "read_points",
    "rest_under",
    "rotation_vectors",
    "scurve",
    "smooth_motion",
    "smooth_pace",
    "space_curve",
    "speed_jump",
    "stepped_motion",
    "steps_per_decision",
    "sweep_errors",
    "sweep_motion",
    "switch",
    "targets_before",
    "three_motions",
    "tip_force",
    "tracking_law",
    "trapezoid",
    "wire_errors",
    "with_payload",
]
