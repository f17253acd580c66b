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


@pytest.mark.parametrize("ends", ["in time", "by Ctrl-C"])
def test_a_page_leaves_no_folder_behind(tmp_path, ends):
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from hydrostat._entry import main; main()"
    seconds = "0.5" if ends == "in time" else "600"
    arguments = ["view", "tentacle", "--no-browser", "--port", "0", "--seconds", seconds]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said = process.stdout.readline()
        assert b"http://localhost:" in said, process.stderr.read()
        if ends == "by Ctrl-C":
            assert list(tmp_path.glob("hydrostat-page-*"))
            process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == (0 if ends == "in time" else 130), error
    assert not list(tmp_path.glob("hydrostat-page-*"))
