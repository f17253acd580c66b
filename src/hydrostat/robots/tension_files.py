"""Tensions of all tendons over time, from a CSV file."""

import numpy as np

from hydrostat.errors import InputError, shown
from hydrostat.tables import read_cells

MOST_TENSION = 1e6
"""Largest tension that is accepted [N]."""


def read_tensions(path: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and the tensions of every tendon [N] at each, from a CSV file; a first line of names is allowed.

    **Arguments:** `count`: number of tendons; each line must hold a time and as many tensions.
    """
    name = f"command file {shown(path)}"
    lines = read_cells(path, name)
    rows: list[list[float]] = []
    for index, (number, line) in enumerate(lines):
        values = [_number(cell) for cell in line]
        if index == 0 and all(value is None for value in values):
            continue
        where = f"line {number} of {name}"
        if len(values) != count + 1 or any(value is None for value in values):
            raise InputError(f"{where} must be a time and {count} tensions; got {shown(','.join(line))}")
        time, *tensions = (value for value in values if value is not None)
        if not all(0.0 <= value <= MOST_TENSION for value in tensions):
            raise InputError(f"{where} must hold tensions from 0 to {MOST_TENSION:g} N; got {shown(','.join(line))}")
        if not abs(time) <= 1e9 or (rows and time <= rows[-1][0]):
            raise InputError(
                f"times of {name} must be finite and grow from line to line; got {time:g} in line {number}"
            )
        rows.append([time, *tensions])
    if not rows:
        raise InputError(f"{name} must hold a time and {count} tensions in each line; it holds none")
    table = np.array(rows)
    return table[:, 0], table[:, 1:]


def _number(text: str) -> float | None:
    """The number that a cell holds; None for other text."""
    try:
        return float(text)
    except ValueError:
        return None
