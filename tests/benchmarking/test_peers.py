"""The benchmarks of `make bench` in small: other programs' rods, the kernel written by hand, and the page."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    """A module of the benchmarks by its name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_paths_of_a_tip_are_compared_over_the_length(bench):
    rod = bench("peers.rods").RODS["dry"]
    tips = np.zeros((3, 3))
    moved = tips + np.array([0.0, 0.0, 0.01 * rod.length])
    assert rod.error_percent(moved, tips) == pytest.approx(1.0)
    assert rod.error_percent(moved[:2], tips) is None
    assert rod.error_percent(np.full((3, 3), np.nan), tips) is None
    assert rod.per_sample(2.5e-3) == 8
    with pytest.raises(ValueError, match=r"whole part of 0\.02 s; got 0\.003 s"):
        rod.per_sample(3e-3)


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_kernel_written_by_hand_moves_as_a_chain_in_mujoco(bench, lanes):
    pytest.importorskip("mujoco")
    rod = bench("peers.rods").RODS["damped"].shorter(0.1)
    wanted = bench("peers.mujoco_rod").prepare(rod, 5, "RK4", 1e-4)()
    arms = bench("peers.dry_kernel").DryArms(rod, 5, lanes)
    tips = [arms.tip(lanes - 1)]
    for _ in range(rod.samples):
        arms.step(2e-5, round(rod.sample / 2e-5))
        tips.append(arms.tip(lanes - 1))
    assert np.abs(wanted[-1] - wanted[0]).max() > 0.1 * rod.length
    # The same hinges with other inertias: cylinders where MuJoCo has frusta, and a slide that hardly gives.
    assert rod.error_percent(np.array(tips), wanted) < 0.3


def test_a_benchmark_that_is_not_there_is_one_line(bench, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "kraken"])
    assert bench("run").main() == 2
    assert capsys.readouterr().err.endswith("; got kraken\n")


def test_without_its_data_the_comparison_with_sorosim_is_left_out(bench, monkeypatch, capsys):
    sorosim = bench("sorosim")
    monkeypatch.delenv(sorosim.VARIABLE, raising=False)
    monkeypatch.setattr(sys, "argv", ["sorosim.py"])
    sorosim.main()
    assert sorosim.VARIABLE in json.loads(capsys.readouterr().out)["left_out"]


def test_the_page_has_a_row_for_every_method_and_a_figure(bench, tmp_path):
    point = {"dt_ms": 5.0, "stable": True, "wall_per_second": 0.01, "us_per_step": 50.0}
    point |= {"step_error_percent": 0.5, "error_percent": 0.7}
    ours = {"program": "hydrostat", "version": "", "method": "SDIRK2", "strains": "bends", "segments": 20}
    theirs = {**ours, "program": "mujoco", "version": "4.0.0", "method": "Euler"}
    slower = {**point, "wall_per_second": 0.03}
    rows = [
        {**ours, "points": [point], "best": point},
        {**theirs, "points": [slower, {"dt_ms": 9.0, "stable": False}], "best": slower},
        {**theirs, "method": "RK4", "points": [], "best": None},
    ]
    arm = {"left_out": ["soromox: not installed"], "dry": {"bends_alone_error_percent": 3.0, "rows": rows}}
    bench("page").write({"arm": arm, "scaling": {"exponent": 1.0}}, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text()
    assert "Left out: soromox: not installed." in text
    assert "| MuJoCo 4.0.0 | Euler | bends | 20 | 5 | 50 | 0.03 | 0.5 | 0.7 | 3 |" in text
    assert "| MuJoCo 4.0.0 | RK4 | bends | 20 | none within 1 % |" in text
    assert "| exponent | 1 |" in text
    assert (tmp_path / "assets" / "figures" / "work-precision.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_sweep_finds_the_step_that_costs_least(bench):
    pytest.importorskip("mujoco")
    arm = bench("arm")
    rod = arm.RODS["damped"]
    truths = {arm.BOTH: arm.simulated(arm.hydrostat_rod, rod, 8, "", 1e-3, arm.BOTH)[1]}
    for name, method, steps in (("hydrostat", "SDIRK2", (10, 5)), ("mujoco", "Euler", (10, 5, 2.5, 1.25))):
        row = arm.sweep("damped", (name, method, arm.BOTH, 4, steps, 0.1), truths, 1, long=0.0)
        assert [point["stable"] for point in row["points"]] == [True] * len(steps)
        assert row["best"]["step_error_percent"] <= arm.WITHIN_PERCENT
        # Both chains of four sections are near the same rod.
        assert row["points"][-1]["error_percent"] < 8.0


@pytest.mark.slow
def test_rods_without_loads_stay_as_sorosim_has_them(bench, tmp_path, monkeypatch):
    sorosim = bench("sorosim")
    monkeypatch.setattr(sorosim, "CONVERGED_SEGMENTS", 2)
    for material, values in sorosim.RODS.items():
        tip = [values["length"], 0.0, 0.0]
        rows = [["label", 0, 0, 0, 0]] * 2 + [[f"P{i}", 0, 0, 0, 0 if i < 3 else tip[i - 3]] for i in range(6)]
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / f"{material}_statics.csv").write_text(text)
        release = np.zeros((2 + 5, 13))
        release[2:, -3:] = tip
        np.savetxt(tmp_path / f"{material}_release_1.txt", release)
    found = sorosim.measure(tmp_path, segments=2, releases=(1,), compared=0, repetitions=1)
    for name in ("springsteel", "tpu"):
        assert found[f"{name}_statics"]["tip_error_percent_worst"] == pytest.approx(0.0, abs=1e-9)
        assert found[f"{name}_releases"]["rms_error_percent"] == pytest.approx([0.0], abs=1e-9)
        assert found[f"{name}_releases"]["real_time_factor"] > 0.0


@pytest.mark.slow
def test_a_batch_in_small(bench):
    found = bench("batch").measure(counts=(8,), xla_counts=(), segments=1, steps=4, repetitions=1)
    for name in ("water_native", "dry_native", "passive_native", "passive_kernel"):
        assert len(found[name]) == 1
        assert min(found[name]) > 0.0


@pytest.mark.slow
def test_a_gradient_in_small(bench):
    found = bench("gradient").measure(segments=3, steps=20, repetitions=1)
    assert found["difference_from_finite_difference"] < 1e-3
    assert found["gradient_memory_mb"] >= 0.0


@pytest.mark.slow
def test_the_first_result_is_sooner_the_second_time(bench):
    found = bench("start").measure(segments=2, octopus=False, repetitions=1)
    assert found["python_s"] < found["import_s"] < found["arm_cold_s"]
    assert found["arm_warm_s"] < found["arm_cold_s"]
