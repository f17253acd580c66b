"""Metrics of scenarios at their defaults are those that were recorded before systems took over from scenarios.

Scenarios in water, and those in which arms touch each other, have changed since on purpose: drag acts along segments,
water has added mass, reaching has another pattern, and contact does not depend on how arms are numbered. Those of an
arm that bends, reaches and elongates are recorded anew; the record of the others holds what they gave before.
"""

import json
from pathlib import Path

import pytest

from hydrostat.scenarios import SCENARIOS
from hydrostat.scenarios.runner import run_scenario

RECORD = json.loads(Path(__file__).with_name("metrics_before_systems.json").read_text())
UNCHANGED = ("tentacle-shape", "finger-statics", "finger-release", "track-line", "stewart-motions", "squid-verify")
RECORDED_ANEW = ("arm-bend", "arm-reach", "arm-elongate")
ROUNDING = 1e-9
"""Of errors that are all rounding, relative to what they are errors of."""


def test_every_recorded_scenario_is_still_there():
    assert set(RECORD) <= set(SCENARIOS)
    # One needs a file, and some came later, as those for any robot did.
    later = {"track-file", "track-regulate", "track-spiral", "tentacle-sweep", "finger-hand", "finger-force"}
    later |= {"squid-swim", "squid-station", "squid-anchor", "teleop-link", "arm-volume"}
    assert {name for name in SCENARIOS if SCENARIOS[name].limbed is not None} - set(RECORD) == later


@pytest.mark.slow
@pytest.mark.parametrize("name", UNCHANGED + RECORDED_ANEW)
def test_metrics_are_those_recorded(name, tmp_path):
    found = run_scenario(name, out=tmp_path, figures=False)["metrics"]
    for key, value in RECORD[name].items():
        if "wall" in key:
            continue
        if isinstance(value, float | list):
            assert found[key] == pytest.approx(value, rel=1e-6, abs=ROUNDING), key
        else:
            assert found[key] == value, key
