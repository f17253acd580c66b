"""What the operator's model learns from reports is what is there."""

import numpy as np
import pytest

from hydrostat.teleoperation.adaptation import BallEstimate, FaceEstimate
from hydrostat.teleoperation.hands import DAMPING, MASS, RECORDED_MOTION, STIFFNESS, VirtualHand, intended

NORMAL = np.array([0.0, 0.6, 0.8])


def pressed(estimate, stiffness, offset, seed, count=60, noise=0.0):
    """Touches of a face at an offset along the normal, going in and out, by a node of 10 mm."""
    rng = np.random.default_rng(seed)
    for step in range(count):
        depth = 0.004 * (1.0 - np.cos(2.0 * np.pi * step / 30.0)) + 5e-4
        place = (offset + 0.01 - depth) * NORMAL + 0.05 * np.cross(NORMAL, [1.0, 0.0, 0.0])
        force = stiffness * depth + noise * rng.normal()
        estimate.touch(force * NORMAL, place)


@pytest.mark.parametrize("stiffness", [15.0, 40.0, 400.0])
@pytest.mark.parametrize("seen", [-0.006, 0.005])
def test_place_and_stiffness_of_a_face_are_learnt(stiffness, seen):
    estimate = FaceEstimate((0.2 + seen) * NORMAL, NORMAL, 0.01, 120.0)
    pressed(estimate, stiffness, 0.2, seed=0)
    face = estimate.face
    assert face.stiffness == pytest.approx(stiffness, rel=0.03)
    assert face.normal @ face.point == pytest.approx(0.2, abs=2e-4)


def test_noise_of_the_force_is_averaged():
    """The deviation of the slope of 60 samples with noise s, whose depths deviate by d, is s / (d sqrt(60))."""
    noise, deviation = 5e-3, 0.004 / np.sqrt(2.0)
    found = []
    for seed in range(8):
        estimate = FaceEstimate(0.2 * NORMAL, NORMAL, 0.01, 120.0)
        pressed(estimate, 40.0, 0.2, seed, noise=noise)
        found.append(estimate.face.stiffness)
    assert abs(np.mean(found) - 40.0) < 4.0 * noise / (deviation * np.sqrt(60.0)) / np.sqrt(8.0)


def test_sights_are_averaged_until_the_face_is_touched():
    estimate = FaceEstimate(0.20 * NORMAL, NORMAL, 0.01, 120.0)
    estimate.see(0.21 * NORMAL)
    assert NORMAL @ estimate.face.point == pytest.approx(0.205)
    pressed(estimate, 40.0, 0.2, seed=0)
    before = estimate.face
    estimate.see(0.25 * NORMAL)
    np.testing.assert_array_equal(estimate.face.point, before.point)


def test_the_hand_follows_its_intention_and_yields_to_a_force():
    hand = VirtualHand(np.zeros(3), np.eye(3), motion=((0.0, 0, 0, 0), (1.0, 10.0, 0, 0)), force_scale=2.0)
    for tick in range(1, 1001):
        hand.render(np.array([-0.15, 0.0, 0.0]), 0.01 * tick)
        place = hand.position(0.01 * tick)
    # k (i - x) = f: 0.3 N on 150 N/m.
    np.testing.assert_allclose(place, [0.010 - 0.3 / STIFFNESS, 0.0, 0.0], atol=1e-9)
    assert DAMPING / (2.0 * np.sqrt(MASS * STIFFNESS)) > 0.7  # it does not swing by itself


def test_the_recorded_motion_lasts_20_seconds_and_is_smooth():
    assert RECORDED_MOTION[-1][0] == 20.0
    times = np.arange(0.0, 20.0, 0.01)
    speed = np.linalg.norm(np.diff([intended(t) for t in times], axis=0), axis=1) / 0.01
    assert speed.max() < 0.15
    assert np.abs(np.diff(speed)).max() < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_a_press_that_stays_does_not_undo_what_coming_in_has_told(seed):
    rng, normal, stiffness = np.random.default_rng(seed), np.array([0.0, 0.0, 1.0]), 40.0
    estimate = FaceEstimate(np.zeros(3), normal, 0.01, 120.0)
    coming = np.linspace(0.0, 5e-3, 60)
    for depth in np.concatenate([coming, np.full(3000, coming[-1])]):
        place = (0.01 - depth + 5e-5 * rng.normal()) * normal
        estimate.touch((stiffness * depth + 2e-3 * rng.normal()) * normal, place)
    # A minute at 50 touches a second. Forgetting all that is older alike ends at the least stiffness that is allowed.
    assert estimate.face.stiffness == pytest.approx(stiffness, rel=0.1)


def test_the_stiffness_of_a_ball_is_learnt_by_touch_and_thicker_parts_of_the_limb_are_left_out():
    """Touches by the tip on one side of a ball of 40 mm, and between them by nodes of twice and thrice the radius."""
    centre, radius, tip, stiffness = np.array([0.3, -0.1, 0.2]), 0.04, 0.01, 60.0
    estimate, rng = BallEstimate(centre, radius, tip, 120.0), np.random.default_rng(2)
    for step in range(240):
        depth = 0.004 * (1.0 - np.cos(2.0 * np.pi * step / 30.0)) + 5e-4
        away = np.array([0.3, 0.2, 1.0]) + 0.4 * rng.normal(size=3)
        away /= np.linalg.norm(away)
        node = tip * (1 + step % 3)
        estimate.touch(stiffness * depth * away, centre + (radius + node - depth) * away)
    assert estimate.ball.stiffness == pytest.approx(stiffness, rel=0.01)
    assert estimate.ball.radius == radius


def test_sights_of_a_ball_are_averaged():
    estimate = BallEstimate(np.array([0.1, 0.0, 0.0]), 0.03, 0.01, 120.0)
    estimate.see(np.array([0.1, 0.02, 0.0]), 0.05)
    np.testing.assert_allclose(estimate.ball.centre, [0.1, 0.01, 0.0])
    assert estimate.ball.radius == pytest.approx(0.04)
    estimate.touch(np.array([0.0, 0.0, 0.1]), np.array([0.1, 0.01, 0.049]))
    estimate.see(np.array([0.1, 0.01, 0.03]), 0.04)
    np.testing.assert_allclose(estimate.ball.centre, [0.1, 0.01, 0.01])


def test_a_face_that_is_felt_before_it_is_seen_gets_the_normal_of_its_sight():
    """The first force has friction in it: its direction is 17 degrees off that of the face."""
    rubbing = 0.3 * np.array([1.0, 0.0, 0.0])
    tilted = (NORMAL + rubbing) / np.linalg.norm(NORMAL + rubbing)
    estimate, offset, along = FaceEstimate(0.2 * NORMAL, tilted, 0.01, 120.0), 0.2, np.cross(NORMAL, [1.0, 0.0, 0.0])
    for step in range(60):
        depth = 0.004 * (1.0 - np.cos(2.0 * np.pi * step / 30.0)) + 5e-4
        place = (offset + 0.01 - depth) * NORMAL + 0.02 * np.sin(0.3 * step) * np.array([1.0, 0.0, 0.0]) + 0.05 * along
        estimate.touch(40.0 * depth * (NORMAL + rubbing), place)
    assert abs(estimate.face.stiffness - 40.0) > 10.0
    seen = 0.203 * NORMAL
    assert estimate.felt_from(seen, NORMAL) < 0.02
    estimate.turn(seen, NORMAL)
    np.testing.assert_array_equal(estimate.face.normal, NORMAL)
    assert estimate.face.stiffness == pytest.approx(40.0, rel=0.03)
    assert NORMAL @ estimate.face.point == pytest.approx(offset, abs=2e-4)
