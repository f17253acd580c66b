"""Files of robots with limbs on a body: they come back as they went, build the same robot, and refuse in one line."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, find_robot, format_robot, load, parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.limbed import LimbedSpec, RingSpec
from hydrostat.scenarios.catalogue import SCENARIOS

BODY = """\
name = "decapod"
[base]
position = [0, 0, 1]
[body]
volume = 1e-3
free = true
[[body.shape]]
name = "shell"
kind = "sphere"
size = [0.06]
position = [0, 0, 0.02]
mass = 1
moments = [1e-3, 2e-3, 1.5e-3]
[material]
youngs_modulus = 1e5
"""
RING = """\
[limbs]
count = 3
ring_radius = 0.05
pitch_deg = 20
name = "leg"
notes = "made up"
[[arm.segment]]
length = 0.2
radius = [0.01, 0.008]
"""
LIMBS = """\
[[limb]]
name = "left"
length_range = [0.9, 1.1]
base.position = [0, 0.05, 0]
base.axis = [0, 1, 0]
[[limb.segment]]
length = 0.3
radius = [0.012, 0.006]
count = 2
[[limb.tendon]]
azimuth_deg = 90
offset = [0.005, 0.005]
ends_at_segment = 2
[[limb]]
name = "right"
role = "camera"
[limb.base]
position = [0, -0.05, 0]
axis = [0, -1, 0]
[limb.material]
youngs_modulus = 2e5
[[limb.mass]]
place = 1
mass = 0.01
[[limb.segment]]
length = 0.3
radius = [0.012, 0.006]
"""
ALL = BODY + RING + LIMBS


def arrays_differ(one, other):
    """The places where arrays of two robots differ by more than the rounding of a sum."""
    flat, tree = jax.tree_util.tree_flatten_with_path(eqx.filter(one, eqx.is_array))
    others, same = jax.tree_util.tree_flatten(eqx.filter(other, eqx.is_array))
    assert str(tree) == str(same)
    return [
        jax.tree_util.keystr(k)
        for (k, a), b in zip(flat, others, strict=True)
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-13, atol=0.0, equal_nan=True)
    ]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_file_that_new_writes_is_the_robot(name, tmp_path, capsys):
    file = str(tmp_path / "my.toml")
    assert main(["new", file, "--like", name]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert find_robot(file) == find_robot(name)
    assert arrays_differ(load(file), load(name)) == []
    if isinstance(find_robot(name), LimbedSpec):
        assert arrays_differ(load(file, free=True), load(name, free=True)) == []
    # What accepts the one accepts the other.
    accepting = [s for s in SCENARIOS.values() if accepts(s, name)]
    assert accepting
    assert all(accepts(scenario, file) for scenario in accepting)


def accepts(scenario, robot):
    try:
        scenario.check(find_robot(robot))
    except InputError:
        return False
    return True


def test_a_ring_is_written_as_one_table():
    for name in ("octopus", "octopus_swimmer"):
        text = format_robot(find_robot(name))
        assert text.count("[limbs]") == 1
        assert "[[limb]]" not in text
    # One arm that is longer, or sits elsewhere, and it is a list.
    octopus = find_robot("octopus")
    *arms, last = octopus.limbs
    longer = dataclasses.replace(last, length_range=(0.5, 4.0))
    moved = dataclasses.replace(last, arm=dataclasses.replace(last.arm, base=arms[0].arm.base))
    for other in (longer, moved):
        changed = dataclasses.replace(octopus, limbs=(*arms, other))
        text = format_robot(changed)
        assert text.count("[[limb]]") == 8
        assert parse_robot(text) == changed


def test_equal_limbs_and_others_on_one_body():
    robot = parse_robot(ALL)
    assert [limb.name for limb in robot.limbs] == ["leg 1", "leg 2", "leg 3", "left", "right"]
    assert robot.limbs[:3] == RingSpec(3, 0.05, 0.0, 20.0, "leg").limbs(robot.limbs[0].arm)
    assert robot.limbs[2].arm.notes == "made up"
    assert [len(limb.arm.segments) for limb in robot.limbs] == [1, 1, 1, 2, 1]
    assert [limb.arm.material.youngs_modulus for limb in robot.limbs] == [1e5] * 4 + [2e5]
    assert (robot.limbs[3].length_range, robot.limbs[4].role) == ((0.9, 1.1), "camera")
    assert parse_robot(format_robot(robot)) == robot
    # The body is free because the file says so, with the moments of inertia that it gives.
    built = build_robot(robot)
    np.testing.assert_allclose(built.base_inertia, [1e-3, 2e-3, 1.5e-3, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(built.T_world_body.position, [0.0, 0.0, 1.02])
    assert not build_robot(robot, free=False).free_base
    # A limb leaves the ring outwards, and down by its pitch.
    tip = built.T_world_body @ built.mounts[1]
    yaw, pitch = np.deg2rad(120.0), np.deg2rad(20.0)
    outwards = [np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), -np.sin(pitch)]
    np.testing.assert_allclose(tip.rotation[:, 2], outwards, atol=1e-15)
    np.testing.assert_allclose(tip.position, [0.05 * np.cos(yaw), 0.05 * np.sin(yaw), 1.0], atol=1e-15)


REFUSALS = {
    "one shape in single brackets": ("[[body.shape]]", "[body.shape]", ["[[body.shape]]", "double brackets"]),
    "no volume": ("volume = 1e-3", "", ["`volume`", "missing", "[body]"]),
    "a body of words": ("free = true", 'free = "yes"', ["`free`", "true or false", "'yes'", "[body]"]),
    "unknown key in the body": ("free = true", "mass = 3", ["'mass'", "[body]", "volume, free, shape"]),
    "unknown kind of shape": ('"sphere"', '"cone"', ["`kind`", "sphere, capsule", "'cone'", "[[body.shape]] 1"]),
    "sizes of another shape": ("[0.06]", "[0.06, 0.1]", ["`size`", "list of 1 numbers", "[[body.shape]] 1"]),
    "no such solid": ("[1e-3, 2e-3,", "[1e-3, 9e-3,", ["`moments`", "sum of the others", "[[body.shape]] 1"]),
    "a body without mass": ("mass = 1\n", "mass = 0\n", ["must have a mass", "[body]"]),
    "no limbs of a ring": ("count = 3", "count = 0", ["`count`", "from 1 to 100", "got 0", "[limbs]"]),
    "no ring": ("ring_radius = 0.05", "", ["`ring_radius`", "missing", "[limbs]"]),
    "unknown key in the ring": ("ring_radius", "radius", ["'radius'", "[limbs]", "ring_radius"]),
    "a ring upside down": ("pitch_deg = 20", "pitch_deg = 120", ["`pitch_deg`", "at most 90", "120", "[limbs]"]),
    "notes of a ring": ('"made up"', "3", ["`notes`", "text", "got 3", "[limbs]"]),
    "a ring of nothing": (RING.split("notes")[1].split("\n", 1)[1], "", ["[[arm.segment]]", "none"]),
    "no name": ('name = "left"', "", ["`name`", "missing", "[[limb]] 1"]),
    "a name twice": ('"right"', '"left"', ["a name of its own", "left, left"]),
    "unknown role": ('"camera"', '"hand"', ["`role`", "tool, camera, light", "'hand'", "[[limb]] 2"]),
    "unknown key in a limb": ("length_range = [0.9, 1.1]", "legth = 1", ["'legth'", "[[limb]] 1", "length_range"]),
    "a short range": ("[0.9, 1.1]", "[0.8, 0.9]", ["`length_range`", "must hold 1", "[[limb]] 1"]),
    "a base of words": ("[0, -1, 0]", "'left'", ["`axis`", "[limb.base] of [[limb]] 2"]),
    "a segment of no length": ("length = 0.3\n", "length = 0\n", ["`length`", "[[limb.segment]] 1 of [[limb]] 1"]),
    "a tendon beyond its limb": ("ends_at_segment = 2", "ends_at_segment = 3", ["tendon 1", "at most 2", "[[limb]] 1"]),
    "one limb in single brackets": (LIMBS, "[limb]\nname = 'a'\n", ["[[limb]]", "double brackets"]),
    "an arm that no limb has": (RING, "[[arm.segment]]\nlength = 1\nradius = [1, 1]\n", ["`arm`", "no [limbs]"]),
    "a limb that is a number": (LIMBS, "[[limb]]\nname = 'a'\nsegment = [3]\n", ["[[limb.segment]] 1", "got 3"]),
    "a limb of nothing": (LIMBS, "[[limb]]\nname = 'a'\n", ["[[limb.segment]] of [[limb]] 1", "none"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    old, new, words = REFUSALS[case]
    assert old in ALL
    with pytest.raises(InputError) as error:
        parse_robot(ALL.replace(old, new, 1))
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    "text, words",
    [
        (BODY, ["must carry limbs", "[limbs]", "[[limb]]"]),
        (RING, ["[body] is missing", "[limbs]"]),
        (LIMBS, ["[body] is missing", "[[limb]]"]),
        ("body = 3\n", ["[body]", "table", "got 3"]),
        ("[body]\nvolume = 1\n" + RING, ["at least one shape"]),
        ("limbs = 3\n" + BODY, ["[limbs]", "table", "got 3"]),
    ],
)
def test_refusals_of_whole_files(text, words):
    with pytest.raises(InputError) as error:
        parse_robot(text)
    for word in words:
        assert word in str(error.value), str(error.value)


def test_a_free_body_whose_axes_are_not_principal_is_refused():
    lump = "[[body.shape]]\nname = 'lump'\nkind = 'sphere'\nsize = [0.01]\nposition = [1, 0, 1]\nmass = 1\n"
    skew = BODY.replace("[material]", f"{lump}[material]")
    with pytest.raises(InputError, match="the axes of the free body of decapod must be its principal ones"):
        build_robot(parse_robot(skew + RING))
    build_robot(parse_robot(skew + RING), free=False)
