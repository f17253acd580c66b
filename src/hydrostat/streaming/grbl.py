"""A motion controller that runs GRBL: what it may be sent, and what it answers.

GRBL answers each line with `ok` or `error:N` once it has taken it out of its receive buffer. Characters are counted: a
line is sent as soon as it fits beside those that have no answer yet, so the buffer never overruns and seldom runs dry.
`?`, `!`, `~` and Ctrl-X are taken out of the stream as they arrive and need no room.
"""

import time
from collections import deque
from typing import NamedTuple

from hydrostat.errors import UnsolvedError
from hydrostat.streaming.serial_line import SerialLine

ASK, HOLD, RESUME, RESET = b"?", b"!", b"~", b"\x18"
"""Commands of one character that GRBL obeys at once."""
_SILENCE = 3.0  # seconds without any answer, though it is asked, after which a controller counts as dead


class Status(NamedTuple):
    """The state of a controller, as it reports it."""

    state: str
    """Idle, Run, Hold, Alarm and others."""
    still: bool
    """Whether its motors stand."""
    position: tuple[float, ...]
    """The position of every axis [mm], of the machine or, where it is set up so, of the work."""


def parse_status(report: str) -> Status | None:
    """The status in a report such as `<Hold:0|MPos:1.000,2.000,3.000|FS:0,0>`; None where there is none in it."""
    fields = report.strip().removeprefix("<").removesuffix(">").split("|")
    state, _, part = fields[0].partition(":")
    named = {name: value for name, _, value in (field.partition(":") for field in fields[1:])}
    text = named.get("MPos", named.get("WPos"))
    if text is None:
        return None
    try:
        position = tuple(float(value) for value in text.split(","))
    except ValueError:
        return None
    # A hold is complete with part 0 and under way with part 1.
    return Status(state, state in ("Idle", "Alarm", "Sleep") or (state == "Hold" and part == "0"), position)


class Grbl:
    """One controller with the lines that it is to run."""

    def __init__(self, line: SerialLine, program: list[tuple[int, str]], name: str, room: int):
        self.line, self.program, self.name, self.room = line, program, name, room
        self.sent = 0
        self.answered = 0
        self.status: Status | None = None
        self.failure: str | None = None
        self.fullest = 0
        """The most characters that lay in the controller's buffer."""
        self._waiting: deque[int] = deque()  # characters of each line that has no answer
        self._text = b""
        self._heard = time.monotonic()

    @property
    def done(self) -> bool:
        """Whether every line has its answer."""
        return self.answered == len(self.program)

    def fill(self) -> None:
        """Send the lines that fit."""
        while self.sent < len(self.program):
            data = self.program[self.sent][1].encode("ascii") + b"\n"
            total = sum(self._waiting) + len(data)
            if total > self.room:
                return
            self.line.write(data)
            self._waiting.append(len(data))
            self.fullest = max(self.fullest, total)
            self.sent += 1

    def ask(self) -> None:
        """Ask for the status; the answer comes with `listen`."""
        if time.monotonic() > self._heard + _SILENCE:
            raise UnsolvedError(f"the controller at {self.line.port} does not answer any more; are its motors still?")
        self.line.write(ASK)

    def listen(self) -> None:
        """Take in what has arrived."""
        data = self.line.read()
        if data:
            self._heard = time.monotonic()
        *whole, self._text = (self._text + data).split(b"\n")
        for raw in whole:
            self._take(raw.decode("ascii", "replace").strip())

    def _take(self, answer: str) -> None:
        """One line of the controller's."""
        if answer.startswith("<"):
            self.status = parse_status(answer) or self.status
        elif answer == "ok" or answer.startswith("error:"):
            if not self._waiting:
                return  # the answer to what someone else sent before
            self._waiting.popleft()
            number, text = self.program[self.answered]
            self.answered += 1
            if answer != "ok":
                self._fail(f"refused line {number} of {self.name}, {text}, with {answer}")
        elif answer.startswith("ALARM"):
            self._fail(f"stopped with {answer}")
        elif answer.startswith("Grbl") and self.sent:
            self._fail("was reset")

    def _fail(self, what: str) -> None:
        """Keep the first failure: what follows is its consequence."""
        self.failure = self.failure or f"the controller at {self.line.port} {what}"
