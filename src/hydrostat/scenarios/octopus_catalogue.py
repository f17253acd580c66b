"""The scenarios of whole octopuses, with their keys."""

from dataclasses import replace

from hydrostat.robots.checks import check_octopus
from hydrostat.scenarios.base import Key, Scenario
from hydrostat.scenarios.own_targets import PREY_PLACES, prey_places

_OCTOPUSES = "robots with equal muscular arms on a body, such as octopus"

_ANIMAL_KEYS = (
    Key("lost_arms", (), "", "arms that it has lost, by their numbers", least=1, most=16, most_entries=16),
    Key("muscle_noise_percent", 0.0, "%", "error of the muscles' gains, one drawn for each", least=0.0, most=100.0),
    Key("arm_contact", True, "", "whether arms touch themselves and each other"),
    Key("dt_ms", 5.0, "ms", "time step", above=0.0, most=100.0),
)
_SUCKERS = Key(
    "failed_suckers", (), "", "arms whose suckers do not hold, by their numbers", least=1, most=16, most_entries=16
)
_SWIM_KEYS = (*_ANIMAL_KEYS[:-1], Key("dt_ms", 10.0, "ms", "time step", above=0.0, most=100.0))

_GAIT = Key("gait", "push", "", "biology's way: shorten and push; the paper's: bend", options=("push", "bend"))

_BEAT_KEYS = (
    Key("ratio", 3.0, "", "how much faster arms close than they open", above=0.0, most=20.0),
    Key("period_s", 1.0, "s", "of a beat", above=0.01, most=100.0),
    Key("swing", 0.15, "", "activation that opens and closes arms", least=0.0, most=1.0),
    Key("stiffen", 0.3, "", "activation of all muscles besides, the radial ones twice as much", least=0.0, most=0.5),
    Key("swing_to", 0.35, "", "up to where arms swing by themselves, as a fraction of them", above=0.0, most=1.0),
)
_SMALL_BEAT_KEYS = tuple(replace(key, default=0.02) if key.name == "swing" else key for key in _BEAT_KEYS)
_FLOAT_KEYS = (
    *_BEAT_KEYS,
    _ANIMAL_KEYS[0],
    replace(_ANIMAL_KEYS[1], default=5.0),
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
        function="hydrostat.scenarios.octopus_crawl:crawl",
        keys=(
            Key("direction_deg", 0.0, "deg", "where to, from the x axis", least=-360.0, most=360.0),
            _GAIT,
            Key("strokes", 4, "", "how many strokes at most", least=1, most=1000),
            Key("distance_mm", 0.0, "mm", "how far; 0: as far as its strokes take it", least=0.0, most=1e5),
            Key("speed_mm_s", 0.0, "mm/s", "how fast; 0: as fast as it can", least=0.0, most=1e3),
            Key("closed_loop", False, "", "whether it looks before each stroke where it is"),
            _SUCKERS,
            *_ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-swim",
        summary="an octopus swims: all arms open slowly and close fast, unequally where it steers",
        robot="octopus_swimmer",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_swim:swim",
        keys=(
            Key("seconds", 20.0, "s", "how long", above=0.0, most=1000.0),
            Key("closed_loop", True, "", "whether it feels how it is turned, and steers"),
            Key("turn_deg", 90.0, "deg", "how far its second course leans from the first", least=0.0, most=170.0),
            Key("azimuth_deg", 0.0, "deg", "where to", least=-360.0, most=360.0),
            *_BEAT_KEYS,
            *_SWIM_KEYS,
        ),
    ),
    Scenario(
        name="octopus-tethered",
        summary="the thrust of an octopus that beats its arms with its body held",
        robot="octopus_swimmer",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_swim:tethered",
        keys=(
            Key("beats", 3, "", "how many beats; the last one is measured", least=1, most=1000),
            Key("stiffness", 100.0, "", "how many times as strong arms and muscles are", least=0.01, most=1e4),
            *_SMALL_BEAT_KEYS,
            *_SWIM_KEYS,
        ),
    ),
    Scenario(
        name="octopus-float",
        summary="an octopus beats its arms in empty space: its momentum must stay",
        robot="octopus_swimmer",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_float:floating",
        keys=(
            Key("seconds", 2.0, "s", "how long", above=0.0, most=1000.0),
            *_FLOAT_KEYS,
        ),
    ),
    Scenario(
        name="octopus-walk-path",
        summary="an octopus crawls along waypoints, and looks before every stroke where it is",
        robot="octopus",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_walk:walk_path",
        keys=(
            Key("path_file", "", "", "CSV with waypoints x, y or x, y, z in m; else a square"),
            Key("side_m", 1.0, "m", "side of the square", above=0.01, most=100.0),
            _GAIT,
            Key("pose_noise_mm", 0.0, "mm", "error of each look at where it is", least=0.0, most=1e3),
            Key("heading_noise_deg", 0.0, "deg", "error of each look at how it is turned", least=0.0, most=180.0),
            Key("pose_rate_hz", 0.0, "Hz", "how often it looks; 0: at every step", least=0.0, most=1e5),
            Key("pose_delay_s", 0.0, "s", "how old what it sees is", least=0.0, most=10.0),
            Key("pose_dropout", 0.0, "", "share of looks that fail", least=0.0, most=0.99),
            _SUCKERS,
            *_ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-forage",
        summary="an octopus crawls to its prey, takes it with one arm and brings it to its mouth",
        robot="octopus",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_forage:forage",
        check_settings=prey_places,
        keys=(
            PREY_PLACES,
            Key("placements", 10, "", "how many times, each with its prey elsewhere", least=1, most=1000),
            Key("distance_m", (0.3, 0.5), "m", "from where to where prey lies", least=0.2, most=10.0),
            Key("prey_g", 5.0, "g", "its mass", above=0.01, most=50.0),
            Key("prey_density", 1300.0, "kg/m3", "its density", above=0.0, most=2e4),
            _SUCKERS,
            *_ANIMAL_KEYS[:-1],
            replace(_ANIMAL_KEYS[-1], default=2.5),
        ),
    ),
    Scenario(
        name="octopus-turn",
        summary="an octopus turns on the spot: all arms bend, take hold of the ground and become straight",
        robot="octopus",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_stay:turn",
        keys=(
            Key("turn_deg", 90.0, "deg", "how far, to the left where positive", least=-720.0, most=720.0),
            Key("strokes", 14, "", "how many strokes at most", least=1, most=1000),
            Key("closed_loop", True, "", "whether it looks before each stroke how far it is turned"),
            _SUCKERS,
            *_ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-stand",
        summary="an octopus stands in a current, held by its suckers, and beside it without them",
        robot="octopus",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_stay:stand",
        keys=(
            Key("seconds", 5.0, "s", "how long", above=0.0, most=1000.0),
            Key("current_m_s", 0.2, "m/s", "speed of the water", least=0.0, most=5.0),
            Key("azimuth_deg", 0.0, "deg", "where the water flows to", least=-360.0, most=360.0),
            _SUCKERS,
            *_ANIMAL_KEYS,
        ),
    ),
    Scenario(
        name="octopus-jet",
        summary="an octopus escapes by pressing water out of its mantle, beside the same without the jet",
        robot="octopus_swimmer",
        accepts=_OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        function="hydrostat.scenarios.octopus_jet:jet",
        keys=(
            Key("bursts", 3, "", "how many", least=1, most=100),
            Key("volume_ml", 40.0, "ml", "water in a full mantle", above=0.0, most=1e4),
            Key("nozzle_mm2", 60.0, "mm2", "opening of the funnel", above=0.0, most=1e4),
            Key("burst_s", 0.25, "s", "in which the mantle empties", above=0.01, most=100.0),
            Key("refill_s", 0.75, "s", "in which it fills again", above=0.01, most=100.0),
            Key("delay_s", 0.5, "s", "before the first burst, while arms close", least=0.0, most=100.0),
            Key("close", 0.1, "", "activation that closes arms", least=0.0, most=1.0),
            Key("stiffen", 0.3, "", "activation of all muscles besides", least=0.0, most=0.5),
            *_SWIM_KEYS,
        ),
    ),
)
