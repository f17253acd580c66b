"""A running scenario that is killed or interrupted keeps what it had recorded."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import hydrostat

MOVES = 2_000_000  # more than any of these runs gets to


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A shell that starts the tests in the background has them ignore Ctrl-C, and what is ignored is inherited."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(folder):
    command = [sys.executable, "-m", "hydrostat.cli", "run", "tentacle-repeatability", "--no-figures", "--json"]
    return subprocess.Popen(
        [*command, "--set", f"moves={MOVES}", "--out", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def listens(pid):
    """Whether a process has a handler for SIGTERM, which hydrostat sets first of all and the interpreter never."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return not Path("/proc").exists()
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def committed(folder):
    try:
        return hydrostat.load(folder / "tentacle-repeatability").sizes["move"]
    except (FileNotFoundError, ValueError):
        return 0  # nothing is recorded yet


def wait_for_rows(process, folder):
    deadline = time.monotonic() + 120
    while committed(folder) == 0:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill_at_a_random_moment(folder, delay):
    """Rows that were on disk a second before the kill, and the data found after it."""
    process = start(folder)
    try:
        wait_for_rows(process, folder)
        begun = time.monotonic()
        seen = []
        while time.monotonic() < begun + delay:
            seen.append((time.monotonic(), committed(folder)))
            time.sleep(0.02)
        killed = time.monotonic()
        process.send_signal(signal.SIGKILL)
        process.wait()
    finally:
        process.kill()
        process.communicate()
    earlier = max((rows for moment, rows in seen if moment <= killed - 1.0), default=0)
    return earlier, hydrostat.load(folder / "tentacle-repeatability").load()


@pytest.mark.slow
def test_twenty_kills_lose_nothing_older_than_a_second(tmp_path):
    delays = random.Random(1)
    trials = [(tmp_path / str(i), delays.uniform(0.0, 2.5)) for i in range(20)]
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda trial: kill_at_a_random_moment(*trial), trials))
    assert sum(earlier > 0 for earlier, _ in results) >= 5  # enough of them ran for more than a second
    for earlier, data in results:
        assert data.sizes["move"] >= max(earlier, 1)
        assert not data.attrs["complete"]
        # Every row is whole: moves are numbered, errors are positive and finite, noise is not the fill value.
        assert np.array_equal(data["move"].values, np.arange(data.sizes["move"]))
        assert np.all(np.isfinite(data["wire_error"]))
        assert np.all(data["angle_error"] > 0.0)


def test_ctrl_c_ends_within_a_second_and_keeps_the_data(tmp_path):
    process = start(tmp_path)
    try:
        wait_for_rows(process, tmp_path)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        took = time.monotonic() - sent
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == b""
    assert err.startswith(b"hydrostat: interrupted; what was recorded is in ")
    assert err.count(b"\n") == 1
    assert took < 15.0  # a second is the promise on a free machine; waiting for compiled code would take minutes
    assert committed(tmp_path) > 0


@pytest.mark.parametrize(
    ("number", "delay", "said"),
    [
        (signal.SIGINT, 0.2, b"interrupted"),
        (signal.SIGINT, 5.0, b"interrupted"),
        (signal.SIGTERM, 3.0, b"terminated"),
        pytest.param(signal.SIGINT, 12.0, b"interrupted", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 20.0, b"terminated", marks=pytest.mark.slow),
    ],
)
def test_signals_are_heard_while_importing_and_compiling(tmp_path, number, delay, said):
    """With nothing compiled yet, so that it compiles for long."""
    command = [sys.executable, "-m", "hydrostat.cli", "run", "octopus-forage", "--out", str(tmp_path / "out"), "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        # Until then it is the interpreter that starts, slowly beside other work.
        deadline = time.monotonic() + 60.0
        while not listens(process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(delay)
        sent = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        took = time.monotonic() - sent
    finally:
        process.kill()
    assert process.returncode == 128 + number, err
    assert out == b""
    assert err.startswith(b"hydrostat: " + said)
    assert err.count(b"\n") == 1
    assert took < 5.0  # a second is the promise on a free machine
    if b"nothing was recorded" in err:
        assert not (tmp_path / "out").exists()
