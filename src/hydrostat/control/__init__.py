"""Controllers and planners: what an arm is to do, turned into what its actuators do."""

from hydrostat.control.computed_torque import ComputedTorque
from hydrostat.control.profiles import Profile, scurve, trapezoid
from hydrostat.control.resolved_rate import Law, Obstacle, Posture
from hydrostat.control.shapes import CurveFit, PoseFit, fit_curve, fit_pose
from hydrostat.control.tracking import follow, switch
from hydrostat.control.wire_motion import WireMotion, constant_speed_motion, smooth_motion, stepped_motion

__all__ = [
    "ComputedTorque",
    "CurveFit",
    "Law",
    "Obstacle",
    "PoseFit",
    "Posture",
    "Profile",
    "WireMotion",
    "constant_speed_motion",
    "fit_curve",
    "fit_pose",
    "follow",
    "scurve",
    "smooth_motion",
    "stepped_motion",
    "switch",
    "trapezoid",
]
