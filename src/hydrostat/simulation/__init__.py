"""Motions made of many steps: pure rollouts, runs of the host with progress and recording, and the control loop."""

from hydrostat.simulation.motions import Motion, find_motion
from hydrostat.simulation.ongoing import Ongoing
from hydrostat.simulation.real_time import RealTime
from hydrostat.simulation.rollout import rollout
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.simulation.simulate import simulate
from hydrostat.simulation.step_cost import TimedRun, time_steps
from hydrostat.simulation.together import compile_pieces, side_by_side

__all__ = [
    "Motion",
    "Ongoing",
    "RealTime",
    "Simulation",
    "TimedRun",
    "compile_pieces",
    "find_motion",
    "rollout",
    "side_by_side",
    "simulate",
    "time_steps",
]
