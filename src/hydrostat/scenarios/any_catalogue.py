"""What can be run with any robot that is not a chain of platforms: `hydrostat statics`, `modes` and `drive`."""

from types import SimpleNamespace

from hydrostat.errors import InputError
from hydrostat.robots.limbed import AnySpec
from hydrostat.scenarios.any_robot import COMMON, check_any, check_inputs, read_commands, tendons_of
from hydrostat.scenarios.base import Key, Scenario

_ACCEPTS = "any robot but chains of platforms"


def _check_drive(spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse a file of commands that does not fit."""
    check_inputs(spec, settings)
    if not settings.csv:
        return
    if settings.tension_n:
        raise InputError("tensions come from `csv` or from `tension_n`, not from both")
    if not tendons_of(spec):
        raise InputError(f"`csv` gives tensions; {spec.name} has no tendons")
    read_commands(settings.csv, tendons_of(spec))


ANY_SCENARIOS = (
    Scenario(
        name="statics",
        summary="where any robot rests under its weight, its tendons or muscles, and a force at its tips",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_any,
        check_settings=check_inputs,
        function="hydrostat.scenarios.statics:statics",
        keys=COMMON,
        limbed=None,
    ),
    Scenario(
        name="modes",
        summary="natural frequencies and mode shapes of any robot about the equilibrium under what acts on it",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_any,
        check_settings=check_inputs,
        function="hydrostat.scenarios.modes:modes",
        keys=(*COMMON, Key("count", 6, "", "how many frequencies", least=1, most=1000)),
        limbed=None,
    ),
    Scenario(
        name="drive",
        summary="any robot from rest under tensions, activations and loads that rise, or tensions from a file",
        robot="tentacle",
        accepts=_ACCEPTS,
        check_robot=check_any,
        check_settings=_check_drive,
        function="hydrostat.scenarios.drive:drive",
        keys=(
            *COMMON,
            Key("csv", "", "", "a CSV file: time [s], then the tension of every tendon [N], in each line"),
            Key("rise_s", 1.0, "s", "over which tensions, activations and loads rise", above=0.0, most=1e6),
            Key("seconds", 0.0, "s", "to simulate; 0: until the file ends, or twice the rise", least=0.0, most=1e6),
            Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=1e3),
        ),
        limbed=None,
    ),
)
