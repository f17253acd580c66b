"""What scenarios show live, and results as trajectories again."""

import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.scenarios.catalogue import SCENARIOS
from hydrostat.scenarios.live_motions import live_motion
from hydrostat.scenarios.recorded_motions import recorded_motion
from hydrostat.scenarios.runner import run_scenario

LIVE = [name for name, scenario in SCENARIOS.items() if scenario.live]
QUICK = {"arm-bend", "octopus-crawl", "octopus-swim"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in LIVE])
def test_live_scenarios_have_a_motion_to_show(name):
    motion = live_motion(name)
    assert motion.system.robot.count >= 1
    assert motion.dt > 0.0


def test_settings_reach_the_motion():
    motion = live_motion("octopus-crawl", settings={"lost_arms": [1, 2], "current_m_s": 0.1, "dt_ms": 2.5})
    assert motion.system.robot.count == 6
    assert motion.dt == 2.5e-3
    assert np.linalg.norm(motion.system.surroundings[0].current) == pytest.approx(0.1)


def test_a_scenario_without_a_motion_says_so():
    with pytest.raises(InputError, match="is not shown live"):
        live_motion("tentacle-shape")


def test_a_recorded_motion_is_the_motion_that_was_recorded(tmp_path):
    run_scenario("arm-bend", settings={"seconds": 0.2}, out=tmp_path, figures=False)
    found = recorded_motion(tmp_path / "arm-bend")
    assert found is not None
    from hydrostat import load

    dataset = load(tmp_path / "arm-bend")
    np.testing.assert_array_equal(found.time, dataset["time"])
    np.testing.assert_allclose(found.tip, dataset["tip"], atol=1e-9)
    np.testing.assert_allclose(found.activation, dataset["activation"], atol=1e-12)
