"""The scenarios of whole octopuses, with their keys."""

from hydrostat.robots.checks import check_octopus
from hydrostat.scenarios.base import Key, Scenario

_OCTOPUSES = "robots with equal muscular arms on a body, such as octopus"

_ANIMAL_KEYS = (
    Key("lost_arms", (), "", "arms that it has lost, by their numbers", least=1, most=16, most_entries=16),
    Key("muscle_noise_percent", 0.0, "%", "error of the muscles' gains, one drawn for each", least=0.0, most=100.0),
    Key("arm_contact", True, "", "whether arms touch themselves and each other"),
    Key("dt_ms", 5.0, "ms", "time step", above=0.0, most=100.0),
)

OCTOPUS_SCENARIOS = (
    Scenario(
        name="octopus-crawl",
        summary="an octopus crawls: arms behind it shorten, take hold of the ground and push, with suckers and without",
        robot="octopus",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus:crawl",
        keys=(
            Key("direction_deg", 0.0, "deg", "where to, from the x axis", least=-360.0, most=360.0),
            Key("strokes", 4, "", "how many strokes", least=1, most=1000),
            *_ANIMAL_KEYS,
        ),
    ),
)
