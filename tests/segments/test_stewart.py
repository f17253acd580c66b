"""The platform on six legs against its geometry written out by hand, differences, and poses that legs cannot hold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.actuation.legs import generalised_forces, leg_forces, leg_rates, radial_forces, rest_poses
from hydrostat.lie import SE3
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import (
    LOWER_DEG,
    UPPER_DEG,
    displaced,
    faults,
    named_faults,
    orthonormal,
    pose_from_legs,
)

EPS = np.finfo(float).eps
# Flat and wide near the base, long and thin near the tip.
LENGTHS = np.array([0.08, 0.12, 0.2, 0.3, 0.5])
RADII = np.array([0.25, 0.22, 0.18, 0.15, 0.12])
TAPERS = np.array([0.95, 0.9, 1.0, 0.8, 0.95])
N = len(LENGTHS)
SEGMENTS = StewartSegment(LENGTHS, RADII, TAPERS)
PRINTED_UPPER_DEG = (90.0, 90.0, 210.0, 210.0, 330.0, 330.0)
FRACTIONS = np.array([0.0, 0.4, 1.0])


def random_coordinates(count, turn, seed=0):
    """Coordinates (count, N, 6): turned, sheared, and from a half to twice as far apart as at rest."""
    rng = np.random.default_rng(seed)
    turns = turn * rng.uniform(-1, 1, (count, N, 3))
    moves = 0.2 * rng.uniform(-1, 1, (count, N, 3))
    moves[..., 2] = rng.uniform(-0.5, 1.0, (count, N))
    return np.concatenate([turns, LENGTHS[:, None] * moves], -1)


# Turned less where a plate would soon dip into the one below it.
Q = random_coordinates(12, turn=0.4 * np.minimum(1.0, LENGTHS / RADII)[:, None])
poses_of = jax.jit(lambda q: SEGMENTS.pose(q, 1.0))
POSES = poses_of(jnp.asarray(Q))


# --- By hand


def rings_by_hand(p):
    """The radii at which every truncated cone of height |p| has the volume it has at rest."""
    height = np.linalg.norm(p, axis=-1)
    shape = 1.0 + TAPERS + TAPERS**2
    volume = np.pi / 3.0 * LENGTHS * RADII**2 * shape
    lower = np.sqrt(3.0 * volume / (np.pi * height * shape))
    return np.stack([lower, TAPERS * lower], -1)


def legs_by_hand(R, p, rings):
    """|p + R b - a| of each leg; the plates' joints as the corrected paper pairs them."""
    lower, upper = np.deg2rad([150, 150, 270, 270, 30, 30]), np.deg2rad([90, 210, 210, 330, 330, 90])
    circle = lambda angles: np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)  # noqa: E731
    a = rings[..., :1, None] * circle(lower)
    b = np.einsum("...ij,...kj->...ki", R, rings[..., 1:, None] * circle(upper))
    return np.linalg.norm(p[..., None, :] + b - a, axis=-1)


@pytest.fixture(scope="module")
def geometry():
    """Everything about the legs of all poses, as arrays."""

    def of(T):
        rings = SEGMENTS.rings(T)
        held = jax.vmap(jax.vmap(jax.jacfwd(lambda t, s, T, r: s.leg_lengths(displaced(T, t), r)), (0, 0, 0, 0)),
                        (0, None, 0, 0))  # fmt: skip
        follow = jax.vmap(jax.vmap(jax.jacfwd(lambda t, s, T: s.leg_lengths(displaced(T, t)))), (0, None, 0))
        zero = jnp.zeros((*T.position.shape[:-1], 6))
        return {
            "rings": rings,
            "volume": SEGMENTS.volume(T, rings),
            "following": SEGMENTS.leg_lengths(T),
            "held": SEGMENTS.leg_lengths(T, rings),
            "jacobian": SEGMENTS.leg_jacobian(T),
            "radial": SEGMENTS.radial_rates(T),
            "autodiff held": held(zero, SEGMENTS, T, rings),
            "autodiff following": follow(zero, SEGMENTS, T),
            "rates": leg_rates(SEGMENTS, T, zero + jnp.arange(1.0, 7.0)),
            "gap": SEGMENTS.gap(T),
            "gap row": SEGMENTS.gap_row(T),
        }

    return {name: np.asarray(value) for name, value in jax.jit(of)(POSES).items()}


def by_differences(function, h=1e-6):
    """The derivative of a function of (R, p) by twists in the axes of the lower plate, by central differences."""
    R, p = np.asarray(POSES.rotation), np.asarray(POSES.position)
    columns = []
    for k in range(6):
        step = h * np.eye(6)[k]
        turn = Rotation.from_rotvec(step[:3]).as_matrix()
        columns.append((function(turn @ R, p + step[3:]) - function(turn.T @ R, p - step[3:])) / (2 * h))
    return np.stack(columns, -1)


def test_rings_are_positive_and_keep_the_volume(geometry):
    rings, volume = geometry["rings"], geometry["volume"]
    assert np.all(rings > 0.0)
    # Extremes as well: plates that nearly touch, and ten times as far apart.
    for share in (1e-6, 10.0):
        T = SE3(rest_poses(SEGMENTS).rotation, share * SEGMENTS.rest)
        assert np.all(np.asarray(SEGMENTS.rings(T)) > 0.0)
    rest = np.pi / 3.0 * LENGTHS * RADII**2 * (1.0 + TAPERS + TAPERS**2)
    np.testing.assert_allclose(volume / rest, 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rings, rings_by_hand(np.asarray(POSES.position)), rtol=8 * EPS)
    # They follow the distance of the centres: parted plates are narrow.
    distance = np.linalg.norm(POSES.position, axis=-1)
    np.testing.assert_allclose(rings[..., 0] ** 2 * distance, np.broadcast_to(RADII**2 * LENGTHS, distance.shape))


def test_legs_are_those_of_the_corrected_paper(geometry):
    R, p = np.asarray(POSES.rotation), np.asarray(POSES.position)
    by_hand = legs_by_hand(R, p, rings_by_hand(p))
    np.testing.assert_allclose(geometry["following"], by_hand, rtol=16 * EPS)
    np.testing.assert_array_equal(geometry["held"], geometry["following"])


def test_leg_jacobian_is_the_rate_of_the_legs_while_the_rings_hold(geometry):
    rings = rings_by_hand(np.asarray(POSES.position))
    np.testing.assert_allclose(geometry["jacobian"], geometry["autodiff held"], rtol=0, atol=1e-13)
    # h^2 / 6 of a third derivative of about 1 / L^2, and rounding over h.
    by_steps = by_differences(lambda R, p: legs_by_hand(R, p, rings))
    np.testing.assert_allclose(geometry["jacobian"], by_steps, rtol=0, atol=1e-9)


def test_radial_rates_add_what_rings_that_follow_do(geometry):
    both = geometry["jacobian"] + geometry["radial"]
    np.testing.assert_allclose(both, geometry["autodiff following"], rtol=0, atol=1e-12)
    by_steps = by_differences(lambda R, p: legs_by_hand(R, p, rings_by_hand(p)))
    np.testing.assert_allclose(both, by_steps, rtol=0, atol=1e-8)
    # A turn about the centre does not part the plates.
    np.testing.assert_array_equal(geometry["radial"][..., :3], 0.0)
    np.testing.assert_allclose(geometry["rates"], both @ np.arange(1.0, 7.0), rtol=0, atol=1e-12)


def test_gap_is_the_height_of_the_lowest_point_of_the_rim(geometry):
    R, p = np.asarray(POSES.rotation), np.asarray(POSES.position)
    turn = np.linspace(0.0, 2.0 * np.pi, 20001)
    circle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], -1)
    rings = rings_by_hand(p)

    def lowest(R, p):
        return p[..., 2] + np.min(rings[..., 1:] * np.einsum("...j,kj->...k", R[..., 2, :], circle), -1)

    np.testing.assert_allclose(geometry["gap"] * LENGTHS, lowest(R, p), rtol=0, atol=2e-9)  # as fine as the circle
    exact = by_differences(lambda R, p: (p[..., 2] - rings[..., 1] * np.hypot(R[..., 2, 0], R[..., 2, 1]))[..., None])
    np.testing.assert_allclose(geometry["gap row"], exact[..., 0, :], rtol=0, atol=1e-6)


# --- Coordinates


@pytest.fixture(scope="module")
def motion():
    """Own Jacobian and twist, and the derivative of the pose's matrix by autodiff, of one segment each."""

    def at(segment, q, v, s):
        pose = lambda q: segment.pose(q, s).as_matrix()  # noqa: E731
        T, dT = jax.jvp(pose, (q,), (v,))
        return segment.jacobian(q, s), segment.twist(q, v, s), T, jax.jacfwd(pose)(q), dT

    over_s = jax.vmap(at, (None, None, None, 0))
    over_segments = jax.vmap(over_s, (0, 0, 0, None))
    return jax.jit(jax.vmap(over_segments, (None, 0, 0, None)))


def body_twist(T, dT):
    """The body twist (angular, linear) of poses that change by dT, batches in front."""
    R, dR, dp = T[..., :3, :3], dT[..., :3, :3], dT[..., :3, 3]
    W = np.swapaxes(R, -1, -2) @ dR
    skew = (W - np.swapaxes(W, -1, -2)) / 2
    angular = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], -1)
    return np.concatenate([angular, np.einsum("...ji,...j->...i", R, dp)], -1)


def test_jacobian_and_twist_are_those_of_the_pose_at_every_fraction(motion):
    rng = np.random.default_rng(1)
    q = np.concatenate([np.zeros((1, N, 6)), Q[:5], random_coordinates(2, turn=1.7, seed=3)])
    v = rng.standard_normal(q.shape)
    own, twist, T, by_q, by_time = (np.asarray(x) for x in motion(SEGMENTS, q, v, FRACTIONS))
    assert own.shape == (len(q), N, len(FRACTIONS), 6, 6)
    for k in range(6):
        np.testing.assert_allclose(own[..., k], body_twist(T, by_q[..., k]), rtol=0, atol=40 * EPS)
    np.testing.assert_allclose(twist, body_twist(T, by_time), rtol=0, atol=60 * EPS)
    np.testing.assert_allclose(twist, np.einsum("mnsij,mnj->mnsi", own, v), rtol=0, atol=40 * EPS)
    # At the base nothing moves.
    np.testing.assert_array_equal(own[:, :, 0], 0.0)
    np.testing.assert_array_equal(T[:, :, 0], np.broadcast_to(np.eye(4), T[:, :, 0].shape))


def test_jacobian_agrees_with_differences_of_the_pose(motion):
    q, h = Q[:3], 1e-6
    own, _, T, *_ = (np.asarray(x) for x in motion(SEGMENTS, q, 0 * q, FRACTIONS))
    for k in range(6):
        step = h * np.eye(6)[k]
        ahead, behind = (np.asarray(motion(SEGMENTS, q + d, 0 * q, FRACTIONS)[2]) for d in (step, -step))
        by_steps = body_twist(T, (ahead - behind) / (2 * h))
        np.testing.assert_allclose(own[..., k], by_steps, rtol=0, atol=1e-9)


def test_the_upper_plate_is_where_the_coordinates_say():
    R, p = np.asarray(POSES.rotation), np.asarray(POSES.position)
    np.testing.assert_allclose(R, Rotation.from_rotvec(Q[..., :3].reshape(-1, 3)).as_matrix().reshape(R.shape),
                               rtol=0, atol=8 * EPS)  # fmt: skip
    np.testing.assert_allclose(p, Q[..., 3:] + LENGTHS[:, None] * [0, 0, 1], rtol=0, atol=2 * EPS)
    stretch = np.asarray(SEGMENTS.stretch(jnp.asarray(Q)))
    np.testing.assert_allclose(stretch, np.linalg.norm(p, axis=-1) / LENGTHS, rtol=4 * EPS)


def test_coordinates_of_a_pose_are_those_it_came_from():
    # Turns of up to 2.94 rad, below half a turn, and none at all.
    q = np.concatenate([Q[:6], random_coordinates(5, turn=1.7, seed=5), np.zeros((1, N, 6))])
    back = eqx.filter_jit(SEGMENTS.coordinates_of)(poses_of(jnp.asarray(q)))
    np.testing.assert_allclose(back, q, rtol=0, atol=1e-14)


def test_twist_rates_are_those_of_the_relative_motion():
    q = jnp.asarray(np.concatenate([Q[:6], random_coordinates(6, turn=1.7, seed=3)]))
    rates = np.asarray(eqx.filter_jit(SEGMENTS.twist_rates)(q))
    h = 1e-6
    for k in range(6):
        step = h * np.eye(6)[k]
        ahead, behind = poses_of(q + step), poses_of(q - step)
        # Angular velocity in the axes of the lower plate: R' R^T.
        turn = np.asarray(ahead.rotation) @ np.swapaxes(np.asarray(behind.rotation), -1, -2)
        angular = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape(*q.shape[:-1], 3) / (2 * h)
        linear = np.asarray(ahead.position - behind.position) / (2 * h)
        np.testing.assert_allclose(rates[..., k], np.concatenate([angular, linear], -1), rtol=0, atol=2e-9)


def test_every_coordinate_is_free_and_named():
    assert SEGMENTS.coordinates == 6
    assert SEGMENTS.modes == ("turn_x", "turn_y", "turn_z", "move_x", "move_y", "move_z")
    assert SEGMENTS.free.shape == (N, 6)
    assert np.all(np.asarray(SEGMENTS.free))
    np.testing.assert_array_equal(SEGMENTS.scale, 1.0)


def test_a_displacement_is_a_twist_in_the_axes_of_the_lower_plate():
    twist = 0.3 * np.random.default_rng(2).standard_normal((N, 6))
    T = POSES[0]
    after = displaced(T, jnp.asarray(twist))
    np.testing.assert_allclose(after.rotation, Rotation.from_rotvec(twist[:, :3]).as_matrix() @ np.asarray(T.rotation),
                               rtol=0, atol=8 * EPS)  # fmt: skip
    np.testing.assert_allclose(after.position, T.position + twist[:, 3:])


def test_a_rotation_is_rid_of_its_rounding():
    rng = np.random.default_rng(4)
    R = np.asarray(POSES.rotation[0]) + 1e-6 * rng.standard_normal((N, 3, 3))
    mended = np.asarray(orthonormal(jnp.asarray(R)))
    # One Newton step squares the deviation.
    np.testing.assert_allclose(mended @ np.swapaxes(mended, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-10)
    np.testing.assert_allclose(mended, np.asarray(POSES.rotation[0]), atol=1e-5)


# --- Forces


@pytest.fixture(scope="module")
def pushed():
    """Legs that push with random forces while the plates of one arm move at random, all as arrays."""
    rng = np.random.default_rng(6)
    torque, forces, v = (jnp.asarray(rng.standard_normal((N, 6))) for _ in range(3))

    def of(q, torque, forces, v):
        T = SEGMENTS.pose(q, 1.0)
        twist = jnp.einsum("nij,nj->ni", SEGMENTS.twist_rates(q), v)
        lower, upper = radial_forces(SEGMENTS, T, forces)
        return {
            "p": T.position,
            "twist": twist,
            "rates held": jnp.einsum("nij,nj->ni", SEGMENTS.leg_jacobian(T), twist),
            "rates": leg_rates(SEGMENTS, T, twist),
            "generalised": generalised_forces(SEGMENTS, q, forces),
            "back": generalised_forces(SEGMENTS, q, leg_forces(SEGMENTS, q, torque)),
            "radial lower": lower,
            "radial upper": upper,
        }

    found = jax.jit(of)(jnp.asarray(Q[0]), torque, forces, v)
    given = {"torque": torque, "forces": forces, "v": v}
    return {name: np.asarray(value) for name, value in {**found, **given}.items()}


def test_leg_forces_do_the_work_of_generalised_forces(pushed):
    power = np.sum(pushed["forces"] * pushed["rates held"], -1)
    np.testing.assert_allclose(np.sum(pushed["generalised"] * pushed["v"], -1), power, rtol=0, atol=1e-13)
    # The condition of G^T G, squared by its inversion, is below 1e4 here.
    np.testing.assert_allclose(pushed["back"], pushed["torque"], rtol=0, atol=1e-10)


def test_radial_joints_bear_what_the_legs_push_outwards(pushed):
    # The legs' work over all of their rate, and that of the radial joints, is what comes through to the plates.
    p, twist = pushed["p"], pushed["twist"]
    shrink = -0.5 * np.sum(p * twist[:, 3:], -1) / np.sum(p * p, -1)  # relative rate of the radii
    rates = rings_by_hand(p) * shrink[:, None]
    radial = np.sum(pushed["radial lower"] * rates[:, :1] + pushed["radial upper"] * rates[:, 1:], -1)
    legs = np.sum(pushed["forces"] * pushed["rates"], -1)
    through = np.sum(pushed["forces"] * pushed["rates held"], -1)
    np.testing.assert_allclose(legs + radial, through, rtol=0, atol=1e-13)
    assert np.max(np.abs(radial)) > 1e-3


# --- From legs to poses


def stacked(count):
    """The same segments for every member of a batch."""
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), SEGMENTS)


def nearby(turn, move, seed):
    """Poses near the given ones, to start a search from: turned by up to `turn`, moved by up to `move` lengths."""
    rng = np.random.default_rng(seed)
    twist = rng.uniform(-1, 1, (len(Q), N, 6))
    twist[..., :3] *= turn
    twist[..., 3:] *= move * LENGTHS[:, None]
    turns = Rotation.from_rotvec(twist[..., :3].reshape(-1, 3)).as_matrix().reshape(len(Q), N, 3, 3)
    return SE3(jnp.asarray(turns @ np.asarray(POSES.rotation)), POSES.position + twist[..., 3:])


def largest_difference(a, b):
    return max(float(np.max(np.abs(x - y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_poses_come_back_from_their_legs_while_the_rings_hold(geometry):
    lengths, rings = jnp.asarray(geometry["held"]), jnp.asarray(geometry["rings"])
    solution = pose_from_legs(stacked(len(Q)), lengths, nearby(0.1, 0.1, 0), rings)
    assert solution.found.shape == (len(Q), N)
    assert np.all(solution.found)
    assert np.all(solution.miss <= 1e-12 * LENGTHS)
    # A miss of 1e-12 L through a Jacobian whose smallest singular value is above 1e-2.
    assert np.min(np.linalg.svd(geometry["jacobian"], compute_uv=False)) > 1e-2
    assert largest_difference(solution.T, POSES) < 1e-10


def test_poses_come_back_from_their_legs_while_the_rings_follow(geometry):
    lengths, start = jnp.asarray(geometry["following"]), nearby(0.05, 0.05, 1)
    solution = pose_from_legs(stacked(len(Q)), lengths, start)
    assert np.all(solution.found)
    assert np.min(np.linalg.svd(geometry["jacobian"] + geometry["radial"], compute_uv=False)) > 1e-2
    assert largest_difference(solution.T, POSES) < 1e-10
    # The n segments of one arm, alone.
    one = pose_from_legs(SEGMENTS, lengths[0], start[0])
    assert one.T.position.shape == (N, 3)
    assert largest_difference(one.T, solution.T[0]) < 1e-13


@pytest.mark.parametrize(
    "change",
    [
        lambda legs: legs.at[[1, 3], 0].mul(20.0),
        lambda legs: legs.at[1::2].set(1e-9),
        lambda legs: legs.at[[1, 3], 2].set(-0.1),
    ],
    ids=["one leg far too long", "no legs at all", "a negative length"],
)
def test_impossible_legs_have_no_pose(geometry, change):
    lengths, start = change(jnp.asarray(geometry["following"][0])), POSES[0]
    solution = pose_from_legs(SEGMENTS, lengths, start)
    np.testing.assert_array_equal(solution.found, [True, False, True, False, True])
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(solution))
    assert np.all(solution.miss[np.array([1, 3])] > 1e-3)


def test_legs_that_are_no_numbers_have_no_pose(geometry):
    lengths = jnp.asarray(geometry["following"][0]).at[2, 0].set(jnp.nan)
    solution = pose_from_legs(SEGMENTS, lengths, POSES[0])
    np.testing.assert_array_equal(solution.found, [True, True, False, True, True])
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(solution.T))


# --- Faults


def rank(segments, T):
    """Of the leg Jacobians."""
    G = np.array(segments.leg_jacobian(T))
    G[..., :3] /= RADII[:, None, None]
    return np.linalg.matrix_rank(G, tol=1e-9)


def test_the_octahedral_legs_hold_the_plate():
    rest = rest_poses(SEGMENTS)
    np.testing.assert_array_equal(rank(SEGMENTS, rest), 6)
    assert named_faults(SEGMENTS, rest) == []
    assert np.all(faults(SEGMENTS, rest).conditioning > 0.1)
    # Six edges: of the octahedron's joints each has two legs.
    for azimuths in (LOWER_DEG, UPPER_DEG):
        assert [azimuths.count(azimuth) for azimuth in sorted(set(azimuths))] == [2, 2, 2]
    assert len(set(zip(LOWER_DEG, UPPER_DEG, strict=True))) == 6


def test_the_legs_as_printed_do_not():
    printed = StewartSegment(LENGTHS, RADII, TAPERS, LOWER_DEG, PRINTED_UPPER_DEG)
    for T in (rest_poses(printed), POSES[0], POSES[1]):
        np.testing.assert_array_equal(rank(printed, T), 3)
    (words,) = named_faults(printed, rest_poses(printed))
    assert words == "segment 1, 2, 3, 4, 5 is singular: its legs cannot hold it"
    # What cannot be solved for is not found, and does not become NaN.
    legs = printed.leg_lengths(POSES[0])
    solution = pose_from_legs(printed, legs, rest_poses(printed))
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(solution))


@pytest.mark.parametrize("angle", [90.0, -90.0])
@pytest.mark.parametrize("share", [1.0, 1.8])
def test_a_quarter_turn_of_parallel_plates_is_singular(angle, share):
    R = Rotation.from_rotvec([0, 0, np.deg2rad(angle)]).as_matrix()
    T = SE3(jnp.broadcast_to(jnp.asarray(R), (N, 3, 3)), share * SEGMENTS.rest)
    found = faults(SEGMENTS, T)
    assert np.all(found.singular)
    assert np.all(found.conditioning < 1e-12)
    assert not np.any(found.folded)
    # A little less is not.
    R = Rotation.from_rotvec([0, 0, np.deg2rad(0.9 * angle)]).as_matrix()
    assert not np.any(faults(SEGMENTS, SE3(jnp.broadcast_to(jnp.asarray(R), (N, 3, 3)), T.position)).singular)


def test_poses_folded_through_the_base_are_named():
    q = np.zeros((N, 6))
    q[0, 0] = -0.6  # the flat one: its joint at 90 deg dips by 0.24 sin(0.6) = 0.13 m, more than its 0.08 m
    q[4, 0] = -0.6  # the long one: by 0.06 m of 0.5 m
    q[2, 5] = -2.0 * LENGTHS[2]  # below its own base
    T = SEGMENTS.pose(jnp.asarray(q), 1.0)
    found = faults(SEGMENTS, T)
    np.testing.assert_array_equal(found.folded, [True, False, True, False, False])
    assert "segment 1, 3 is folded through its base" in named_faults(SEGMENTS, T)


def test_plates_in_one_place_are_a_fault_and_not_a_number_that_is_none():
    T = SE3(rest_poses(SEGMENTS).rotation, SEGMENTS.rest.at[1].set(0.0))
    found = faults(SEGMENTS, T)
    assert np.all(np.isfinite(found.conditioning))
    np.testing.assert_array_equal(found.singular, [False, True, False, False, False])
    assert any("segment 2 is singular" in words for words in named_faults(SEGMENTS, T))
