"""Runs of scenarios that are ended at random moments by SIGKILL, SIGTERM and Ctrl-C."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mutations

import hydrostat

SCENARIOS = {
    "tentacle-repeatability": ("moves=2000000",),
    "arm-shorten": ("activations=[0.2]", "seconds=60"),
    "octopus-stand": ("seconds=60",),
    "track-ellipse": ("controller=continuous", "seconds=150"),
    "finger-release": ("tip_masses_g=[20.0]", "seconds=600"),
}
"""A scenario with a recorder of its own, a single arm, an octopus, one that tracks, and one of several simulations."""
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_EARLY = 5.0  # s after the start until which half of the signals come: while it imports, loads and compiles
_LATE = 3.0  # s after the first rows until which the others come
_LONGEST = 60.0  # s until which first rows are waited for


def committed(folder: Path) -> int:
    """The number of rows that can be read."""
    try:
        found = hydrostat.load(folder)
        return found.sizes[found.attrs["axis"]]
    except (FileNotFoundError, ValueError):
        return 0


def announced(folder: Path) -> int:
    """The number of rows that a recorder says to be on disk; cheap enough to be asked often."""
    try:
        return json.loads((folder / "committed.json").read_text())["rows"]
    except (OSError, ValueError, KeyError):
        return 0


def kill_runs(rng: random.Random, count: int, folder: Path, tally: Any) -> Any:
    """End runs at random moments, and look at what they left."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, children would ignore it
    names = list(SCENARIOS)
    for number in range(count):
        _kill_one(rng, names[number % len(names)], rng.choice(_SIGNALS), folder / "killed", tally)
    return tally


def _kill_one(rng: random.Random, name: str, number: signal.Signals, out: Path, tally: Any) -> None:
    mutations.remove(out)
    settings = [part for setting in SCENARIOS[name] for part in ("--set", setting)]
    command = [
        sys.executable,
        "-m",
        "hydrostat.cli",
        "run",
        name,
        *settings,
        "--json",
        "--no-figures",
        "--out",
        str(out),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin, seen = time.monotonic(), []
    end = begin + (rng.uniform(0.3, _EARLY) if rng.random() < 0.5 else _LONGEST)
    late = end == begin + _LONGEST
    after = rng.uniform(0.0, _LATE)
    try:
        while time.monotonic() < end and process.poll() is None:
            seen.append((time.monotonic(), announced(out / name)))
            if late and seen[-1][1]:
                late, end = False, time.monotonic() + after
            time.sleep(0.05)
        sent = time.monotonic()
        delay = sent - begin
        ended = process.poll() is not None
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - sent
    finally:
        process.kill()
        process.communicate()
    tally.counts["tried"] += 1
    tally.counts["ran"] += ended
    tally.counts["with rows"] += bool(seen and seen[-1][1])
    tally.slowest = max(tally.slowest, took)
    tally.counts["over 5 s"] += took > 5.0
    wanted = 0 if ended else -number if number == signal.SIGKILL else 128 + number
    lines = 0 if number == signal.SIGKILL or ended else 1
    earlier = max((rows for moment, rows in seen if moment <= sent - 1.0), default=0)
    wrong = process.returncode != wanted or err.count(b"\n") != lines
    lost = committed(out / name) < earlier
    tally.counts["tracebacks"] += b"Traceback" in err
    tally.counts["not heard"] += wrong
    tally.counts["lost"] += lost
    if wrong or lost:
        print(f"--- {name}, {number.name} after {delay:.1f} s: {process.returncode}, {err[-300:]!r}", file=sys.stderr)
