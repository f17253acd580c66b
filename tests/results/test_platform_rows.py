"""Motions of chains of platforms: legs end on the rings, and basic motions do what they are called."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import Platforms, even_motion, outside_stroke
from hydrostat.errors import InputError
from hydrostat.results import platform_motion

ROWS = 3


@pytest.fixture(scope="module")
def arm():
    return Platforms.of(hs.robots.stewart_arm(4))


@pytest.fixture(scope="module")
def motion(arm):
    T = even_motion(arm, np.linspace(0.0, 1.0, ROWS), bend=1.2, azimuth=0.4, twist=0.8)
    return platform_motion(arm, T, np.zeros((ROWS, arm.count, 6)), np.arange(ROWS) * 0.1)


def test_joints_are_the_ends_of_legs_and_lie_on_the_rings(motion):
    lower, upper = np.moveaxis(motion.joints, 2, 0)
    np.testing.assert_allclose(np.linalg.norm(upper - lower, axis=-1), motion.legs, rtol=1e-12)
    for joints, centres, ring in ((lower, motion.positions[:, :-1], 0), (upper, motion.positions[:, 1:], 1)):
        radius = np.linalg.norm(joints - centres[:, :, None], axis=-1)
        np.testing.assert_allclose(radius, np.broadcast_to(motion.rings[..., ring, None], radius.shape), rtol=1e-12)


def test_an_even_stretch_keeps_volume_and_axis(arm):
    T = even_motion(arm, np.array([0.0, 1.0]), stretch=1.3)
    motion = platform_motion(arm, T, np.zeros((2, arm.count, 6)), np.array([0.0, 1.0]))
    np.testing.assert_allclose(motion.tip[1], [0.0, 0.0, 1.3 * arm.length], atol=1e-12)
    assert motion.metrics["volume_error_max"] < 1e-12
    assert motion.metrics["segment_rotation_max_deg"] < 1e-9


def test_legs_outside_their_stroke_are_named(arm):
    lengths = np.asarray(arm.segments.leg_lengths(arm.rest))[None].repeat(2, 0)
    assert outside_stroke(arm, lengths) is None
    lengths[1, 2, 3] = 100.0
    assert outside_stroke(arm, lengths) == (1, 2, 3)


def test_an_arm_without_legs_is_refused():
    with pytest.raises(InputError, match="needs a chain of platforms, such as stewart_arm; got finger"):
        Platforms.of(hs.robots.finger())
