"""The code of documentation pages: what is in their fences, and how it runs."""

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = re.compile(r"\"([\w./-]+\.(?:png|html|nc|xml|csv))\"")
_FENCE = re.compile(r"^```(\w+)(?:[ ]+title=\"([^\"]+)\")?[ ]*\n(.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


class Fence(NamedTuple):
    """A block of code or of output."""

    language: str
    title: str
    """The file that the block is, where it is one."""
    text: str


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page that have a language, in order."""
    return [Fence(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def code(page: Path) -> str:
    """All Python of a page."""
    return "\n".join(fence.text for fence in fences(page) if fence.language == "python")


def lines_of_code(page: Path) -> int:
    """How many lines of Python that are not blank a page has."""
    return sum(bool(line.strip()) for line in code(page).splitlines())


def imports(page: Path) -> set[str]:
    """The packages that the Python of a page imports."""
    found = set()
    for node in ast.walk(ast.parse(code(page))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def run(page: Path, names: dict | None = None) -> dict:
    """Run the Python of a page here and compare what it prints with what the page says; its names.

    A block with a title that is no Python is written to the file of that title. A block `text` after Python is what
    that prints.
    """
    names = {"__name__": "__main__"} if names is None else names
    printed = ""
    for number, fence in enumerate(fences(page), 1):
        if fence.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(fence.text, f"{page.name}, block {number}", "exec"), names)
            printed = out.getvalue()
        elif fence.language == "text":
            wrong = difference(fence.text, printed)
            assert wrong is None, f"{page.name}, block {number}: {wrong}; it prints\n{printed}"
        elif fence.title:
            Path(fence.title).write_text(fence.text, encoding="utf-8")
    missing = [name for name in WRITTEN.findall(code(page)) if not Path(name).exists()]
    assert not missing, f"{page.name} does not write {missing}"
    return names


def difference(stated: str, printed: str) -> str | None:
    """Where two texts differ by more than one in the last digit that is stated; None where they do not."""
    words = ["".join(_NUMBER.sub("#", text).split()) for text in (stated, printed)]
    if words[0] != words[1]:
        return f"the words {words[0]!r} are not {words[1]!r}"
    for one, other in zip(_NUMBER.findall(stated), _NUMBER.findall(printed), strict=True):
        if abs(float(one) - float(other)) > 1.01 * last_digit(one):
            return f"{one} is not {other}"
    return None


def last_digit(number: str) -> float:
    """What one in the last digit of a number is worth; whole numbers are exact."""
    mantissa, _, exponent = number.partition("e")
    if "." not in mantissa:
        return 0.0
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
