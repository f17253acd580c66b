"""The command line: help, lists, robot files, and one clear line for everything that is wrong."""

import json
import subprocess
import sys

import pytest

from hydrostat.cli import main
from hydrostat.robots import ROBOTS
from hydrostat.scenarios import SCENARIOS


def call(capsys, *arguments):
    try:
        code = main(list(arguments))
    except SystemExit as leaving:  # argparse's --version and --help
        code = leaving.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refused(capsys, *arguments):
    """Run what must be refused; its one line."""
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("hydrostat: ")
    assert "Traceback" not in err
    return err


def test_version(capsys):
    assert call(capsys, "--version")[:2] == (0, "hydrostat 0.1.0\n")


def test_list_names_everything(capsys):
    _, out, _ = call(capsys, "list")
    assert all(name in out for name in [*SCENARIOS, *ROBOTS])
    listed = json.loads(call(capsys, "list", "--json")[1])
    assert [s["name"] for s in listed["scenarios"]] == list(SCENARIOS)
    assert [r["name"] for r in listed["robots"]] == list(ROBOTS)
    assert all(s["accepts"] for s in listed["scenarios"])


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_help_shows_every_key_with_its_unit_and_default(capsys, name):
    code, out, _ = call(capsys, "run", name, "--help")
    assert code == 0
    for key in SCENARIOS[name].keys:
        line = next(line for line in out.splitlines() if line.strip().startswith(key.name + " "))
        assert key.meaning in line
        assert key.unit in line


def test_new_writes_a_robot_that_runs(capsys, tmp_path):
    file = tmp_path / "my_arm.toml"
    code, out, _ = call(capsys, "new", str(file), "--like", "tentacle_cone")
    assert (code, out) == (0, f"{file}\n")
    code, out, err = call(
        capsys, "run", "tentacle-repeatability", "--robot", str(file), "--json", "--no-figures",
        "--set", "moves=10", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["metrics"]["moves"] == 10
    assert "exists and is left alone" in refused(capsys, "new", str(file))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("swim",), "invalid choice: 'swim'"),
        (("run",), "needs a scenario"),
        (("run", "tentacle-dance"), "scenario must be one of tentacle-move"),
        (("run", "tentacle-move", "--robot", "kraken"), "robot must be one of tentacle, "),
        (("run", "tentacle-move", "--robot", "none.toml"), "could not be read: No such file or directory"),
        (("run", "tentacle-move", "--set", "seconds"), "--set needs KEY=VALUE; got 'seconds'"),
        (("run", "tentacle-move", "--set", "second=3"), "no key 'second'; its keys are seconds, "),
        (("run", "tentacle-move", "--set", "seconds=-1"), "`seconds` must be a finite number above 0"),
        (("run", "tentacle-move", "--set", "seconds=nan"), "`seconds` must be a finite number above 0"),
        (("run", "tentacle-move", "--set", "seconds=soon"), "`seconds` must be a number above 0"),
        (("run", "tentacle-move", "--set", "way=jump"), "`way` must be one of stepped, constant_speed, smooth"),
        (("run", "tentacle-move", "--set", "pulse_file=1"), "`pulse_file` must be true or false; got 1"),
        (("run", "tentacle-move", "--set", "goal_theta_deg=[1, 2]"), "must be a list of 3 numbers, one per segment"),
        (
            ("run", "tentacle-move", "--set", "goal_theta_deg=[1, 2, 400]"),
            "`goal_theta_deg[2]` must be a finite number",
        ),
        (("run", "tentacle-move", "--set", "goal_theta_deg=90"), "`goal_theta_deg` must be a list"),
        (("run", "tentacle-repeatability", "--set", "moves=1.5"), "`moves` must be a whole number from 2"),
        (("run", "tentacle-move", "--seed", "-1"), "--seed must be a whole number from 0"),
        (("run", "tentacle-move", "--seed", "one"), "invalid int value: 'one'"),
        (("run", "tentacle-move", "--out", "/proc/nowhere"), "/proc/nowhere"),
        (("new", "arm.txt"), "must end in .toml"),
        (("new", "/nowhere/arm.toml"), "could not be written"),
        (("new", "arm.toml", "--like", "kraken"), "robot must be one of"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []  # nothing was begun


def test_bad_files_for_keys_are_one_line(capsys, tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("0,0,0\n0,0,zero\n")
    out = str(tmp_path / "out")
    line = refused(capsys, "run", "tentacle-shape", "--set", f"curve={curve}", "--out", out)
    assert "line 2 of curve file" in line
    assert "could not be read" in refused(capsys, "run", "tentacle-shape", "--set", "curve=no.csv", "--out", out)
    assert "got 2 numbers" in refused(capsys, "run", "tentacle-shape", "--set", "target=[1.0, 2.0]", "--out", out)


def test_a_move_the_motors_cannot_make_says_how_long_it_takes(capsys, tmp_path):
    line = refused(capsys, "run", "tentacle-move", "--set", "seconds=0.5", "--out", str(tmp_path))
    assert "must take at least" in line


def test_a_robot_the_scenario_cannot_use_is_refused_with_the_reason(capsys, tmp_path):
    file = tmp_path / "bare.toml"
    file.write_text("[[arm.segment]]\nlength = 1\nradius = [0.1, 0.1]\n")
    line = refused(capsys, "run", "tentacle-move", "--robot", str(file), "--out", str(tmp_path / "out"))
    assert "three or more tendons of different azimuth that end at each segment; got 0 at segment 1" in line


BAD_FILES = {
    "empty": (b"", "it is empty"),
    "unknown key": (b"[[arm.segment]]\nlength = 1\nradius = [1, 1]\ncolour = 'red'\n", "unknown key 'colour'"),
    "negative length": (b"[[arm.segment]]\nlength = -1\nradius = [1, 1]\n", "`length` must be a finite number above 0"),
    "not a number": (b"[[arm.segment]]\nlength = nan\nradius = [1, 1]\n", "got nan in [[arm.segment]] 1"),
    "wrong type": (b"[[arm.segment]]\nlength = 'long'\nradius = [1, 1]\n", "got 'long'"),
}


@pytest.mark.parametrize("fault", list(BAD_FILES))
def test_bad_robot_files_as_real_processes(tmp_path, fault):
    content, message = BAD_FILES[fault]
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "hydrostat.cli", "run", "tentacle-move", "--robot", str(file), "--json"],
        capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_input_is_checked_before_jax_is_loaded(tmp_path):
    program = (
        "import sys; from hydrostat.cli import main; "
        "code = main(['run', 'tentacle-move', '--set', 'seconds=never']); print(code, 'jax' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False
    )
    assert done.stdout.strip() == "2 False"


def test_a_bug_of_ours_is_exit_1_and_says_so(capsys, monkeypatch):
    monkeypatch.setattr("hydrostat.cli._list", lambda options: 1 / 0)
    code, _, err = call(capsys, "list")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "please report it" in err


def test_diverging_is_exit_3(capsys, monkeypatch):
    from hydrostat.errors import UnsolvedError

    def diverge(options):
        raise UnsolvedError("diverged at 0.2 s in segment 3")

    monkeypatch.setattr("hydrostat.cli._list", diverge)
    assert call(capsys, "list") == (3, "", "hydrostat: diverged at 0.2 s in segment 3\n")
