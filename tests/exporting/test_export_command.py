"""`hydrostat export`: what it writes, what it says, and what it refuses."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from hydrostat.cli import main
from hydrostat.exporting.urdf import roll_pitch_yaw
from hydrostat.exporting.xml import number
from hydrostat.robots import ROBOTS
from hydrostat.robots.rrp_twin import about_x, about_y, about_z


def call(capsys, *arguments):
    code = main(["export", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize("kind", ["mjcf", "urdf"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_is_exported(capsys, name, kind):
    code, out, err = call(capsys, name, "--format", kind)
    assert code == 0
    assert "Traceback" not in err
    root = ET.fromstring(out)
    assert root.tag == {"mjcf": "mujoco", "urdf": "robot"}[kind]
    words = out.replace('"', " ").lower().split()
    assert not {"nan", "inf", "-inf"} & set(words)
    masses = [float(e.get("mass") or e.get("value") or 0.0) for e in root.iter() if e.tag in ("inertial", "mass")]
    assert min(masses) >= 0.0
    names = [e.get("name") for tag in ("body", "link", "joint") for e in root.iter(tag) if e.get("name")]
    assert any(word.endswith("_tip") for word in names)


def test_a_robot_file_is_exported_to_a_file(capsys, tmp_path):
    robot, out = tmp_path / "my.toml", tmp_path / "my.xml"
    robot.write_text("[[arm.segment]]\nlength = 0.4\nradius = [0.03, 0.02]\ncount = 2\n")
    code, said, err = call(capsys, str(robot), "--format", "mjcf", "--sections", "3", "--out", str(out))
    assert (code, said, err) == (0, f"{out}\n", "")
    root = ET.fromstring(out.read_text())
    joints = [joint.get("name") for joint in root.iter("joint")]
    assert len(joints) == 12
    assert joints[:4] == [
        "arm_segment_1_section_1_bend_x",
        "arm_segment_1_section_1_bend_y",
        "arm_segment_1_section_2_bend_y",
        "arm_segment_1_section_2_bend_x",
    ]
    code, _, err = call(capsys, str(robot), "--format", "mjcf", "--out", str(out))
    assert code == 2
    assert "exists and is left alone" in err


def test_what_is_left_out_is_said(capsys):
    _, out, err = call(capsys, "stewart_arm", "--format", "urdf")
    assert "the legs of the platforms are left out" in err
    assert "the legs of the platforms are left out" in out
    assert len(list(ET.fromstring(out).iter("joint"))) == 6 * 20 + 2
    _, _, err = call(capsys, "tentacle", "--format", "urdf", "--chain", "elastic")
    assert "URDF has no springs" in err
    assert "URDF has no tendons" in err
    _, _, err = call(capsys, "squid", "--format", "urdf")
    assert "URDF has no cameras and lights" in err
    _, _, err = call(capsys, "octopus_arm", "--format", "mjcf")
    assert "muscles" in err


def test_table_one_is_the_range_of_the_squids_joints(capsys):
    _, out, _ = call(capsys, "squid", "--format", "urdf")
    limits = {j.get("name"): j.find("limit") for j in ET.fromstring(out).iter("joint") if j.find("limit") is not None}
    bend = limits["camera_segment_1_section_4_bend"]
    np.testing.assert_allclose([float(bend.get(k)) for k in ("lower", "upper")], [-np.pi / 20, np.pi / 20])
    slide = limits["grasper_segment_2_section_4_slide"]
    # 29 to 30 mm; the chords of a bent limb are a little shorter than its arcs.
    chord = 0.029 * np.sin(np.pi / 40) / (np.pi / 40)
    np.testing.assert_allclose([float(slide.get(k)) for k in ("lower", "upper")], [chord - 0.03, 0.0], atol=1e-12)
    turn = limits["light_segment_1_section_1_turn"]
    np.testing.assert_allclose(float(turn.get("upper")), np.pi)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("tentacle",), "the following arguments are required: --format"),
        (("tentacle", "--format", "dae"), "invalid choice: 'dae' (choose from 'mjcf', 'urdf')"),
        (("tentacle", "--format", "mjcf", "--sections", "0"), "`sections` must be a whole number from 1 to 200; got 0"),
        (("tentacle", "--format", "mjcf", "--sections", "-3"), "`sections` must be a whole number from 1 to 200"),
        (("tentacle", "--format", "mjcf", "--sections", "many"), "invalid int value: 'many'"),
        (("tentacle", "--format", "mjcf", "--sections", "100"), "MuJoCo reads bodies up to 95 deep; got 303"),
        (("tentacle", "--format", "mjcf", "--chain", "prp"), "invalid choice: 'prp'"),
        (("kraken", "--format", "mjcf"), "robot must be one of tentacle, "),
        (("none.toml", "--format", "mjcf"), "could not be read: No such file or directory"),
        (("tentacle", "--format", "urdf", "--water"), "URDF cannot hold water; --water is for --format mjcf"),
        (("tentacle", "--format", "mjcf", "--free-base"), "only a robot with a body can float"),
        (("rod", "--format", "urdf", "--chain", "rrp"), "segment 1 has the mode twist; use --chain elastic"),
        (("octopus_arm", "--format", "mjcf", "--sections", "2"), "its segments are struts, rigid pieces; got 2"),
        (("stewart_arm", "--format", "urdf", "--sections", "2"), "its segments are platforms, rigid pieces; got 2"),
        (("tentacle", "--format", "mjcf", "--out", "/nowhere/arm.xml"), "could not be written: No such file"),
    ],
)
def test_bad_requests_are_one_line(capsys, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_rest_shape_that_no_joint_holds_is_named(capsys, tmp_path):
    file = tmp_path / "bent.toml"
    file.write_text(
        "[[arm.segment]]\nlength = 0.4\nradius = [0.03, 0.02]\nmodes = ['bend_y']\npreshape_deg = [10.0, 0.0]\n"
    )
    code, _, err = call(capsys, str(file), "--format", "mjcf")
    assert code == 2
    assert "segment 1 is bent at rest in bend_x, which is none of its modes" in err
    assert call(capsys, str(file), "--format", "urdf")[0] == 0


def test_requests_are_checked_before_jax_is_loaded(tmp_path):
    program = (
        "import sys; from hydrostat.cli import main; "
        "code = main(['export', 'squid', '--format', 'urdf', '--water']); print(code, 'jax' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False
    )
    assert done.stdout.strip() == "2 False"


def test_numbers_keep_all_digits():
    for value in (1 / 3, -1e-300, 123456789.123456789, 0.0, -0.0):
        assert float(number(value)) == value
    assert number(-0.0) == "0"


@pytest.mark.parametrize("pitch", [0.3, -1.2, np.pi / 2, -np.pi / 2])
def test_roll_pitch_and_yaw_make_the_rotation(pitch):
    R = about_z(0.7) @ about_y(pitch) @ about_x(-2.1)
    roll, pitch, yaw = roll_pitch_yaw(R)
    np.testing.assert_allclose(about_z(yaw) @ about_y(pitch) @ about_x(roll), R, atol=1e-15)
