"""Whether an arm of plates passes through itself: discs against sampling, smooth bends, and loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.lie import SE3
from hydrostat.surroundings.crossings import crossings

# --- Two discs


def sampled_depth(R, p, r):
    """How deep the line in which the first disc meets the plane of the second reaches into the second, by sampling.

    Points of the first disc, on circles all around: between two that lie on either side of the second's plane there is
    one in it. Positive where such a point is inside the second disc.
    """
    angles = np.linspace(0, 2 * np.pi, 361)
    shares = np.linspace(0.0, 1.0, 101)[1:, None, None]
    rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1) @ R[0].T
    points = p[0] + r[0] * shares * rim
    height = (points - p[1]) @ R[1][:, 2]
    above, below = height[:, :-1], height[:, 1:]
    change = above * below < 0
    weight = np.where(change, above / np.where(change, above - below, 1.0), 0.0)[..., None]
    between = (1 - weight) * points[:, :-1] + weight * points[:, 1:]
    away = np.linalg.norm(between - p[1], axis=-1)
    return np.max(np.where(change, r[1] - away, -np.inf))


def test_discs_cut_each_other_where_sampling_says_so():
    rng, k = np.random.default_rng(0), 120
    R = Rotation.random(2 * k, random_state=1).as_matrix().reshape(k, 2, 3, 3)
    p, r = rng.uniform(-1, 1, (k, 2, 3)), rng.uniform(0.2, 1.0, (k, 2))
    both = jax.jit(jax.vmap(crossings))(SE3(jnp.asarray(R), jnp.asarray(p)), jnp.asarray(r))
    found = np.asarray(both)[:, 0, 1]
    depth = np.array([sampled_depth(*each) for each in zip(R, p, r, strict=True)])
    # And the other way round: a disc that barely touches the plane of the other is seen by one of the two only.
    other = np.array([sampled_depth(a[::-1], b[::-1], c[::-1]) for a, b, c in zip(R, p, r, strict=True)])
    clear = np.minimum(np.abs(depth), np.abs(other)) > 0.02  # what the sampling can tell
    cut = (depth > 0) & (other > 0)
    assert np.mean(clear) > 0.8
    assert 0.1 < np.mean(cut) < 0.9
    np.testing.assert_array_equal(found[clear], cut[clear])
    # Only pairs of a lower and a higher number are told of.
    assert not np.any(np.asarray(both)[:, 1, 0])
    assert not np.any(np.asarray(both)[:, [0, 1], [0, 1]])


def discs(*, apart, tilt, offset=0.0, radii=(1.0, 1.0)):
    """Two discs on an axis, the second one tilted about x and put aside along y."""
    R = np.stack([np.eye(3), Rotation.from_rotvec([tilt, 0, 0]).as_matrix()])
    p = np.array([[0.0, 0.0, 0.0], [0.0, offset, apart]])
    return bool(crossings(SE3(jnp.asarray(R), jnp.asarray(p)), jnp.asarray(radii))[0, 1])


def test_a_tilted_disc_cuts_the_one_below_when_its_rim_dips_into_it():
    # The rim of the upper disc is sin(tilt) below its centre, at cos(tilt) from the axis.
    tilt = 0.5
    assert discs(apart=0.99 * np.sin(tilt), tilt=tilt)
    assert not discs(apart=1.01 * np.sin(tilt), tilt=tilt)
    # Put aside, the dipping rim is beyond the lower disc; on the other side it is above it.
    assert not discs(apart=0.99 * np.sin(tilt), tilt=tilt, offset=2.5)
    assert not discs(apart=0.99 * np.sin(tilt), tilt=tilt, offset=-2.5)


def test_parallel_discs_do_not_cut():
    assert not discs(apart=0.1, tilt=0.0)
    assert not discs(apart=0.1, tilt=np.pi)


# --- Arms


def along(points, radius):
    """The crossings of plates that stand square to a curve of points (m, 3)."""
    tangents = np.gradient(points, axis=0)
    tangents /= np.linalg.norm(tangents, axis=-1, keepdims=True)
    rotations = np.stack([Rotation.align_vectors([t], [[0.0, 0.0, 1.0]])[0].as_matrix() for t in tangents])
    return np.asarray(crossings(SE3(jnp.asarray(rotations), jnp.asarray(points)), jnp.full(len(points), radius)))


SHARE = np.linspace(0.0, 1.0, 25)


def arc(radius, angle):
    """A bend in a plane."""
    a = angle * SHARE
    return radius * np.stack([1.0 - np.cos(a), 0 * a, np.sin(a)], -1)


def loop(pitch, turns=1.4):
    """A screw of radius 1 m that rises by `pitch` in each turn."""
    a = 2 * np.pi * turns * SHARE
    return np.stack([np.cos(a), np.sin(a), pitch * turns * SHARE], -1)


def overhand(size):
    """An overhand knot that has not been closed, of a given size [m]."""
    a = 2 * np.pi * (0.06 + 0.88 * SHARE)
    return size * np.stack([np.sin(a) + 2 * np.sin(2 * a), np.cos(a) - 2 * np.cos(2 * a), -np.sin(3 * a)], -1)


def test_a_straight_arm_does_not_cross_itself():
    assert not np.any(along(np.outer(SHARE, [0.0, 0.0, 1.0]), 0.3))


@pytest.mark.parametrize("radius", [0.2, 0.29])
def test_neighbours_in_a_smooth_bend_do_not_count(radius):
    # Half a turn at 0.3 m: the planes of all plates meet in the bend's axis, which the plates do not reach.
    assert not np.any(along(arc(0.3, np.pi), radius))


def test_a_bend_tighter_than_its_plates_are_wide_does():
    found = along(arc(0.3, np.pi), 0.31)
    assert np.all(found[np.arange(1, 23), np.arange(2, 24)])


def test_a_screw_crosses_itself_when_it_is_wider_than_its_pitch():
    # Parts a turn apart are the pitch apart, times the cosine of its slope, and as wide as the radii together.
    pitch, slope = 0.5, np.arctan(0.5 / (2 * np.pi))
    touch = 0.5 * pitch * np.cos(slope)
    assert not np.any(along(loop(pitch), 0.93 * touch))
    found = along(loop(pitch), 1.1 * touch)
    assert np.any(found)
    first, second = np.argwhere(found).T
    # A turn is 24 / 1.4 = 17 plates: nobody nearer than that is told of.
    assert np.min(second - first) >= 15


def test_an_overhand_knot_pulled_tight_crosses_itself_and_a_wide_one_does_not():
    # At its three crossings, strands pass each other at 2 sizes or so.
    assert not np.any(along(overhand(1.0), 0.5))
    tight = along(overhand(0.4), 0.5)
    assert np.any(tight)
    first, second = np.argwhere(tight).T
    assert np.max(second - first) > 8
