"""Scenarios are short, and use of hydrostat what any user can: names that its packages export."""

import ast
from pathlib import Path

import pytest

import hydrostat

SOURCE = Path(hydrostat.__file__).parent
FOLDER = SOURCE / "scenarios"
MOST_LINES = 150
SHARED = {
    "hydrostat.scenarios.base": {"Outcome", "Run"},
    "hydrostat.scenarios.any_robot": None,
    "hydrostat.scenarios.arm": None,
    "hydrostat.scenarios.arm_load_figures": None,
    "hydrostat.scenarios.arm_loads": None,
    "hydrostat.scenarios.finger_grasp_results": None,
    "hydrostat.scenarios.finger_hand_results": None,
    "hydrostat.scenarios.finger_release_results": None,
    "hydrostat.scenarios.octopus": None,
    "hydrostat.scenarios.octopus_figures": None,
    "hydrostat.scenarios.octopus_prey": None,
    "hydrostat.scenarios.own_targets": None,
    "hydrostat.scenarios.recorded_tracking": None,
    "hydrostat.scenarios.squid_reach_plan": None,
    "hydrostat.scenarios.squid_reach_results": None,
    "hydrostat.scenarios.squid_reach_scene": None,
    "hydrostat.scenarios.track_strength": None,
    "hydrostat.scenarios.squid_vehicle": None,
    "hydrostat.scenarios.track_authors": None,
    "hydrostat.scenarios.track_agents": ("agents_metrics",),
}
"""What scenarios may take from their own package: how a run is told what to do, the set-up that a family shares, and
metrics and figures in files of their own; None for all names that do not begin with an underscore."""
MACHINERY = {
    "__init__", "base", "keys", "live_motions", "own_targets", "progress", "recorded_motions", "recorded_tracking",
    "resuming", "runner", "work",
}  # fmt: skip
"""Files that run scenarios and are none themselves: they must be short, and may import what they need; so may those of
the catalogue, which are read before JAX is imported."""
FILES = sorted(FOLDER.rglob("*.py"))


def exported(file: Path) -> set[str]:
    """The public names of a module: its `__all__`, or where it has none, what it defines without an underscore."""
    names = set()
    for node in ast.parse(file.read_text()).body:
        targets = {
            part.id for target in getattr(node, "targets", ()) for part in ast.walk(target) if hasattr(part, "id")
        }
        if targets == {"__all__"}:
            return set(ast.literal_eval(node.value))
        names |= targets | {getattr(node, "name", "_")}
    return {name for name in names if not name.startswith("_")}


def taken_up(file: Path) -> set[str]:
    """The names that a package takes from its modules: where a module is named alike, the name hides it."""
    imports = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ImportFrom)]
    inside = [node for node in imports if node.module.count(".") > 1 and file_of(node.module) != file]
    return {alias.name for node in inside for alias in node.names}


def file_of(module: str) -> Path | None:
    """The file of a module of hydrostat; None where there is no such module."""
    place = SOURCE.joinpath(*module.split(".")[1:])
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)


def is_public(name: str) -> bool:
    """Whether every part of a dotted name is exported by the module before it; attributes of names are their own."""
    whole, *parts = name.split(".")
    if parts and parts[0] in hydrostat._MODULES:
        whole, parts = f"hydrostat.{hydrostat._MODULES[parts[0]]}", parts[1:]
    for i, part in enumerate(parts):
        file = file_of(whole)
        if file is None:
            return True
        # Specifications are in modules with the names of their robots.
        above = (
            set()
            if not i or whole.startswith("hydrostat.robots.specs")
            else exported(file_of(whole.rpartition(".")[0]))
        )
        if part not in exported(file) or part in above:
            return False  # not exported, or exported by the package above as well, from where it should be taken
        whole = f"{whole}.{part}"
        if part in taken_up(file) and file_of(whole) is not None:
            return i == len(parts) - 1
    return True


def used_names(tree: ast.AST) -> list[tuple[int, str]]:
    """The names of hydrostat that a file imports, and those that it reaches through an imported module, with lines."""
    found, modules = [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "hydrostat":
                    found.append((node.lineno, alias.name))
                    modules[alias.asname or "hydrostat"] = alias.name if alias.asname else "hydrostat"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hydrostat":
            assert node.level == 0, f"line {node.lineno}: imports name the whole package"
            for alias in node.names:
                found.append((node.lineno, f"{node.module}.{alias.name}"))
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node).split(".")
            if all(part.isidentifier() for part in dotted) and dotted[0] in modules:
                found.append((node.lineno, ".".join([modules[dotted[0]], *dotted[1:]])))
    return found


def violations(path: Path) -> list[str]:
    """What a file does against the rules, each in words."""
    text = path.read_text()
    wrong = []
    lines = len(text.splitlines())
    if lines > MOST_LINES:
        wrong.append(f"{path.name} has {lines} lines; at most {MOST_LINES} are allowed")
    if path.stem in MACHINERY or path.parent.name == "catalogue":
        return wrong
    for line, name in used_names(ast.parse(text)):
        module, _, taken = name.rpartition(".")
        shared = SHARED.get(module, ())
        allowed = not taken.startswith("_") if shared is None else taken in shared
        if allowed or (is_public(name) and not name.startswith("hydrostat.scenarios")):
            continue
        wrong.append(f"{path.name}:{line} uses {name}, which no package of hydrostat exports")
    return sorted(set(wrong))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenarios_are_short_and_use_public_names(path):
    wrong = violations(path)
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n" * 151, "has 151 lines"),
        ("from hydrostat.mechanics.statics import equilibrium\n", "uses hydrostat.mechanics.statics.equilibrium"),
        ("from hydrostat.mechanics.robot import Robot\n", "uses hydrostat.mechanics.robot"),
        ("from hydrostat.control.paths import read_points\n", "uses hydrostat.control.paths"),
        ("from hydrostat.compiling import quick_jit\n", "uses hydrostat.compiling"),
        ("from hydrostat.lie import _stumpff\n", "uses hydrostat.lie._stumpff"),
        ("from hydrostat.scenarios.track import track\n", "uses hydrostat.scenarios.track"),
        ("from hydrostat.scenarios.base import Key\n", "uses hydrostat.scenarios.base.Key"),
        ("import hydrostat as hs\nhs.control.tracking.rates\n", "uses hydrostat.control.tracking"),
        ("import hydrostat as hs\nhs.robots.build.build_arm\n", "uses hydrostat.robots.build"),
        ("def late():\n    from hydrostat.simulation.simulate import Run\n", "uses hydrostat.simulation.simulate"),
        ("import hydrostat as hs\nhs.control.Platforms.of\nfrom hydrostat.mechanics import kinematics\n", ""),
        ("from hydrostat.system import System\n", "uses hydrostat.system.System"),
        ("from hydrostat.scenarios.base import Outcome, Run\nfrom hydrostat import System\n", ""),
    ],
)
def test_the_rules_see_violations(tmp_path, text, words):
    path = tmp_path / "some.py"
    path.write_text(text)
    wrong = violations(path)
    assert any(words in line for line in wrong) if words else not wrong, wrong
