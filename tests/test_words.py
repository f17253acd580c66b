"""The source uses the field's words: no private names, and docstrings that can be read alone."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import hydrostat

SOURCE = Path(hydrostat.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

KEPT = {name: {"way"} for name in ("tentacle_move.py", "tentacle_sweep.py", "tentacle_vibration.py")}
"""Names that users know already: a key of a scenario, and a column of its record."""

# Each with the words of the field that say the same.
NAMES = {
    "lacking": "residual, error",
    "given": "inputs, values, setpoint",
    "met": "forces, contacts",
    "meets": "contacts, within",
    "felt": "observation, inertia",
    "Felt": "Observation",
    "wanted": "setpoint, target, desired",
    "Wanted": "Control",
    "looks": "closed_loop",
    "look": "observe, view",
    "way": "path, displacement, direction",
}
MODULES = {"own": "arm_contact", "girth": "radial_inertia", "pull": "wires"}
PHRASES = {
    r"so many": "a number",
    r"what acts": "forces, inputs",
    r"by what it feels": "by its observation",
    r"shall": "is to, must",
    r"lacking": "missing, residual",
    r"looks": "observes, points at",
}
# A docstring that begins so has its subject elsewhere.
BEGINNINGS = re.compile(r"(Of|By|As|Its|Their|It|They|That)\b|(All alike|The same|Nothing|Relaxed)\.")


def names_in(tree: ast.AST) -> list[tuple[int, str]]:
    """The line and the name of everything that a file defines: variables, parameters, fields, functions, classes."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute):
            found.append((node.lineno, node.attr))
        elif isinstance(node, ast.arg | ast.keyword):
            found.append((node.lineno, node.arg or "**"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append((node.lineno, node.name))
        elif isinstance(node, ast.alias):
            found.append((node.lineno, node.asname or node.name))
    return found


def docstrings_in(tree: ast.AST) -> list[tuple[int, str]]:
    """The line and the text of all docstrings, those of fields and constants included."""
    found = []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append((value.lineno, value.value.strip()))
    return found


def prose_in(text: str) -> list[tuple[int, str]]:
    """The line and the text of all strings and comments."""
    kinds = {tokenize.STRING, tokenize.COMMENT} | {getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in kinds]


def faults_of(path: Path) -> list[str]:
    """The words of a file that are not the field's, each in a sentence."""
    text = path.read_text()
    tree, where = ast.parse(text), path.name
    faults = []
    if path.stem in MODULES:
        faults.append(f"{where}: a module is called `{path.stem}`; better {MODULES[path.stem]}")
    for line, name in names_in(tree):
        if name.lstrip("_") in NAMES and name not in KEPT.get(where, ()):
            faults.append(f"{where}:{line}: the name `{name}`; better {NAMES[name.lstrip('_')]}")
    for line, prose in prose_in(text):
        for phrase, better in PHRASES.items():
            if re.search(rf"\b{phrase}\b", " ".join(prose.split()), re.IGNORECASE):
                faults.append(f'{where}:{line}: "{phrase}"; better {better}')
    for line, docstring in docstrings_in(tree):
        if BEGINNINGS.match(docstring):
            faults.append(f'{where}:{line}: "{docstring.splitlines()[0]}" does not name its subject')
        if re.search(r"^\s*(Args|Returns|Raises):\s*$", docstring, re.MULTILINE):
            faults.append(f"{where}:{line}: arguments stand in a paragraph that begins with **Arguments:**")
    return faults


@pytest.mark.parametrize("part", sorted({path.relative_to(SOURCE).parts[0] for path in FILES}))
def test_words_of_the_source_are_those_of_the_field(part):
    own = [path for path in FILES if path.relative_to(SOURCE).parts[0] == part]
    faults = [fault for path in own for fault in faults_of(path)]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize(
    "text",
    [
        "lacking = 1",
        "def f(given): ...",
        "class Felt: ...",
        "x.wanted = 2",
        "f(way=3)",
        "from a import b as look",
        "def _look(): ...",
        "x = 1  # what acts on it",
        'x = "the arm shall bend"',
        'x = f"so many {y}"',
        'def f():\n    """What\n    acts."""',
        'x: float\n"""By how much."""',
        'x: float\n"""Of every muscle, 0 to 1."""',
        'def f():\n    """As its floor."""',
        'def f():\n    """A thing.\n\n    Args:\n        x: one.\n    """',
    ],
)
def test_words_that_are_not_the_fields_are_found(tmp_path, text):
    path = tmp_path / "some.py"
    path.write_text(text + "\n")
    assert faults_of(path)


def test_modules_named_by_private_words_are_found(tmp_path):
    (tmp_path / "girth.py").write_text("")
    assert faults_of(tmp_path / "girth.py")


def test_plain_words_pass(tmp_path):
    path = tmp_path / "some.py"
    path.write_text('def residual(inputs):\n    """The residual of the inputs, given a path."""\n    return inputs\n')
    assert not faults_of(path)
