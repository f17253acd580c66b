"""Counts of what became of the inputs of one kind, kept in a file from slice to slice."""

import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydrostat.errors import DivergedError, InputError

MOST_SECONDS = 5.0
"""Longest time that an answer may take, of the processor [s]."""
WRONG = (
    "tracebacks",
    "more than one line",
    "over 5 s",
    "lost rows older than 1 s",
    "not heard",
    "uneven",
    "silent growth",
)
"""Counts that must be zero."""


class Tally:
    """Counts over the cases of one kind.

    **Arguments:** `path`: a file to which every case is appended when it has ended; the cases that it holds already
    are counted, and not tried again; `seed`: of the cases; `most_seconds`: of the processor, for one case [s].
    """

    def __init__(self, kind: str, path: Path | None = None, seed: int = 0, most_seconds: float = MOST_SECONDS):
        self.kind, self.seed, self.most_seconds = kind, seed, most_seconds
        self.counts, self.largest = Counter(), {}
        self._path, self._case, self._done = path, {}, set()
        for line in path.read_text().splitlines() if path is not None and path.exists() else ():
            case = json.loads(line)
            if (case["kind"], case["seed"]) == (kind, seed):
                self._add(case)

    def cases(self, begin: int, end: int) -> Iterator[int]:
        """The numbers of the cases that are left in a range; what is counted meanwhile belongs to the present one."""
        for number in range(begin, end):
            if number in self._done:
                continue
            case = {"kind": self.kind, "seed": self.seed, "number": number, "counts": Counter(), "largest": {}}
            self._case = case
            yield number
            self._add(case)
            if self._path is not None:
                with self._path.open("a") as file:
                    file.write(json.dumps(case) + "\n")

    def count(self, name: str, times: int = 1) -> None:
        """Count what became of the present case."""
        self._case["counts"][name] += int(times)

    def measure(self, name: str, value: float) -> None:
        """Note a measure of the present case, of which the largest is shown."""
        self._case["largest"][name] = max(self._case["largest"].get(name, value), value)

    def note(self, **words: Any) -> None:
        """Note in the file what the present case was."""
        self._case.update(words)

    def complain(self, what: str) -> None:
        """Say that the present case did not end well."""
        print(f"--- {self.kind} {self._case['number']}: {what}", file=sys.stderr, flush=True)

    @contextmanager
    def answered(self, described: Callable[[], Any]) -> Iterator[None]:
        """Within, an input is answered with a result, or refused in one line, in time."""
        self.count("tried")
        begin = time.process_time()
        try:
            yield
            self.count("ran")
        except (InputError, FileNotFoundError, DivergedError) as error:
            self.count("diverged" if isinstance(error, DivergedError) else "refused")
            self.count("more than one line", "\n" in str(error))
        except Exception:
            self.count("tracebacks")
            self.complain(repr(described()))
            traceback.print_exc()
        took = time.process_time() - begin
        self.measure("seconds", took)
        if took > self.most_seconds:
            self.count("over 5 s")
            self.complain(f"{took:.1f} s: {described()!r}")

    def wrong(self) -> int:
        """The number of inputs that did not end well."""
        return sum(self.counts[name] for name in WRONG)

    def __str__(self) -> str:
        names = ["tried", "refused", "ran", "tracebacks", "over 5 s"]
        names += [name for name, times in self.counts.items() if (times or name in WRONG) and name not in names]
        largest = ", ".join(f"{name} {value:.3g}" for name, value in self.largest.items())
        return f"{self.kind:<16} " + "  ".join(f"{name} {self.counts[name]}" for name in names) + f"  (most: {largest})"

    def _add(self, case: dict[str, Any]) -> None:
        self._done.add(case["number"])
        self.counts.update(case["counts"])
        for name, value in case["largest"].items():
            self.largest[name] = max(self.largest.get(name, value), value)
