"""A recording process is killed at any moment: what it had appended is there, correct, and nothing else is."""

import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import endless_writer
import numpy as np
import pytest

from hydrostat.results import Recorder, load

SCRIPT = str(Path(__file__).with_name("endless_writer.py"))


def start_writer(folder: Path, pause: float = 0.0) -> subprocess.Popen:
    command = [sys.executable, SCRIPT, str(folder), str(folder) + ".log", str(pause)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def appended_rows(folder: Path) -> int:
    """Rows whose append had returned, by the writer's own log."""
    log = Path(str(folder) + ".log")
    entries = log.read_bytes() if log.exists() else b""
    return int.from_bytes(entries[len(entries) // 8 * 8 - 8 :][:8], "little") if len(entries) >= 8 else 0


def wait_for_first_row(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while appended_rows(folder) == 0:
        assert time.monotonic() < deadline, "the writer did not start"
        time.sleep(0.01)


def check_rows(folder: Path, at_least: int) -> int:
    dataset = load(folder)
    rows = dataset.sizes["time"]
    assert rows >= at_least
    assert dataset.attrs["complete"] is False
    for name, values in endless_writer.expected(0, rows).items():
        np.testing.assert_array_equal(dataset[name].values, values)
    return rows


def record_and_kill(folder: Path, seconds: float, pause: float) -> tuple[int, int]:
    """Rows appended before the kill, and rows found after it; the result is also read while it grows."""
    with start_writer(folder, pause) as writer:
        try:
            wait_for_first_row(folder)
            time.sleep(seconds / 2)
            check_rows(folder, at_least=appended_rows(folder))
            time.sleep(seconds / 2)
        finally:
            writer.kill()
    assert writer.returncode == -signal.SIGKILL
    appended = appended_rows(folder)
    found = check_rows(folder, at_least=appended)
    shutil.rmtree(folder)
    return appended, found


def test_twenty_kills_lose_nothing(tmp_path):
    chance = random.Random()
    trials = [(tmp_path / f"run{number}", chance.uniform(0.0, 2.0), 0.0 if number % 4 else 1.5) for number in range(20)]
    with ThreadPoolExecutor(5) as pool:
        outcomes = list(pool.map(lambda trial: record_and_kill(*trial), trials))
    # Stronger than a second: every append that had returned is there, and at most the one in progress besides
    assert all(0 <= found - appended <= 60 for appended, found in outcomes)
    assert max(found for _, found in outcomes) > 10_000, "no trial went beyond its first chunk"


def test_kill_while_starting(tmp_path):
    def trial(number: int) -> None:
        folder = tmp_path / f"run{number}"
        with start_writer(folder) as writer:
            deadline = time.monotonic() + 30
            while not folder.exists() and time.monotonic() < deadline:
                time.sleep(0.0005)
            time.sleep(number * 0.003)
            writer.kill()
        if (folder / "committed.json").exists():
            check_rows(folder, at_least=appended_rows(folder))
        else:
            assert appended_rows(folder) == 0
            with pytest.raises(ValueError, match=r"is not a result|holds no rows"):
                load(folder)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(trial, range(8)))


def test_control_c(tmp_path):
    folder = tmp_path / "run"
    with start_writer(folder) as writer:
        wait_for_first_row(folder)
        time.sleep(0.3)
        before = time.monotonic()
        writer.send_signal(signal.SIGINT)
        _, errors = writer.communicate(timeout=10)
        assert time.monotonic() - before < 5
    assert b"KeyboardInterrupt" in errors
    check_rows(folder, at_least=appended_rows(folder))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_exception_in_the_context(tmp_path, kind):
    recorder = Recorder(tmp_path, endless_writer.VARIABLES, 100)

    def record_and_fail() -> None:
        blocks = endless_writer.expected(0, 7)
        with recorder:
            recorder.append(blocks.pop("time"), **blocks)
            raise kind

    with pytest.raises(kind):
        record_and_fail()
    assert check_rows(tmp_path, at_least=7) == 7
    with pytest.raises(ValueError, match="closed"):
        recorder.append([0.0])
