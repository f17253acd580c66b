import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.viewer import Line, Tube, write_replay
from hydrostat.viewer.shapes import MAX_NODES, resample, track

EYE = np.tile(np.eye(3), (2, 3, 1, 1))
POSITIONS = np.tile(np.array([0, 0, 1.0]) * np.arange(3)[:, None], (2, 1, 1))
RADII = np.full(3, 0.1)


def changed(array: np.ndarray, where: tuple, value: float) -> np.ndarray:
    copy = array.copy()
    copy[where] = value
    return copy


@pytest.mark.parametrize(
    "positions, rotations, radii, message",
    [
        (POSITIONS[0], EYE, RADII, r"`positions` of tube 'a' must be \[frame, node, 3\]"),
        (POSITIONS[:, :1], EYE, RADII, "at least 2 nodes"),
        (POSITIONS[..., :2], EYE, RADII, r"got \(2, 3, 2\)"),
        (changed(POSITIONS, (1, 2, 0), np.nan), EYE, RADII, r"`positions` .* finite; got nan at \[1, 2, 0\]"),
        ("arm", EYE, RADII, "must be an array of numbers; got str"),
        (POSITIONS, EYE[:1], RADII, r"`rotations` of tube 'a' must be \(2, 3, 3, 3\); got \(1, 3, 3, 3\)"),
        (POSITIONS, changed(EYE, (0, 0, 0, 0), np.inf), RADII, "`rotations` .* finite; got inf"),
        (POSITIONS, 2 * EYE, RADII, "must be rotation matrices; R.T R differs from 1 by 3"),
        (POSITIONS, -EYE, RADII, "must be rotation matrices"),
        (POSITIONS, EYE, RADII[:2], r"`radii` of tube 'a' must be \(3,\) or \(2, 3\); got \(2,\)"),
        (POSITIONS, EYE, np.array([0.1, 0.0, 0.1]), "`radii` of tube 'a' must be positive; got 0"),
    ],
)
def test_tube_says_what_is_wrong(positions: np.ndarray, rotations: np.ndarray, radii: np.ndarray, message: str):
    with pytest.raises(ValueError, match=message) as caught:
        Tube("a", positions, rotations, radii)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "points, color, width, message",
    [
        (np.zeros((1, 3)), (0, 0, 0), 0.1, "with at least 2 points"),
        (np.zeros((5, 2)), (0, 0, 0), 0.1, r"got \(5, 2\)"),
        (np.full((5, 3), np.nan), (0, 0, 0), 0.1, "`points` of line 'l' must be finite"),
        (np.zeros((5, 3)), (0, 0, 256), 0.1, "`color` of line 'l' must be three numbers from 0 to 255"),
        (np.zeros((5, 3)), (0, 0, 0), 0.0, "`width` of line 'l' must be positive; got 0.0"),
        (np.zeros((5, 3)), (0, 0, 0), np.nan, "`width` of line 'l' must be positive; got nan"),
    ],
)
def test_line_says_what_is_wrong(points: np.ndarray, color: tuple, width: float, message: str):
    with pytest.raises(ValueError, match=message) as caught:
        Line("l", points, color, width)
    assert "\n" not in str(caught.value)


TUBE = Tube("a", POSITIONS, EYE, RADII)


@pytest.mark.parametrize(
    "case, options, message",
    [
        (([0.0, 0.0], [TUBE], []), {}, r"`times` must be \[frame\] and increase"),
        (([], [TUBE], []), {}, r"`times` must be \[frame\] and increase"),
        (([0.0, np.nan], [TUBE], []), {}, "`times` must be finite"),
        (([0.0, 1.0, 2.0], [TUBE], []), {}, "tube 'a' must have as many frames as `times`, 3; got 2"),
        (
            ([0.0, 1.0], [], [Line("l", np.ones((4, 2, 3)))]),
            {},
            "line 'l' must have as many frames as `times`, 2; got 4",
        ),
        (([0.0, 1.0], [], []), {}, "at least one tube or line"),
        (([0.0, 1.0], [TUBE, TUBE], []), {}, r"every tube needs a name of its own; got \['a', 'a'\]"),
        (([0.0, 1.0], [], [Line("", np.eye(3))]), {}, "every line needs a name of its own"),
        (([0.0, 1.0], [TUBE], []), {"seconds_per_loop": 0}, "`seconds_per_loop` must be positive; got 0"),
        (([0.0, 1.0], [TUBE], []), {"seconds_per_loop": np.inf}, "`seconds_per_loop` must be positive; got inf"),
        (([0.0, 1.0], [Tube("a", 0 * POSITIONS, EYE, RADII)], []), {}, "all nodes coincide"),
        (([0.0, 1.0], [], [Line("l", np.ones((3, 3)))]), {}, "all points lie at"),
    ],
)
def test_replay_says_what_is_wrong(tmp_path, case, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        write_replay(tmp_path / "replay.html", *case, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_resampling_is_exact_for_what_is_linear_between_uneven_times():
    times = np.array([0.0, 0.1, 0.5, 2.0])
    shown = np.linspace(0, 2, 17)
    slope = np.array([[1.0, -2.0], [3.0, 0.5]])
    np.testing.assert_allclose(
        resample(times[:, None, None] * slope, times, shown), shown[:, None, None] * slope, atol=1e-14
    )


def test_orientations_take_the_short_way_when_a_quaternion_changes_sign():
    # Five whole turns about z, in steps of 20 degrees: between two frames the section is half a step on.
    angles = np.radians(20.0) * np.arange(91)
    rotations = np.repeat(Rotation.from_euler("z", angles[:, None]).as_matrix()[:, None], 3, axis=1)
    tube = Tube("a", np.repeat(POSITIONS[:1], 91, axis=0), rotations, RADII)
    times = np.arange(91.0)
    between = track(tube, times, times[:-1] + 0.5)
    got = Rotation.from_quat(between.wxyz.reshape(-1, 4), scalar_first=True)
    want = Rotation.from_euler("z", np.repeat(angles[:-1] + np.radians(10), 3)[:, None])
    assert (got * want.inv()).magnitude().max() < 1e-12


def test_many_nodes_are_thinned_and_doubled_ones_joined():
    heights = np.repeat(np.linspace(0, 1, 101), 2)
    positions = np.zeros((2, 202, 3))
    positions[..., 2] = heights
    tube = Tube("a", positions, np.tile(np.eye(3), (2, 202, 1, 1)), 0.1 - 0.05 * heights)
    thin = track(tube, np.array([0.0, 1.0]), np.array([0.0, 0.5, 1.0]))
    assert thin.positions.shape == (3, MAX_NODES, 3)
    np.testing.assert_allclose(thin.stations, thin.positions[0, :, 2], atol=1e-12)
    np.testing.assert_allclose(thin.radii[0], 0.1 - 0.05 * thin.stations, atol=1e-12)
    assert thin.stations[-1] == pytest.approx(1.0)
    assert np.diff(thin.stations).min() > 0.02
