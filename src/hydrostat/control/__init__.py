"""Controllers and planners: what an arm is to do, turned into what its actuators do."""

from hydrostat.control.profiles import Profile, scurve, trapezoid
from hydrostat.control.shapes import CurveFit, PoseFit, fit_curve, fit_pose
from hydrostat.control.wire_motion import WireMotion, constant_speed_motion, smooth_motion, stepped_motion

__all__ = [
    "CurveFit",
    "PoseFit",
    "Profile",
    "WireMotion",
    "constant_speed_motion",
    "fit_curve",
    "fit_pose",
    "scurve",
    "smooth_motion",
    "stepped_motion",
    "trapezoid",
]
