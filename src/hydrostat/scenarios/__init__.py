"""Scenarios: what `hydrostat run` runs."""

from hydrostat.scenarios.base import Outcome, Progress, Run
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario
from hydrostat.scenarios.keys import Key, Scenario
from hydrostat.scenarios.runner import run_scenario

__all__ = ["SCENARIOS", "Key", "Outcome", "Progress", "Run", "Scenario", "find_scenario", "run_scenario"]
