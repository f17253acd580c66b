"""hydrostat view: what cannot be viewed is said in one line, before JAX is there."""

import os
import signal
import subprocess
import sys

import pytest

from hydrostat.cli import main
from hydrostat.scenarios.catalogue import SCENARIOS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing-such"], "must be a scenario, a robot, or the folder of a result"),
        (["octopus-crawl", "--port", "70000"], "--port must be a whole number from 0 to 65535; got 70000"),
        (["octopus-crawl", "--host", "0.0.0.0"], "needs --token with 16 letters and digits or more; got none"),
        (["octopus-crawl", "--host", "0.0.0.0", "--token", "short"], "got 5 characters"),
        (["octopus-crawl", "--set", "strokes=0"], "strokes"),
        (["octopus", "--robot", "octopus"], "is a robot already"),
        (["octopus-crawl", "--robot", "tentacle"], "needs a robot with limbs on a body"),
    ],
)
def test_faults_are_one_line(arguments, said, capsys):
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


def test_the_help_names_what_is_live(capsys):
    with pytest.raises(SystemExit):
        main(["view", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for name, scenario in SCENARIOS.items():
        if scenario.live and "-" not in name:
            assert name in said
    assert "octopus-crawl" in said.replace("- ", "-")


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
