"""Robot files: what they mean, that they come back as they went, and every refusal."""

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, find_robot, format_robot, parse_robot, read_robot
from hydrostat.robots.checks import check_wire_driven
from hydrostat.robots.spec import (
    MODES,
    BaseSpec,
    MaterialSpec,
    MotorSpec,
    RobotSpec,
    SegmentSpec,
    TendonSpec,
)

GOOD = """\
name = "my arm"
notes = "made up"
[base]
position = [0.1, 0, 0]
axis = [0, 0, 1]
[[arm.segment]]
length = 0.30
radius = [0.030, 0.020]
modes = ["bend_x", "bend_y", "stretch"]
[[arm.segment]]
length = 0.20
radius = [0.020, 0.010]
count = 4
[material]
youngs_modulus = 69e3
poisson_ratio = 0.5
density = 1070
viscosity = 100
[[tendon]]
azimuth_deg = 0
offset = [0.020, 0.010]
ends_at_segment = 1
[[tendon]]
azimuth_deg = 90
offset = [0.020, 0.005]
ends_at_segment = 5
starts_at_segment = 1
[motor]
steps_per_turn = 5000
screw_pitch = 1.25e-3
"""


def refusal(text):
    """The message that a text is refused with: always one line, of an InputError."""
    with pytest.raises(InputError) as error:
        parse_robot(text)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message


# --- Meaning


def test_the_file_of_the_design():
    robot = parse_robot(GOOD)
    assert robot.name == "my arm"
    assert robot.notes == "made up"
    assert robot.base.position == (0.1, 0.0, 0.0)
    assert robot.material == MaterialSpec(69e3, 0.5, 1070.0, 100.0)
    assert robot.segments[0] == SegmentSpec(0.3, (0.03, 0.02), ("bend_x", "bend_y", "stretch"))
    assert [t.ends_at_segment for t in robot.tendons] == [1, 5]
    assert robot.motor.step == pytest.approx(0.25e-6)


def test_count_cuts_a_segment_and_spreads_its_taper():
    segments = parse_robot(GOOD).segments[1:]
    assert len(segments) == 4
    for i, segment in enumerate(segments):
        assert segment.length == pytest.approx(0.05)
        assert segment.radius == pytest.approx((0.02 - 0.0025 * i, 0.02 - 0.0025 * (i + 1)))
        assert segment.modes == ("bend_x", "bend_y")
    # Neighbours meet without a step.
    for left, right in itertools.pairwise(segments):
        assert left.radius[1] == right.radius[0]


def test_offsets_of_a_tendon_are_linear_in_the_rest_length():
    robot = parse_robot(GOOD)
    # 0.020 to 0.005 over 0.3 m and four times 0.05 m.
    marks = [0.020, 0.011, 0.0095, 0.008, 0.0065, 0.005]
    offsets = robot.offsets(robot.tendons[1])
    assert list(offsets) == [1, 2, 3, 4, 5]
    for number, pair in offsets.items():
        assert pair == pytest.approx((marks[number - 1], marks[number]))


def test_offsets_may_be_given_at_every_boundary():
    text = GOOD.replace("offset = [0.020, 0.005]", "offset = [0.020, 0.012, 0.010, 0.008, 0.006, 0.005]")
    robot = parse_robot(text)
    offsets = robot.offsets(robot.tendons[1])
    assert offsets[1] == (0.020, 0.012)
    assert offsets[5] == (0.006, 0.005)


def test_what_may_be_left_out():
    robot = parse_robot("[[arm.segment]]\nlength = 1\nradius = [0.1, 0.1]\n")
    assert robot.segments == (SegmentSpec(1.0, (0.1, 0.1), ("bend_x", "bend_y")),)
    assert robot.base == BaseSpec((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert robot.tendons == ()
    assert robot.motor is None


def test_modes_come_in_the_order_of_a_twist():
    text = GOOD.replace('["bend_x", "bend_y", "stretch"]', '["stretch", "bend_y", "bend_x"]')
    assert parse_robot(text) == parse_robot(GOOD)


@pytest.mark.parametrize("name", ROBOTS)
def test_catalogue(name):
    robot = ROBOTS[name].make()
    # Boccolato: three segments of three wires at 120 degrees, above 1 m, 5000 steps per turn on 1.25 mm.
    assert len(robot.segments) == 3
    assert sum(segment.length for segment in robot.segments) > 1.0
    for number in (1, 2, 3):
        azimuths = [t.azimuth_deg for t in robot.tendons if t.ends_at_segment == number]
        assert [(a - azimuths[0]) % 360 for a in azimuths] == [0, 120, 240]
    assert robot.motor.steps_per_turn == 5000
    assert robot.motor.screw_pitch == 1.25e-3
    assert "assumed" in robot.notes
    check_wire_driven(robot)
    assert find_robot(name) == robot


def test_kinds_of_tentacle():
    cylinder, cone = ROBOTS["tentacle"].make(), ROBOTS["tentacle_cone"].make()
    assert all(base == tip for segment in cylinder.segments for base, tip in [segment.radius])
    assert all(base > tip for segment in cone.segments for base, tip in [segment.radius])
    assert {t.kind for t in ROBOTS["tentacle_soft"].make().tendons} == {"soft"}
    starts = {name: [t.starts_at_segment for t in ROBOTS[name].make().tendons] for name in ROBOTS}
    assert starts["tentacle"] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert starts["tentacle_through"] == [1] * 9
    # In a common bundle no two wires may run in the same place.
    assert len({t.azimuth_deg % 360 for t in ROBOTS["tentacle_through"].make().tendons}) == 9


def test_with_wires():
    robot = ROBOTS["tentacle_cone"].make()
    soft = robot.with_wires("soft", 7)
    assert {(t.kind, t.bays) for t in soft.tendons} == {("soft", 7)}
    assert soft.with_wires("hard", robot.tendons[0].bays) == robot


# --- Out and in again


@pytest.mark.parametrize("name", ROBOTS)
def test_round_trip_of_the_catalogue(name):
    robot = ROBOTS[name].make()
    text = format_robot(robot)
    assert parse_robot(text) == robot
    assert "#" in text  # a file to start from says what its numbers mean


def test_round_trip_through_a_file(tmp_path):
    robot = parse_robot(GOOD)
    file = tmp_path / "arm.toml"
    file.write_text(format_robot(robot), encoding="utf-8")
    assert read_robot(file) == robot
    assert find_robot(str(file)) == robot


@pytest.mark.parametrize(
    "notes", ["two\nlines", "tab\t", '"quoted" \\back', "\x00\x1f\x7f\x85\u2028", "\U0001f419", "\U000e0001"]
)
def test_notes_come_back_whatever_they_hold(notes):
    robot = dataclasses.replace(parse_robot(GOOD), notes=notes)
    assert parse_robot(format_robot(robot)).notes == notes


length = st.floats(1e-6, 1e3)
printable = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=40).filter(
    str.strip
)


@st.composite
def robots(draw):
    segments = draw(
        st.lists(
            st.builds(
                SegmentSpec,
                length,
                st.tuples(length, length),
                st.lists(st.sampled_from(MODES), min_size=1, unique=True).map(tuple),
            ),
            min_size=1,
            max_size=4,
        )
    )
    kind, bays = draw(st.sampled_from(["hard", "soft"])), draw(st.integers(1, 200))
    tendons = []
    for _ in range(draw(st.integers(0, 3))):
        end = draw(st.integers(1, len(segments)))
        start = draw(st.integers(1, end))
        inner = min(r for segment in segments[start - 1 : end] for r in segment.radius)
        tendons.append(
            TendonSpec(
                azimuth_deg=draw(st.floats(-360, 360)),
                offset=(inner, inner * draw(st.floats(0.01, 1))),
                ends_at_segment=end,
                starts_at_segment=start,
                kind=kind,
                bays=bays,
            )
        )
    return RobotSpec(
        name=draw(printable),
        segments=tuple(segments),
        material=MaterialSpec(draw(st.floats(1, 1e13)), draw(st.floats(-0.9, 0.5)), draw(st.floats(1, 1e6))),
        base=BaseSpec(draw(st.tuples(*[st.floats(-1e6, 1e6)] * 3)), (0.0, draw(st.floats(-1, 1)), 1.0)),
        tendons=tuple(tendons),
        motor=draw(st.none() | st.builds(MotorSpec, st.integers(1, 10_000_000), length, length)),
        notes=draw(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=60)),
    )


@given(robots())
def test_round_trip_of_any_robot(robot):
    assert parse_robot(format_robot(robot)) == robot


# --- Refusals: what is wrong (the key), what was got, and where

REFUSALS = {
    "unknown key at the top": ('name = "my arm"', 'nmae = "x"', ["'nmae'", "the file", "name, notes, base"]),
    "unknown key in a segment": (
        "length = 0.30",
        "length = 0.3\nlenght = 1",
        ["'lenght'", "[[arm.segment]] 1", "length"],
    ),
    "unknown key in the arm": ("[material]", "[arm.leg]\n[material]", ["'leg'", "[arm]"]),
    "unknown key in the base": ("axis = [0, 0, 1]", "axes = [0, 0, 1]", ["'axes'", "[base]", "position, axis"]),
    "unknown key in a tendon": ("azimuth_deg = 90", "azimuth_deg = 90\nazimut = 1", ["'azimut'", "[[tendon]] 2"]),
    "unknown key in the material": ("density = 1070", "mass = 1070", ["'mass'", "[material]", "density"]),
    "unknown key in the motor": ("screw_pitch", "pitch", ["'pitch'", "[motor]", "screw_pitch"]),
    "a key over two lines": ('name = "my arm"', '"a\\nb" = 1', ["unknown key"]),
    "missing length": ("length = 0.30", "", ["`length`", "missing", "[[arm.segment]] 1"]),
    "missing radius": ("radius = [0.020, 0.010]", "", ["`radius`", "missing", "[[arm.segment]] 2"]),
    "missing modulus": ("youngs_modulus = 69e3", "", ["`youngs_modulus`", "missing", "[material]"]),
    "missing azimuth": ("azimuth_deg = 90", "", ["`azimuth_deg`", "missing", "[[tendon]] 2"]),
    "text for a number": ("length = 0.30", 'length = "long"', ["`length`", "number", "'long'", "[[arm.segment]] 1"]),
    "a list for a number": ("length = 0.30", "length = [0.3]", ["`length`", "number", "0.3"]),
    "a date for a number": ("length = 0.30", "length = 1979-05-27", ["`length`", "number", "1979"]),
    "a truth value for a number": ("length = 0.30", "length = true", ["`length`", "number", "True"]),
    "a truth value in a list": ("[0.030, 0.020]", "[0.030, false]", ["`radius[1]`", "number", "False"]),
    "negative length": ("length = 0.30", "length = -0.3", ["`length`", "above 0", "-0.3", "[[arm.segment]] 1"]),
    "zero length": ("length = 0.30", "length = 0", ["`length`", "above 0", "got 0"]),
    "negative radius": ("[0.030, 0.020]", "[0.030, -0.020]", ["`radius[1]`", "above 0", "-0.02"]),
    "a number that is none": ("length = 0.30", "length = nan", ["`length`", "finite", "nan"]),
    "an infinite number": ("density = 1070", "density = inf", ["`density`", "finite", "inf", "[material]"]),
    "minus infinity": ("[0.1, 0, 0]", "[0.1, -inf, 0]", ["`position[1]`", "finite", "-inf", "[base]"]),
    "a huge whole number": ("length = 0.30", f"length = 1{'0' * 400}", ["`length`", "at most 1000", "1000000"]),
    "a huge hexadecimal number": ("length = 0.30", f"length = 0x{'f' * 5000}", ["`length`", "at most 1000"]),
    "a huge decimal number": ("length = 0.30", f"length = {'9' * 5000}", ["TOML"]),
    "a huge count": (
        "count = 4",
        "count = 9999999999999999999999",
        ["`count`", "whole number", "9999", "[[arm.segment]] 2"],
    ),
    "no count": ("count = 4", "count = 0", ["`count`", "from 1", "got 0"]),
    "half a count": ("count = 4", "count = 4.0", ["`count`", "whole number", "4.0"]),
    "one radius": ("[0.030, 0.020]", "[0.030]", ["`radius`", "list of 2 numbers", "0.03"]),
    "a number for a list": ("[0.030, 0.020]", "0.030", ["`radius`", "list of 2 numbers", "0.03"]),
    "a flat base": ("[0.1, 0, 0]", "[0.1, 0]", ["`position`", "list of 3 numbers", "0.1"]),
    "no direction": ("[0, 0, 1]", "[0, 0, 0]", ["`axis`", "zero vector", "0.0", "[base]"]),
    "unknown mode": ('"stretch"]', '"stretchy"]', ["`modes`", "stretch", "'stretchy'"]),
    "mode twice": ('"stretch"]', '"bend_x"]', ["`modes`", "once", "bend_x"]),
    "no modes": ('["bend_x", "bend_y", "stretch"]', "[]", ["`modes`", "bend_x, bend_y, twist"]),
    "a mode that is no text": ('"stretch"]', "3]", ["`modes`", "got 3"]),
    "poisson": ("poisson_ratio = 0.5", "poisson_ratio = 0.6", ["`poisson_ratio`", "at most 0.5", "0.6"]),
    "negative viscosity": ("viscosity = 100", "viscosity = -1", ["`viscosity`", "at least 0", "-1"]),
    "no name": ('"my arm"', '""', ["`name`", "1 to 200", "''"]),
    "a name over two lines": ('"my arm"', '"a\\nb"', ["`name`", "one line"]),
    "a number for a name": ('"my arm"', "7", ["`name`", "text", "got 7"]),
    "a long name": ("my arm", "x" * 201, ["`name`", "200"]),
    "a number for notes": ('"made up"', "7", ["`notes`", "text", "got 7"]),
    "outside the section": (
        "offset = [0.020, 0.010]",
        "offset = [0.031, 0.010]",
        ["`offset`", "tendon 1", "inside the section", "0.03", "segment 1", "0.031"],
    ),
    "outside a later section": (
        "offset = [0.020, 0.005]",
        "offset = [0.020, 0.012]",
        ["`offset`", "tendon 2", "radius 0.0125", "segment 4", "0.0128"],
    ),
    "three offsets": (
        "offset = [0.020, 0.010]",
        "offset = [0.02, 0.01, 0.01]",
        ["`offset`", "2", "got 3", "[[tendon]] 1"],
    ),
    "no offsets": ("offset = [0.020, 0.010]", "offset = []", ["`offset`", "list", "[[tendon]] 1"]),
    "ends beyond the arm": (
        "ends_at_segment = 5",
        "ends_at_segment = 6",
        ["`ends_at_segment`", "tendon 2", "at most 5", "got 6"],
    ),
    "ends nowhere": ("ends_at_segment = 5", "ends_at_segment = 0", ["`ends_at_segment`", "from 1", "got 0"]),
    "ends in between": ("ends_at_segment = 5", "ends_at_segment = 1.5", ["`ends_at_segment`", "whole", "1.5"]),
    "starts after it ends": (
        "starts_at_segment = 1",
        "starts_at_segment = 6",
        ["`starts_at_segment`", "from 1 to 5", "got 6"],
    ),
    "unknown kind of wire": (
        "azimuth_deg = 90",
        'azimuth_deg = 90\nkind = "firm"',
        ["`kind`", "hard, soft", "'firm'", "[[tendon]] 2"],
    ),
    "mixed kinds of wires": (
        "azimuth_deg = 90",
        'azimuth_deg = 90\nkind = "soft"',
        ["`kind`", "share", "soft", "tendon 2", "hard"],
    ),
    "no bays": ("azimuth_deg = 90", "azimuth_deg = 90\nbays = 0", ["`bays`", "from 1 to 200", "got 0"]),
    "azimuth in another unit": ("azimuth_deg = 90", "azimuth_deg = 900", ["`azimuth_deg`", "at most 360", "900"]),
    "half a step": ("steps_per_turn = 5000", "steps_per_turn = 0.5", ["`steps_per_turn`", "whole", "0.5", "[motor]"]),
    "no pitch": ("screw_pitch = 1.25e-3", "screw_pitch = 0", ["`screw_pitch`", "above 0", "got 0", "[motor]"]),
    "one bracket too few": ("[motor]", "[[motor]]", ["[motor]", "table"]),
    "broken TOML": ("length = 0.30", "length = ", ["TOML", "line 7"]),
    "the same key twice": ("length = 0.30", "length = 0.3\nlength = 0.4", ["TOML"]),
}


def test_the_good_file_is_good():
    assert isinstance(parse_robot(GOOD), RobotSpec)
    for old, _, _ in REFUSALS.values():
        assert old in GOOD


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    old, new, words = REFUSALS[case]
    message = refusal(GOOD.replace(old, new, 1))
    for word in words:
        assert word in message, message
    assert len(message) < 300


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["empty", "[[arm.segment]]"]),
        ("  \n\t\n", ["empty"]),
        ("# nothing but a comment\n", ["[[arm.segment]]", "none"]),
        ('name = "x"\n', ["[[arm.segment]]", "none"]),
        ("[arm]\n", ["[[arm.segment]]", "none"]),
        ("arm = 3\n", ["[arm]", "table", "got 3"]),
        ("arm.segment = 3\n", ["[[arm.segment]]", "got 3"]),
        ("arm.segment = [3]\n", ["[[arm.segment]] 1", "table", "got 3"]),
        ("arm.segment = {}\n", ["[[arm.segment]]", "double brackets"]),
        ("[arm.segment]\nlength = 1\n", ["[[arm.segment]]", "double brackets"]),
        (f"{GOOD}[tendons]\n", ["'tendons'"]),
        ("x = " + "[" * 100_000, ["TOML"]),
        ("\x00", ["TOML"]),
        ("[[arm.segment]]\nlength = 1\nradius = [1, 1]\ncount = 600\n" * 2, ["1000 segments", "1200"]),
    ],
)
def test_refusals_of_whole_texts(text, words):
    message = refusal(text)
    for word in words:
        assert word in message, message


def test_refusals_of_files(tmp_path):
    def of(path):
        with pytest.raises(InputError) as error:
            read_robot(path)
        assert len(str(error.value).splitlines()) == 1
        return str(error.value)

    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "empty.toml").write_bytes(b"")
    (tmp_path / "large.toml").write_bytes(b"#" * 1_000_001)
    (tmp_path / "wrong.toml").write_text(GOOD.replace("length = 0.30", "length = -1"))
    assert "UTF-8" in of(tmp_path / "bytes.toml")
    assert "empty" in of(tmp_path / "empty.toml")
    assert "1000000 bytes" in of(tmp_path / "large.toml")
    assert "No such file" in of(tmp_path / "missing.toml")
    assert "directory" in of(tmp_path)
    # The file is named as well as the place in it.
    message = of(tmp_path / "wrong.toml")
    assert "wrong.toml" in message or "..." in message
    assert "`length`" in message
    assert "[[arm.segment]] 1" in message


@pytest.mark.parametrize(
    "name",
    ["tentacel", "", "octopus.toml", "a\x00b", "a\x00.toml", "x" * 5000, "x" * 5000 + ".toml"],
    ids=["misspelt", "empty", "missing", "null", "null in a file", "long", "long file"],
)
def test_unknown_robots(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        find_robot(name)
    assert len(str(error.value).splitlines()) == 1
    if name == "tentacel":
        assert all(known in str(error.value) for known in ROBOTS)
        assert "'tentacel'" in str(error.value)


def test_numbers_of_a_specification_are_floats():
    segment = SegmentSpec(1, (1, 2))
    assert [type(x) for x in (segment.length, *segment.radius)] == [float] * 3
    assert all(type(x) is float for x in dataclasses.astuple(MaterialSpec(1, 0, 1, 0)))
    assert math.isclose(MotorSpec(steps_per_turn=5000, screw_pitch=1.25e-3).step, 0.25e-6)


# --- What a scenario asks of a robot


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda r: dataclasses.replace(r, tendons=r.tendons[:-1]), ["three or more tendons", "segment 3", "got 2"]),
        (lambda r: dataclasses.replace(r, tendons=()), ["three or more tendons", "segment 1", "got 0"]),
        (lambda r: dataclasses.replace(r, motor=None), ["motors", "[motor]"]),
        (
            lambda r: dataclasses.replace(r, segments=(*r.segments[:2], SegmentSpec(0.3, (0.05, 0.05), MODES))),
            ["bend_x, bend_y", "stretch", "segment 3"],
        ),
        (
            lambda r: dataclasses.replace(
                r, tendons=tuple(dataclasses.replace(t, azimuth_deg=t.azimuth_deg % 240) for t in r.tendons)
            ),
            ["different azimuth", "got 2", "segment 1"],
        ),
    ],
)
def test_robots_that_wires_cannot_steer(change, words):
    with pytest.raises(InputError) as error:
        check_wire_driven(change(ROBOTS["tentacle"].make()))
    for word in words:
        assert word in str(error.value)
