"""The tracker of the code that the authors of Lafmejani et al. published: its steps, its threshold, what it reaches."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.control import PAPER_PATHS, SPIRAL, AuthorsTracker, euler_angles
from hydrostat.errors import InputError

TARGETS = np.linspace(0.0, 1.0, 21)


def test_discs_are_those_of_the_authors():
    tracker = AuthorsTracker(segments=4)
    np.testing.assert_allclose(tracker.radii, 0.25 * 0.95 ** np.arange(1, 6))
    azimuths = np.rad2deg(np.arctan2(tracker.joints[..., 1], tracker.joints[..., 0])) % 360.0
    # Alternate discs are turned by 60 degrees against each other.
    assert [sorted({round(a) for a in row}) for row in azimuths] == [[90, 210, 330], [30, 150, 270]] * 2 + [
        [90, 210, 330]
    ]
    found = tracker.run(np.array([[0.0, 0.0, 5.0]]), 1.0)
    np.testing.assert_allclose(found.positions[0, :, 2], 1.25 * np.arange(5))
    assert found.arrivals.tolist() == [0]


def test_the_angles_are_those_about_x_y_and_z():
    angles = np.array([[0.3, -0.4, 0.5], [-1.0, 0.2, 2.0]])
    turns = Rotation.from_euler("xyz", angles).as_matrix()
    np.testing.assert_allclose(euler_angles(turns), angles, atol=1e-14)


@pytest.mark.parametrize("segments", [5, 20])
def test_with_sound_legs_the_tip_moves_by_n_k_dt_of_its_error(segments):
    # Every disc moves by the whole error of the tip times gain times dt, and they add up.
    tracker = AuthorsTracker(segments=segments, threshold=0.01, legs="octahedral")
    found = tracker.run(np.array([[0.0, 0.0, 5.5]]), 0.005)
    ratio = found.rms[1:5] / found.rms[:4]
    # A move along the axis of the straight arm, which the task of the null space hardly disturbs.
    np.testing.assert_allclose(ratio, 1.0 - segments * 20.0 * 1e-3, atol=0.01)


CASES = {
    "line with 5 segments": (5, 0.05, "octahedral", PAPER_PATHS["line"]),
    "spiral with 20 segments": (20, 0.06, "published", SPIRAL),
    "spiral with 20 segments, sound legs": (20, 0.06, "octahedral", SPIRAL),
}


@pytest.mark.parametrize("name", CASES)
def test_the_authors_thresholds_are_reached(name):
    segments, threshold, legs, curve = CASES[name]
    found = AuthorsTracker(segments=segments, threshold=threshold, legs=legs).run(curve(TARGETS), 1.0)
    assert len(found.arrivals) == 21
    # By hand: the six numbers of the tip's pose, metres and radians together.
    rows = found.arrivals
    pose = np.concatenate([found.tip[rows] - curve(TARGETS), euler_angles(found.rotations[rows, -1])], -1)
    by_hand = np.sqrt(np.mean(pose**2, -1))
    np.testing.assert_allclose(found.arrival_rms, by_hand, rtol=1e-12)
    assert by_hand.max() <= threshold
    # No step before an arrival was below it.
    between = np.setdiff1d(np.arange(1, len(found.rms)), rows)
    assert found.rms[between].min() > threshold


def test_unknown_legs_are_refused():
    with pytest.raises(InputError, match="`legs` must be one of published, octahedral"):
        AuthorsTracker(legs="mine")


@pytest.mark.parametrize("more", [0.0, 1e-14, -1e-14])
def test_the_published_legs_lose_the_line_after_two_targets_whatever_rounding_does(more):
    """Later arrivals hang on rounding, by which programs differ; these two, and the absence of others, do not."""
    tracker = AuthorsTracker(segments=5, threshold=0.05, gain=20.0 * (1.0 + more))
    found = tracker.run(PAPER_PATHS["line"](TARGETS), 2.0)
    np.testing.assert_array_equal(found.arrivals, [318, 436])
    assert found.rms[436:].min() > 0.05 - 1e-4
