"""The scenarios of octopuses in open water, with their keys."""

from dataclasses import replace

from hydrostat.robots.checks import check_octopus
from hydrostat.scenarios.catalogue.animal_checks import check_arms
from hydrostat.scenarios.catalogue.octopus import ANIMAL_KEYS, OCTOPUSES
from hydrostat.scenarios.keys import Key, Scenario

_SWIM_KEYS = (*ANIMAL_KEYS[:-1], Key("dt_ms", 10.0, "ms", "time step", above=0.0, most=100.0))

_BUOYANCY = Key(
    "buoyancy",
    0.0,
    "",
    "share of its weight in water that is made up for; 0: none, as octopuses have no swim bladder; 1: it floats",
    least=0.0,
    most=2.0,
)
_BEAT_KEYS = (
    Key("ratio", 3.0, "", "how much faster arms close than they open", above=0.0, most=20.0),
    Key("period_s", 1.0, "s", "of a beat", above=0.01, most=100.0),
    Key("swing", 0.15, "", "activation that opens and closes arms", least=0.0, most=1.0),
    Key("stiffen", 0.3, "", "activation of all muscles besides, the radial ones twice as much", least=0.0, most=0.5),
    Key("swing_to", 0.35, "", "up to where arms swing by themselves, as a fraction of them", above=0.0, most=1.0),
)
_STRONG_BEAT = {"ratio": 1.2, "period_s": 0.18, "swing": 0.53, "stiffen": 0.32, "swing_to": 0.185}
_STRONG_BEAT_KEYS = tuple(replace(key, default=_STRONG_BEAT[key.name]) for key in _BEAT_KEYS)
"""A beat whose thrust carries the octopus' weight in water several times over: that of `gaits.Swim`."""
_SMALL_BEAT_KEYS = tuple(replace(key, default=0.02) if key.name == "swing" else key for key in _BEAT_KEYS)
_FLOAT_KEYS = (
    *_BEAT_KEYS,
    ANIMAL_KEYS[0],
    replace(ANIMAL_KEYS[1], default=5.0),
    Key("dt_ms", 5.0, "ms", "time step", above=0.0, most=100.0),
)

SWIMMING_SCENARIOS = (
    Scenario(
        name="octopus-swim",
        summary="an octopus swims: all arms open slowly and close fast, unequally where it steers",
        robot="octopus_swimmer",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_swim:swim",
        check_settings=check_arms,
        keys=(
            Key("seconds", 20.0, "s", "how long", above=0.0, most=1000.0),
            Key("closed_loop", True, "", "whether it senses its orientation, and steers"),
            Key(
                "turn_deg",
                90.0,
                "deg",
                "how far its second course leans from the vertical; 90: level",
                least=0.0,
                most=170.0,
            ),
            Key("azimuth_deg", 10.0, "deg", "where to", least=-360.0, most=360.0),
            _BUOYANCY,
            *_STRONG_BEAT_KEYS,
            *_SWIM_KEYS[:-1],
            Key(
                "momentum",
                False,
                "",
                "whether the momentum of two beats is compared with the impulse of water and weight",
            ),
            replace(_SWIM_KEYS[-1], default=5.0),
        ),
    ),
    Scenario(
        name="octopus-tethered",
        summary="the thrust of an octopus that beats its arms with its body held",
        robot="octopus_swimmer",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_thrust:tethered",
        check_settings=check_arms,
        keys=(
            Key("beats", 3, "", "how many beats; the last one is measured", least=1, most=1000),
            Key("stiffness", 100.0, "", "how many times as strong arms and muscles are", least=0.01, most=1e4),
            Key("sweep", False, "", "whether to measure curves over ratio, frequency and stiffness besides"),
            _BUOYANCY,
            *_SMALL_BEAT_KEYS,
            *_SWIM_KEYS,
        ),
    ),
    Scenario(
        name="octopus-float",
        summary="an octopus beats its arms in empty space: its momentum must stay",
        robot="octopus_swimmer",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_float:floating",
        check_settings=check_arms,
        keys=(
            Key("seconds", 2.0, "s", "how long", above=0.0, most=1000.0),
            *_FLOAT_KEYS,
        ),
    ),
    Scenario(
        name="octopus-jet",
        summary="an octopus escapes by pressing water out of its mantle, beside the same without the jet",
        robot="octopus_swimmer",
        accepts=OCTOPUSES,
        check_robot=check_octopus,
        limbed=True,
        live=1,
        function="hydrostat.scenarios.octopus_jet:jet",
        check_settings=check_arms,
        keys=(
            Key("bursts", 3, "", "how many", least=1, most=100),
            Key("volume_ml", 40.0, "ml", "water in a full mantle", above=0.0, most=1e4),
            Key("nozzle_mm2", 60.0, "mm2", "opening of the funnel", above=0.0, most=1e4),
            Key("burst_s", 0.25, "s", "in which the mantle empties", above=0.01, most=100.0),
            Key("refill_s", 0.75, "s", "in which it fills again", above=0.01, most=100.0),
            Key("delay_s", 0.5, "s", "before the first burst, while arms close", least=0.0, most=100.0),
            Key("close", 0.1, "", "activation that closes arms", least=0.0, most=1.0),
            Key("stiffen", 0.3, "", "activation of all muscles besides", least=0.0, most=0.5),
            _BUOYANCY,
            *_SWIM_KEYS,
        ),
    ),
)
"""The scenarios in the order of `hydrostat list`."""
