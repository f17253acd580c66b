"""`hydrostat bench`: its cases in small, its report, and what it refuses."""

import gc
import json
import os
import subprocess
import sys

import jax
import pytest

from hydrostat.benchmarking import CASES, rod, run_case, scaling, squid
from hydrostat.cli import main
from hydrostat.measuring import best_of, compiling_anew, on_one_core
from hydrostat.scenarios.base import Progress


def test_cases_are_listed(capsys):
    assert main(["bench"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in CASES)
    assert main(["bench", "--json"]) == 0
    assert [case["name"] for case in json.loads(capsys.readouterr().out)["cases"]] == list(CASES)


def test_an_unknown_case_is_one_line_before_jax_is_loaded():
    program = (
        "import sys; from hydrostat.cli import main; "
        "code = main(['bench', 'rope', '--json']); print(code, 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "2 False"
    assert done.stderr == "hydrostat: benchmark must be one of rod, scaling, squid; got 'rope'\n"


@pytest.mark.slow
def test_rod_in_small():
    metrics = rod.measure(Progress(), steps_ms=(2.0, 5.0), seconds=0.05)
    assert metrics["steps_ms"] == [2.0, 5.0]
    assert metrics["stable"] == [True, True]
    # The error of a second-order method, which falls by (5/2)^2; while the rod starts to fall it is tiny.
    errors = metrics["tip_error_percent"]
    assert 0.0 < 3.0 * errors[0] < errors[1] < rod.WITHIN_PERCENT
    assert metrics["reference_error_percent"] < 0.1 * errors[0]
    assert metrics["real_time_factor"] == max(metrics["real_time_factors"]) > 0.0
    assert metrics["dt_ms"] in (2.0, 5.0)
    # A step's cost and the factor say the same.
    for step, cost, factor in zip(
        (2.0, 5.0), metrics["microseconds_per_step"], metrics["real_time_factors"], strict=True
    ):
        assert factor == pytest.approx(1e3 * step / cost)


@pytest.mark.slow
def test_the_squid_in_small():
    metrics = squid.measure(Progress(), steps=300)
    assert (metrics["limbs"], metrics["segments"], metrics["coordinates"]) == (4, 40, 120)
    assert metrics["steps"] == 300
    assert metrics["step_p50_us"] <= metrics["step_p99_us"] <= metrics["step_p999_us"] <= metrics["step_max_us"]
    # The limbs move, and the mean of the times lies between the least and the greatest.
    assert metrics["largest_bend_deg"] > 5.0
    assert 1e3 / metrics["step_max_us"] <= metrics["real_time_factor"] < 1e3
    assert gc.isenabled()


@pytest.mark.slow
def test_a_report_is_one_strict_json_object(capsys, monkeypatch):
    small = scaling.measure
    monkeypatch.setattr(scaling, "measure", lambda progress: small(progress, segments=(2, 4), steps=5))
    assert main(["bench", "scaling", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["bench", "wall_seconds", "metrics"]
    assert report["bench"] == "scaling"
    assert report["metrics"]["segments"] == [2, 4]
    assert all(len(value) == 2 for value in report["metrics"].values() if isinstance(value, list))
    assert report["wall_seconds"] > sum(report["metrics"]["compile_seconds"])


def test_a_report_is_a_table_for_people(capsys, monkeypatch):
    metrics = {"exponent": 1.0, "segments": [2, 4], "microseconds_per_step": [10.0, 20.0]}
    monkeypatch.setattr(scaling, "measure", lambda progress: metrics)
    assert main(["bench", "scaling"]) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in (*metrics, "wall_seconds", "20"))


def test_conditions_are_put_back(monkeypatch):
    cores = os.sched_getaffinity(0)
    cache = jax.config.values["jax_enable_compilation_cache"]
    seen = []

    def measure(progress):
        seen.append((len(os.sched_getaffinity(0)), jax.config.values["jax_enable_compilation_cache"]))
        raise ZeroDivisionError

    monkeypatch.setattr(scaling, "measure", measure)
    with pytest.raises(ZeroDivisionError):
        run_case("scaling")
    assert seen == [(1, False)]
    assert os.sched_getaffinity(0) == cores
    assert jax.config.values["jax_enable_compilation_cache"] == cache
    with on_one_core(), compiling_anew():
        assert best_of(3, lambda: None) >= 0.0
