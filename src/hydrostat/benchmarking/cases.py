"""The benchmarks that hydrostat knows by name, and how one of them is run."""

import importlib
import time
from dataclasses import dataclass
from typing import Any

from hydrostat.errors import InputError, listed, shown
from hydrostat.results import check_metrics
from hydrostat.scenarios.base import Progress


@dataclass(frozen=True)
class Case:
    """A benchmark."""

    name: str
    summary: str
    function: str
    """The function, as `module:name`; it is imported when it runs."""


CASES = {
    case.name: case
    for case in (
        Case(
            "rod",
            "a stiff rod of 20 segments falls for a second: errors and speed at steps of 0.5 to 5 ms",
            "hydrostat.benchmarking.rod:measure",
        ),
        Case(
            "scaling",
            "cost of a step from 10 to 320 segments, and the exponent it grows with",
            "hydrostat.benchmarking.scaling:measure",
        ),
        Case(
            "squid",
            "the squid's four limbs in water in a control loop of 1 kHz: how long one step takes, and at worst",
            "hydrostat.benchmarking.squid:measure",
        ),
    )
}
"""The cases that `hydrostat bench` measures, by name."""


def find_case(name: str) -> Case:
    """The benchmark of a name."""
    if name not in CASES:
        raise InputError(f"benchmark must be one of {listed(CASES)}; got {shown(name)}")
    return CASES[name]


def run_case(name: str, progress: Progress | None = None) -> dict[str, Any]:
    """Measure on one core, and compile everything anew; the report is the object that `--json` prints.

    Of the lists among the metrics, those of a case have one entry for each step (`rod`) or arm (`scaling`).
    """
    case = find_case(name)
    progress = progress or Progress()
    progress.say("loading")
    from hydrostat.measuring import compiling_anew, on_one_core

    start = time.perf_counter()
    try:
        with on_one_core(), compiling_anew():
            module, function = case.function.split(":")
            metrics = check_metrics(getattr(importlib.import_module(module), function)(progress))
    finally:
        progress.close()
    return {"bench": case.name, "wall_seconds": time.perf_counter() - start, "metrics": metrics}
