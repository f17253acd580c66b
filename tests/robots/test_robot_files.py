"""Robot files: what they mean, and that they come back as they went."""

import dataclasses
import itertools
import math

import pytest
from good_robot_file import GOOD
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, LimbedSpec, find_arm, find_robot, format_robot, parse_robot, read_robot
from hydrostat.robots.checks import check_wire_driven
from hydrostat.robots.spec import (
    MODES,
    BaseSpec,
    MassSpec,
    MaterialSpec,
    MotorSpec,
    RobotSpec,
    SegmentSpec,
    TendonSpec,
)

# --- Meaning


def test_the_file_of_the_design():
    robot = parse_robot(GOOD)
    assert robot.name == "my arm"
    assert robot.notes == "made up"
    assert robot.base.position == (0.1, 0.0, 0.0)
    assert robot.material == MaterialSpec(69e3, 0.5, 1070.0, 100.0)
    assert robot.segments[0] == SegmentSpec(0.3, (0.03, 0.02), ("bend_x", "bend_y", "stretch"))
    assert robot.masses == (MassSpec(0.6, 0.05, 0.0), MassSpec(1.0, 2.0, 1e-3))
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


def test_count_shares_friction_and_preshape():
    whole = SegmentSpec(0.2, (0.02, 0.01), friction=0.5, preshape_deg=(-20.0, 60.0))
    pieces = parse_robot(GOOD).segments[1:]
    assert whole.pieces(4) == pieces
    assert whole.pieces(1) == (whole,)
    # The same shape at rest, and for a rate that all pieces share the same power: c rate^2 = n c_piece (rate / n)^2.
    for axis in (0, 1):
        assert sum(piece.preshape_deg[axis] for piece in pieces) == whole.preshape_deg[axis]
    rate = 3.0
    assert sum(piece.friction * (rate / 4) ** 2 for piece in pieces) == whole.friction * rate**2


def test_discs_guide_tendons_outside_the_body():
    outside = GOOD.replace("offset = [0.020, 0.010]", "offset = [0.035, 0.035]")
    discs = outside.replace("length = 0.30", "length = 0.30\ndisc_radius = {}")
    robot = parse_robot(discs.format(0.035))
    assert [segment.disc_radius for segment in robot.segments] == [0.035, None, None, None, None]
    assert parse_robot(format_robot(robot)) == robot
    for text, words in (
        (outside, "the section, at most the radius 0.03"),
        (discs, "the discs, at most the radius 0.034"),
    ):
        with pytest.raises(InputError) as error:
            parse_robot(text.format(0.034))
        assert str(error.value) == f"`offset` of tendon 1 must stay inside {words} in segment 1; got 0.035"
    # Cut into pieces, it has discs on each.
    cut = SegmentSpec(0.2, (0.02, 0.01), disc_radius=0.03).pieces(3)
    assert [piece.disc_radius for piece in cut] == [0.03] * 3


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
    assert robot.segments[0].friction == 0.0
    assert robot.segments[0].preshape_deg == (0.0, 0.0)
    assert robot.segments[0].disc_radius is None
    assert robot.masses == ()
    assert robot.tendons == ()
    assert robot.motor is None


def test_modes_come_in_the_order_of_a_twist():
    text = GOOD.replace('["bend_x", "bend_y", "stretch"]', '["stretch", "bend_y", "bend_x"]')
    assert parse_robot(text) == parse_robot(GOOD)


@pytest.mark.parametrize("name", ROBOTS)
def test_catalogue(name):
    robot = ROBOTS[name].make()
    assert "assumed" in robot.notes
    assert find_robot(name) == robot


@pytest.mark.parametrize("name", [name for name in ROBOTS if name.startswith("tentacle")])
def test_tentacles(name):
    robot = ROBOTS[name].make()
    # Boccolato: three segments of three wires at 120 degrees, above 1 m, 5000 steps per turn on 1.25 mm.
    assert len(robot.segments) == 3
    assert sum(segment.length for segment in robot.segments) > 1.0
    for number in (1, 2, 3):
        azimuths = [t.azimuth_deg for t in robot.tendons if t.ends_at_segment == number]
        assert [(a - azimuths[0]) % 360 for a in azimuths] == [0, 120, 240]
    assert robot.motor.steps_per_turn == 5000
    assert robot.motor.screw_pitch == 1.25e-3
    check_wire_driven(robot)


def test_kinds_of_tentacle():
    cylinder, cone = ROBOTS["tentacle"].make(), ROBOTS["tentacle_cone"].make()
    assert all(base == tip for segment in cylinder.segments for base, tip in [segment.radius])
    assert all(base > tip for segment in cone.segments for base, tip in [segment.radius])
    assert {t.kind for t in ROBOTS["tentacle_soft"].make().tendons} == {"soft"}
    starts = {
        name: [t.starts_at_segment for t in ROBOTS[name].make().tendons] for name in ("tentacle", "tentacle_through")
    }
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


@pytest.mark.parametrize("name", [name for name in ROBOTS if not isinstance(find_robot(name), LimbedSpec)])
def test_round_trip_of_the_catalogue(name):
    robot = find_arm(name)
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
fraction = st.floats(0, 1)
printable = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=40).filter(
    str.strip
)


@st.composite
def segments_of_any_kind(draw):
    radius = draw(st.tuples(length, length))
    return SegmentSpec(
        length=draw(length),
        radius=radius,
        modes=draw(st.lists(st.sampled_from(MODES), min_size=1, unique=True).map(tuple)),
        friction=draw(st.floats(0, 1e6)),
        preshape_deg=draw(st.tuples(*[st.floats(-720, 720)] * 2)),
        disc_radius=draw(st.none() | st.floats(max(radius), 1e3)),
    )


@st.composite
def robots(draw):
    segments = draw(st.lists(segments_of_any_kind(), min_size=1, max_size=4))
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
        masses=tuple(draw(st.lists(st.builds(MassSpec, fraction, st.floats(0, 1e6), st.floats(0, 1e6)), max_size=3))),
        tendons=tuple(tendons),
        motor=draw(st.none() | st.builds(MotorSpec, st.integers(1, 10_000_000), length, length)),
        notes=draw(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=60)),
    )


@given(robots())
def test_round_trip_of_any_robot(robot):
    assert parse_robot(format_robot(robot)) == robot


def test_numbers_of_a_specification_are_floats():
    segment = SegmentSpec(1, (1, 2))
    assert [type(x) for x in (segment.length, *segment.radius)] == [float] * 3
    whole = SegmentSpec(1, (1, 2), friction=1, preshape_deg=(1, 2), disc_radius=3)
    assert [type(x) for x in (whole.friction, *whole.preshape_deg, whole.disc_radius)] == [float] * 4
    assert all(type(x) is float for x in dataclasses.astuple(MaterialSpec(1, 0, 1, 0)))
    assert all(type(x) is float for x in dataclasses.astuple(MassSpec(1, 2, 3)))
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
