"""The terminal's side of the command line: progress on stderr, a table on stdout, and a quick end on Ctrl-C."""

import os
import signal
import sys
import threading
import time
from typing import Any

from hydrostat.scenarios.base import Progress

_GRACE = 0.7  # seconds that an interrupted program has to leave by itself


class _Bar(Progress):
    """A line with a spinner and a bar, on a terminal."""

    def __init__(self):
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None)

    def say(self, what: str) -> None:
        """Name the present activity."""
        self._bar.update(self._task, description=what, total=None)

    def show(self, what: str, done: float) -> None:
        """Name the present activity, and the share of it that is done."""
        self._bar.update(self._task, description=what, total=1.0, completed=done)

    def close(self) -> None:
        """Remove the progress line."""
        self._bar.stop()


def progress() -> Progress:
    """A progress bar on a terminal; elsewhere a silent one."""
    return _Bar() if sys.stderr.isatty() else Progress()


def print_report(report: dict[str, Any], notes: list[str]) -> None:
    """The metrics as a table, then the notes and the files."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 100)
    table = Table(title=report["scenario"], title_justify="left")
    table.add_column("metric")
    table.add_column("value", justify="right")
    for name, value in report["metrics"].items():
        table.add_row(name, _shown(value))
    for name in ("sim_seconds", "wall_seconds", "compile_seconds", "real_time_factor"):
        if report[name] is not None:
            table.add_row(f"[dim]{name}[/dim]", f"[dim]{_shown(report[name])}[/dim]")
    console.print(table)
    for note in notes:
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    for kind, path in report["files"].items():
        console.print(f"{kind:<12} {path}", markup=False, highlight=False, soft_wrap=True)


def print_benchmark(report: dict[str, Any]) -> None:
    """The single figures as one table, and the lists as the columns of another."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 160)
    metrics = report["metrics"]
    single = Table(title=report["bench"], title_justify="left")
    single.add_column("metric")
    single.add_column("value", justify="right")
    columns = {name: value for name, value in metrics.items() if isinstance(value, list)}
    for name, value in {**metrics, "wall_seconds": report["wall_seconds"]}.items():
        if name not in columns:
            single.add_row(name, _shown(value))
    each = Table()
    for name in columns:
        each.add_column(name, justify="right")
    for row in zip(*columns.values(), strict=True):
        each.add_row(*map(_shown, row))
    console.print(single)
    console.print(each)


def _shown(value: Any) -> str:
    """A metric's value for the table."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, list):
        return ", ".join(_shown(entry) for entry in value)
    if isinstance(value, int):
        return str(value)
    return f"{value:.4g}"


def leave_within_a_second_when_interrupted() -> None:
    """End the program soon after Ctrl-C even while compiled code does not listen.

    Python runs its signal handlers between byte codes, so an interrupt during a long compilation would wait for it.
    The signal's number also goes down a pipe at once; a thread that reads it gives the program a moment to leave by
    itself, then ends it. Recording needs no such moment: what was appended is on disk.
    """
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch():
        while (received := os.read(reader, 1)) and received[0] != signal.SIGINT:
            pass
        if received:
            time.sleep(_GRACE)
            os.write(2, b"\nhydrostat: interrupted; what was recorded is on disk\n")
            os._exit(130)

    threading.Thread(target=watch, daemon=True, name="interrupt").start()


def wait_when_interrupted() -> None:
    """Leave the end after Ctrl-C to the program itself, however long it takes: what it drives must stop first."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)
