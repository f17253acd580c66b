"""Scenarios are short, and use nothing but what the library offers to everybody."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import hydrostat
from hydrostat import scenarios

FOLDER = Path(scenarios.__file__).parent
NOT_YET = ("arm_target", "finger", "octopus_walk", "rod_abrupt", "stewart", "track")
"""Beginnings of the names of files that are still long, or that import names which are not public."""
FILES = [path for path in sorted(FOLDER.rglob("*.py")) if path.parent != FOLDER or not path.stem.startswith(NOT_YET)]
MOST_LINES = 150


def not_public(source: str) -> list[str]:
    """The names of hydrostat that a file imports though no `__all__` offers them; scenarios may import each other."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.startswith("hydrostat.")]
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "hydrostat":
            continue
        parts = node.module.split(".")
        if parts[1:2] == ["scenarios"]:
            found += [f"{node.module}.{name.name}" for name in node.names if name.name.startswith("_")]
        else:
            found += [f"{node.module}.{name.name}" for name in node.names if not is_public(parts, name.name)]
    return found


def is_public(parts: list[str], name: str) -> bool:
    """Whether every step from `hydrostat` to a name is in the `__all__` of the one before, and all but it are modules.

    A module without an `__all__` offers all names that do not begin with an underscore.
    """
    place = hydrostat
    for step in [*parts[1:], name]:
        if not isinstance(place, ModuleType) or step.startswith("_"):
            return False
        if step not in getattr(place, "__all__", dir(place)):
            return False
        place = getattr(place, step)
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_scenario_is_short_and_imports_public_names(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    assert not not_public(source)


def test_private_and_deep_names_are_found():
    source = "from hydrostat.mechanics.statics import _solve\nfrom hydrostat.simulation.simulate import Run\n"
    assert not_public(source) == ["hydrostat.mechanics.statics._solve", "hydrostat.simulation.simulate.Run"]
    assert not not_public("from hydrostat.results import drawing\nfrom hydrostat.results.drawing import Scene\n")
