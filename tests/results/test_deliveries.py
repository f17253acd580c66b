"""Prey and the arms that it lies beside, or in."""

import pytest

import hydrostat as hs
from hydrostat.results import gaps_to_arms


def test_gaps_are_those_between_a_ball_and_straight_cones():
    """A ball 2 mm beside the axis of the first arm, half way along it: its radius and the arm's reach over that."""
    robot = hs.robots.octopus(segments=2)
    base, length, radius = robot.mounts.position[0], float(robot.arm.length), 0.01
    ball = hs.Ball(radius, 0.005, (float(base[0]) + 0.5 * length, 0.002, float(base[2])))
    gaps = gaps_to_arms(hs.System(robot, [ball]))
    first, last = float(robot.arm.section.radius_base[0]), float(robot.arm.section.radius_tip[-1])
    assert gaps["arm 1"] == pytest.approx(0.002 - 0.5 * (first + last) - radius)
    assert min(gap for name, gap in gaps.items() if name != "arm 1") > 0.05
