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
    spans: tuple[tuple[int, int], ...] = ()
    """Where on the page each of them begins and ends."""


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
    for fence in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        found += _of_fence(fence[1].replace("\\\n", "  "), fence.start(1))
    for table in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [_cells(line[0], table.start() + line.start()) for line in re.finditer(r".+", table[0])]
        found += _of_table(rows)
    return found


class Cell(str):
    """A cell of a table, which knows where it begins on the page."""

    start: int


def _cells(row: str, start: int) -> list[Cell]:
    """The cells of a row of a table."""
    found = []
    for part in re.finditer(r"[^|]+", row.rstrip()):
        cell = Cell(part[0].strip())
        cell.start = start + part.start() + len(part[0]) - len(part[0].lstrip())
        found.append(cell)
    return found


def _of_fence(fence: str, start: int) -> list[Statement]:
    """The statements of a fence."""
    found, command = [], None
    for line in re.finditer(r".*\S.*", fence):
        if line[0].startswith("$ "):
            command = parse(" ".join(line[0][2:].split()))
            continue
        assert command is not None, f"no command before {line[0]!r}"
        metric, values = line[0].split(None, 1)
        begin = start + line.start() + line[0].index(values, len(metric))
        parts = [(part[0].strip(), begin + part.start()) for part in re.finditer(r"[^,\s][^,]*", values)]
        spans = tuple((place, place + len(said)) for said, place in parts)
        found.append(Statement(command, metric, None, tuple(said for said, _ in parts), spans))
    return found


def _of_table(rows: list[list[Cell]]) -> list[Statement]:
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
                said = _value(cell)
                spans = ((cell.start, cell.start + len(said)),)
                found.append(Statement(parse(typed), metric, None if entry is None else int(entry), (said,), spans))
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
    values = stated_values(statement, metrics)
    if len(values) != len(statement.said):
        return f"`{name}` has {len(values)} entries and not {len(statement.said)}"
    wrong = [pair for pair in zip(statement.said, values, strict=True) if not agrees(*pair)]
    return f"`{name}` is {wrong[0][1]}, and the page says {wrong[0][0]}" if wrong else None


def stated_values(statement: Statement, metrics: dict[str, Any]) -> list:
    """The values of a printed metric that a statement is about."""
    value = metrics[statement.metric]
    values = value if isinstance(value, list) else [value]
    return values if statement.entry is None else values[statement.entry : statement.entry + 1]


def agrees(said: str, value: Any) -> bool:
    """Whether a value is what is said of it, rounded to the digits that are written."""
    if not is_figure(said):
        return said == {True: "yes", False: "no", None: "none"}.get(value, value) if not is_number(value) else False
    return is_number(value) and abs(float(said.replace("−", "-")) - value) <= (0.5 + 1e-6) * last_digit(said)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_figure(said: str) -> bool:
    """Whether a number stands on the page, and not a word."""
    return _NUMBER.fullmatch(said) is not None


def last_digit(number: str) -> float:
    """What one in the last digit of a number is worth."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def page(path: Path) -> str:
    """The text of a page."""
    return path.read_text(encoding="utf-8")
