"""The chain of platforms as a robot: its numbers, its file, and who accepts it."""

import numpy as np
import pytest

from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.robots import find_robot, format_robot, parse_robot, read_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import LegsSpec, RobotSpec, SegmentSpec, TendonSpec
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.scenarios import SCENARIOS, run_scenario

ARM = find_robot("stewart_arm")


# --- Numbers


def lengths_of(spec):
    return np.array([segment.length for segment in spec.segments])


def radii_of(spec):
    return np.array([segment.radius for segment in spec.segments])


def test_the_papers_arm():
    lengths, radii = lengths_of(ARM), radii_of(ARM)
    assert len(lengths) == 20
    assert lengths.sum() == pytest.approx(5.0, rel=1e-14)
    assert lengths[[0, -1]] == pytest.approx([0.0797, 0.5594], abs=5e-5)
    assert radii[0, 0] == 0.25
    assert radii[-1, 1] == pytest.approx(0.0896, abs=5e-5)
    # Every upper ring is the next lower one, and 0.95 of the one below it.
    np.testing.assert_array_equal(radii[:-1, 1], radii[1:, 0])
    np.testing.assert_allclose(radii[:, 1] / radii[:, 0], 0.95, rtol=1e-14)


def volumes_of(spec):
    a, b = radii_of(spec).T
    return np.pi / 3.0 * lengths_of(spec) * (a * a + a * b + b * b)


@pytest.mark.parametrize("count", [1, 5, 10, 20, 40])
def test_other_numbers_of_segments_keep_length_and_outline(count):
    spec = stewart_arm(count)
    assert len(spec.segments) == count
    assert lengths_of(spec).sum() == pytest.approx(5.0, rel=1e-14)
    assert radii_of(spec)[-1, 1] == pytest.approx(radii_of(ARM)[-1, 1], rel=1e-12)
    np.testing.assert_allclose(volumes_of(spec), volumes_of(spec)[0], rtol=1e-12)
    # Plates that stand at the same height are as wide: those of a coarser arm are among those of a finer one.
    fine = stewart_arm(40)
    heights = np.cumsum(lengths_of(fine))[40 // count - 1 :: 40 // count]
    np.testing.assert_allclose(np.cumsum(lengths_of(spec)), heights, rtol=1e-12)
    np.testing.assert_allclose(radii_of(spec)[:, 1], radii_of(fine)[40 // count - 1 :: 40 // count, 1], rtol=1e-12)


def test_a_taper_of_ones_own():
    cylinder = stewart_arm(4, length=2.0, base_radius=0.1, taper=1.0)
    np.testing.assert_allclose(lengths_of(cylinder), 0.5)
    np.testing.assert_array_equal(radii_of(cylinder), 0.1)


@pytest.mark.parametrize(
    "wrong, word",
    [
        ({"segments": 0}, "segments"),
        ({"segments": 2.0}, "segments"),
        ({"length": 0.0}, "length"),
        ({"length": float("nan")}, "length"),
        ({"base_radius": -0.1}, "base_radius"),
        ({"taper": 0.0}, "taper"),
        ({"taper": 1.2}, "taper"),
    ],
)
def test_senseless_numbers_are_refused(wrong, word):
    with pytest.raises(InputError, match=f"`{word}`") as caught:
        stewart_arm(**wrong)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def built():
    return build_robot(ARM)


def test_the_built_arm_has_the_limits_of_its_legs(built):
    legs = built.legs
    # Octahedral legs at rest, by hand: joints 60 deg apart on rings a and b, L above each other.
    (a, b), L = radii_of(ARM).T, lengths_of(ARM)
    rest = np.sqrt(L**2 + a**2 + b**2 - 2 * a * b * np.cos(np.pi / 3))
    np.testing.assert_allclose(legs.shortest, np.maximum(0.4 * rest, rest - 0.7)[:, None] * np.ones(6), rtol=1e-12)
    np.testing.assert_allclose(legs.longest, np.minimum(2.5 * rest, rest + 0.7)[:, None] * np.ones(6), rtol=1e-12)
    np.testing.assert_array_equal(legs.rate, 2.0)
    np.testing.assert_array_equal(legs.force, 5000.0)
    assert float(built.arm.length) == pytest.approx(5.0)


def test_plates_weigh_what_discs_and_half_legs_do(built):
    b = radii_of(ARM)[:, 1]
    disc = 2700.0 * np.pi * b**2 * 5e-3
    halves = np.where(np.arange(20) == 19, 0.3, 0.6)  # six halves of 0.1 kg below each plate, and six above all but one
    plates = np.asarray(built.one.inertia)[:, 0]
    mass = plates[:, 3:]
    np.testing.assert_allclose(mass, np.repeat((disc + halves)[:, None], 3, 1), rtol=1e-12)
    # About the axis: half of m r^2 of the disc, and all of it of what sits on the rim.
    np.testing.assert_allclose(plates[:, 2], (0.5 * disc + halves) * b**2, rtol=1e-12)
    # Perpendicular axes: a plate that is not quite flat has a little more than half of it about its diameters.
    np.testing.assert_allclose(plates[:, 0] - 0.5 * plates[:, 2], disc * 5e-3**2 / 12.0, rtol=1e-6)
    np.testing.assert_array_equal(plates[:, 0], plates[:, 1])


# --- Its file


def test_the_file_that_new_writes_reads_back_as_the_same_robot(tmp_path, capsys):
    path = tmp_path / "arm.toml"
    assert main(["new", str(path), "--like", "stewart_arm"]) == 0
    capsys.readouterr()
    assert read_robot(path) == ARM
    text = path.read_text()
    assert text == format_robot(ARM)
    # Segments of platforms have no modes to write.
    assert "modes" not in text
    assert "[legs]" in text


def test_legs_of_ones_own_come_back():
    legs = LegsSpec(
        lower_azimuths_deg=(0, 10, 120, 130, 240, 250),
        upper_azimuths_deg=(-50, 60, 70, 180, 190, 300),
        length_range=(0.7, 1.4),
        max_stroke=0.2,
        max_rate=0.5,
        max_force=100.0,
        leg_mass=0.0,
        plate_thickness=0.01,
    )
    spec = stewart_arm(3, legs=legs)
    assert parse_robot(format_robot(spec)) == spec
    np.testing.assert_allclose(build_robot(spec).arm.segments.upper[0], np.deg2rad(legs.upper_azimuths_deg))


def test_a_segment_with_a_count_becomes_a_chain_of_platforms():
    text = "[[arm.segment]]\nlength = 1.0\nradius = [0.2, 0.1]\ncount = 4\n[legs]\nmax_rate = 1.0\n"
    spec = parse_robot(text)
    np.testing.assert_allclose(lengths_of(spec), 0.25)
    np.testing.assert_allclose(radii_of(spec)[:, 1], [0.175, 0.15, 0.125, 0.1])
    assert spec.legs == LegsSpec(max_rate=1.0)


FILE = format_robot(stewart_arm(2))
AZIMUTHS = "upper_azimuths_deg = [90.0, 210.0, 210.0, 330.0, 330.0, 90.0]"
TENDON = "[[tendon]]\nazimuth_deg = 0\noffset = [0.01, 0.01]\nends_at_segment = 1\n"
# What is changed, into what, and what the message must say.
WRONG = {
    "the legs as printed": (
        AZIMUTHS,
        "upper_azimuths_deg = [90, 90, 210, 210, 330, 330]",
        ["no two legs", "legs 1 and 2", "150 to 90 deg", "[legs]"],
    ),
    "legs that coincide after a turn": (
        AZIMUTHS,
        "upper_azimuths_deg = [90, 450, 210, 330, 330, 90]",
        ["no two legs", "legs 1 and 2"],
    ),
    "five legs": (AZIMUTHS, "upper_azimuths_deg = [90, 210, 210, 330, 330]", ["upper_azimuths_deg", "list of 6"]),
    "a leg that is no number": (
        AZIMUTHS,
        "upper_azimuths_deg = [nan, 210, 210, 330, 330, 90]",
        ["upper_azimuths_deg[0]", "finite"],
    ),
    "legs that only shorten": ("[0.4, 2.5]", "[0.4, 0.9]", ["length_range", "around 1", "0.4 to 0.9"]),
    "legs that only lengthen": ("[0.4, 2.5]", "[1.0, 2.5]", ["length_range", "around 1"]),
    "a range turned round": ("[0.4, 2.5]", "[2.5, 0.4]", ["length_range", "around 1"]),
    "no stroke": ("max_stroke = 0.7", "max_stroke = 0.0", ["max_stroke", "above 0"]),
    "no rate": ("max_rate = 2.0", "max_rate = 0", ["max_rate", "above 0"]),
    "a negative mass": ("leg_mass = 0.1", "leg_mass = -0.1", ["leg_mass", "at least 0"]),
    "an unknown key": ("max_rate = 2.0", "max_speed = 2.0", ["'max_speed'", "[legs]", "max_rate"]),
    "tendons beside legs": ("[legs]", f"{TENDON}\n[legs]", ["[legs]", "no tendons", "got 1"]),
    "friction": ("[0.25, ", "[0.25, 0.2]\nfriction = 1.0 #", ["[legs]", "friction", "segment 1"]),
    "a preshape": ("[0.25, ", "[0.25, 0.2]\npreshape_deg = [0, 1] #", ["[legs]", "preshape_deg", "segment 1"]),
    "discs": ("[0.25, ", "[0.25, 0.2]\ndisc_radius = 0.3 #", ["[legs]", "disc_radius", "segment 1"]),
    "legs in double brackets": ("[legs]", "[[legs]]", ["[legs]", "table"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_in_one_line(name):
    old, new, words = WRONG[name]
    assert old in FILE
    with pytest.raises(InputError) as caught:
        parse_robot(FILE.replace(old, new, 1))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_modes_beside_legs_are_refused_or_come_back():
    text = FILE.replace("[0.25, ", '[0.25, 0.2]\nmodes = ["stretch"] #', 1)
    try:
        spec = parse_robot(text)
    except InputError:
        return
    assert parse_robot(format_robot(spec)) == spec


def test_legs_that_differ_but_cannot_hold_the_plate_are_refused_when_it_is_built():
    # Upright legs: nothing keeps the plates from moving sideways.
    places = (0.0, 60.0, 120.0, 180.0, 240.0, 300.0)
    spec = stewart_arm(2, taper=1.0, legs=LegsSpec(places, places))
    with pytest.raises(InputError, match=r"do not hold it at rest: segment 1, 2 is singular") as caught:
        build_robot(spec)
    assert "\n" not in str(caught.value)


def test_platforms_take_no_tendons_in_python_either():
    segment, tendon = SegmentSpec(0.3, (0.1, 0.1)), TendonSpec(0.0, (0.05, 0.05), 1)
    with pytest.raises(InputError, match="no tendons"):
        RobotSpec("both", (segment,), tendons=(tendon,), legs=LegsSpec())


# --- Who accepts it

FOR_PLATFORMS = [name for name in SCENARIOS if "[legs]" in SCENARIOS[name].accepts]
FOR_ANY = [name for name in SCENARIOS if SCENARIOS[name].limbed is None]
FOR_OTHERS = [name for name in SCENARIOS if name not in (*FOR_PLATFORMS, *FOR_ANY)]


def refused(name, robot, out):
    with pytest.raises(InputError) as caught:
        run_scenario(name, robot, out=out, figures=False)
    assert "\n" not in str(caught.value)
    assert not list(out.iterdir())
    return str(caught.value)


@pytest.mark.parametrize("name", FOR_OTHERS)
def test_scenarios_for_continuum_arms_refuse_it(name, tmp_path):
    message = refused(name, "stewart_arm", tmp_path)
    assert any(kind in message for kind in ("continuum arm", "muscular arm", "limbs on a body"))
    assert "stewart arm" in message


@pytest.mark.parametrize("name", FOR_ANY)
def test_scenarios_for_any_robot_refuse_it(name, tmp_path):
    assert "stewart" in refused(name, "stewart_arm", tmp_path).lower()


@pytest.mark.parametrize("name", FOR_PLATFORMS)
def test_scenarios_for_platforms_refuse_a_tentacle(name, tmp_path):
    message = refused(name, "tentacle", tmp_path)
    assert "chain of platforms" in message
    assert "stewart_arm" in message


def test_there_are_scenarios_of_both_kinds():
    assert {f"track-{name}" for name in ("line", "ellipse", "sinusoid", "reach", "fetch", "file")} <= set(FOR_PLATFORMS)
    assert {"tentacle-move", "finger-release", "rod-abrupt"} <= set(FOR_OTHERS)


def test_a_bad_robot_is_one_line_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "bad.toml"
    old, new, _ = WRONG["the legs as printed"]
    file.write_text(FILE.replace(old, new))
    code = main(["run", "track-line", "--robot", str(file), "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert "no two legs" in printed.err
    assert not (tmp_path / "out").exists()
