"""The scenarios that hydrostat knows by name, with their keys; a file for each family."""

from hydrostat.errors import InputError, listed, shown
from hydrostat.scenarios.catalogue.any_robot import ANY_SCENARIOS
from hydrostat.scenarios.catalogue.arm import ARM_SCENARIOS
from hydrostat.scenarios.catalogue.finger import FINGER_SCENARIOS
from hydrostat.scenarios.catalogue.octopus import OCTOPUS_SCENARIOS
from hydrostat.scenarios.catalogue.octopus_foraging import FORAGING_SCENARIOS
from hydrostat.scenarios.catalogue.octopus_swimming import SWIMMING_SCENARIOS
from hydrostat.scenarios.catalogue.platforms import PLATFORM_SCENARIOS
from hydrostat.scenarios.catalogue.squid import SQUID_SCENARIOS
from hydrostat.scenarios.catalogue.squid_vehicle import VEHICLE_SCENARIOS
from hydrostat.scenarios.catalogue.teleoperation import TELEOPERATION_SCENARIOS
from hydrostat.scenarios.catalogue.tentacle import TENTACLE_SCENARIOS
from hydrostat.scenarios.catalogue.tracking import TRACKING_SCENARIOS
from hydrostat.scenarios.keys import Scenario

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        *TENTACLE_SCENARIOS,
        *FINGER_SCENARIOS,
        *TRACKING_SCENARIOS,
        *ARM_SCENARIOS,
        *OCTOPUS_SCENARIOS,
        *FORAGING_SCENARIOS,
        *SWIMMING_SCENARIOS,
        *PLATFORM_SCENARIOS,
        *SQUID_SCENARIOS,
        *VEHICLE_SCENARIOS,
        *TELEOPERATION_SCENARIOS,
        *ANY_SCENARIOS,
    )
}
"""All scenarios by name, in the order of `hydrostat list`."""


def find_scenario(name: str) -> Scenario:
    """The scenario of a name."""
    if name not in SCENARIOS:
        raise InputError(f"scenario must be one of {listed(SCENARIOS)}; got {shown(name)}")
    return SCENARIOS[name]
