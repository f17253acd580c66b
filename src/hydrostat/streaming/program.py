"""G-code programs as controllers read them: lines without comments and blanks."""

import re
from pathlib import Path

from hydrostat.errors import InputError, shown
from hydrostat.tables import read_bytes

LARGEST_PROGRAM = 100_000_000
"""Largest G-code file that is read [bytes]."""
_COMMENTS = re.compile(r"\([^)]*\)|;.*")
_PLAIN = re.compile(r"[A-Z0-9.+\-$=/*#]*")


def read_gcode(path: str | Path, longest: int = 79) -> list[tuple[int, str]]:
    """The lines of a G-code file that are not empty, each with its number in the file, without comments and blanks.

    **Arguments:** `longest`: characters of a line that the controller takes; GRBL 1.1 has room for 79.
    """
    try:
        text = read_bytes(path, LARGEST_PROGRAM, shown(str(path))).decode("ascii")
    except UnicodeDecodeError:
        raise InputError(f"{shown(str(path))} must be G-code, plain ASCII text") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{shown(str(path))} could not be read: {reason}") from None
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = "".join(_COMMENTS.sub("", raw).split()).upper()
        if not line or line == "%":
            continue
        if not _PLAIN.fullmatch(line):
            raise InputError(f"line {number} of {shown(str(path))} is no G-code: {shown(raw)}")
        if len(line) > longest:
            raise InputError(
                f"line {number} of {shown(str(path))} has {len(line)} characters, and the controller takes {longest}; "
                "write fewer axes to a file"
            )
        lines.append((number, line))
    if not lines:
        raise InputError(f"{shown(str(path))} has no line of G-code")
    return lines
