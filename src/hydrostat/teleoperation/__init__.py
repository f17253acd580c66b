"""Teleoperation of a limb over a poor link, by a local model that answers at once and learns from what comes back.

The operator's side and the robot's side are two processes that exchange authenticated packets over UDP. See the page
on teleoperation for the protocol, its security and the law of adaptation.
"""

import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydrostat.teleoperation.adaptation import BallEstimate, Face, FaceEstimate, LimbEstimate, RoundObstacle
    from hydrostat.teleoperation.channel import Link, LinkConditions, bits_per_second
    from hydrostat.teleoperation.clocks import Clock, RealClock, SharedClock, SharedTime
    from hydrostat.teleoperation.driving import Driving, start_side
    from hydrostat.teleoperation.endpoint import Endpoint, check_door
    from hydrostat.teleoperation.experiment import Rows, SideError, run_experiment
    from hydrostat.teleoperation.eyes import Eyes, eyes_pose
    from hydrostat.teleoperation.gamepad import GamepadPage, velocity_of
    from hydrostat.teleoperation.hands import RECORDED_MOTION, HapticDevice, VirtualHand, intended
    from hydrostat.teleoperation.limbs import Limb, find_limb
    from hydrostat.teleoperation.measures import Measures, measure_episode
    from hydrostat.teleoperation.messages import VERSION, Ball, Command, Heartbeat, Obstacle, Report
    from hydrostat.teleoperation.operator_side import LinkHealth, OperatorSide
    from hydrostat.teleoperation.packets import DROPPED, Counters, Opened
    from hydrostat.teleoperation.page import TeleopPage
    from hydrostat.teleoperation.page_device import PageDevice
    from hydrostat.teleoperation.playout import Playout
    from hydrostat.teleoperation.processes import Episode, SideSettings
    from hydrostat.teleoperation.robot_side import RobotSide
    from hydrostat.teleoperation.simulated import DT, TICK, LimbView, SimulatedLimb

__all__ = [
    "DROPPED",
    "DT",
    "RECORDED_MOTION",
    "TICK",
    "VERSION",
    "Ball",
    "BallEstimate",
    "Clock",
    "Command",
    "Counters",
    "Driving",
    "Endpoint",
    "Episode",
    "Eyes",
    "Face",
    "FaceEstimate",
    "GamepadPage",
    "HapticDevice",
    "Heartbeat",
    "Limb",
    "LimbEstimate",
    "LimbView",
    "Link",
    "LinkConditions",
    "LinkHealth",
    "Measures",
    "Obstacle",
    "Opened",
    "OperatorSide",
    "PageDevice",
    "Playout",
    "RealClock",
    "Report",
    "RobotSide",
    "RoundObstacle",
    "Rows",
    "SharedClock",
    "SharedTime",
    "SideError",
    "SideSettings",
    "SimulatedLimb",
    "TeleopPage",
    "VirtualHand",
    "bits_per_second",
    "check_door",
    "eyes_pose",
    "find_limb",
    "intended",
    "measure_episode",
    "run_experiment",
    "start_side",
    "velocity_of",
]

_LATER = {
    "DROPPED": "packets",
    "DT": "simulated",
    "RECORDED_MOTION": "hands",
    "TICK": "simulated",
    "VERSION": "messages",
    "Ball": "messages",
    "BallEstimate": "adaptation",
    "Clock": "clocks",
    "Command": "messages",
    "Counters": "packets",
    "Driving": "driving",
    "Endpoint": "endpoint",
    "Episode": "processes",
    "Eyes": "eyes",
    "Face": "adaptation",
    "FaceEstimate": "adaptation",
    "GamepadPage": "gamepad",
    "HapticDevice": "hands",
    "Heartbeat": "messages",
    "Limb": "limbs",
    "LimbEstimate": "adaptation",
    "LimbView": "simulated",
    "Link": "channel",
    "LinkConditions": "channel",
    "LinkHealth": "operator_side",
    "Measures": "measures",
    "Obstacle": "messages",
    "Opened": "packets",
    "OperatorSide": "operator_side",
    "PageDevice": "page_device",
    "Playout": "playout",
    "RealClock": "clocks",
    "Report": "messages",
    "RobotSide": "robot_side",
    "RoundObstacle": "adaptation",
    "Rows": "experiment",
    "SharedClock": "clocks",
    "SharedTime": "clocks",
    "SideError": "experiment",
    "SideSettings": "processes",
    "SimulatedLimb": "simulated",
    "TeleopPage": "page",
    "VirtualHand": "hands",
    "bits_per_second": "channel",
    "check_door": "endpoint",
    "eyes_pose": "eyes",
    "find_limb": "limbs",
    "intended": "hands",
    "measure_episode": "measures",
    "run_experiment": "experiment",
    "start_side": "driving",
    "velocity_of": "gamepad",
}


def __getattr__(name: str):
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.teleoperation.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.teleoperation' has no attribute '{name}'")
