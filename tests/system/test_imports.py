"""Imports point one way: from what is made of other things to what it is made of; and files stay short."""

import ast
from pathlib import Path

import pytest

import hydrostat

SOURCE = Path(hydrostat.__file__).parent
MOST_LINES = 400
# From the bottom up: each may import those of the layers below, and nothing of its own layer but itself.
LAYERS = (
    {"errors", "kept_files", "_version"},
    {"code_cache", "collecting", "constants", "derivatives", "geometry", "measuring", "tables"},
    {"executables", "native", "streaming"},
    {"compiling"},
    {"lie"},
    {"least_squares"},
    {"segments"},
    {"bodies"},
    {"mechanics"},
    {"actuation", "surroundings"},
    {"system"},
    {"sensing"},
    {"stepping"},
    {"statics"},
    {"control"},
    {"robots"},
    {"exporting", "viewer"},
    {"results"},
    {"simulation"},
    {"identification", "live"},
    {"teleoperation"},
    {"scenarios"},
    {"benchmarking"},
    {"_terminal", "_leaving", "_page_options"},
    {"_stream_command", "_teleop_command", "_view_command"},
    {"_arguments"},
    {"cli"},
    {"_entry"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(module: str) -> str | None:
    """The part of the package that a module belongs to: the name after `hydrostat`; None outside the package."""
    names = module.split(".")
    return names[1] if names[0] == "hydrostat" and len(names) > 1 else None


def imported(tree: ast.AST) -> list[tuple[int, str]]:
    """The lines and the full names of all imports of a file but those for the type checker alone."""
    found = []

    def visit(node):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.extend((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports name the whole package"
            # `from hydrostat import errors` imports a part of the package by its name.
            whole = node.module == "hydrostat"
            found.extend((node.lineno, f"hydrostat.{name.name}" if whole else node.module) for name in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def against_the_arrows(path: Path) -> list[str]:
    """The imports of a file that point upwards or sideways, each in words."""
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own == "__init__":
        return []  # The door of the package opens to all of it.
    wrong = []
    for line, module in imported(ast.parse(path.read_text())):
        part = part_of(module)
        if part in (None, own) or part not in LEVEL:
            continue
        if LEVEL[part] >= LEVEL[own]:
            wrong.append(f"{path.relative_to(SOURCE)}:{line} imports {module}, which is not below {own}")
    return sorted(set(wrong))


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_imports_point_one_way(part):
    own = [path for path in FILES if path.relative_to(SOURCE).parts[0].removesuffix(".py") == part]
    wrong = [line for path in own for line in against_the_arrows(path)]
    assert not wrong, "\n".join(["", *wrong])


def test_every_part_has_its_place():
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES} - {"__init__", "__main__"}
    assert parts <= set(LEVEL), f"`LAYERS` does not name {sorted(parts - set(LEVEL))}"


def test_no_file_is_long():
    counts = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in FILES}
    long = {name: count for name, count in counts.items() if count > MOST_LINES}
    assert not long, f"more than {MOST_LINES} lines: {long}"


def test_the_reader_of_imports_sees_what_it_shall(tmp_path, monkeypatch):
    """Plain and nested imports count, those for the type checker do not."""
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    (tmp_path / "mechanics").mkdir()
    path = tmp_path / "mechanics" / "some.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "import jax\n"
        "from hydrostat import errors, system\n"
        "from hydrostat.lie import SE3\n"
        "if TYPE_CHECKING:\n"
        "    from hydrostat.control import Controller\n"
        "def late():\n"
        "    import hydrostat.scenarios.arm\n"
        "    from hydrostat.mechanics.nodes import Nodes\n"
    )
    assert against_the_arrows(path) == [
        "mechanics/some.py:3 imports hydrostat.system, which is not below mechanics",
        "mechanics/some.py:8 imports hydrostat.scenarios.arm, which is not below mechanics",
    ]
