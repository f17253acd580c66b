"""The scenario of the octopus that forages, with its keys."""

from dataclasses import replace

from hydrostat.robots.checks import check_octopus
from hydrostat.scenarios.catalogue.animal_checks import check_forage
from hydrostat.scenarios.catalogue.octopus import ANIMAL_KEYS, OCTOPUSES, SUCKERS
from hydrostat.scenarios.keys import Key, Scenario
from hydrostat.scenarios.own_targets import PREY_PLACES, ROCK

FORAGING_SCENARIOS = (
    Scenario(
        name="octopus-forage",
        summary="an octopus crawls to its prey, takes it with one arm and brings it to its mouth",
        robot="octopus",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_forage:forage",
        check_settings=check_forage,
        keys=(
            PREY_PLACES,
            Key("placements", 10, "", "how many times, each with its prey elsewhere", least=1, most=1000),
            Key("distance_m", (0.3, 0.5), "m", "from where to where prey lies", least=0.2, most=10.0),
            Key("prey_g", 5.0, "g", "its mass", above=0.01, most=50.0),
            Key(
                "prey_to_g",
                0.0,
                "g",
                "where above 0: masses are spread over the placements from `prey_g` to it, evenly in their logarithm",
                least=0.0,
                most=50.0,
            ),
            Key("prey_density", 1300.0, "kg/m3", "its density", above=0.0, most=2e4),
            Key("prey_flees_mm_s", 0.0, "mm/s", "speed at which it crawls away from the octopus", least=0.0, most=20.0),
            Key("current_m_s", 0.0, "m/s", "speed of the water, in which prey drifts", least=0.0, most=5.0),
            Key("current_deg", 0.0, "deg", "where the water flows to, from the x axis", least=-360.0, most=360.0),
            ROCK,
            SUCKERS,
            *ANIMAL_KEYS[:-1],
            replace(ANIMAL_KEYS[-1], default=2.5),
        ),
    ),
)
"""The scenarios in the order of `hydrostat list`."""
