"""A small octopus arm and a live session of it, shared by the tests of live pages."""

import pytest

import hydrostat as hs
from hydrostat.live import LiveSession
from hydrostat.sensing import Sensors
from hydrostat.simulation import Motion
from hydrostat.stepping.step import default_stepper


@pytest.fixture(scope="session")
def arm_motion():
    """The octopus arm in water, which bends."""
    arm = hs.System(hs.robots.octopus_arm(), [hs.Water()])
    return Motion(arm, hs.commands.Bend(0.1, 2.0), 5e-3, None, Sensors(), default_stepper(arm))


@pytest.fixture(scope="session")
def arm_session(arm_motion):
    return LiveSession(arm_motion)
