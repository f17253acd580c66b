"""Fuzzing from the command line: `make fuzz`; `python tests/fuzzing/fuzz.py --scale 0.01` for a minute of it.

Robot files, settings, CSV files and damaged result folders are made by a seeded generator from good ones, and given to
the program as a user would; materials, steps and currents are taken from far out; runs of scenarios are ended by
signals at random moments; two runs are a million steps long. Whatever comes out must be a result or one line, in time.
Figures are printed, and the exit code is 1 where one of them is wrong.

Every case has a seed of its own, so that `--cases 100:200` are those of the whole; with `--tally FILE` each case is
noted when it has ended, and what the file holds is not tried again: a long fuzzing can be done in slices.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import mutations
from endurance import RUNS, endure, wrong_run
from extremes import extreme, try_extreme
from kills import kill_one
from tally import MOST_SECONDS, Tally

from hydrostat import tables
from hydrostat.errors import InputError
from hydrostat.results.checking import check_result
from hydrostat.results.loading import load
from hydrostat.robots import ROBOTS, find_robot, format_robot, read_tensions
from hydrostat.robots.file import read_robot
from hydrostat.scenarios.catalogue import SCENARIOS

COUNTS = {
    "robot files": 10_000,
    "settings": 20_000,
    "CSV files": 2_000,
    "damaged folders": 500,
    "extreme runs": 500,
    "kills": 500,
    "long runs": len(RUNS),
}
MOST_RUN_SECONDS = 60.0  # of the processor, for a simulation that is compiled first
STEPS = 1_000_000  # of a long run

TryOne = Callable[[random.Random, int, Tally], None]


def robot_files(folder: Path) -> TryOne:
    """Mutated files of all robots that have a name."""
    good, path = [format_robot(find_robot(name)) for name in ROBOTS], folder / "robot.toml"

    def try_one(rng: random.Random, number: int, tally: Tally) -> None:
        data = mutations.mutated_text(rng, rng.choice(good))
        path.write_bytes(data)
        with tally.answered(lambda: data[:2000]):
            read_robot(path)

    return try_one


def settings(folder: Path) -> TryOne:
    """Values for one to three keys of every scenario, of which most are at bounds or beyond."""
    robots = {one.robot: find_robot(one.robot) for one in SCENARIOS.values()}
    scenarios = list(SCENARIOS.values())

    def try_one(rng: random.Random, number: int, tally: Tally) -> None:
        scenario = rng.choice(scenarios)
        keys = rng.sample(scenario.keys, min(len(scenario.keys), rng.randint(1, 3)))
        chosen = {key.name: mutations.value_for(rng, key) for key in keys}
        with tally.answered(lambda: (scenario.name, chosen)):
            scenario.settings(chosen, robots[scenario.robot])

    return try_one


def csv_files(folder: Path) -> TryOne:
    """Mutated tables, read as waypoints, paths, records of tips and tensions."""
    path = folder / "table.csv"
    good = "time,x,z\n" + "".join(f"{0.01 * (i + 1)},0.5,{-0.01 * i}\n" for i in range(30))
    readers = (
        lambda: tables.read_points(str(path), least=2, columns=(2, 3)),
        lambda: tables.read_path(str(path)),
        lambda: tables.read_tip_record(str(path)),
        lambda: read_tensions(str(path), 2),
    )

    def try_one(rng: random.Random, number: int, tally: Tally) -> None:
        data = mutations.mutated_text(rng, good)
        path.write_bytes(data)
        with tally.answered(lambda: data[:2000]):
            rng.choice(readers)()

    return try_one


def damaged_folders(folder: Path) -> TryOne:
    """Result folders with one to three damages, loaded and checked; what loads must hold what was written."""
    good, copy = folder / "good", folder / "damaged"
    mutations.write_result(good)
    wanted = load(good).load()

    def try_one(rng: random.Random, number: int, tally: Tally) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(good, copy)
        done = [mutations.damage(rng, copy) for _ in range(rng.randint(1, 3))]
        with tally.answered(lambda: done):
            try:
                check_result(copy)
            except InputError as error:
                if "\n" in str(error):
                    raise RuntimeError("more than one line") from error
            found = load(copy).load()
            if not wanted.isel(time=slice(0, found.sizes["time"])).equals(found.drop_attrs()):
                raise RuntimeError("it was loaded, and is another one")

    return try_one


def extreme_runs(folder: Path) -> TryOne:
    """Runs with materials, steps, currents and commands from far out, which end well or are named."""
    return lambda rng, number, tally: try_extreme(extreme(rng), tally)


def kills(folder: Path) -> TryOne:
    """Runs that are ended at random moments."""
    return lambda rng, number, tally: kill_one(rng, number, folder / "killed", tally)


def long_runs(folder: Path, steps: int = STEPS) -> TryOne:
    """Runs of many steps: numbers, memory and speed stay."""

    def try_one(rng: random.Random, number: int, tally: Tally) -> None:
        name = list(RUNS)[number]
        found = endure(name, steps, rng.randrange(10**6))
        tally.count("tried")
        tally.count("ran", found["finite"])
        tally.count("uneven", wrong_run(found))
        tally.note(run=name, **found)
        print(f"  {name}: {found}", flush=True)

    return try_one


def main() -> int:
    """Fuzz all kinds, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of all counts (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COUNTS, action="append", help="kinds to fuzz (default: all)")
    parser.add_argument("--cases", help="FIRST:END, numbers of the cases of each kind (default: all)")
    parser.add_argument("--tally", type=Path, help="file in which each case is noted, and not tried again")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a run that is being tried is ended too
    steps = max(1000, round(options.scale * STEPS))
    kinds: dict[str, Callable[[Path], TryOne]] = {
        "robot files": robot_files,
        "settings": settings,
        "CSV files": csv_files,
        "damaged folders": damaged_folders,
        "extreme runs": extreme_runs,
        "kills": kills,
        "long runs": lambda folder: long_runs(folder, steps),
    }
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for kind in options.only or kinds:
            begin, end = 0, COUNTS[kind] if kind == "long runs" else max(1, round(options.scale * COUNTS[kind]))
            if options.cases:
                begin, end = (int(part) for part in options.cases.split(":"))
            longest = MOST_RUN_SECONDS if kind == "extreme runs" else MOST_SECONDS
            tally, started = Tally(kind, options.tally, options.seed, longest), time.monotonic()
            try_one = kinds[kind](Path(name))
            for number in tally.cases(begin, end):
                try_one(random.Random(f"{options.seed} {kind} {number}"), number, tally)
            print(f"{tally}  {time.monotonic() - started:.0f} s", flush=True)
            wrong += tally.wrong()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
