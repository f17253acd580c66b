"""Programs streamed to one controller or to several at once, with a stop that says where the motors stand."""

import select
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from hydrostat.errors import InputError, UnsolvedError
from hydrostat.streaming.grbl import HOLD, RESET, RESUME, Grbl
from hydrostat.streaming.program import read_gcode
from hydrostat.streaming.serial_line import SerialLine

_ASK_SECONDS = 0.1  # between questions for the status
_GREETING_SECONDS = 4.0  # that a board has to start; opening its port may have reset it
_STOP_SECONDS = 10.0  # that motors have to come to rest


class Streamed(NamedTuple):
    """The outcome of a stream."""

    lines: int
    """Lines that the controllers took."""
    seconds: float
    """Duration from the first line to standing motors [s]."""
    travel: list[list[float]]
    """Travel of every axis of each controller since the beginning [mm]."""
    fullest: int
    """The most characters that lay in a controller's receive buffer."""
    stopped: bool
    """Whether it was interrupted; motors then stand, and what was not run yet is discarded."""
    state: list[str]
    """State of each controller at the end."""


def stream(
    files: Sequence[str | Path],
    ports: Sequence[str],
    *,
    baud: int = 115200,
    buffer: int = 128,
    longest: int = 79,
    progress: Callable[[float], None] = lambda done: None,
) -> Streamed:
    """Stream G-code files to GRBL controllers, one file to each port, and wait until the motors stand.

    Several controllers fill their buffers while they are held, and are let go together. On Ctrl-C, and on any failure,
    all of them get a feed hold at once: the motors slow down within their limits, and the position that is reported is
    where they stand.

    **Arguments:** `buffer`: size of a controller's receive buffer [bytes], of which one stays empty; `longest`:
    characters of a line that it takes; `progress`: is told the share of the lines that is done.
    """
    if len(files) != len(ports):
        raise InputError(f"every file needs a port; got {len(files)} files and {len(ports)} ports")
    if len(set(ports)) != len(ports):
        raise InputError(f"every file needs a port of its own; got {', '.join(ports)}")
    programs = [read_gcode(file, min(longest, buffer - 2)) for file in files]
    with ExitStack() as stack:
        controllers = []
        for port, file, program in zip(ports, files, programs, strict=True):
            line = SerialLine(port, baud)
            stack.callback(line.close)
            controllers.append(Grbl(line, program, Path(file).name, buffer - 1))
        return _run(controllers, progress)


def _run(controllers: list[Grbl], progress: Callable[[float], None]) -> Streamed:
    """Run the programs of controllers whose lines are open."""
    for one in controllers:
        _greet(one)
    start = [one.status.position for one in controllers if one.status]
    begun, stopped = time.monotonic(), False
    try:
        _send(controllers, progress)
    except KeyboardInterrupt:
        stopped = True
        _stop(controllers)
    except BaseException:
        _stop(controllers, quietly=True)
        raise
    ends = [one.status for one in controllers if one.status]
    travel = [
        [round(last - first, 6) for last, first in zip(end.position, base, strict=False)]
        for end, base in zip(ends, start, strict=True)
    ]
    return Streamed(
        sum(one.answered for one in controllers),
        time.monotonic() - begun,
        travel,
        max(one.fullest for one in controllers),
        stopped,
        [end.state for end in ends],
    )


def _greet(one: Grbl) -> None:
    """Wait until a controller reports itself ready."""
    late = time.monotonic() + _GREETING_SECONDS
    while one.status is None:
        if time.monotonic() > late:
            raise InputError(f"no GRBL controller answers at {one.line.port}; is this its port and its baud rate?")
        one.ask()
        _wait([one])
    if one.status.state != "Idle":
        state = one.status.state
        raise InputError(
            f"the controller at {one.line.port} must be Idle; it is in {state}: unlock it, or home it first"
        )


def _send(controllers: list[Grbl], progress: Callable[[float], None]) -> None:
    """Send all lines, then wait until all motors stand."""
    together = len(controllers) > 1
    total = sum(len(one.program) for one in controllers)
    if together:
        for one in controllers:
            one.line.write(HOLD)
    for one in controllers:
        one.fill()
    if together:
        for one in controllers:
            one.line.write(RESUME)
    asked = 0.0
    while not all(one.done for one in controllers):
        for one in controllers:
            one.fill()
        asked = _ask(controllers, asked)
        _wait(controllers)
        _check(controllers)
        progress(sum(one.answered for one in controllers) / total)
    # A status from before the last answer may say that motors stand which have not begun: wait for newer ones.
    for one in controllers:
        one.status = None
    while not all(one.status and one.status.state == "Idle" for one in controllers):
        asked = _ask(controllers, asked)
        _wait(controllers)
        _check(controllers)


def _stop(controllers: list[Grbl], quietly: bool = False) -> None:
    """Hold all motors, wait until they stand, and discard what was not run yet."""
    for one in controllers:
        try:
            one.line.write(HOLD)
            one.status = None
        except UnsolvedError:
            if not quietly:
                raise
    late, asked = time.monotonic() + _STOP_SECONDS, 0.0
    try:
        while not all(one.status and one.status.still for one in controllers):
            if time.monotonic() > late:
                raise UnsolvedError("the controllers got a feed hold but do not report that the motors stand")
            asked = _ask(controllers, asked)
            _wait(controllers)
        # Where motors stand, a reset loses no step, and no later command can make them go on.
        for one in controllers:
            one.line.write(RESET)
    except UnsolvedError:
        if not quietly:
            raise


def _ask(controllers: list[Grbl], last: float) -> float:
    """Ask all controllers for their status, unless they were asked a moment ago; when they were."""
    now = time.monotonic()
    if now < last + _ASK_SECONDS:
        return last
    for one in controllers:
        one.ask()
    return now


def _wait(controllers: list[Grbl]) -> None:
    """Wait a moment for answers, and take them in."""
    ready, _, _ = select.select([one.line for one in controllers], [], [], 0.5 * _ASK_SECONDS)
    for one in controllers:
        if one.line in ready:
            one.listen()


def _check(controllers: list[Grbl]) -> None:
    """Stop at the first failure."""
    for one in controllers:
        if one.failure:
            raise UnsolvedError(f"{one.failure}; all motors were told to stop")
