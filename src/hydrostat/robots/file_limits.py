"""Limits of robot files, checked before the work that they bound, so that every file is answered in a second."""

import re
from collections.abc import Iterator
from typing import Any

from hydrostat.errors import InputError
from hydrostat.robots.actuator_specs import MOST_SEGMENTS

LARGEST_FILE = 262_144
"""Largest robot file [bytes]: 1000 segments take a third of it."""
_MOST_PARTS = 16
_MOST_IN_ALL = 10_000
_MOST_SHAPES = 1000
_MOST_CROSSINGS = 100_000

# Reading a key takes time in proportion to the square of its parts.
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}[ \t]*\.[ \t]*){{{_MOST_PARTS},}}")


def check_text(text: str) -> None:
    """Refuse text that takes long to be read as TOML."""
    found = _LONG_KEY.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(f"a key must have at most {_MOST_PARTS} parts with dots between them; line {line} has more")


def check_tables(table: dict[str, Any]) -> None:
    """Refuse a file that describes more segments, tendons or shapes than a robot can have.

    What is no table or no number where one should be is left to the checks that follow.
    """
    body = _table(table.get("body"))
    if len(_list(body.get("shape"))) > _MOST_SHAPES:
        raise InputError(f"a body can have at most {_MOST_SHAPES} shapes; got {len(_list(body.get('shape')))}")
    in_all = crossings = 0
    for arm, segments, copies in _arms(table):
        count = sum(_count(_table(entry)) for entry in segments)
        if count > MOST_SEGMENTS:
            raise InputError(f"an arm must have 1 to {MOST_SEGMENTS} segments; got {count}")
        in_all += count
        crossings += copies * count * len(_list(arm.get("tendon")))
    if in_all > _MOST_IN_ALL:
        raise InputError(f"a robot can have at most {_MOST_IN_ALL} segments in all its limbs; got {in_all}")
    if crossings > _MOST_CROSSINGS:
        raise InputError(
            f"segments times tendons can be at most {_MOST_CROSSINGS} over all limbs; got {crossings}: take fewer "
            f"of either"
        )


def _arms(table: dict[str, Any]) -> Iterator[tuple[dict, list, int]]:
    """The table of every arm, its segments, and how many there are of it."""
    ring = _table(table.get("limbs")).get("count", 1)
    copies = ring if type(ring) is int and ring > 0 else 1
    yield table, _list(_table(table.get("arm")).get("segment")), copies
    for entry in _list(table.get("limb")):
        yield _table(entry), _list(_table(entry).get("segment")), 1


def _count(segment: dict[str, Any]) -> int:
    """The pieces of a segment; 1 for a count that will be refused."""
    count = segment.get("count", 1)
    return count if type(count) is int and 1 <= count <= MOST_SEGMENTS else 1


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []
