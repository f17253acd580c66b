"""What a user gives is checked before JAX is imported, and a refused run leaves nothing behind."""

import json
import subprocess
import sys

import pytest

from hydrostat.scenarios import SCENARIOS

PROGRAM = """
import contextlib, io, json, os, sys, time
import hydrostat
sys.modules["jax"] = None  # whoever imports it fails
from hydrostat.cli import main
for case in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    begin = time.perf_counter()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*case, "--out", "results/deep"] if "--out" not in case else case)
    took = time.perf_counter() - begin
    print(json.dumps([code, out.getvalue(), err.getvalue(), took, os.path.exists("results")]))
"""


def sets(scenario, *pairs):
    return ["run", scenario, *(part for pair in pairs for part in ("--set", pair))]


CASES = [
    (sets("octopus-walk-path", "path_file=none.csv"), "could not be read"),
    (sets("octopus-walk-path", "path_file=same.csv"), "1 mm apart"),
    (sets("octopus-walk-path", "path_file=."), "Is a directory"),
    (sets("octopus-walk-path", "path_file=pipe"), "a pipe or a device"),
    (sets("octopus-crawl", "lost_arms=[1.5]"), "`lost_arms` must name some of the arms 1 to 8 by whole numbers"),
    (sets("octopus-crawl", "message_loss=0.1"), "`message_loss` must be 0 unless `hierarchy` is true; got 0.1"),
    (sets("octopus-swim", "lost_arms=[9]"), "`lost_arms` must name some of the arms 1 to 8"),
    (sets("octopus-turn", "lost_arms=[1,2,3,4,5,6,7,8]"), "must leave one of the arms"),
    (sets("octopus-stand", "failed_suckers=[2.5]"), "`failed_suckers` must name"),
    (sets("octopus-forage", "distance_m=[0.5, 0.3]"), "`distance_m` must be the smaller"),
    (sets("octopus-forage", "target_mm=[1.0, 2.0]"), "out of reach"),
    (sets("arm-reach-target", "target_mm=[1.0, 2.0]"), "got 2 numbers"),
    (sets("arm-reach-target", "near=1.4", "far=0.2"), "`near` must be below `far`"),
    (sets("arm-reach-target", "move_seconds=9"), "`move_seconds` must be below `seconds`"),
    (sets("arm-bend", "first_segment=9", "last_segment=3"), "`first_segment` must be at most"),
    (sets("arm-fetch", "load_at=[1.0]"), "`load_at` must be x, y, z"),
    (sets("arm-fetch", "places=5", "seconds=9"), "`load_g` must be above 0 to fetch it from `places`"),
    (sets("arm-fetch", "places=5", "load_g=10"), "`seconds` must be at least 6 s"),
    (sets("arm-fetch", "places=5", "load_g=10", "seconds=9", "suckers=false"), "`suckers` must be true"),
    (sets("arm-fetch", "places=5", "load_g=10", "load_at=[0.1,0,-0.1]"), "`load_at` must be empty"),
    (sets("arm-throw", "load_g=0"), "`load_g` must be above 0"),
    (sets("arm-throw", "release_s=50"), "`release_s` must end"),
    (sets("finger-grasp", "nodes=7"), "`nodes` must be a multiple of `pieces`"),
    (sets("finger-identify", "record=none.csv"), "could not be read"),
    (sets("finger-identify", "record=same.csv"), "at least 4 rows"),
    (sets("finger-identify", "rate_hz=1e4", "seconds=100"), "4 to 100000 pictures"),
    (sets("squid-twin-dynamics", "limb=nose"), "nose"),
    (sets("squid-twin-dynamics", "limb=grasper", "sections=41"), "`sections` must be a multiple"),
    (sets("squid-twin-dynamics", "dt_ms=3"), "`dt_ms` must divide a row"),
    (sets("squid-reach", "press_n=9"), "`press_n` must be less than"),
    (sets("tentacle-shape", "curve=none.csv"), "could not be read"),
    (sets("tentacle-shape", "target=[1.0, 2.0]"), "got 2 numbers"),
    (sets("tentacle-move", "step_rad=1e-9"), "`step_rad` must be at least"),
    (sets("tentacle-vibration", "step_rad=1e-9"), "`step_rad` must be at least"),
    (sets("tentacle-vibration", "seconds_after=0.001"), "at least two pictures"),
    (sets("track-file"), "`path` must name a CSV file"),
    (sets("track-file", "path=none.csv"), "could not be read"),
    (sets("track-file", "path=same.csv"), "2 different points"),
    (sets("track-dynamics", "file=none.csv"), "could not be read"),
    (sets("track-segments", "segments=[5.5]"), "whole numbers"),
    (sets("track-line", "obstacle=[1.0]", "controller=continuous"), "`obstacle` must be x, y, z and a radius"),
    (sets("track-line", "obstacle=[1.0, 1, 1, 1]"), "the paper's controller has no `obstacle`"),
    (sets("track-line", "frozen_segment=99", "controller=decentralised"), "`frozen_segment` must be at most 20"),
    (sets("drive", "csv=none.csv"), "could not be read"),
    (sets("drive", "seconds=1e6", "dt_ms=0.001"), "at most 1e+09 steps"),
    (sets("arm-reach", "dt_ms=0.001", "prepare_seconds=100"), "at most 8 GiB"),
    (sets("octopus-walk-path", "pose_delay_s=10", "dt_ms=0.05"), "`pose_delay_s` must be at most 100000 steps"),
    ([*sets("tentacle-move"), "--out", "same.csv"], "it is not a folder"),
    ([*sets("tentacle-move"), "--out", "same.csv/deeper"], "it is not a folder"),
    ([*sets("tentacle-move"), "--out", "/proc/nowhere"], "give a writable directory"),
]
for scenario in SCENARIOS.values():
    names = {key.name for key in scenario.keys}
    own = ["path=path.csv"] if scenario.name == "track-file" else []
    for tiny in ("1e-300", "1e-12") if "dt_ms" in names else ():
        value = f"[{tiny}, 1, 1]" if scenario.name == "rod-abrupt" else tiny
        CASES.append((sets(scenario.name, f"dt_ms={value}", *own), "must be at least 0.001 ms"))
    if "seconds" in names:
        CASES.append((sets(scenario.name, "seconds=5e-324", *own), "`seconds`"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The answers to all cases, by one process in which JAX cannot be imported."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "same.csv").write_text("0,0,0\n0,0,0\n")
    (folder / "path.csv").write_text("0,0,5\n0,1,5\n")
    subprocess.run(["mkfifo", str(folder / "pipe")], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([case for case, _ in CASES]), cwd=folder, text=True,
        capture_output=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[" ".join(case[1:]) for case, _ in CASES])
def test_it_is_refused_before_anything_is_imported_or_made(answers, number):
    code, out, err, took, left = answers[number]
    assert CASES[number][1] in err
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert took < 5.0
    assert not left
