"""Tables of numbers in CSV files, read before any mechanics is built; nothing here needs JAX."""

import csv
from pathlib import Path
from typing import NamedTuple

from hydrostat.errors import InputError, shown


class Line(NamedTuple):
    """One line of a table."""

    number: int
    """Number of the line in the file, from 1."""
    text: str
    """The line as it is written, for messages."""
    values: list[float]


def read_table(path: str, name: str, columns: tuple[int, ...], expected: str) -> list[Line]:
    """The lines of numbers of a CSV file; a first line of names is skipped.

    **Arguments:** `name`: of the file in messages; `columns`: how many numbers a line may have; `expected`: the content
    of a line in words, for messages.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{name} could not be read: {reason}") from None
    except csv.Error as error:
        raise InputError(f"{name} could not be read as CSV: {error}") from None
    rows = []
    for index, (number, line) in enumerate(lines):
        values = [_number(cell) for cell in line]
        if index == 0 and all(value is None for value in values):  # a line of names
            continue
        numbers = [value for value in values if value is not None]
        text = shown(",".join(line))
        if len(values) not in columns or len(numbers) != len(values):
            raise InputError(f"line {number} of {name} must be {expected}; got {text}")
        rows.append(Line(number, text, numbers))
    return rows


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
