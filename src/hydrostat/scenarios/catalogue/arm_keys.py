"""What the scenarios of muscular arms have in common: their keys, and the robots they accept."""

from hydrostat.robots.checks import check_hydrostat, check_oblique
from hydrostat.robots.specs.octopus_arm import BULK_MODULUS
from hydrostat.scenarios.catalogue.animal_checks import check_muscle_law
from hydrostat.scenarios.catalogue.fatigue import FATIGUE_KEYS
from hydrostat.scenarios.keys import Key, Scenario

_HYDROSTATS = "muscular arms: robots with [muscles]"
_OBLIQUE = "muscular arms with oblique muscles: robots with [muscles] and `oblique_deg` above 0"

ARM_KEYS = (
    Key("drag", True, "", "whether water resists; buoyancy stays"),
    Key("added_mass", True, "", "whether the water that is pushed aside adds to the mass of what moves"),
    Key("volume", "exact", "", "how the arm keeps its volume: exact, the radius follows the stretch; pressure, the "
        "radius moves by itself against the bulk modulus", options=("exact", "pressure")),
    Key("bulk_modulus", BULK_MODULUS, "Pa", "of the tissue, for volume=pressure (assumed)", least=1e6, most=1e10),
    Key("muscle_law", "own", "", "what the muscles are: own, those of the robot; paper, the pistons, springs and "
        "dampers of Kang et al.", options=("own", "paper")),
    *FATIGUE_KEYS,
)  # fmt: skip


NOISE = Key("muscle_noise_percent", 0.0, "%", "error of the muscles' gains, one drawn for each", least=0.0, most=100.0)
LOAD_KEYS = (
    Key("load_density", 1100.0, "kg/m^3", "of the load", above=0.0, most=1e5),
    Key("load_at", (), "m", "where the load starts, x, y, z of its centre; empty: beneath the arm", least=-10.0,
        most=10.0, most_entries=3),
    Key("suckers", True, "", "whether suckers hold"),
    Key("self_contact", True, "", "whether the arm touches itself"),
    NOISE,
)  # fmt: skip


def current(*default: float) -> Key:
    """A current."""
    return Key("current_m_s", default, "m/s", "velocity of the water, x, y, z", least=-10.0, most=10.0)


def muscular(
    name: str,
    summary: str,
    function: str,
    *keys: Key,
    robot: str = "octopus_arm",
    dt_ms: float = 5.0,
    check_settings=lambda robot, settings: None,
) -> Scenario:
    """A motion of a muscular arm."""

    def check(spec, settings) -> None:
        check_muscle_law(spec, settings)
        check_settings(spec, settings)

    step = Key("dt_ms", dt_ms, "ms", "time step", above=0.0, most=100.0)
    return Scenario(
        name=f"arm-{name}",
        summary=summary,
        robot=robot,
        accepts=_OBLIQUE if robot == "octopus_arm_oblique" else _HYDROSTATS,
        check_robot=check_oblique if robot == "octopus_arm_oblique" else check_hydrostat,
        live=1,
        function=f"hydrostat.scenarios.{function}",
        keys=(*keys, step, *ARM_KEYS),
        check_settings=check,
    )
