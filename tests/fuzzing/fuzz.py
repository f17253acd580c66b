"""Fuzzing from the command line: `make fuzz`; `python tests/fuzzing/fuzz.py --scale 0.01` for a minute of it.

Robot files, settings, CSV files and damaged result folders are made by a seeded generator from good ones, and given to
the program as a user would; materials, steps and currents are taken from far out; runs of scenarios are ended by
signals at random moments; two runs are a million steps long. Whatever comes out must be a result or one line, in time.
Figures are printed, and the exit code is 1 where one of them is wrong.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import mutations
from endurance import RUNS, endure, wrong_run
from extremes import extreme_run, extreme_runs
from kills import kill_runs

from hydrostat import tables
from hydrostat.errors import DivergedError, InputError
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
    "steps of long runs": 1_000_000,
}
MOST_SECONDS = 5.0
MOST_RUN_SECONDS = 60.0  # of the processor, for a simulation that is compiled first


class Tally:
    """Counts of what became of the inputs of one kind."""

    def __init__(self, kind: str, most_seconds: float = MOST_SECONDS):
        self.kind, self.counts, self.slowest, self._most = kind, Counter(), 0.0, most_seconds

    def try_one(self, function, described) -> None:
        """Call a function that must return, or refuse in one line, in time."""
        self.counts["tried"] += 1
        begin = time.process_time()
        try:
            function()
            self.counts["ran"] += 1
        except (InputError, FileNotFoundError, DivergedError) as error:
            self.counts["diverged" if isinstance(error, DivergedError) else "refused"] += 1
            self.counts["more than one line"] += "\n" in str(error)
        except Exception:
            self.counts["tracebacks"] += 1
            print(f"--- {self.kind}: {described()!r}", file=sys.stderr)
            traceback.print_exc()
        took = time.process_time() - begin
        self.slowest = max(self.slowest, took)
        if took > self._most:
            self.counts["over 5 s"] += 1
            print(f"--- {self.kind}, {took:.1f} s: {described()!r}", file=sys.stderr)

    def wrong(self) -> int:
        """The number of inputs that did not end well."""
        return sum(
            self.counts[name]
            for name in ("tracebacks", "more than one line", "over 5 s", "lost", "not heard", "uneven")
        )

    def __str__(self) -> str:
        names = ("tried", "refused", "ran", "tracebacks", "over 5 s")
        names += tuple(name for name in ("diverged", "uneven", "with rows") if self.counts[name])
        return f"{self.kind:<16} " + "  ".join(f"{name} {self.counts[name]}" for name in names)


def robot_files(rng: random.Random, count: int, folder: Path) -> Tally:
    """Mutated files of all robots that have a name."""
    tally, good = Tally("robot files"), [format_robot(find_robot(name)) for name in ROBOTS]
    path = folder / "robot.toml"
    for _ in range(count):
        data = mutations.mutated_text(rng, rng.choice(good))
        path.write_bytes(data)
        tally.try_one(lambda: read_robot(path), lambda data=data: data[:2000])
    return tally


def settings(rng: random.Random, count: int) -> Tally:
    """Values for one to three keys of every scenario, of which most are at bounds or beyond."""
    tally, robots = Tally("settings"), {one.robot: find_robot(one.robot) for one in SCENARIOS.values()}
    scenarios = list(SCENARIOS.values())
    for _ in range(count):
        scenario = rng.choice(scenarios)
        keys = rng.sample(scenario.keys, min(len(scenario.keys), rng.randint(1, 3)))
        chosen = {key.name: mutations.value_for(rng, key) for key in keys}
        robot = robots[scenario.robot]
        tally.try_one(
            lambda scenario=scenario, chosen=chosen, robot=robot: scenario.settings(chosen, robot),
            lambda scenario=scenario, chosen=chosen: (scenario.name, chosen),
        )
    return tally


def csv_files(rng: random.Random, count: int, folder: Path) -> Tally:
    """Mutated tables, read as waypoints, paths, records of tips and tensions."""
    tally, path = Tally("CSV files"), folder / "table.csv"
    good = "time,x,z\n" + "".join(f"{0.01 * (i + 1)},0.5,{-0.01 * i}\n" for i in range(30))
    readers = (
        lambda: tables.read_points(str(path), least=2, columns=(2, 3)),
        lambda: tables.read_path(str(path)),
        lambda: tables.read_tip_record(str(path)),
        lambda: read_tensions(str(path), 2),
    )
    for _ in range(count):
        data = mutations.mutated_text(rng, good)
        path.write_bytes(data)
        tally.try_one(rng.choice(readers), lambda data=data: data[:2000])
    return tally


def damaged_folders(rng: random.Random, count: int, folder: Path) -> Tally:
    """Result folders with one to three damages, loaded and checked; what loads must hold what was written."""
    tally = Tally("damaged folders")
    mutations.write_result(folder / "good")
    wanted = load(folder / "good").load()
    for number in range(count):
        copy = folder / "damaged"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder / "good", copy)
        done = [mutations.damage(rng, copy) for _ in range(rng.randint(1, 3))]

        def loaded(copy=copy):
            try:
                check_result(copy)
            except InputError as error:
                if "\n" in str(error):
                    raise RuntimeError("more than one line") from error
            found = load(copy).load()
            if not wanted.isel(time=slice(0, found.sizes["time"])).equals(found.drop_attrs()):
                raise RuntimeError("it was loaded, and is another one")

        tally.try_one(loaded, lambda number=number, done=done: (number, done))
    return tally


def extremes(rng: random.Random, count: int) -> Tally:
    """Runs with materials, steps, currents and commands from far out, which end well or are named."""
    tally = Tally("extreme runs", MOST_RUN_SECONDS)
    for case in extreme_runs(rng, count):
        tally.try_one(lambda case=case: extreme_run(case), lambda case=case: case)
    return tally


def long_runs(rng: random.Random, count: int) -> Tally:
    """Runs of many steps: numbers, memory and speed stay."""
    tally = Tally("long runs")
    for name in RUNS:
        found = endure(name, count, rng.randrange(10**6))
        tally.counts["tried"] += 1
        tally.counts["ran"] += found["finite"]
        tally.counts["uneven"] += wrong_run(found)
        print(f"  {name}: {found}", flush=True)
    return tally


def main() -> int:
    """Fuzz all kinds, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of all counts (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COUNTS, action="append", help="kinds to fuzz (default: all)")
    options = parser.parse_args()
    counts = {kind: max(1, round(options.scale * count)) for kind, count in COUNTS.items()}
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fuzzers = {
            "robot files": lambda rng, count: robot_files(rng, count, folder),
            "settings": settings,
            "CSV files": lambda rng, count: csv_files(rng, count, folder),
            "damaged folders": lambda rng, count: damaged_folders(rng, count, folder),
            "extreme runs": extremes,
            "kills": lambda rng, count: kill_runs(rng, count, folder, Tally("kills")),
            "steps of long runs": long_runs,
        }
        for kind, fuzz in fuzzers.items():
            if options.only and kind not in options.only:
                continue
            begin = time.monotonic()
            tally = fuzz(random.Random(f"{options.seed} {kind}"), counts[kind])
            lost = f"  lost rows older than 1 s {tally.counts['lost']}" if kind == "kills" else ""
            print(f"{tally}{lost}  ({time.monotonic() - begin:.0f} s, slowest {tally.slowest:.2f} s)", flush=True)
            wrong += tally.wrong()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
