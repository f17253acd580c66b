"""Commands of documentation pages and what the pages say that they print.

Two forms. A fence `console` holds a command after `$ ` and, below it, metrics as it prints them, entries of lists with
commas between them. A table whose first header or first cells hold a command in backquotes has names of metrics in its
other headers, or a name of a metric at the beginning of each row and its entries in the columns.
"""

import math
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"`([a-z]\w*)(?:\[(\d+)\])?`")
_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_START = "hydrostat run "


class Command(NamedTuple):
    """A run of a scenario, as it is typed."""

    scenario: str
    robot: str | None
    seed: int
    settings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """The command line."""
        words = [self.scenario]
        words += [] if self.robot is None else ["--robot", self.robot]
        words += [] if not self.seed else ["--seed", str(self.seed)]
        words += [word for key, value in self.settings for word in ("--set", f"{key}={value}")]
        return _START + shlex.join(words)


class Statement(NamedTuple):
    """What a page says that a command prints."""

    command: Command
    metric: str
    entry: int | None
    """Which entry of a list; None for all of them."""
    said: tuple[str, ...]
    """Numbers or words, as they are written."""


def parse(text: str) -> Command:
    """A command from its text."""
    words = shlex.split(text.removeprefix(_START))
    robot, seed, settings = None, 0, []
    rest = iter(words[1:])
    for option in rest:
        value = next(rest)
        if option == "--robot":
            robot = value
        elif option == "--seed":
            seed = int(value)
        elif option == "--set":
            key, _, value = value.partition("=")
            settings.append((key, value))
        else:
            raise ValueError(f"a page has the option {option} in {text!r}")
    return Command(words[0], robot, seed, tuple(settings))


def commands(text: str) -> list[Command]:
    """Every run of a scenario that a page writes down in full."""
    joined = text.replace("\\\n", " ")
    lines = [line.strip().removeprefix("$ ") for line in joined.splitlines()]
    typed = [line for line in lines if line.startswith(_START)]
    typed += [code for code in _CODE.findall(re.sub(r"^```.*?^```", "", joined, flags=re.DOTALL | re.MULTILINE))]
    typed = [" ".join(one.split()) for one in typed]
    return [parse(one) for one in typed if one.startswith(_START) and one.removeprefix(_START)[:1].islower()]


def statements(text: str) -> list[Statement]:
    """All that a page says about what commands print."""
    found = []
    for fence in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        found += _of_fence(fence.replace("\\\n", " "))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        found += _of_table([[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()])
    return found


def _of_fence(fence: str) -> list[Statement]:
    """The statements of a fence."""
    found, command = [], None
    for line in fence.splitlines():
        if line.startswith("$ "):
            command = parse(" ".join(line[2:].split()))
        elif line.strip():
            assert command is not None, f"no command before {line!r}"
            metric, values = line.split(None, 1)
            found.append(Statement(command, metric, None, tuple(part.strip() for part in values.split(","))))
    return found


def _of_table(rows: list[list[str]]) -> list[Statement]:
    """The statements of a table, none where it has no command."""
    header, body = rows[0], rows[2:]
    names = [_NAME.match(cell) for cell in header[1:]]
    found = []
    for cells in body:
        row = " ".join(_CODE.findall(cells[0]))
        typed = row if row.startswith(_START) else " ".join([*_CODE.findall(header[0]), row])
        if any(names):
            if not typed.startswith(_START):
                continue
            columns = [(name[1], name[2], cell) for name, cell in zip(names, cells[1:], strict=True) if name]
        else:
            name, typed = _NAME.match(cells[0]), " ".join(_CODE.findall(header[0]))
            if not name or not typed.startswith(_START):
                continue
            columns = [(name[1], str(entry), cell) for entry, cell in enumerate(cells[1:])]
        for metric, entry, cell in columns:
            if cell not in ("", "–"):
                found.append(Statement(parse(typed), metric, None if entry is None else int(entry), (_value(cell),)))
    return found


def _value(cell: str) -> str:
    """The number of a cell, or its word."""
    number = _NUMBER.match(cell)
    return number[0] if number else cell


def difference(statement: Statement, metrics: dict[str, Any]) -> str | None:
    """How what was printed differs from what a page says, to the digits that it writes; None where it does not."""
    name = statement.metric
    if name not in metrics:
        return f"`{name}` is not printed"
    value = metrics[name]
    values = value if isinstance(value, list) else [value]
    if statement.entry is not None:
        values = values[statement.entry : statement.entry + 1]
    if len(values) != len(statement.said):
        return f"`{name}` has {len(values)} entries and not {len(statement.said)}"
    wrong = [pair for pair in zip(statement.said, values, strict=True) if not agrees(*pair)]
    return f"`{name}` is {wrong[0][1]}, and the page says {wrong[0][0]}" if wrong else None


def agrees(said: str, value: Any) -> bool:
    """Whether a value is what is said of it, rounded to the digits that are written."""
    if not _NUMBER.fullmatch(said):
        return said == {True: "yes", False: "no", None: "none"}.get(value, value) if not _is_number(value) else False
    return _is_number(value) and abs(float(said.replace("−", "-")) - value) <= (0.5 + 1e-6) * last_digit(said)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def last_digit(number: str) -> float:
    """What one in the last digit of a number is worth."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def page(path: Path) -> str:
    """The text of a page."""
    return path.read_text(encoding="utf-8")
