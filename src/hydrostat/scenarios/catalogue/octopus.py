"""The scenarios of octopuses on the ground, with their keys."""

from dataclasses import replace

from hydrostat.robots.checks import check_octopus
from hydrostat.scenarios.catalogue.animal_checks import check_arms, check_crawl, check_waypoints
from hydrostat.scenarios.catalogue.fatigue import FATIGUE_KEYS
from hydrostat.scenarios.keys import Key, Scenario

OCTOPUSES = "robots with equal muscular arms on a body, such as octopus"
"""Which robots the scenarios of whole octopuses accept."""
ANIMAL_KEYS = (
    Key("lost_arms", (), "", "arms that it has lost, by their numbers", least=1, most=16, most_entries=16),
    Key("muscle_noise_percent", 0.0, "%", "error of the muscles' gains, one drawn for each", least=0.0, most=100.0),
    Key("added_mass", True, "", "whether the water that arms and body push aside adds to the mass of what moves"),
    Key("arm_contact", True, "", "whether arms touch themselves and each other"),
    Key("dt_ms", 5.0, "ms", "time step", above=0.0, most=100.0),
)
"""Keys that all of them have."""
SUCKERS = Key(
    "failed_suckers", (), "", "arms whose suckers do not hold, by their numbers", least=1, most=16, most_entries=16
)
"""The key of those on the ground."""
_GAIT = Key(
    "gait",
    "push",
    "",
    "arms behind push together, as animals do; the paper's way: bend; every other arm by turns, some always holding: "
    "alternate; or so with the paper's suckers, at the segments 17 to 19: outer",
    options=("push", "bend", "alternate", "outer"),
)
_HIERARCHY = (
    Key("hierarchy", False, "", "whether a brain sends messages to the arms, which do the rest themselves and report"),
    Key("nerve_delay_ms", 0.0, "ms", "time of conduction between brain and arms, each way", least=0.0, most=500.0),
    Key("message_loss", 0.0, "", "probability that a message or a report is lost", least=0.0, most=0.9),
)

OCTOPUS_SCENARIOS = (
    Scenario(
        name="octopus-crawl",
        summary="an octopus crawls: arms ahead pull and arms behind push by turns, with suckers and without",
        robot="octopus",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_crawl:crawl",
        check_settings=check_crawl,
        keys=(
            Key(
                "direction_deg",
                10.0,
                "deg",
                "where to, from the x axis; at multiples of 22.5 arms mirror each other, and errors of heading cancel",
                least=-360.0,
                most=360.0,
            ),
            replace(_GAIT, default="alternate"),
            Key("strokes", 4, "", "how many strokes at most", least=1, most=1000),
            Key("distance_mm", 0.0, "mm", "how far; 0: as far as its strokes take it", least=0.0, most=1e5),
            Key("speed_mm_s", 0.0, "mm/s", "how fast; 0: as fast as it can", least=0.0, most=1e3),
            Key("closed_loop", True, "", "whether the pose is observed before each stroke"),
            *_HIERARCHY,
            Key("current_m_s", 0.0, "m/s", "speed of the water", least=0.0, most=5.0),
            Key(
                "current_deg",
                180.0,
                "deg",
                "where the water flows to, from the direction of crawling; 180: against it",
                least=-360.0,
                most=360.0,
            ),
            SUCKERS,
            *ANIMAL_KEYS,
            *FATIGUE_KEYS,
        ),
    ),
    Scenario(
        name="octopus-walk-path",
        summary="an octopus crawls along waypoints, and observes its pose before every stroke",
        robot="octopus",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_walk:walk_path",
        check_settings=check_waypoints,
        keys=(
            Key("path_file", "", "", "CSV with waypoints x, y or x, y, z in m; else a square"),
            Key("side_m", 1.0, "m", "side of the square", above=0.01, most=100.0),
            _GAIT,
            Key("pose_noise_mm", 0.0, "mm", "error of each observation of the position", least=0.0, most=1e3),
            Key("heading_noise_deg", 0.0, "deg", "error of each observation of the heading", least=0.0, most=180.0),
            Key("pose_rate_hz", 0.0, "Hz", "rate of its observations; 0: at every step", least=0.0, most=1e5),
            Key("pose_delay_s", 0.0, "s", "how old what it sees is", least=0.0, most=10.0),
            Key("pose_dropout", 0.0, "", "share of observations that fail", least=0.0, most=0.99),
            SUCKERS,
            *ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-turn",
        summary="an octopus turns on the spot: all arms bend, take hold of the ground and bend the other way",
        robot="octopus",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_stay:turn",
        check_settings=check_arms,
        keys=(
            Key("turn_deg", 90.0, "deg", "how far, to the left where positive", least=-720.0, most=720.0),
            Key("strokes", 14, "", "how many strokes at most", least=1, most=1000),
            Key("closed_loop", True, "", "whether the heading is observed before each stroke"),
            SUCKERS,
            *ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-stand",
        summary="an octopus stands in a current, held by its suckers, and beside it without them",
        robot="octopus",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=2,
        function="hydrostat.scenarios.octopus_stay:stand",
        check_settings=check_arms,
        keys=(
            Key("seconds", 5.0, "s", "how long", above=0.0, most=1000.0),
            Key("current_m_s", 0.2, "m/s", "speed of the water", least=0.0, most=5.0),
            Key("azimuth_deg", 10.0, "deg", "where the water flows to", least=-360.0, most=360.0),
            SUCKERS,
            *ANIMAL_KEYS,
        ),
    ),
)
"""The scenarios in the order of `hydrostat list`."""
