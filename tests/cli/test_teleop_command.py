"""hydrostat teleop: faults are one line, and Ctrl-C at the terminal, which both processes get, is one line too."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from hydrostat.cli import main
from hydrostat.teleoperation import Episode, SideSettings
from hydrostat.teleoperation.processes import start_process

COMMAND = [sys.executable, "-m", "hydrostat.cli", "teleop", "squid", "--limb", "camera"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing-such"], "robot must be one of"),
        (["finger", "--seconds", "nan"], "--seconds must be a finite number at least 0; got nan"),
        (["finger", "--seconds", "-1"], "--seconds must be a finite number at least 0; got -1"),
        (["finger", "--page-port", "99999"], "--page-port must be a whole number from 0 to 65535; got 99999"),
        (["finger", "--robot-side", "--port", "-1"], "--port must be a whole number from 0 to 65535; got -1"),
        (["finger", "--robot-side", "--host", "0.0.0.0"], "needs a token"),
        (["finger", "--connect", "192.0.2.7:99999"], "--connect must be an address"),
        (["finger", "--loss", "2"], "`loss` must be"),
    ],
)
def test_faults_are_one_line(arguments, said, capsys, monkeypatch):
    monkeypatch.delenv("HYDROSTAT_TOKEN", raising=False)
    assert main(["teleop", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_side_ends_with_what_started_it_and_not_by_the_terminal():
    # Its parent has gone before it said what to do.
    side = [sys.executable, "-m", "hydrostat.teleoperation.processes"]
    done = subprocess.run(side, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    process = start_process(SideSettings("robot", "squid", "camera", (Episode(1.0, 1e6, 0),)))
    try:
        assert os.getsid(process.pid) != os.getsid(0)
        process.stdin.close()
        assert process.wait(60.0) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_port_that_is_taken_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        command = [*COMMAND, "--robot-side", "--port", str(line.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "hydrostat: Address already in use\n")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_both_processes_is_one_line_and_leaves_nothing(tmp_path, number):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*COMMAND, "--page-port", "0"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline().startswith(b"drive squid at http://127.0.0.1:")
        sent = time.monotonic()
        os.killpg(process.pid, number)
        _, error = process.communicate(timeout=60)
        took = time.monotonic() - sent
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert error.count(b"\n") == 1, error
    assert error.endswith(b"the page is closed\n")
    assert took < 5.0  # a second is the promise on a free machine
    assert not list(tmp_path.iterdir())
