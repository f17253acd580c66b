"""Tables of numbers in CSV files, read before any mechanics is built; nothing here needs JAX."""

import csv
import io
import stat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat.errors import InputError, shown

LARGEST_FILE = 20_000_000
"""Largest CSV file that is read [bytes]."""
_FARTHEST = 1e4  # m: beyond it a number is a slip of the pen
_LEAST_ROWS = 4  # of a record
_LONGEST_RECORD = 100.0  # s


class Line(NamedTuple):
    """One line of a table."""

    number: int
    """Number of the line in the file, from 1."""
    text: str
    """The line as it is written, for messages."""
    values: list[float]


class TipRecord(NamedTuple):
    """The path of a tip, at equal intervals from the release on."""

    interval: float
    """Time from row to row [s]."""
    tip: np.ndarray
    """x and z of the tip in the world (m, 2) [m], the first row an interval after the release."""


def read_bytes(path: str | Path, most: int, name: str) -> bytes:
    """The content of a file; one that is too large, or that is a folder, a pipe or a device, is refused unread.

    **Arguments:** `most`: of its bytes; `name`: of the file in messages.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        reason = "Is a directory" if stat.S_ISDIR(mode) else "it is a pipe or a device"
        raise InputError(f"{name} could not be read: {reason}")
    with path.open("rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise InputError(f"{name} must be at most {most} bytes; it is larger")
    return raw


def read_cells(path: str, name: str) -> list[tuple[int, list[str]]]:
    """The lines of a CSV file that are not empty, each with its number from 1.

    **Arguments:** `name`: of the file in messages.
    """
    try:
        raw = read_bytes(path, LARGEST_FILE, name)
        reader = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
        return [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{name} could not be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} could not be read: it is not UTF-8 text") from None
    except (ValueError, csv.Error) as error:
        raise InputError(f"{name} could not be read as CSV: {error}") from None


def read_table(path: str, name: str, columns: tuple[int, ...], expected: str) -> list[Line]:
    """The lines of numbers of a CSV file; a first line of names is skipped.

    **Arguments:** `name`: of the file in messages; `columns`: how many numbers a line may have; `expected`: the content
    of a line in words, for messages.
    """
    rows = []
    for index, (number, line) in enumerate(read_cells(path, name)):
        values = [_number(cell) for cell in line]
        if index == 0 and all(value is None for value in values):  # a line of names
            continue
        numbers = [value for value in values if value is not None]
        text = shown(",".join(line))
        if len(values) not in columns or len(numbers) != len(values):
            raise InputError(f"line {number} of {name} must be {expected}; got {text}")
        rows.append(Line(number, text, numbers))
    return rows


def read_points(path: str, least: int = 1, columns: tuple[int, ...] = (3,)) -> np.ndarray:
    """The points of a CSV file with columns x, y, z [m]; a first line of names is allowed.

    **Arguments:** `least`: how many points there must be; `columns`: how many columns there may be, of 2, x and y, and
    3; all lines must have as many.
    """
    words = " or ".join(f"{('two', 'three')[count - 2]} numbers {', '.join('xyz'[:count])}" for count in columns)
    name, points = f"curve file {shown(path)}", []
    for number, text, values in read_table(path, name, columns, words):
        if not all(abs(value) <= _FARTHEST for value in values):  # also where one is not a number
            raise InputError(
                f"line {number} of {name} must be {words}, finite and of at most {_FARTHEST:g} m; got {text}"
            )
        if points and len(values) != len(points[0]):
            raise InputError(
                f"line {number} of {name} must have {len(points[0])} numbers, as the lines before; got {text}"
            )
        points.append(values)
    if len(points) < least:
        coordinates = " or ".join(", ".join("xyz"[:count]) for count in columns)
        raise InputError(
            f"{name} must hold {'points' if least == 1 else f'at least {least} points'} {coordinates}; "
            f"it holds {len(points)}"
        )
    return np.array(points)


def read_path(path: str) -> np.ndarray:
    """The points of a CSV file (m, 3) [m], of which two differ at least, so that a curve goes through them."""
    points = read_points(path, least=2)
    if not np.ptp(points, axis=0).any():
        raise InputError("a path must hold at least 2 different points; all of them are the same")
    return points


def read_tip_record(file: str) -> TipRecord:
    """A measured path from a CSV file with the columns time [s], x, z [m], at equal intervals from the release."""
    name = shown(file)
    rows = read_table(file, name, (3,), "three numbers time, x, z")
    if len(rows) < _LEAST_ROWS:
        raise InputError(f"{name} must hold at least {_LEAST_ROWS} rows of time, x, z; it holds {len(rows)}")
    values = np.array([line.values for line in rows])
    finite = np.all(np.isfinite(values), -1)
    if not np.all(finite):
        raise InputError(f"{name} must hold finite numbers; row {int(np.argmin(finite)) + 1} does not")
    gaps = np.diff(values[:, 0])
    equal = np.allclose(gaps, gaps[0], rtol=1e-3, atol=0.0) and np.isclose(values[0, 0], gaps[0], rtol=1e-3, atol=0.0)
    if not equal or gaps[0] <= 0.0:
        raise InputError(f"the times in {name} must be equally spaced, the first one interval after the release")
    if values[-1, 0] > _LONGEST_RECORD:
        raise InputError(f"{name} must hold {_LONGEST_RECORD:g} s at most; got {values[-1, 0]:g} s")
    if np.abs(values[:, 1:]).max() > _FARTHEST:
        raise InputError(f"{name} must hold positions of at most {_FARTHEST:g} m; got {np.abs(values[:, 1:]).max():g}")
    return TipRecord(float(gaps.mean()), values[:, 1:])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
