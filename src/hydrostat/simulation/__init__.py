"""Motions made of many steps: pure rollouts, runs of the host with progress and recording, and the control loop."""

from hydrostat.simulation.real_time import RealTime
from hydrostat.simulation.rollout import rollout
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.simulation.simulate import simulate

__all__ = ["RealTime", "Simulation", "rollout", "simulate"]
