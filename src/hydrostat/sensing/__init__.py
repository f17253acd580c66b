"""Sensing: the observation of the state by sensors that may be imperfect."""

from hydrostat.sensing.base import Sensor
from hydrostat.sensing.cameras import BallEstimate, Camera, Spotlight, StereoHead
from hydrostat.sensing.observation import Observation, observe, tip_poses
from hydrostat.sensing.sensors import Sensors

__all__ = [
    "BallEstimate",
    "Camera",
    "Observation",
    "Sensor",
    "Sensors",
    "Spotlight",
    "StereoHead",
    "observe",
    "tip_poses",
]
