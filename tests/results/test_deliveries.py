"""Prey and the arms that it lies beside, or in."""

from types import SimpleNamespace

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.results import Delivery, gaps_to_arms
from hydrostat.results.deliveries import mouth_distance


def test_gaps_are_those_between_a_ball_and_straight_cones():
    """A ball 2 mm beside the axis of the first arm, half way along it: its radius and the arm's reach over that."""
    robot = hs.robots.octopus(segments=2)
    base, length, radius = robot.mounts.position[0], float(robot.arm.length), 0.01
    ball = hs.Ball(radius, 0.005, (float(base[0]) + 0.5 * length, 0.002, float(base[2])))
    gaps = gaps_to_arms(hs.System(robot, [ball]))
    first, last = float(robot.arm.section.radius_base[0]), float(robot.arm.section.radius_tip[-1])
    assert gaps["arm 1"] == pytest.approx(0.002 - 0.5 * (first + last) - radius)
    assert min(gap for name, gap in gaps.items() if name != "arm 1") > 0.05


@pytest.mark.parametrize(
    ("distance", "delivered", "brought"),
    [
        (lambda t: np.where(t < 1.4, 0.1, 0.0), True, True),
        (lambda t: np.where(t < 1.6, 0.1, 0.0), False, True),  # not yet for a second
        (lambda t: np.where((t > 1.7) & (t < 1.9), 0.002, 0.0), False, True),  # not all the time
        (lambda t: np.full_like(t, 0.012), False, True),  # beside the mouth
        (lambda t: np.full_like(t, 0.05), False, False),
    ],
)
def test_prey_is_delivered_that_touches_the_mouth_and_stays_for_a_second(distance, delivered, brought):
    time = np.linspace(0.0, 2.5, 251)
    hunt = Delivery(SimpleNamespace(time=time), np.zeros(3), distance(time), np.ones(251, bool))
    assert hunt.delivered() == delivered
    assert hunt.brought(0.03) == brought


def test_the_mouth_is_the_underside_of_the_body_within_the_bases_of_the_arms():
    """Below the middle, at the rim, beside it and above: distances from a cap of a ball by its own geometry."""
    robot = hs.robots.octopus(segments=2)
    radius, base = float(robot.body.radius), np.asarray(robot.mounts.position)[0]
    ring, depth = base[0], -base[2]
    points = np.array(
        [[0.0, 0.0, -radius - 0.004], 1.1 * base, base + np.array([0.003, 0.0, 0.004]), [0.0, 0.0, radius]]
    )
    expected = [0.004, 0.1 * radius, 0.005, np.hypot(ring, radius + depth)]
    np.testing.assert_allclose(mouth_distance(robot, points), expected, atol=1e-12)
    # The disc in the plane of the bases is inside the body.
    assert mouth_distance(robot, np.array([[0.0, 0.0, -depth]]))[0] < -0.009
