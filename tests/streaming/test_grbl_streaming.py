"""G-code streamed to simulated GRBL controllers, each in a process of its own on a real pseudo-terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from hydrostat.actuation import write_gcode_files
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.streaming import parse_status, program, read_gcode, stream

SIMULATOR = Path(__file__).with_name("grbl_simulator.py")
SECONDS, TRAVEL = 6.0, np.array([47.5, -62.1, 14.6, -9.8, 78.5, -68.7, 4.4, -76.9, 72.5])  # mm: the default move's


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A shell that starts the tests in the background has them ignore Ctrl-C, and what is ignored is inherited."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Simulated:
    """A controller's process, the name of its terminal and, once it has ended, what happened to it."""

    def __init__(self, axes, buffer, speed):
        command = [sys.executable, str(SIMULATOR), str(axes), str(buffer), str(speed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()

    def end(self):
        printed, _ = self.process.communicate(timeout=20)
        return json.loads(printed)


@contextmanager
def controllers(count=1, axes=3, buffer=127, speed=20.0):
    made = [Simulated(axes, buffer, speed) for _ in range(count)]
    try:
        yield made
    finally:
        for one in made:
            one.process.kill()
            one.process.wait()


def write(folder, travel=TRAVEL, seconds=SECONDS, axes=3):
    """The G-code of a smooth move, a line every 20 ms."""
    times = np.linspace(0.0, seconds, round(seconds / 0.02) + 1)
    done = times / seconds
    share = done**3 * (10.0 - 15.0 * done + 6.0 * done**2)
    return write_gcode_files(folder / "move.ngc", times, 1e-3 * share[:, None] * travel, "a move", axes)


def test_three_controllers_make_every_step_and_no_buffer_overruns(tmp_path):
    files = write(tmp_path)
    assert [file.name for file in files] == ["move-1.ngc", "move-2.ngc", "move-3.ngc"]
    with controllers(3) as made:
        done = stream(files, [one.port for one in made])
        logs = [one.end() for one in made]
    assert not done.stopped
    assert done.state == ["Idle"] * 3
    # 1.74 million steps of 0.25 um, and not one lost or to spare: the wires move in one direction each.
    assert sum(log["steps"] for log in logs) == np.sum(np.abs(np.round(TRAVEL * 4000))) > 1.7e6
    for log, travel, goal in zip(logs, done.travel, TRAVEL.reshape(3, 3), strict=True):
        assert log["overruns"] == log["errors"] == 0
        assert log["lines"] == 300 + 4
        assert travel == pytest.approx(goal, abs=1e-3)  # GRBL reports micrometres
        # The buffer was used, and never more of it than there is.
        assert 90 < log["fullest"] <= 127
    assert done.fullest <= 127


def test_the_simulator_can_overrun():
    """A controller with half the buffer that the stream counts on loses bytes: the test above can fail."""
    with controllers(buffer=64) as (one,):
        line = os.open(one.port, os.O_RDWR | os.O_NOCTTY)
        os.write(line, b"G1X1F60000\n" * 11)
        time.sleep(0.3)
        os.close(line)
        assert one.end()["overruns"] > 0


def test_an_interrupt_holds_the_motors_and_says_where_they_stand(tmp_path):
    files = write(tmp_path, TRAVEL[:3])
    with controllers(speed=1.0) as (one,):
        command = [sys.executable, "-m", "hydrostat.cli", "stream", str(files[0]), "--port", one.port]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Wait until it talks to the controller, and then until the motors are well under way.
        deadline = time.monotonic() + 60.0
        while not _has_open(process.pid, one.port) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        log = one.end()
    assert process.returncode == 130, err
    assert log["held"] == 1
    assert log["resets"] == 1
    assert log["overruns"] == 0
    # What is printed is where the motors are, between start and goal, and nothing is left that could move them.
    stand = [float(x) for x in out.split(" stand at ")[1].split(" mm")[0].split(",")]
    assert stand == pytest.approx(np.array(log["position"]) - 0.25, abs=1e-3)
    assert 0.0 < stand[0] < TRAVEL[0]
    assert np.array(stand) / TRAVEL[:3] == pytest.approx(stand[0] / TRAVEL[0], abs=1e-3)
    assert log["blocks"] == 0
    assert "the motors were held and stand" in err


def _has_open(pid, port):
    """Whether a process has a file open."""
    try:
        return any(os.readlink(entry) == port for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_a_refused_line_stops_all_and_is_named(tmp_path):
    file = tmp_path / "bad.ngc"
    file.write_text("G21 G90 G93\nG1 X1 F600\nG5 X2\nG1 X50 F1\n")
    with controllers() as (one,):
        with pytest.raises(UnsolvedError, match=r"refused line 3 of bad.ngc, G5X2, with error:20; all motors were"):
            stream([file], [one.port])
        assert one.end()["held"] == 1


def test_nobody_at_the_other_end_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("hydrostat.streaming.session._GREETING_SECONDS", 0.2)
    (file,) = write(tmp_path, TRAVEL[:3])
    master, slave = pty.openpty()
    with pytest.raises(InputError, match="no GRBL controller answers at /dev/"):
        stream([file], [os.ttyname(slave)])
    os.close(master)
    os.close(slave)
    with pytest.raises(InputError, match=r"the port '/no/such' could not be opened: No such file"):
        stream([file], ["/no/such"])
    with pytest.raises(InputError, match="the port must be a serial line such as /dev/ttyUSB0; got '/dev/null'"):
        stream([file], ["/dev/null"])
    with pytest.raises(InputError, match="every file needs a port; got 1 files and 2 ports"):
        stream([file], ["a", "b"])
    with pytest.raises(InputError, match="every file needs a port of its own; got a, a"):
        stream([file, file], ["a", "a"])


def test_gcode_is_read_as_controllers_take_it(tmp_path):
    (file,) = write(tmp_path, axes=9)
    with pytest.raises(InputError, match="and the controller takes 79; write fewer axes to a file"):
        read_gcode(file)
    assert len(read_gcode(file, 127)) == 304
    mixed = tmp_path / "mixed.ngc"
    mixed.write_text("%\n(a comment) g1 x 1.5 ; another\n\nM2\n")
    assert read_gcode(mixed) == [(2, "G1X1.5"), (4, "M2")]
    mixed.write_text("G1 X{1}\n")
    with pytest.raises(InputError, match=r"line 1 of .* is no G-code"):
        read_gcode(mixed)
    mixed.write_text("(nothing)\n")
    with pytest.raises(InputError, match="has no line of G-code"):
        read_gcode(mixed)


@pytest.mark.parametrize("name", ["/dev/zero", "/", "pipe", "large"])
def test_what_is_no_program_is_refused_unread(tmp_path, monkeypatch, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text("G1X1\n" * 30)
    monkeypatch.setattr(program, "LARGEST_PROGRAM", 100)
    with pytest.raises(InputError, match=r"pipe or a device|Is a directory|at most 100 bytes"):
        read_gcode(tmp_path / name)


def test_any_number_of_motors_gets_its_files(tmp_path):
    files = write(tmp_path, np.arange(1.0, 13.0), axes=9)
    assert [sum(letter in "XYZABCUVW" for letter in read_gcode(file, 200)[-3][1]) for file in files] == [9, 3]


def test_reports_are_understood():
    assert parse_status("<Hold:1|MPos:1.000,-2.500,0.000|FS:0,0>") == ("Hold", False, (1.0, -2.5, 0.0))
    assert parse_status("<Hold:0|WPos:1.000,2.000|FS:0,0>") == ("Hold", True, (1.0, 2.0))
    assert parse_status("<Run|FS:0,0>") is None
    assert parse_status("<Idle|MPos:a,b>") is None
