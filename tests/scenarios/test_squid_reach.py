"""squid-reach: the limbs do their tasks by their tendons, and what cannot be asked is refused."""

import pytest

from hydrostat.errors import InputError
from hydrostat.results import load
from hydrostat.scenarios.runner import run_scenario


@pytest.mark.slow
def test_the_limbs_wrap_press_and_look(tmp_path):
    report = run_scenario("squid-reach", out=tmp_path)
    metrics = report["metrics"]
    assert metrics["wrap_angle_deg"] > 90.0
    assert metrics["grasp_force_n"] > 0.2
    assert abs(metrics["grasp_distance_mm"]) < 1.0  # the tip lies on the bar
    assert metrics["obstacle_force_max_n"] == 0.0
    assert metrics["press_error_percent"] <= 5.0
    assert metrics["press_elongation_mm"] > 5.0
    assert metrics["camera_pointing_error_deg"] < 3.0
    assert metrics["light_pointing_error_deg"] < 3.0
    assert metrics["penetration_max_radii"] < 0.1
    assert metrics["limb_gap_min_mm"] > 0.0  # limbs do not touch, as the simulation assumes
    rows = load(tmp_path / "squid-reach")
    for limb in ("grasper", "palpation", "camera", "light"):
        assert float(rows[f"tension_{limb}"].min()) >= 0.0  # tendons only pull


def test_a_force_that_the_pretension_does_not_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match="`press_n` must be less than 2 N, which four tendons of `pretension_n` can"):
        run_scenario("squid-reach", None, {"press_n": 2.5}, out=tmp_path)


def test_another_robot_is_refused(tmp_path):
    with pytest.raises(InputError, match="this scenario needs a robot with limbs on a body, such as squid"):
        run_scenario("squid-reach", "squid_camera", out=tmp_path)
