"""squid-swim and squid-station: what they promise, also in other currents, with noise and at half the step."""

import pytest

from hydrostat.errors import InputError
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


def test_waypoints_that_are_no_points_are_refused(tmp_path):
    with pytest.raises(InputError, match="`waypoints_m` must be three numbers for each waypoint, one at least; got 4"):
        metrics("squid-swim", tmp_path, waypoints_m=[1.0, 2.0, 3.0, 4.0])


def test_another_robot_is_refused(tmp_path):
    with pytest.raises(InputError, match="this scenario needs squid_vehicle as it is built in"):
        run_scenario("squid-swim", "squid", out=tmp_path)
