"""squid-verify: both schemes against the arc, and what it refuses."""

import importlib.util

import pytest

from hydrostat.errors import InputError
from hydrostat.results import load
from hydrostat.scenarios.runner import run_scenario


def test_the_chains_are_exact_and_the_printed_ones_are_not(tmp_path):
    report = run_scenario("squid-verify", None, {"most_sections": 12, "bends": 3}, out=tmp_path)
    metrics = report["metrics"]
    assert metrics["tip_error_exact_mm"] <= 1e-9
    assert metrics["orientation_error_exact_deg"] <= 1e-9
    assert metrics["tip_error_paper_mm"] == pytest.approx(0.556, abs=5e-4)
    assert metrics["orientation_error_paper_deg"] == pytest.approx(4.5, abs=1e-9)
    assert metrics["mujoco_tip_error_mm"] <= 1e-6
    assert metrics["mujoco_orientation_error_deg"] <= 1e-6
    assert metrics["poses"] == 4 * 6 * 8 * 3
    assert report["sim_seconds"] is None
    rows = load(tmp_path / "squid-verify")
    assert rows.sizes["sections"] == 12
    # The printed orientation is off by half a section's angle: 45 degrees over their number.
    assert float(rows["orientation_error_paper"][5]) == pytest.approx(0.7853981633974483 / 6)
    assert (tmp_path / "squid-verify" / "figure.png").stat().st_size > 10_000


def test_without_mujoco_its_errors_are_null_and_a_note_says_why(tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "mujoco" else found(name, *rest)
    )
    report = run_scenario("squid-verify", None, {"most_sections": 1, "bends": 2}, out=tmp_path, figures=False)
    assert report["metrics"]["mujoco_tip_error_mm"] is None
    assert "pip install 'hydrostat[rigid]'" in report["notes"][0]


@pytest.mark.parametrize(
    "scenario, robot, message",
    [
        ("squid-verify", "tentacle", "needs a robot with limbs on a body, such as squid; got tentacle"),
        ("tentacle-move", "squid", "this scenario needs a single arm, such as tentacle; got squid"),
        ("arm-reach", "squid", "this scenario needs a single arm, such as octopus_arm; got squid"),
        ("tentacle-move", "squid_camera", "needs segments with the modes bend_x, bend_y; got bend_x, bend_y, stretch"),
    ],
)
def test_robots_of_the_wrong_kind_are_refused(scenario, robot, message, tmp_path):
    with pytest.raises(InputError, match=message):
        run_scenario(scenario, robot, out=tmp_path)
