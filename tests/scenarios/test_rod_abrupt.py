"""rod-abrupt through the command line: it holds at every step, and a run that cannot go on keeps what it had."""

import importlib
import json

import numpy as np
import pytest

import hydrostat
from hydrostat.cli import main
from hydrostat.robots.file import format_robot
from hydrostat.robots.specs.rod import rod


@pytest.fixture(scope="module")
def coarse(tmp_path_factory):
    """A rod of few segments, which is quick to compile."""
    file = tmp_path_factory.mktemp("robot") / "coarse.toml"
    file.write_text(format_robot(rod(4)))
    return str(file)


def run(capsys, tmp_path, *arguments):
    code = main(["run", "rod-abrupt", *arguments, "--json", "--no-figures", "--out", str(tmp_path)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.slow
def test_energy_does_not_grow(capsys, tmp_path):
    code, out, err = run(capsys, tmp_path)
    assert code == 0, err
    report = json.loads(out)
    metrics = report["metrics"]
    assert metrics["dt_ms"] == [1.0, 2.0, 5.0] * 2
    assert metrics["damped"] == [False] * 3 + [True] * 3
    assert max(metrics["energy_gain_max"]) <= 0.01
    # What SDIRK2 loses by itself is less than that as well; damping takes more than a hundredth.
    assert max(metrics["energy_loss_max"][:3]) <= 0.01 < min(metrics["energy_loss_max"][3:])
    # It is a throw: the tip goes as fast as a fall from its height of 0.5 m would make it.
    assert min(metrics["tip_speed_max_m_s"]) > 2.5
    # 5 ms follows 1 ms within a hundredth of the rod.
    assert max(metrics["tip_deviation_max_mm"]) < 6.0
    assert report["sim_seconds"] == pytest.approx(12.0)
    assert report["steps"] == 2 * (2000 + 1000 + 400)
    assert report["dt"] == 1e-3

    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    for number, gain in enumerate(metrics["energy_gain_max"], 1):
        one = data.isel(row=np.flatnonzero(data["run"].values == number))
        total = one["kinetic"] + one["elastic"] + one["gravitational"]
        assert float((total - total[0]).max() / one["kinetic"].max()) == pytest.approx(gain, abs=1e-12)
        assert np.all(np.diff(one["time"]) > 0.0)


def test_a_run_that_diverges_is_exit_3_and_keeps_what_it_had(capsys, tmp_path, coarse, monkeypatch):
    # Every step that is tried for the advice is compiled; tests/stepping looks at the advice itself.
    monkeypatch.setattr(importlib.import_module("hydrostat.simulation.simulate"), "_ADVICE_HALVINGS", 1)
    # Bent into a hook, and then a step of a second.
    keys = ("dt_ms=[0.5, 1000.0, 1.0]", "pull_n=[0.0, 6.0, 4.0]", "seconds=0.02")
    code, out, err = run(capsys, tmp_path, "--robot", coarse, *(part for key in keys for part in ("--set", key)))
    assert code == 3
    assert out == ""
    assert err.count("\n") == 1
    assert "undamped, 1000 ms: the simulation diverged after 0 s at dt = 1 s, in segment " in err
    assert "the largest step that goes on" in err or "no smaller step was found that goes on" in err
    assert str(tmp_path / "rod-abrupt") in err
    data = hydrostat.load(tmp_path / "rod-abrupt")
    assert not data.attrs["complete"]
    # All of the first run, and the first row of the second.
    assert data["run"].values.tolist() == [1] * 41 + [2]
    assert np.all(np.isfinite(data["q"]))


def test_a_planar_robot_is_refused(capsys, tmp_path):
    code, out, err = run(capsys, tmp_path, "--robot", "finger")
    assert (code, out) == (2, "")
    assert "needs segments with the modes bend_x and bend_y, and maybe others; got bend_y in segment 1" in err


@pytest.mark.slow
def test_figure_and_replay(tmp_path, coarse):
    settings = ["--robot", coarse, "--set", "seconds=0.1", "--set", "dt_ms=[2.0, 5.0, 10.0]"]
    assert main(["run", "rod-abrupt", *settings, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "rod-abrupt" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert b"<html" in (tmp_path / "rod-abrupt" / "replay.html").read_bytes()[:2000].lower()
