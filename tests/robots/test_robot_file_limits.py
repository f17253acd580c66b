"""However a small file is made, the loader answers within a second."""

import os
import time

import pytest

from hydrostat.errors import InputError
from hydrostat.robots.file import format_robot, parse_robot, read_robot
from hydrostat.robots.file_limits import LARGEST_FILE
from hydrostat.robots.specs.squid import squid

SEGMENT = "[[arm.segment]]\nlength = 0.1\nradius = [0.01, 0.01]\n"
TENDON = "[[tendon]]\nazimuth_deg = 0.0\noffset = [0.005, 0.005]\nends_at_segment = 1000\n"
BODY = "[body]\nvolume = 0.0\n"
SHAPE = '[[body.shape]]\nname = "a"\nkind = "sphere"\nsize = [0.1]\nposition = [0, 0, 0]\nmass = 1\n'
FILES = {
    "a key of 10 000 parts": (".".join(["a"] * 10_000) + " = 1\n", "at most 16 parts"),
    "a key of 40 000 parts": (".".join(["a"] * 40_000) + " = 1\n", "at most 16 parts"),
    "a quoted key of many parts": (".".join([r'"a\""'] * 10_000) + " = 1\n", "at most 16 parts"),
    "a table of many parts": ("[" + " . ".join(["'a'"] * 10_000) + "]\n", "at most 16 parts"),
    "an inline key of many parts": ("a = {" + ".".join(["a"] * 10_000) + " = 1}\n", "at most 16 parts"),
    "1000 segments with 1000 tendons": (SEGMENT + "count = 1000\n" + 1000 * TENDON, "segments times tendons"),
    "18 000 tables with count": (3_000 * (SEGMENT + "count = 1000\n"), "1 to 1000 segments; got 3000000"),
    "many limbs of many segments": (
        BODY + SHAPE + 99 * (SEGMENT.replace("arm", "limb") + "count = 1000\n").join(["[[limb]]\nname = 'a'\n", ""]),
        "at most 10000 segments",
    ),
    "many shapes": (BODY + 2500 * SHAPE, "at most 1000 shapes"),
    "a ring of long arms": (
        BODY + SHAPE + "[limbs]\ncount = 100\nring_radius = 0.1\n" + SEGMENT + "count = 1000\n" + 500 * TENDON,
        "segments times tendons",
    ),
    "deep arrays": ("a = " + "[" * 200_000, "valid TOML"),
    "deep tables": ("a = " + "{a=" * 60_000, "valid TOML"),
    "a long word": ("a" * 260_000, "valid TOML"),
    "many quotes": ("'\"" * 130_000, "valid TOML"),
    "many spaces": ("a ." + " " * 260_000, "valid TOML"),
    "a number of many digits": ("name = " + "9" * 250_000, "valid TOML"),
    "many lines": ("".join(f"a{i}=1\n" for i in range(28_000)), "unknown key"),
    "a long list": ("name = [" + "1," * 120_000 + "]", "segment"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_small_file_is_answered_within_a_second(name, tmp_path):
    text, message = FILES[name]
    assert len(text) < 1_000_000
    file = tmp_path / "robot.toml"
    file.write_text(text)
    begin = time.process_time()
    with pytest.raises(InputError, match=message if len(text) <= LARGEST_FILE else "at most 262144 bytes") as caught:
        read_robot(file)
    assert time.process_time() - begin < 1.0
    assert "\n" not in str(caught.value)
    if len(text) > LARGEST_FILE:  # the limits hold by themselves
        with pytest.raises(InputError, match=message):
            parse_robot(text)


def test_what_is_allowed_at_most_is_read_within_a_second():
    begin = time.process_time()
    spec = parse_robot(SEGMENT + "count = 1000\n" + 100 * TENDON)
    assert time.process_time() - begin < 1.0
    assert (len(spec.segments), len(spec.tendons)) == (1000, 100)


def test_pipes_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "robot.toml")
    with pytest.raises(InputError, match="a pipe or a device"):
        read_robot(tmp_path / "robot.toml")


def test_limits_leave_real_files_alone():
    assert parse_robot(format_robot(squid())) == squid()
