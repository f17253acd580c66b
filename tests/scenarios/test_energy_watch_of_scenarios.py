"""No scenario is told at its defaults that its energy grows without a source, and none comes near to it."""

import importlib

import pytest

from hydrostat.scenarios import SCENARIOS
from hydrostat.scenarios.runner import run_scenario
from hydrostat.simulation.energy_watch import draw_up

# In its package the function of that name stands before the module.
simulate_module = importlib.import_module("hydrostat.simulation.simulate")

SHORT = {
    "tentacle-vibration": {"seconds": 4.0, "seconds_after": 0.5},
    "finger-release": {"seconds": 1.0, "tip_masses_g": [20.0]},
    "finger-convergence": {},
    "finger-grasp": {},
    "finger-hand": {"hold_seconds": 0.5},
    "finger-force": {"seconds": 1.5},
    "rod-abrupt": {"seconds": 0.5},
    "arm-elongate": {},
    "arm-shorten": {"activations": [0.2]},
    "arm-volume": {},
    "arm-bend": {},
    "arm-twist": {},
    "arm-reach": {},
    "arm-fetch": {},
    "arm-throw": {},
    "arm-reach-target": {"targets": 2},
    "octopus-swim": {"seconds": 3.0},
    "octopus-tethered": {},
    "octopus-float": {},
    "octopus-jet": {},
    "track-dynamics": {},
    "squid-twin-dynamics": {"seconds": 1.0},
    "squid-reach": {"seconds": 8.0},
    "squid-swim": {"seconds": 10.0},
    "squid-station": {"seconds": 10.0},
    "squid-anchor": {},
    "drive": {},
}
"""Settings with which scenarios that step a system are as at their defaults, and shorter where they allow it."""
WITHOUT = {"finger-identify", "teleop-link"}
"""One fits with the motions of finger-release, the other steps in real time in processes of its own."""
SHARE = 0.25
"""Largest part of the energy that a balance may not explain; it is named from a half on."""


def test_every_scenario_that_steps_a_system_is_there():
    """The rest moves by kinematics or statics, or on the ground, where no balance is drawn up."""
    stepping = {name for name, one in SCENARIOS.items() if any(key.name == "dt_ms" for key in one.keys)}
    grounded = {name for name, one in SCENARIOS.items() if one.robot == "octopus"}
    tracking = {name for name in SCENARIOS if name.startswith("track-")} - {"track-dynamics"}
    assert set(SHORT) == stepping - grounded - tracking - WITHOUT


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_energy_is_not_said_to_grow(name, tmp_path, monkeypatch):
    shares = []

    def noted(*arguments):
        balance = draw_up(*arguments)
        shares.append(balance.gain / balance.size)
        return balance

    monkeypatch.setattr(simulate_module, "draw_up", noted)
    run_scenario(name, settings=SHORT[name], out=tmp_path, figures=False)
    print(f"{name}: {len(shares)} balances, largest share without a source {max(shares, default=0.0):.2g}")
    assert max(shares, default=0.0) < SHARE
