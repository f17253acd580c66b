"""The scenarios for any robot that is not a chain of platforms: `statics`, `modes` and `drive`, with their keys."""

from types import SimpleNamespace

from hydrostat.errors import InputError
from hydrostat.robots import AnySpec, muscle_count, read_tensions, tendon_count
from hydrostat.robots.checks import check_elastic
from hydrostat.scenarios.keys import Key, Scenario

_ACCEPTS = "any robot but chains of platforms"

_COMMON = (
    Key("tension_n", (), "N", "of every tendon, limb after limb; slack where none is given", least=0.0, most=1e6,
        most_entries=100_000),
    Key("activation", (), "", "of the muscles of every segment: longitudinal ones, radial, oblique ones", least=0.0,
        most=1.0, most_entries=7),
    Key("tip_load_n", (0.0, 0.0, 0.0), "N", "force on every tip, x, y, z of the world", least=-1e6, most=1e6),
    Key("gravity_m_s2", (0.0, 0.0, -9.81), "m/s^2", "x, y, z", least=-1e6, most=1e6),
    Key("water", False, "", "whether it is in sea water: buoyancy, and drag on what moves"),
    Key("current_m_s", (0.0, 0.0, 0.0), "m/s", "velocity of that water, x, y, z", least=-1e3, most=1e3),
    Key("base_axis", (), "", "where the base points instead of where the robot's file says, x, y, z", least=-1e6,
        most=1e6, most_entries=3),
    Key("pieces", 0, "", "equal pieces that every segment is cut into, so that it can bend unevenly; 0: 4, and 1 where "
        "segments have muscles", least=0, most=100),
)  # fmt: skip


def _check_inputs(spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse tensions, activations and a base that do not fit the robot."""
    count = tendon_count(spec)
    if settings.tension_n and len(settings.tension_n) != count:
        have = f"{count} numbers, one for each tendon" if count else "left out: the robot has no tendons"
        raise InputError(f"`tension_n` of {spec.name} must be {have}; got {len(settings.tension_n)}")
    muscles = muscle_count(spec)
    if settings.activation and len(settings.activation) != muscles:
        have = f"{muscles} numbers, one for each muscle of a segment" if muscles else "left out: it has no muscles"
        raise InputError(f"`activation` of {spec.name} must be {have}; got {len(settings.activation)}")
    if settings.base_axis and (len(settings.base_axis) != 3 or not any(settings.base_axis)):
        raise InputError(f"`base_axis` must be three numbers that are not all zero; got {list(settings.base_axis)}")
    if settings.pieces > 1 and muscles:
        raise InputError(f"`pieces` must be 1 for {spec.name}, whose segments have muscles; got {settings.pieces}")
    if any(settings.current_m_s) and not settings.water:
        raise InputError("`current_m_s` is the velocity of water; add water=true")


def _check_drive(spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse a file of tensions that does not fit the robot, or that comes beside other tensions."""
    _check_inputs(spec, settings)
    if not settings.csv:
        return
    if settings.tension_n:
        raise InputError("tensions come from `csv` or from `tension_n`, not from both")
    if not tendon_count(spec):
        raise InputError(f"`csv` gives tensions; {spec.name} has no tendons")
    read_tensions(settings.csv, tendon_count(spec))


ANY_SCENARIOS = (
    Scenario(
        name="statics",
        summary="where any robot rests under its weight, its tendons or muscles, and a force at its tips",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_elastic,
        check_settings=_check_inputs,
        function="hydrostat.scenarios.statics:statics",
        keys=_COMMON,
        limbed=None,
    ),
    Scenario(
        name="modes",
        summary="natural frequencies and mode shapes of any robot about its equilibrium under weight and loads",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_elastic,
        check_settings=_check_inputs,
        function="hydrostat.scenarios.modes:modes",
        keys=(*_COMMON, Key("count", 6, "", "how many frequencies", least=1, most=1000)),
        limbed=None,
    ),
    Scenario(
        name="drive",
        summary="any robot from rest under tensions, activations and loads that rise, or tensions from a file",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_elastic,
        check_settings=_check_drive,
        live=1,
        function="hydrostat.scenarios.drive:drive",
        keys=(
            *_COMMON,
            Key("csv", "", "", "a CSV file: time [s], then the tension of every tendon [N], in each line"),
            Key("rise_s", 1.0, "s", "over which tensions, activations and loads rise", above=0.0, most=1e6),
            Key("seconds", 0.0, "s", "to simulate; 0: until the file ends, or twice the rise", least=0.0, most=1e6),
            Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=1e3),
        ),
        limbed=None,
    ),
)
