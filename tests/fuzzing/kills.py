"""Runs of scenarios that are ended at random moments by SIGKILL, SIGTERM and Ctrl-C."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import mutations
from tally import Tally

import hydrostat

SCENARIOS = {
    "tentacle-repeatability": ("moves=2000000",),
    "arm-shorten": ("activations=[0.2]", "seconds=600"),
    "octopus-stand": ("seconds=60",),
    "track-ellipse": ("controller=continuous", "seconds=150"),
    "finger-release": ("tip_masses_g=[20.0]", "seconds=600"),
}
"""A scenario with a recorder of its own, a single arm, an octopus, one that tracks, and one of several simulations."""
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_EARLY = 5.0  # s after the start until which half of the signals come: while it imports, loads and compiles
_LATE = 3.0  # s after the first rows until which the others come
_LONGEST = 60.0  # s until which first rows are waited for
_SLOW = 5.0  # s that an end may take; one that took longer is tried again, for the machine may have other work
_POLL = 0.05  # s


class Killed(NamedTuple):
    """A run that was ended."""

    ended: bool
    """Whether it had ended by itself before."""
    delay: float
    """Time from its start to the signal [s]."""
    seen: int
    """Rows that were announced a second before the signal."""
    some: bool
    """Whether there were rows when the signal came."""
    gap: float
    """Longest time of the run's processor between two announcements of rows [s]."""
    seconds: float
    """Time from the signal to the end [s]."""
    processor: float
    """What the run took of the processor in that time [s]."""
    heard: bool
    """Whether hydrostat had begun to listen; before its first line runs, a signal is the system's or the
    interpreter's, which may end with a traceback of its own start."""
    code: int
    said: bytes


def kill_one(rng: random.Random, number: int, out: Path, tally: Tally) -> None:
    """End a run at a random moment, and look at what it left; a slow end is tried a second time."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, children would ignore it
    name, sent = list(SCENARIOS)[number % len(SCENARIOS)], rng.choice(_SIGNALS)
    early = rng.uniform(0.3, _EARLY) if rng.random() < 0.5 else None
    late = rng.uniform(0.0, _LATE)
    found = _killed(name, sent, early, late, out)
    if found.seconds > _SLOW:
        tally.count("tried again")
        found = _killed(name, sent, early, late, out)
    tally.note(scenario=name, signal=sent.name, delay=found.delay, code=found.code)
    for measure in ("seconds", "processor", "gap"):
        tally.measure(measure, getattr(found, measure))
    listened = found.heard and sent != signal.SIGKILL
    wanted = 0 if found.ended else 128 + sent if listened else -sent
    wrong = found.code != wanted or found.said.count(b"\n") != int(listened and not found.ended)
    # The interpreter's own start is not ours: there is no promise but that nothing ran.
    wrong = wrong and not (sent == signal.SIGINT and not found.heard and found.code != 0)
    lost = _committed(out / name) < found.seen
    tally.count("tried")
    tally.count("ran", found.ended)
    tally.count("with rows", found.some)
    tally.count("over 5 s", found.seconds > _SLOW)
    tally.count("over 1 s", found.seconds > 1.0)
    tally.count("tracebacks", found.heard and b"Traceback" in found.said)
    tally.count("not heard", wrong)
    tally.count("lost rows older than 1 s", lost)
    if wrong or lost:
        tally.complain(f"{name}, {sent.name} after {found.delay:.1f} s: {found.code}, {found.said[-300:]!r}")


def _killed(name: str, number: signal.Signals, early: float | None, late: float, out: Path) -> Killed:
    """A run that gets a signal a time after its start, or where there is none a time after its first rows."""
    mutations.remove(out)
    settings = [part for setting in SCENARIOS[name] for part in ("--set", setting)]
    program = str(Path(sys.executable).with_name("hydrostat"))
    command = [program, "run", name, *settings, "--json", "--no-figures"]
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin, seen = time.monotonic(), []
    end, gap, changed = begin + (_LONGEST if early is None else early), 0.0, None
    try:
        while time.monotonic() < end and process.poll() is None:
            rows, processor = _announced(out / name), _processor_seconds(process.pid)
            if rows and (not seen or rows != seen[-1][1]):
                gap = gap if changed is None else max(gap, processor - changed)
                changed = processor
                if early is None and not (seen and seen[-1][1]):
                    end = time.monotonic() + late
            seen.append((time.monotonic(), rows))
            time.sleep(_POLL)
        sent, before = time.monotonic(), _processor_seconds(process.pid)
        ended, earlier, heard = process.poll() is not None, _children_seconds(), _listens(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=_LONGEST)
        took = time.monotonic() - sent
    finally:
        process.kill()
        process.communicate()
    return Killed(
        ended=ended,
        delay=sent - begin,
        seen=max((rows for moment, rows in seen if moment <= sent - 1.0), default=0),
        some=bool(seen and seen[-1][1]),
        gap=gap,
        seconds=took,
        processor=0.0 if ended else _children_seconds() - earlier - before,
        heard=heard,
        code=process.returncode,
        said=said,
    )


def _committed(folder: Path) -> int:
    """The number of rows that can be read."""
    try:
        found = hydrostat.load(folder)
        return found.sizes[found.attrs["axis"]]
    except (FileNotFoundError, ValueError):
        return 0


def _announced(folder: Path) -> int:
    """The number of rows that a recorder says to be on disk; cheap enough to be asked often."""
    try:
        return json.loads((folder / "committed.json").read_text())["rows"]
    except (OSError, ValueError, KeyError):
        return 0


def _processor_seconds(pid: int) -> float:
    """What a process has taken of the processor [s]; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _listens(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM, which hydrostat sets first of all and the interpreter never."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def _children_seconds() -> float:
    """What all processes that this one has started and that have ended have taken of the processor [s]."""
    times = os.times()
    return times.children_user + times.children_system
