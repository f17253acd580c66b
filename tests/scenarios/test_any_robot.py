"""statics, modes and drive: what any robot does under weight, tendons, muscles and loads."""

import json
import re

import numpy as np
import pytest

from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.robots import ROBOTS, find_robot, read_tensions
from hydrostat.scenarios import run_scenario
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario

SEGMENT = """
[[arm.segment]]
length = {length}
count = {count}
radius = [{radius}, {radius}]
modes = ["bend_x", "bend_y"]
"""
MATERIAL = """
[material]
youngs_modulus = {modulus}
poisson_ratio = 0.49
density = 1070.0
viscosity = {viscosity}
"""
LENGTH, RADIUS, MODULUS, DENSITY = 0.2, 0.01, 2e5, 1070.0


@pytest.fixture
def soft_arm(tmp_path):
    """Four segments of silicone that hang down, with three tendons to the middle and three to the tip."""
    text = 'name = "soft arm"\n[base]\naxis = [0.0, 0.0, -1.0]\n'
    text += SEGMENT.format(length=LENGTH, count=4, radius=RADIUS) + MATERIAL.format(modulus=MODULUS, viscosity=2e4)
    for end in (2, 4):
        for azimuth in (0, 120, 240):
            text += f"[[tendon]]\nazimuth_deg = {azimuth}.0\noffset = [0.007, 0.007]\nends_at_segment = {end}\n"
    path = tmp_path / "soft.toml"
    path.write_text(text)
    return str(path)


@pytest.fixture
def command(capsys, tmp_path):
    def command(*arguments):
        assert main([*arguments, "--json", "--no-figures", "--out", str(tmp_path / "out")]) == 0
        return json.loads(capsys.readouterr().out)["metrics"]

    return command


def test_what_is_driven_comes_to_rest_where_statics_says(command, soft_arm, tmp_path):
    tensions, sideways = (0.8, 0.0, 0.0, 0.0, 0.4, 0.0), ("--gravity", "0,4,-8", "--load", "0.02,0,0")
    listed = ",".join(map(str, tensions))
    rests = command("statics", soft_arm, "--tension", listed, *sideways)
    # The same from a file, with the load from the beginning.
    (tmp_path / "commands.csv").write_text(f"time,a,b,c,d,e,f\n0,0,0,0,0,0,0\n0.5,{listed}\n")
    options = ("--seconds", "6", "--dt-ms", "5")
    rises = command("drive", soft_arm, "--tension", listed, *sideways, *options)
    plays = command("drive", soft_arm, "--csv", str(tmp_path / "commands.csv"), *sideways, *options)
    for metrics in (rises, plays):
        assert metrics["tip_speed_end_m_s"] < 1e-5
        np.testing.assert_allclose(metrics["tip_mm"], rests["tip_mm"], atol=0.01)
    assert rests["tip_moved_mm"][0] > 10.0
    np.testing.assert_allclose(np.linalg.norm(rests["tip_axis"]), 1.0, rtol=1e-12)


def test_modes_of_a_cantilever_are_those_of_the_textbook(command, tmp_path):
    text = SEGMENT.format(length=LENGTH, count=12, radius=RADIUS) + MATERIAL.format(modulus=1e9, viscosity=0.0)
    (tmp_path / "rod.toml").write_text(text)
    metrics = command("modes", str(tmp_path / "rod.toml"), "--gravity", "0,0,0", "--count", "4")
    roots = np.repeat([1.8751040687, 4.6940911330], 2)  # Blevins 1979: cos x cosh x = -1
    per_root = np.sqrt(1e9 * RADIUS**2 / 4 / DENSITY) / (2.0 * np.pi * LENGTH**2)
    # Rotary inertia lowers the second by pi^2 (r / L)^2, some 2 percent; segments are right to second order.
    np.testing.assert_allclose(metrics["frequency_hz"], roots**2 * per_root, rtol=0.03)
    assert metrics["stable"]
    assert metrics["tip_mm"] == pytest.approx([0.0, 0.0, 1e3 * LENGTH], abs=1e-9)


def test_a_column_that_must_buckle_is_called_unstable(tmp_path):
    (tmp_path / "column.toml").write_text(
        SEGMENT.format(length=1.0, count=4, radius=RADIUS) + MATERIAL.format(modulus=MODULUS, viscosity=0.0)
    )
    report = run_scenario("modes", str(tmp_path / "column.toml"), out=tmp_path / "out", figures=False)
    assert not report["metrics"]["stable"]
    assert report["metrics"]["frequency_hz"][0] < 0.0
    assert "not stable" in report["notes"][0]


@pytest.mark.slow
def test_figures_and_replays_of_a_body_with_limbs(tmp_path):
    pytest.importorskip("viser")
    for name in ("statics", "modes"):
        report = run_scenario(name, "squid", {"water": True}, out=tmp_path / "out")
        assert len(report["metrics"]["tip_mm"]) == 3 * len(find_robot("squid").limbs)
        assert {"figure", "replay"} <= set(report["files"])


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "stewart_arm"])
def test_every_robot_but_the_chain_of_platforms_is_accepted(name):
    for scenario in ("statics", "modes", "drive"):
        find_scenario(scenario).check(find_robot(name))
        find_scenario(scenario).settings({}, find_robot(name))


def test_a_chain_of_platforms_is_sent_elsewhere():
    with pytest.raises(InputError, match="without stiffness of its own: see track-dynamics"):
        find_scenario("statics").check(find_robot("stewart_arm"))


@pytest.mark.parametrize(
    ("robot", "settings", "message"),
    [
        ("tentacle", {"tension_n": [1.0]}, "must be 9 numbers, one for each tendon; got 1"),
        ("octopus_arm", {"tension_n": [1.0]}, "the robot has no tendons; got 1"),
        ("octopus_arm", {"activation": [1.0]}, "must be 5 numbers, one for each muscle of a segment; got 1"),
        ("octopus_arm_oblique", {"activation": [1.0] * 5}, "must be 7 numbers"),
        ("tentacle", {"activation": [1.0]}, "it has no muscles; got 1"),
        ("tentacle", {"base_axis": [0.0, 0.0]}, "`base_axis` must be three numbers"),
        ("tentacle", {"base_axis": [0.0, 0.0, 0.0]}, "not all zero"),
        ("tentacle", {"current_m_s": [0.1, 0.0, 0.0]}, "add water=true"),
    ],
)
def test_what_does_not_fit_the_robot_is_refused(robot, settings, message):
    with pytest.raises(InputError, match=message):
        find_scenario("statics").settings(settings, find_robot(robot))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it holds none"),
        ("time,a,b\n", "it holds none"),
        ("0,1,2\n1,2\n", "line 2 of .* must be a time and 2 tensions; got '1,2'"),
        ("0,1,x\n", "line 1 of .* must be a time and 2 tensions"),
        ("0,1,-2\n", "tensions from 0 to 1e.06 N"),
        ("0,1,nan\n", "tensions from 0 to"),
        ("0,1,2\n0,1,2\n", "grow from line to line; got 0 in line 2"),
        ("inf,1,2\n", "must be finite"),
    ],
)
def test_files_of_commands_are_refused_in_a_line(tmp_path, text, message):
    path = tmp_path / "commands.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_tensions(str(path), 2)
    assert "\n" not in str(refused.value)


def test_drive_takes_tensions_from_one_place(tmp_path):
    (tmp_path / "a.csv").write_text("0" + ",1" * 9 + "\n")
    drive, tentacle = find_scenario("drive"), find_robot("tentacle")
    drive.settings({"csv": str(tmp_path / "a.csv")}, tentacle)
    with pytest.raises(InputError, match="not from both"):
        drive.settings({"csv": str(tmp_path / "a.csv"), "tension_n": [1.0] * 9}, tentacle)
    with pytest.raises(InputError, match="has no tendons"):
        drive.settings({"csv": str(tmp_path / "a.csv")}, find_robot("octopus_arm"))
    with pytest.raises(InputError, match="could not be read: No such file"):
        drive.settings({"csv": str(tmp_path / "b.csv")}, tentacle)


def test_numbers_of_options_are_refused_in_a_line(capsys):
    assert main(["statics", "tentacle", "--tension", "1,two"]) == 2
    assert "--tension must be numbers with commas between them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("drive", "tentacle", "--tension", "1,2"),
            "--tension of tentacle (cylinder, hard wires, decoupled) must be 9",
        ),
        (("statics", "tentacle", "--tension", "1,2,3,4,-5,6,7,8,9"), "number 5 of --tension must be a finite number"),
        (("statics", "octopus_arm", "--activation", "1"), "--activation of octopus arm"),
        (("statics", "octopus_arm", "--activation", "0,0,0,0,2"), "number 5 of --activation must be"),
        (("modes", "tentacle", "--load", "1,2"), "--load must be a list of 3 numbers"),
        (("modes", "tentacle", "--gravity", "1"), "--gravity must be a list of 3 numbers"),
        (("modes", "tentacle", "--base-axis", "0,0,0"), "--base-axis must be three numbers that are not all zero"),
        (("modes", "tentacle", "--current", "1,0,0"), "--current is the velocity of water; add --water"),
        (("modes", "tentacle", "--current", "1,0,nan", "--water"), "number 3 of --current must be a finite number"),
        (("modes", "tentacle", "--pieces", "-1"), "--pieces must be a whole number from 0 to 100; got -1"),
        (("modes", "octopus", "--pieces", "2"), "--pieces must be 1 for octopus, whose segments have muscles; got 2"),
        (("modes", "tentacle", "--count", "0"), "--count must be a whole number from 1 to 1000; got 0"),
        (("drive", "tentacle", "--rise", "0"), "--rise must be a finite number above 0"),
        (("drive", "tentacle", "--seconds=-1"), "--seconds must be a finite number at least 0"),
        (("drive", "tentacle", "--dt-ms", "0"), "--dt-ms must be a finite number above 0"),
        (("drive", "octopus_arm", "--csv", "a.csv"), "--csv gives tensions"),
        (
            ("drive", "tentacle", "--csv", "a.csv", "--tension", "1" + ",1" * 8),
            "from --csv or from --tension, not from",
        ),
    ],
)
def test_refusals_name_the_option_that_was_typed(arguments, message, capsys, tmp_path):
    assert main([*arguments, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert message in said, said
    assert said.count("\n") == 1
    assert not any(f"{key}`" in said for key in ("tension_n", "tip_load_n", "gravity_m_s2", "current_m_s", "rise_s"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_refusal_names_a_robot_that_is_accepted(name):
    scenario = SCENARIOS[name]
    scenario.check(find_robot(scenario.robot))
    for robot in ROBOTS:
        try:
            scenario.check(find_robot(robot))
        except InputError as error:
            named = set(re.findall(r"(?:such as|runs with) (\w+)", str(error)))
            assert named or scenario.limbed is None
            for other in named:
                scenario.check(find_robot(other))
