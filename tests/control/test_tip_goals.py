"""Goals of the tip at times between ticks."""

import numpy as np
import pytest

from hydrostat import control
from hydrostat.robots import build_robot
from hydrostat.robots.specs.stewart_arm import stewart_arm


def test_places_between_ticks_lie_between_those_of_the_ticks():
    arm = control.Platforms.of(build_robot(stewart_arm(segments=2, length=0.5, base_radius=0.08)))
    goals = control.plan_tip_goals(arm, control.PAPER_PATHS["ellipse"], 0.1, 0.1, 0.01)
    times = np.array([0.05, 0.0525, 0.055, 0.06, 99.0])
    first, second = goals.positions[5:7]
    expected = [first, 0.75 * first + 0.25 * second, 0.5 * (first + second), second, goals.positions[-1]]
    assert goals.positions_at(times) == pytest.approx(np.array(expected), abs=1e-12)
    assert np.linalg.norm(second - first) > 1e-3  # the nearest tick is off by more
