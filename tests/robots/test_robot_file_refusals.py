"""Robot files with one fault: each is refused in one line that says what, what was got, and where."""

import pytest
from good_robot_file import GOOD

from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, find_robot, parse_robot, read_robot
from hydrostat.robots.spec import RobotSpec


def refusal(text):
    """The message that a text is refused with: always one line, of an InputError."""
    with pytest.raises(InputError) as error:
        parse_robot(text)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message


# What is wrong (the key), what was got, and where.
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
    "an end too far": ("place = 0.6", "place = 1.1", ["`place`", "at most 1", "1.1", "[[mass]] 1"]),
    "before the base": ("place = 0.6", "place = -0.1", ["`place`", "at least 0", "-0.1", "[[mass]] 1"]),
    "a mass nowhere": ("place = 0.6", "", ["`place`", "missing", "[[mass]] 1"]),
    "a mass of nothing": ("mass = 0.05", "", ["`mass`", "missing", "[[mass]] 1"]),
    "a negative mass": ("mass = 0.05", "mass = -0.05", ["`mass`", "at least 0", "-0.05", "[[mass]] 1"]),
    "a huge mass": ("mass = 0.05", "mass = 1e7", ["`mass`", "at most 1e+06", "10000000.0"]),
    "a negative inertia": ("inertia = 1e-3", "inertia = -1e-3", ["`inertia`", "at least 0", "-0.001", "[[mass]] 2"]),
    "unknown key in a mass": ("inertia = 1e-3", "weight = 1", ["'weight'", "[[mass]] 2", "place, mass, inertia"]),
    "one mass in single brackets": ("[[mass]]\nplace = 0.6\nmass = 0.05\n[[mass]]", "[mass]", ["[[mass]]", "double"]),
    "negative friction": (
        "friction = 0.5",
        "friction = -0.5",
        ["`friction`", "at least 0", "-0.5", "[[arm.segment]] 2"],
    ),
    "friction in two directions": ("friction = 0.5", "friction = [1, 1]", ["`friction`", "number", "(1, 1)"]),
    "too much friction in a piece": (
        "friction = 0.5",
        "friction = 5e5",
        ["`friction`", "at most 1e+06", "2000000.0", "4 pieces of [[arm.segment]] 2"],
    ),
    "one angle of a preshape": ("[-20, 60]", "60", ["`preshape_deg`", "list of 2 numbers", "60", "[[arm.segment]] 2"]),
    "a preshape wound up": ("[-20, 60]", "[-20, 721]", ["`preshape_deg[1]`", "at most 720", "721"]),
    "a preshape wound down": ("[-20, 60]", "[-721, 60]", ["`preshape_deg[0]`", "at least -720", "-721"]),
    "discs inside the body": (
        "count = 4",
        "count = 4\ndisc_radius = 0.015",
        ["`disc_radius`", "at least the body's radius 0.02", "0.015", "[[arm.segment]] 2"],
    ),
    "discs of no size": ("count = 4", "disc_radius = 0", ["`disc_radius`", "above 0", "got 0", "[[arm.segment]] 2"]),
    "discs in words": ("count = 4", 'disc_radius = "wide"', ["`disc_radius`", "number", "'wide'"]),
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
        (GOOD + "[[mass]]\nplace = 1\nmass = 1\n" * 999, ["at most 1000 masses", "1001"]),
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
    assert "262144 bytes" in of(tmp_path / "large.toml")
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
