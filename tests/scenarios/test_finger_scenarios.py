"""The finger's scenarios through the command line: what each must show, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import hydrostat
from hydrostat.cli import main
from hydrostat.errors import DivergedError, InputError
from hydrostat.robots import ROBOTS, format_robot, parse_robot
from hydrostat.robots.checks import check_two_arcs
from hydrostat.robots.specs.finger import finger
from hydrostat.simulation.simulate import Run

# The rod of 60 GPa with 0, 20, 50 and 100 g at its tip: as two arcs by quadrature, and exact by a refined chain.
GRAMS = (0, 20, 50, 100)
TWO_ARC_HZ = (2.50835, 1.04931, 0.89291, 0.83242)
EXACT_HZ = (2.38852, 1.02263, 0.87079, 0.80704)
TWO_ARC_SAG = (0.06206378, 0.26933495, 0.38902934, 0.44750102)

ODD_ROD = """\
name = "odd rod"
[base]
axis = [0.5, 0.3, 0.6]
[[arm.segment]]
length = 0.25
radius = [0.004, 0.003]
modes = ["bend_y"]
friction = 1e-3
preshape_deg = [0, 30]
[[arm.segment]]
length = 0.15
radius = [0.003, 0.002]
modes = ["bend_y"]
[material]
youngs_modulus = 5e7
density = 1200
viscosity = 1e4
"""


def run(capsys, folder: Path, *arguments):
    code = main(["run", *arguments, "--json", "--no-figures", "--out", str(folder)])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out)


def of_weights(table, grams):
    """The entries of a table that belong to some of the weights."""
    return [table[GRAMS.index(weight)] for weight in grams]


@pytest.mark.parametrize("grams", [(0, 100), pytest.param(GRAMS, marks=pytest.mark.slow)])
def test_release(capsys, tmp_path, grams):
    report = run(capsys, tmp_path, "finger-release", "--set", f"tip_masses_g={list(grams)}")
    metrics, count = report["metrics"], len(grams)
    assert metrics["f1_hz"] == pytest.approx(of_weights(TWO_ARC_HZ, grams), rel=1e-5)
    assert metrics["f1_exact_hz"] == pytest.approx(of_weights(EXACT_HZ, grams), rel=2e-3)
    # Three Gauss points are wrong by 1e-7 of the weight's moment on an arc that bends by a radian.
    sag = of_weights(TWO_ARC_SAG, grams)
    assert np.array(metrics["tip_sag_mm"]) / 1e3 == pytest.approx(sag, rel=1e-7, abs=5e-9)
    assert 0.0 < metrics["energy_drift"] <= 1e-3
    # Force and weight act at one point: the shape held is the same, and the force differs by the weight.
    assert metrics["tip_released_mm"] == pytest.approx([metrics["tip_released_mm"][0]] * count, abs=1e-5)
    assert np.diff(metrics["pull_force_n"]) == pytest.approx(9.81e-3 * np.diff(grams), abs=1e-8)
    # The bare rod swings by 20 degrees about a sag of 6; heavy weights swing far, and slower than they would a little.
    assert metrics["f1_observed_hz"][0] == pytest.approx(metrics["f1_hz"][0], rel=0.01)
    assert all(seen < small for seen, small in zip(metrics["f1_observed_hz"][1:], metrics["f1_hz"][1:], strict=True))

    assert report["dt"] == 2e-3
    # Each weight with friction and without, 4 s each.
    assert (report["sim_seconds"], report["steps"]) == (8.0 * count, 4000 * count)
    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    assert data["tip"].shape == (401, count, 3)
    assert data["time"].values[-1] == pytest.approx(4.0)
    assert data["weight"].values.tolist() == [1e-3 * weight for weight in grams]
    # With friction the energy goes down, at each weight.
    energy = data["energy"].sum("kind").values
    assert np.all(energy[-1] < energy[0])
    assert np.all(np.diff(energy, axis=0) <= 1e-3 * np.ptp(energy, axis=0))
    assert energy[0] == pytest.approx(data["energy_undamped"].sum("kind").values[0])


@pytest.mark.slow
def test_release_tells_the_same_twice(capsys, tmp_path):
    keys = ("--set", "tip_masses_g=[20]", "--set", "seconds=2")
    one, other = (run(capsys, tmp_path, "finger-release", *keys) for _ in range(2))
    assert one["metrics"] == other["metrics"]
    assert len(one["metrics"]["f1_hz"]) == 1
    first, second = (hydrostat.load(report["files"]["folder"])["tip"].values for report in (one, other))
    assert np.array_equal(first, second)


@pytest.mark.slow
def test_energy_drift_falls_with_the_step(capsys, tmp_path):
    keys = ("--set", "tip_masses_g=[0]", "--set", "seconds=2")
    coarse, fine = (
        run(capsys, tmp_path, "finger-release", *keys, "--set", f"dt_ms={dt}")["metrics"]["energy_drift"]
        for dt in (2.0, 1.0)
    )
    # SDIRK2 loses energy at the third power of the step.
    assert 6.0 < coarse / fine < 10.0


@pytest.mark.slow
def test_a_users_rod(capsys, tmp_path):
    robot = tmp_path / "odd.toml"
    robot.write_text(ODD_ROD)
    keys = ("--robot", str(robot), "--set", "tip_masses_g=[3]")
    moved = run(capsys, tmp_path, "finger-release", *keys, "--set", "seconds=2")["metrics"]
    assert moved["energy_drift"] <= 1e-3
    assert moved["f1_exact_hz"] == pytest.approx(moved["f1_hz"], rel=0.05)
    rested = run(capsys, tmp_path, "finger-statics", *keys)["metrics"]
    assert rested["tip_error_converged_percent"] <= 0.01
    assert rested["tip_sag_mm"] == pytest.approx(moved["tip_sag_mm"], abs=1e-4)
    assert rested["tip_sag_exact_mm"] == pytest.approx(moved["tip_sag_exact_mm"], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("once", [True, False])
def test_a_run_that_diverges_goes_on_with_smaller_steps_and_keeps_its_rows(once, capsys, tmp_path, monkeypatch):
    whole = Run.__call__
    calls = []

    def failing(self, seconds, *args, on_rows=None, **options):
        calls.append(self)
        got = []
        rows = whole(self, seconds, *args, on_rows=got.append, **options)
        # The second weight's finger without friction, in the first piece: only there, or also with each smaller step.
        if len(calls) == 4 or (not once and len(calls) % 4 == 0):
            on_rows(got[0])
            on_rows(rows[1:30])
            raise DivergedError("the simulation diverged after 0.3 s at dt = 0.002 s, in segment 1; no advice")
        for part in got:
            on_rows(part)
        return rows

    monkeypatch.setattr(Run, "__call__", failing)
    keys = ["--set", "tip_masses_g=[0, 20]", "--set", "seconds=2", "--no-figures", "--out", str(tmp_path)]
    assert main(["run", "finger-release", *keys]) == (0 if once else 3)
    said = capsys.readouterr()
    assert ("from 0.29 s on the step is 0.5 ms" in said.out + said.err) == once
    assert ("diverged after 0.3 s" in said.err) != once
    data = hydrostat.load(tmp_path / "finger-release")
    assert data.attrs["complete"] == once
    # 30 rows, and 29 with each of three smaller steps.
    assert len(data["time"]) == (201 if once else 30 + 3 * 29)
    np.testing.assert_allclose(np.diff(data["time"].values), 0.01, atol=1e-9)
    assert np.all(np.isfinite(data["tip"].values))


@pytest.mark.parametrize("keys", [("--set", "tip_masses_g=[0, 20, 100]"), pytest.param((), marks=pytest.mark.slow)])
def test_statics(capsys, tmp_path, keys):
    report = run(capsys, tmp_path, "finger-statics", *keys)
    metrics = report["metrics"]
    assert metrics["tip_error_converged_percent"] <= 0.01
    # Two arcs: a few percent, growing with the weight; the sag is 4.6 to 8.3 percent short.
    assert metrics["tip_error_percent"] == sorted(metrics["tip_error_percent"])
    assert 0.5 < metrics["tip_error_percent"][0] < max(metrics["tip_error_percent"]) < 5.0
    assert all(-8.3 <= error <= -4.5 for error in metrics["sag_error_percent"])
    grams = [weight for weight in GRAMS if weight in metrics["tip_masses_g"]]
    at = [metrics["tip_masses_g"].index(weight) for weight in grams]
    sag = of_weights(TWO_ARC_SAG, grams)
    assert np.array(metrics["tip_sag_mm"])[at] / 1e3 == pytest.approx(sag, rel=1e-7, abs=5e-9)
    data = hydrostat.load(report["files"]["folder"])
    assert data["tip_mass"].values.tolist() == [1e-3 * grams for grams in metrics["tip_masses_g"]]
    assert data["tip_exact"].sel(tip_mass=0.02).values == pytest.approx([0.512749751, -0.284571205], abs=1e-8)
    # The table of the two arcs: 0.58286381 and 0.15945156 rad with 20 g.
    assert data["theta"].sel(tip_mass=0.02).values == pytest.approx([0.58286381, 0.15945156], abs=1e-7)


@pytest.mark.slow
def test_convergence(capsys, tmp_path):
    report = run(capsys, tmp_path, "finger-convergence", "--set", "doublings=3")
    metrics = report["metrics"]
    assert metrics["arcs"] == [2, 4, 8, 16]
    assert metrics["arcs_planar"] == metrics["arcs_six"] == [4, 16]
    # Second order; the next term of the error is of fourth order, seen at two arcs.
    for kind in ("", "_planar", "_six"):
        assert metrics[f"order{kind}"] == pytest.approx(2.0, abs=0.05)
        assert metrics[f"order_f1{kind}"] == pytest.approx(2.0, abs=0.1)
        assert all(cost > 0.0 for cost in metrics[f"microseconds_per_step{kind}"])
    assert metrics["tip_error_percent"] == sorted(metrics["tip_error_percent"], reverse=True)
    # Padded with segments of no length, two arcs are two arcs: their frequency is that of the table.
    assert metrics["f1_error_percent"][0] == pytest.approx(100.0 * (0.89291 / 0.87080 - 1.0), abs=2e-3)
    # A rod of 2 mm hardly shears or stretches.
    assert metrics["tip_error_percent_six"] == pytest.approx(metrics["tip_error_percent"][1::2], rel=0.02)
    data = hydrostat.load(report["files"]["folder"])
    assert data["arcs"].values.tolist() == [2, 4, 8, 16, 4, 16, 4, 16]


@pytest.mark.slow
def test_figures_and_replays_are_written(capsys, tmp_path):
    for scenario, keys in (("finger-release", ("--set", "seconds=2")), ("finger-statics", ())):
        settings = ("--set", "tip_masses_g=[0, 20]", *keys)
        assert main(["run", scenario, *settings, "--out", str(tmp_path)]) == 0
        folder = tmp_path / scenario
        assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
        assert b"<html" in (folder / "replay.html").read_bytes()[:2000].lower()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "tip_masses_g=[]"), "`tip_masses_g` must be a list of one or more numbers"),
        (("--set", "tip_masses_g=[-1]"), "`tip_masses_g[0]` must be a finite number at least 0"),
        (("--set", f"tip_masses_g={list(range(13))}"), "`tip_masses_g` must be a list of at most 12 numbers; got 13"),
        (("--set", "seconds=0"), "`seconds` must be a finite number above 0"),
        (("--set", "dt_ms=nan"), "`dt_ms` must be a finite number above 0"),
        (("--set", "pull_deg=90"), "`pull_deg` must be a finite number at least -85 and at most 85"),
        (("--robot", "tentacle"), "this scenario needs an arm of 2 segments, its arcs; got 3"),
    ],
)
def test_what_is_refused(capsys, tmp_path, arguments, message):
    assert main(["run", "finger-release", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "finger-release").exists()


def test_which_robots_are_accepted():
    check_two_arcs(ROBOTS["finger"].make())
    check_two_arcs(parse_robot(ODD_ROD))
    with pytest.raises(InputError, match="the mode bend_y alone; got bend_y, stretch in segment 1"):
        check_two_arcs(finger(modes=("bend_y", "stretch")))
    with pytest.raises(InputError, match="2 segments, its arcs; got 4"):
        check_two_arcs(finger(segments=4))
    bent = format_robot(finger()).replace("preshape_deg = [0.0, 0.0]", "preshape_deg = [5.0, 0.0]")
    with pytest.raises(InputError, match="in one plane, with a preshape about y alone; got 5 deg about x in segment 1"):
        check_two_arcs(parse_robot(bent))
