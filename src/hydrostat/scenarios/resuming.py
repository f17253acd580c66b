"""What a run began with, kept in its folder, so that it can be resumed; nothing here needs JAX."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from hydrostat._version import __version__
from hydrostat.errors import InputError, shown
from hydrostat.results import write_json
from hydrostat.results.checking import read_json
from hydrostat.robots import AnySpec, format_robot
from hydrostat.robots.file import parse_robot

_FILE = "run.json"


class Beginning(NamedTuple):
    """What a run began with."""

    scenario: str
    robot: AnySpec
    settings: dict[str, Any]
    seed: int


def write_beginning(folder: Path, name: str, robot: AnySpec, settings: SimpleNamespace, seed: int) -> None:
    """Keep in the folder of a run what it begins with."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(settings).items()}
    content = {"version": __version__, "scenario": name, "robot": format_robot(robot), "settings": values, "seed": seed}
    write_json(folder / _FILE, content)


def read_beginning(folder: Path) -> Beginning:
    """What the run in a folder began with; a run that has come to its end is refused."""
    if not folder.is_dir():
        raise InputError(f"no run to resume at {shown(str(folder))}; give the folder that an interrupted run has left")
    if (folder / "metrics.json").exists():
        raise InputError(f"the run in {shown(str(folder))} has come to its end; there is nothing to resume")
    if not (folder / _FILE).exists():
        raise InputError(f"{shown(str(folder))} holds no {_FILE}, which says how a run began; it cannot be resumed")
    content = read_json(folder / _FILE)
    if content.get("version") != __version__:
        raise InputError(
            f"the run in {shown(str(folder))} was begun by hydrostat {content.get('version')}; this is {__version__}: "
            f"run it anew"
        )
    kinds = {"scenario": str, "robot": str, "settings": dict, "seed": int}
    for key, kind in kinds.items():
        if type(content.get(key)) is not kind:
            raise InputError(f"{shown(str(folder / _FILE))} is damaged: its {key} is {shown(content.get(key))}")
    try:
        robot = parse_robot(content["robot"])
    except InputError as error:
        raise InputError(f"{shown(str(folder / _FILE))} is damaged: {error}") from None
    return Beginning(content["scenario"], robot, content["settings"], content["seed"])


def chosen_settings(settings: dict[str, Any], keys) -> dict[str, Any]:
    """The settings of a run without those that are the scenario's own, which may be such that no user could give them.

    A list that is empty is one: a key whose default is none.
    """
    defaults = {key.name: list(key.default) if isinstance(key.default, tuple) else key.default for key in keys}
    return {name: value for name, value in settings.items() if name not in defaults or value != defaults[name]}
