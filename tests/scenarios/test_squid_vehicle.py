"""squid-swim, squid-station, squid-anchor: what they promise, also in other currents, with noise, at half the step."""

import pytest

from hydrostat.errors import InputError
from hydrostat.robots.specs.squid import DRY_MASS, LIMBS, WATER, limb_volume
from hydrostat.robots.specs.squid_vehicle import squid_vehicle as specification
from hydrostat.scenarios.runner import run_scenario


def metrics(name, out, **settings):
    return run_scenario(name, None, settings, out=out, figures=False)["metrics"]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"current_deg": -140.0}, {"noise": 1.0}, {"dt_ms": 2.5}], ids=str)
def test_the_squid_follows_its_waypoints(tmp_path, settings):
    found = metrics("squid-swim", tmp_path, **settings)
    assert found["path_m"] > 10.0
    assert found["path_error_max_mm"] <= 150.0
    assert found["reached"]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"pull_deg": 180.0}, {"noise": 1.0}, {"dt_ms": 2.5}], ids=str)
def test_the_squid_holds_its_place(tmp_path, settings):
    found = metrics("squid-station", tmp_path, **settings)
    assert found["position_error_max_mm"] <= 50.0
    assert found["tip_moved_mm"] > 10.0  # the grasper is pulled


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"friction": 0.4}, {"bar_ahead_mm": 385.0}, {"dt_ms": 2.5}], ids=str)
def test_the_squid_stays_at_the_bar_with_its_drives_off(tmp_path, settings):
    found = metrics("squid-anchor", tmp_path, **settings)
    assert found["held"]
    assert found["moved_max_mm"] <= 100.0
    assert found["drift_without_m"] == pytest.approx(13.0)
    assert found["fin_power_anchored_w"] < 0.01 * found["fin_power_before_w"]


@pytest.mark.slow
def test_its_own_lift_pulls_the_squid_off_the_bar(tmp_path):
    found = metrics("squid-anchor", tmp_path, lift_percent=1.0)
    assert not found["held"]
    assert found["lost_s"] > 25.0


def test_ballast_trims_the_squid():
    for buoyancy in (1.0, 1.01):
        spec = specification(buoyancy=buoyancy)
        limbs = len(LIMBS) * limb_volume()
        assert WATER * (spec.body.volume + limbs) == pytest.approx(buoyancy * DRY_MASS)
    with pytest.raises(InputError, match="`buoyancy` must be"):
        specification(buoyancy=2.0)


def test_waypoints_that_are_no_points_are_refused(tmp_path):
    with pytest.raises(InputError, match="`waypoints_m` must be three numbers for each waypoint, one at least; got 4"):
        metrics("squid-swim", tmp_path, waypoints_m=[1.0, 2.0, 3.0, 4.0])


def test_another_robot_is_refused(tmp_path):
    with pytest.raises(InputError, match="this scenario needs squid_vehicle as it is built in"):
        run_scenario("squid-swim", "squid", out=tmp_path)
