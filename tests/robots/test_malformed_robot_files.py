"""Two hundred malformed robot files: each one is read, or refused in one line, and nothing else ever happens."""

import dataclasses
import datetime
import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, LimbedSpec, format_robot, parse_robot, read_robot
from hydrostat.robots.spec import MassSpec, RobotSpec
from hydrostat.robots.specs.octopus import octopus

MASSES = (MassSpec(0.5, 0.1), MassSpec(1.0, 0.2, 1e-4))
TEXTS = {
    "arm": format_robot(dataclasses.replace(ROBOTS["tentacle_soft"].make(), masses=MASSES)),
    "ring": format_robot(octopus(arms=3, segments=1)),
    "limbs": format_robot(ROBOTS["squid"].make()),
}


def written(value) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {written(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, datetime.date) else repr(value)


def document(table: dict) -> str:
    return "".join(f"{json.dumps(str(key))} = {written(value)}\n" for key, value in table.items())


def places(value, path=()):
    """The path of every entry of nested tables and lists."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


SCALARS = st.one_of(
    st.sampled_from([float("nan"), float("inf"), -float("inf"), -1, 0, -0.0, 1e308, 5e-324, 10**30, -(10**400), 2**63]),
    st.sampled_from([True, False, "", "bend_x", "soft", "a\nb", "\u2028", "\x00", "0.3", datetime.date(2024, 2, 29)]),
    st.floats(),
    st.integers(),
    st.text(max_size=20),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def wrong_data(draw, text: str) -> bytes:
    """The good robot with entries deleted, replaced by something else, doubled, or added."""
    table = tomllib.loads(text)
    known = list(places(table))
    for _ in range(draw(st.integers(1, 3))):
        *parents, key = draw(st.sampled_from(known))
        holder = table
        try:
            for parent in parents:
                holder = holder[parent]
            action = draw(st.sampled_from(["delete", "replace", "replace", "double", "add"]))
            if action == "delete":
                del holder[key]
            elif action == "replace":
                holder[key] = draw(JUNK)
            elif action == "double":
                holder[key] = [holder[key], holder[key]]
            elif isinstance(holder, dict):
                holder[draw(st.text(max_size=8))] = draw(JUNK)
            else:
                holder.insert(0, draw(JUNK))
        except (AttributeError, KeyError, IndexError, TypeError):  # an earlier change took the place away
            continue
    return document(table).encode("utf-8", "surrogatepass")


@st.composite
def wrong_text(draw, text: str) -> bytes:
    """The good robot's file cut off, with bytes put in or taken out, or with lines lost or exchanged."""
    raw = text.encode()
    at = draw(st.integers(0, len(raw)))
    match draw(st.sampled_from(["cut", "insert", "overwrite", "lose a line", "swap lines", "noise"])):
        case "cut":
            return raw[:at]
        case "insert":
            return raw[:at] + draw(st.binary(min_size=1, max_size=8)) + raw[at:]
        case "overwrite":
            junk = draw(st.binary(min_size=1, max_size=30))
            return raw[:at] + junk + raw[at + len(junk) :]
        case "lose a line":
            lines = raw.splitlines(keepends=True)
            del lines[at % len(lines)]
            return b"".join(lines)
        case "swap lines":
            lines = raw.splitlines(keepends=True)
            i, j = at % len(lines), draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], lines[i]
            return b"".join(lines)
        case _:
            return draw(st.binary(max_size=200))


@pytest.mark.parametrize("kind", TEXTS)
def test_the_writer_of_this_test_writes_toml(kind):
    table = tomllib.loads(TEXTS[kind])
    assert tomllib.loads(document(table)) == table
    assert parse_robot(document(table)) == parse_robot(TEXTS[kind])


@pytest.mark.parametrize("kind", TEXTS)
def test_two_hundred_malformed_files(tmp_path, kind):
    file = tmp_path / "robot.toml"
    refused, accepted = set(), 0

    @settings(max_examples=200)
    @given(wrong_data(TEXTS[kind]) | wrong_text(TEXTS[kind]))
    def one(content):
        nonlocal accepted
        file.write_bytes(content)
        try:
            robot = read_robot(file)
        except InputError as error:
            message = str(error)
            assert len(message.splitlines()) == 1
            assert message.isprintable()
            assert len(message) < 400
            assert "robot file" in message
            refused.add(message)
        else:
            # What is accepted is a whole robot, which can be written down and read again.
            assert isinstance(robot, RobotSpec | LimbedSpec)
            assert parse_robot(format_robot(robot)) == robot
            accepted += 1

    one()
    # Most of the files are wrong, in many ways.
    assert len(refused) > 60
    assert accepted < 100
