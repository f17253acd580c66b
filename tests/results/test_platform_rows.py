"""Motions of chains of platforms: legs end on the rings, and basic motions do what they are called."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import Platforms, even_motion, outside_stroke
from hydrostat.errors import InputError
from hydrostat.results import PlatformSummary, platform_motion

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


def mesh_volume(lower, upper):
    """The volume between two rims of equally many corners, by the divergence theorem.

    The mean of both ways to cut each patch of the skin into triangles is the volume under its straight lines.
    """
    ends = lower.mean(0), upper.mean(0)
    total = 0.0
    for a, b, c, d in zip(lower, np.roll(lower, -1, 0), upper, np.roll(upper, -1, 0), strict=True):
        skin = ((a, b, d), (a, d, c), (a, b, c), (b, d, c))
        caps = ((ends[0], b, a), (ends[1], c, d))
        total += sum(np.linalg.det(part) for part in skin) / 12.0 + sum(np.linalg.det(part) for part in caps) / 6.0
    return total


def test_volume_is_that_of_the_body_between_the_rings(arm, motion):
    corners, segments = 60, arm.segments
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], -1)
    volumes = []
    for row in (0, ROWS - 1):
        R, p, rings = motion.rotations[row], motion.positions[row], motion.rings[row]
        rims = [[p[i + e] + rings[i, e] * circle @ R[i + e].T for e in (0, 1)] for i in range(arm.count)]
        volumes.append([mesh_volume(*pair) for pair in rims])
    errors = np.abs(np.divide(*volumes[::-1]) - 1.0)
    # A polygon in a circle lacks the same share of every section, also of ellipses: it cancels.
    assert motion.metrics["volume_error_max"] == pytest.approx(errors.max(), abs=1e-10)
    assert motion.metrics["volume_error_max"] > 1e-3  # bent and twisted, it is no longer the cone's
    at_rest = np.asarray(segments.volume(arm.rest, segments.rings(arm.rest)))
    np.testing.assert_allclose(volumes[0], at_rest * np.sinc(2.0 / corners), rtol=1e-12)


def test_plate_speed_is_how_far_plates_went(arm):
    T = even_motion(arm, np.array([0.0, 0.5, 1.0]), stretch=1.3)
    motion = platform_motion(arm, T, np.zeros((3, arm.count, 6)), np.array([0.0, 0.1, 0.2]))
    assert motion.metrics["plate_speed_max_m_s"] == pytest.approx(0.3 * arm.length / 0.2)


def test_a_motion_summed_up_in_pieces_is_that_of_all_rows(arm):
    """Extremes, faults and the tip are the same, and poses are kept of a bounded number of rows, the last with them."""
    rows, dt = 250, 0.01
    shares = np.sin(np.linspace(0.0, 3.0, rows))
    T = even_motion(arm, shares, bend=4.0, azimuth=0.4, twist=2.5, stretch=1.6)
    times, twist = dt * np.arange(rows), np.zeros((rows, arm.count, 6))
    whole = platform_motion(arm, T, twist, times, limited=False, dt=dt)
    summary = PlatformSummary(arm, dt, limited=False, most=40)
    for begin in range(0, rows, 100):
        summary.append(T[begin : begin + 100])
    motion = summary.motion()
    np.testing.assert_array_equal(whole.kept, np.arange(rows))
    assert len(motion.kept) <= 41
    assert motion.kept[0] == 0
    assert motion.kept[-1] == rows - 1
    assert set(np.diff(motion.kept[:-1])) == {8}
    assert motion.metrics == pytest.approx(whole.metrics, rel=1e-12)
    assert [note for note in motion.notes if "itself" not in note] == [n for n in whole.notes if "itself" not in n]
    assert any("leave their stroke: this controller" in note for note in motion.notes)
    for name in ("times", "tip", "tip_radius"):
        np.testing.assert_allclose(getattr(motion, name), getattr(whole, name), rtol=1e-13)
    for name in ("legs", "rings", "positions", "rotations", "joints", "radii"):
        np.testing.assert_allclose(getattr(motion, name), getattr(whole, name)[motion.kept], rtol=1e-12, atol=1e-14)
    # Rates and speeds are those from row to row, also from piece to piece.
    assert whole.metrics["rate_used_max_m_s"] == pytest.approx(np.abs(np.diff(whole.legs, axis=0)).max() / dt)
