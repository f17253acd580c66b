"""Leaving the program at once when a signal asks for it: one line, no traceback, whatever the program is doing.

Python runs its signal handlers between byte codes of the main thread, so that an interrupt would wait for a
compilation to end; and an interpreter that ends while compiled code runs in other threads may crash. So the signal's
number also goes down a pipe at once, a thread reads it, and the process ends without unwinding. Recording needs no
such moment: what was appended is on disk.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable

_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
_GRACE = 0.7  # seconds that tidying up may take
_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"

_leaving = threading.Lock()
_tidy: list[Callable[[], str]] = []


def listen() -> None:
    """Leave at once on Ctrl-C, SIGTERM and SIGHUP; a signal that the program was started to ignore stays ignored."""
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    heard = [number for number in _SAID if signal.getsignal(number) is not signal.SIG_IGN]

    def watch() -> None:
        while received := os.read(reader, 1):
            if received[0] in heard:
                _leave(received[0])

    threading.Thread(target=watch, daemon=True, name="signals").start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in heard:
        signal.signal(number, lambda number, _: _leave(number))


def wait_when_interrupted() -> None:
    """Leave the end after a signal to the program itself, however long it takes: what it drives must stop first."""
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        return
    signal.set_wakeup_fd(-1)
    for number in _SAID:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def before_leaving(tidy: Callable[[], str]) -> None:
    """Have a function called before a signal ends the program; it returns what to say of the results."""
    _tidy[:] = [tidy]


def _leave(number: int) -> None:
    """Tidy up, say so, and end the process; the exit code is 128 plus the signal's number."""
    if not _leaving.acquire(blocking=False):
        threading.Event().wait()  # the other thread is about to end the process
    last = threading.Timer(_GRACE, os._exit, (128 + number,))
    last.daemon = True
    last.start()
    where = ""
    with contextlib.suppress(Exception):  # whatever is wrong with the results, the program ends
        where = "".join(f"; {tidy()}" for tidy in _tidy)
    with contextlib.suppress(OSError):  # standard error may be closed
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        line = f"{cursor}hydrostat: {_SAID[signal.Signals(number)]}{where}\n"
        os.write(2, line.encode(errors="backslashreplace"))
    os._exit(128 + number)


def open_standard_files() -> bool:
    """Whether standard output is open; what is closed of the standard files is opened to nowhere.

    Otherwise the next file that is opened takes its place, and what is printed is written into that file.
    """
    is_open = True
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            is_open = is_open and name != "stdout"
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
    return is_open
