"""Scenarios: what `hydrostat run` runs."""

from hydrostat.scenarios.base import Key, Outcome, Run, Scenario
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario
from hydrostat.scenarios.runner import run_scenario

__all__ = ["SCENARIOS", "Key", "Outcome", "Run", "Scenario", "find_scenario", "run_scenario"]
