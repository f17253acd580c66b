"""The octopus crawls by its suckers."""

import json
import subprocess
import sys

import pytest

from hydrostat.errors import InputError
from hydrostat.robots.catalogue import find_robot
from hydrostat.scenarios.catalogue import find_scenario


def _run(tmp_path, *options):
    command = [sys.executable, "-m", "hydrostat.cli", "run", "octopus-crawl", "--json", "--no-figures"]
    command += ["--out", str(tmp_path), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [0.0, 22.5])
def test_crawls_where_it_is_told(tmp_path, direction):
    done = _run(tmp_path, "--set", f"direction_deg={direction}")
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert metrics["advance_per_stroke_mm"] >= 30.0
    assert abs(metrics["advance_without_suckers_mm"]) <= 5.0
    assert metrics["heading_error_deg"] <= 2.0
    assert metrics["penetration_max_radii"] <= 0.2


def test_bad_input_is_one_line(tmp_path):
    done = _run(tmp_path, "--set", "lost_arms=[1,2,3,4,5,6,7,8]")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "lost_arms" in done.stderr


def test_other_robots_are_refused():
    with pytest.raises(InputError, match="muscular"):
        find_scenario("octopus-crawl").check(find_robot("squid"))
    with pytest.raises(InputError, match="limbs on a body"):
        find_scenario("octopus-crawl").check(find_robot("octopus_arm"))
