"""Mutations of good inputs: of text, of settings, and of result folders."""

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from hydrostat.results import Recorder, Variable, columns

NUMBERS = (
    "0", "-0.0", "1", "-1", "0.5", "1e-300", "5e-324", "1e-12", "1e-9", "1e-6", "1e-3", "1e3", "1e6", "1e9", "1e12",
    "1e300", "1e400", "-1e400", "nan", "inf", "-inf", "1000", "1001", "65536", "4294967296", "9" * 400, "0x1f", "1_000",
    "true", "''", '"\\u001b[31m"', "[]", "{}", "[1, 2]", "[[1]]", "1979-05-27", "'$\\frac{1}{0$'",
)  # fmt: skip
"""Numbers, and what may stand in their place."""
PIECES = (
    "[", "]", "[[", "]]", "{", "}", "=", ".", ",", '"', "'", '"""', "#", "\n", "\r", "\0", "\t", " ", "\x1b[2J", "é",
    "\ufeff", "[arm]", "[[arm.segment]]", "[body]", "[limbs]", "[[limb]]", "[muscles]", "[legs]", "[[tendon]]",
    "count = 1000\n",
)  # fmt: skip


def mutated_text(rng: random.Random, text: str) -> bytes:
    """A text with one to six mutations, most often one, as bytes that may be no text."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice((_number, _line, _insert, _cut, _repeat, _swap))(rng, text)
    data = text.encode("utf-8", "surrogateescape")
    if rng.random() < 0.1 and data:
        place = rng.randrange(len(data))
        data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    return data


def _number(rng: random.Random, text: str) -> str:
    """Another value in the place of one."""
    parts = text.split(rng.choice((" = ", ",", "[")))
    if len(parts) < 2:
        return text + rng.choice(NUMBERS)
    lines = text.splitlines(keepends=True)
    index = rng.randrange(len(lines))
    head, equals, _ = lines[index].partition("=")
    cells = lines[index].split(",")
    if equals:
        lines[index] = f"{head}= {rng.choice(NUMBERS)}\n"
    else:
        cells[rng.randrange(len(cells))] = rng.choice(NUMBERS)
        lines[index] = ",".join(cells)
    return "".join(lines)


def _line(rng: random.Random, text: str) -> str:
    """A line twice, or not at all."""
    lines = text.splitlines(keepends=True) or [""]
    index = rng.randrange(len(lines))
    lines[index : index + 1] = [lines[index]] * rng.choice((0, 2, 2, 3))
    return "".join(lines)


def _insert(rng: random.Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(PIECES + NUMBERS) + text[place:]


def _cut(rng: random.Random, text: str) -> str:
    first, last = sorted(rng.randint(0, len(text)) for _ in range(2))
    return text[:first] + text[min(last, first + rng.choice((1, 10, 10**9))) :]


def _repeat(rng: random.Random, text: str) -> str:
    """A piece many times, at most until the text is 100 kB."""
    piece = rng.choice((*PIECES, "a.", "'a'.", "[[arm.segment]]\nlength = 1\nradius = [1, 1]\ncount = 1000\n"))
    place = rng.randint(0, len(text))
    return text[:place] + piece * min(rng.choice((10, 1000, 10_000)), 100_000 // len(piece)) + text[place:]


def _swap(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    rng.shuffle(lines)
    return "".join(lines)


def value_for(rng: random.Random, key) -> Any:
    """A value for a key of a scenario: often of its type and at its bounds."""
    bounds = [bound for bound in (key.least, key.most, key.above) if bound is not None]
    numbers = (
        *bounds,
        *(-b for b in bounds),
        *(b * (1 + 1e-12) for b in bounds),
        0,
        1,
        -1,
        0.5,
        1.5,
        2,
        1e-300,
        5e-324,
    )
    numbers += (1e-12, 1e-6, 1e-3, 7, 1e9, 1e300, float("nan"), float("inf"), 10**400)
    kind = rng.random()
    if kind < 0.1:
        return rng.choice((None, "", "nonsense", "\x1b[2J", [], {}, [[]], True, False, "/dev/null", "/", "\0", b"x"))
    if isinstance(key.default, bool):
        return rng.random() < 0.5
    if isinstance(key.default, str):
        return rng.choice((*key.options, key.default, "none.csv", ".", "x" * 10_000))
    if isinstance(key.default, tuple):
        count = rng.choice((len(key.default), len(key.default), 1, 3, key.most_entries or 2, 1000))
        return [rng.choice((*key.default, *numbers)) for _ in range(count)]
    return rng.choice((key.default, *numbers)) if kind < 0.8 else rng.uniform(0.0, 100.0)


def write_result(folder: Path) -> None:
    """A small result of several chunks."""
    before, columns.CHUNK_BYTES = columns.CHUNK_BYTES, 2000
    try:
        variables = [Variable("tip", ("component",), (3,), "m", "tip"), Variable("energy", (), (), "J", "energy")]
        with Recorder(folder, variables, 300) as recorder:
            for first in range(0, 250, 50):
                times = np.arange(first, first + 50, dtype=float)
                recorder.append(times, tip=np.outer(times, [1.0, 2.0, 3.0]), energy=times**2)
    finally:
        columns.CHUNK_BYTES = before


def damage(rng: random.Random, folder: Path) -> str:
    """Damage one file of a result; what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = rng.choice(files)
    kind = rng.choice(("flip", "cut", "empty", "remove", "folder", "noise", "json", "deep", "link", "pipe"))
    data = bytearray(path.read_bytes())
    if kind == "flip" and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    elif kind == "cut":
        path.write_bytes(data[: rng.randint(0, len(data))])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind in ("remove", "folder", "link", "pipe"):
        path.unlink()
        if kind == "folder":
            path.mkdir()
        if kind == "link":
            path.symlink_to(rng.choice(("/dev/null", "/dev/zero", "nowhere", path.name)))
        if kind == "pipe":
            os.mkfifo(path)
    elif kind == "deep":
        path.write_bytes(b"[" * 100_000)
    elif kind == "json" and (value := _read_json(path)) is not None:
        path.write_text(json.dumps(_mutated_json(rng, value)))
    else:
        path.write_bytes(rng.randbytes(rng.choice((0, 10, len(data)))))
    return f"{kind} {path.relative_to(folder)}"


def _read_json(path: Path) -> Any:
    """What a file of JSON holds; None where it holds none, or none any more."""
    try:
        return json.loads(path.read_bytes()) if path.suffix == ".json" else None
    except (ValueError, RecursionError):
        return None


def _mutated_json(rng: random.Random, value: Any) -> Any:
    """JSON with another value in one place."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(sorted(value))
        return {**value, name: _mutated_json(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        index = rng.randrange(len(value))
        return [*value[:index], _mutated_json(rng, value[index]), *value[index + 1 :]]
    return rng.choice((None, 0, 1, -1, 10**18, 10**40, 1e300, "", "axis", [], {}, [0], True, "float32", [10**12, 3]))


def remove(folder: Path) -> None:
    """Remove a folder, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
