"""hydrostat view: what cannot be viewed is said in one line, before JAX is there."""

import os
import signal
import subprocess
import sys
import time

import pytest

from hydrostat._view_command import _motion_of
from hydrostat.cli import main
from hydrostat.robots import find_robot
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing-such"], "must be a scenario, a robot, or the folder of a result"),
        (["octopus-crawl", "--port", "70000"], "--port must be a whole number from 0 to 65535; got 70000"),
        (
            ["octopus-crawl", "--host", "0.0.0.0"],
            "needs a token of 16 letters and digits or more in HYDROSTAT_TOKEN; got none",
        ),
        (["octopus-crawl", "--host", "0.0.0.0", "TOKEN=short"], "got 5 characters"),
        (["octopus-crawl", "--host", "192.0.2.7", f"TOKEN={'a' * 16}"], "nobody can listen at --host '192.0.2.7'"),
        (["octopus-crawl", "--host", "a..b", f"TOKEN={'a' * 16}"], "nobody can listen at --host 'a..b'"),
        (["octopus-crawl", "--seconds", "nan"], "--seconds must be a finite number at least 0; got nan"),
        (["octopus-crawl", "--seconds", "-1"], "--seconds must be a finite number at least 0; got -1"),
        (["octopus-crawl", "--set", "strokes=0"], "strokes"),
        (["octopus", "--robot", "octopus"], "is a robot already"),
        (["octopus-crawl", "--robot", "tentacle"], "needs a robot with limbs on a body"),
    ],
)
def test_faults_are_one_line(arguments, said, capsys, monkeypatch):
    *arguments, token = arguments if arguments[-1].startswith("TOKEN") else [*arguments, "TOKEN="]
    monkeypatch.setenv("HYDROSTAT_TOKEN", token.removeprefix("TOKEN="))
    assert main(["view", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_folder_without_a_result_is_named(tmp_path, capsys):
    assert main(["view", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_faults_are_found_before_jax():
    program = (
        "import sys; from hydrostat.cli import main; code = main(['view', 'octopus-crawl', '--set', 'gait=fly']);"
        "sys.exit(code if 'jax' not in sys.modules else 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr


def test_a_robot_by_itself_is_shown_in_a_scenario_that_it_can_do():
    shown = {"stewart_arm": "track-dynamics", "octopus": "octopus-walk-path", "tentacle": "drive"}
    for robot, scenario in shown.items():
        assert _motion_of(find_robot(robot)) == scenario
        find_scenario(scenario).check(find_robot(robot))


def test_the_help_names_what_is_live(capsys):
    with pytest.raises(SystemExit):
        main(["view", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for name, scenario in SCENARIOS.items():
        if scenario.live and "-" not in name:
            assert name in said
    assert "octopus-crawl" in said.replace("- ", "-")


def test_an_interrupt_of_the_run_before_a_replay_leaves_no_empty_folder(tmp_path):
    """While it is compiled: nothing has been recorded."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "hydrostat.cli", "view", "finger-convergence", "--no-browser", "--out"]
    process = subprocess.Popen([*command, str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60.0
        while not (tmp_path / "out" / "finger-convergence" / "run.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert error.splitlines()[-1] == b"hydrostat: interrupted; nothing was recorded"
    assert not (tmp_path / "out").exists()


SERVE = """
from hydrostat import _leaving
_leaving.listen()
import os, sys, time, types
from hydrostat._view_command import _serve
options = types.SimpleNamespace(host="127.0.0.1", port=0, no_browser=True, seconds=float(sys.argv[1]))
os._exit(_serve(options, lambda server: types.SimpleNamespace(run=time.sleep)))
"""


@pytest.mark.parametrize(("seconds", "code"), [("0.1", 0), ("600", 130)], ids=["in time", "by Ctrl-C"])
def test_a_page_leaves_no_folder_behind(tmp_path, seconds, code):
    # A shell that starts the tests in the background has them ignore Ctrl-C, and what is ignored is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, seconds],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert b"http://localhost:" in process.stdout.readline()
        if code:
            assert list(tmp_path.glob("hydrostat-page-*"))
            process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, error
    assert not list(tmp_path.glob("hydrostat-page-*"))
