"""Resolved rates of a chain of platforms: the pseudo-inverse, strict priorities, damping and limits."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.actuation.legs import leg_rates, rest_poses
from hydrostat.control.bounded_rates import bounded_rates, plate_velocities
from hydrostat.control.resolved_rate import (
    Law,
    Obstacle,
    Posture,
    call,
    central_rates,
    clearance,
    moved,
    plates,
    tip_rows,
)
from hydrostat.control.tracking import follow, switch
from hydrostat.lie import SE3
from hydrostat.robots import stewart_arm
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import LOWER_DEG, pose_from_legs

N = 5
ROBOT = stewart_arm(N)
SEGMENTS = ROBOT.arm.segments
LEGS = ROBOT.legs
LENGTHS = np.asarray(SEGMENTS.length)
REST = rest_poses(SEGMENTS)
BASE = SE3(
    jnp.asarray(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()), jnp.array([0.1, -0.2, 0.3])
)  # mounted askew, so that nothing holds by chance
NONE_FROZEN = jnp.zeros(N, bool)
POSTURE = Posture(jnp.asarray(1.0), jnp.asarray(0.7))
DT = 2e-3


def bent(seed):
    """A random pose, every segment bent, sheared and stretched."""
    rng = np.random.default_rng(seed)
    turns, moves = 0.3 * rng.uniform(-1, 1, (N, 3)), 0.2 * LENGTHS[:, None] * rng.uniform(-1, 1, (N, 3))
    turns = Rotation.from_rotvec(turns).as_matrix()
    return SE3(jnp.asarray(turns), jnp.asarray(moves + LENGTHS[:, None] * [0, 0, 1]))


BENT = bent(0)
rates = eqx.filter_jit(lambda law, T, wanted: central_rates(law, T, lambda tip: wanted, DT))


# --- The chain by hand, in numpy


def chain(T):
    """World rotations and positions of the n + 1 plates."""
    R, p = [np.asarray(BASE.rotation)], [np.asarray(BASE.position)]
    for turn, move in zip(np.asarray(T.rotation), np.asarray(T.position), strict=True):
        p.append(p[-1] + R[-1] @ move)
        R.append(R[-1] @ turn)
    return np.stack(R), np.stack(p)


def twist_jacobian(T):
    """The tip's (angular, linear) velocity in world axes per relative twist of every segment: (6, n, 6)."""
    R, p = chain(T)
    blocks = []
    for i in range(N):
        lever = np.cross(np.eye(3), p[-1] - p[i + 1])  # hat of the lever
        blocks.append(np.block([[R[i], np.zeros((3, 3))], [lever.T @ R[i], R[i]]]))
    return np.stack(blocks, 1)


def leg_jacobian(T):
    """The same per rate of every leg, the rings held: (6, n, 6)."""
    G = np.asarray(SEGMENTS.leg_jacobian(T))
    return np.einsum("mni,nik->mnk", twist_jacobian(T), np.linalg.inv(G))


def tip_velocity(T, twist):
    """(angular, linear), by hand."""
    return np.einsum("mni,ni->m", twist_jacobian(T), np.asarray(twist))


def error_rate(T, twist, goal, h=1e-6):
    """How fast the tip's error to a goal pose changes, (turn, position), by a step to either side."""
    errors = []
    for step in (h, -h):
        R, p = chain(moved(T, twist, step))
        turn = Rotation.from_matrix(np.asarray(goal.rotation) @ R[-1].T).as_rotvec()
        errors.append(np.concatenate([turn, np.asarray(goal.position) - p[-1]]))
    return (errors[0] - errors[1]) / (2 * h)


# --- Jacobian and pseudo-inverse


def tip_leg_jacobian(law, T):
    """The tip's angular velocity and velocity in world axes per rate of every leg, while the radial joints hold still.

    Each block is the chain's effect of a relative twist times the inverse of the segment's own leg Jacobian.
    """
    rows = tip_rows(plates(law, T), orient=True)
    G = law.segments.leg_jacobian(T)
    blocks = jnp.linalg.solve(jnp.swapaxes(G, -1, -2), jnp.swapaxes(rows, -1, -2))
    return jnp.moveaxis(jnp.swapaxes(blocks, -1, -2), 0, 1)


def test_tip_leg_jacobian_is_how_the_tip_moves_with_each_leg():
    # Every leg alone is made longer and shorter while the rings hold, and the tip looked up again: a difference of
    # fourth order.
    h = 1e-4
    steps = h * np.array([-2, -1, 1, 2])
    rings = SEGMENTS.rings(BENT)
    legs = np.asarray(SEGMENTS.leg_lengths(BENT, rings))
    changes = steps[:, None, None] * np.eye(6 * N).reshape(6 * N, N, 6)[:, None]
    lengths = (legs + changes).reshape(-1, N, 6)
    batch = lambda tree: jax.tree.map(lambda x: jnp.broadcast_to(x, (len(lengths), *x.shape)), tree)  # noqa: E731
    solution = pose_from_legs(batch(SEGMENTS), jnp.asarray(lengths), batch(BENT), batch(rings), tolerance=1e-15)
    assert np.all(solution.found)
    R0, _ = chain(BENT)
    ends = [chain(solution.T[i]) for i in range(len(lengths))]
    turns = Rotation.from_matrix([R[-1] @ R0[-1].T for R, _ in ends]).as_rotvec()
    tips = np.concatenate([turns, [p[-1] for _, p in ends]], -1).reshape(6 * N, 4, 6)
    by_steps = np.einsum("j,kjm->mk", np.array([1, -8, 8, -1]) / (12 * h), tips).reshape(6, N, 6)
    # The angular velocity at the middle is the rate of the small rotation vector.
    np.testing.assert_allclose(leg_jacobian(BENT), by_steps, rtol=0, atol=1e-8)
    for orient in (False, True):
        own = tip_leg_jacobian(Law(SEGMENTS, BASE, orient=orient), BENT)
        np.testing.assert_allclose(own, by_steps, rtol=0, atol=1e-8)


@pytest.mark.parametrize("orient", [False, True], ids=["position", "position and orientation"])
def test_rates_are_the_pseudo_inverse_of_the_tip_jacobian(orient):
    law = Law(SEGMENTS, BASE, orient=orient)
    rng = np.random.default_rng(1)
    for seed in range(3):
        T = bent(seed)
        wanted = rng.standard_normal(6 if orient else 3)
        found = rates(law, T, jnp.asarray(wanted))
        J = leg_jacobian(T)[0 if orient else 3 :].reshape(len(wanted), -1)
        legs = np.einsum("nij,nj->ni", SEGMENTS.leg_jacobian(T), found.twist).ravel()
        # A ground of 1e-9 keeps the weights of singular platforms finite; here the least is 1e-5 of the others.
        smallest = np.linalg.pinv(J) @ wanted
        np.testing.assert_allclose(legs, smallest, rtol=0, atol=1e-6 * np.max(np.abs(smallest)))
        np.testing.assert_allclose(J @ legs, wanted, rtol=0, atol=1e-8)
        R, p = chain(T)
        np.testing.assert_allclose(found.T_world_tip.position, p[-1], rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.T_world_tip.rotation, R[-1], rtol=0, atol=1e-14)


def goal_near(T, seed):
    """A pose that the tip is to take, a metre and a radian away."""
    rng = np.random.default_rng(seed)
    R, p = chain(T)
    turn = Rotation.from_rotvec(0.5 * rng.uniform(-1, 1, 3)).as_matrix()
    return SE3(jnp.asarray(turn @ R[-1]), jnp.asarray(p[-1] + 0.5 * rng.uniform(-1, 1, 3)))


@pytest.mark.parametrize("orient", [False, True], ids=["position", "position and orientation"])
def test_errors_fade_at_the_gain(orient):
    law, gain = Law(SEGMENTS, BASE, orient=orient), 20.0
    goal = goal_near(BENT, 3)
    R, p = chain(BENT)
    turn = Rotation.from_matrix(np.asarray(goal.rotation) @ R[-1].T).as_rotvec()
    error = np.concatenate([turn, np.asarray(goal.position) - p[-1]])[0 if orient else 3 :]
    found = rates(law, BENT, jnp.asarray(gain * error))
    slope = error_rate(BENT, found.twist, goal)[0 if orient else 3 :]
    # E' = -K E, to the differences' order.
    np.testing.assert_allclose(slope, -gain * error, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def faded():
    """The tip's errors at the ticks' begins, in runs of 0.1 s towards a goal that stands still."""
    law, goal, start = Law(SEGMENTS, BASE, orient=True), goal_near(BENT, 3), BENT
    found = {}
    for ticks in (50, 100):
        goals = jax.tree.map(lambda x, ticks=ticks: jnp.broadcast_to(x, (100, *x.shape)), goal)
        _, rows = follow(law, start, goals, jnp.zeros((100, 6)), 20.0, 0.1 / ticks)
        turns = Rotation.from_matrix(
            np.asarray(goal.rotation) @ np.swapaxes(np.asarray(rows.T_world_tip.rotation), -1, -2)
        ).as_rotvec()
        moves = np.asarray(goal.position) - np.asarray(rows.T_world_tip.position)
        found[ticks] = np.concatenate([turns, moves], -1)
    return found


def test_ticks_converge_to_the_exponential_and_the_tip_goes_straight(faded):
    start = faded[50][0]
    # Over the same 0.05 s: Euler's steps are of first order, and their extrapolation is of second.
    exact = np.exp(-20.0 * 0.05) * start
    coarse, fine = faded[50][25], faded[100][50]
    off = [np.max(np.abs(part - exact)) for part in (coarse, fine)]
    assert 1.8 < off[0] / off[1] < 2.2
    assert np.max(np.abs(2 * fine - coarse - exact)) < 0.05 * off[1]
    # Position and orientation each go straight to the goal, but for what a tick bends.
    for part in (slice(0, 3), slice(3, 6)):
        unit = start[part] / np.linalg.norm(start[part])
        across = faded[100][:, part] - np.outer(faded[100][:, part] @ unit, unit)
        assert np.max(np.linalg.norm(across, axis=-1)) < 0.01 * np.linalg.norm(start[part])


# --- Priorities


def test_posture_fills_what_the_tip_leaves_and_no_more():
    law = Law(SEGMENTS, BASE, posture=POSTURE)
    wanted = np.array([0.4, -0.2, 0.1])
    twist = np.asarray(rates(law, BENT, jnp.asarray(wanted)).twist)
    np.testing.assert_allclose(tip_velocity(BENT, twist)[3:], wanted, rtol=0, atol=1e-8)
    # Of all leg rates that move the tip so, those nearest to the wish: l = l_wish + J^+ (wanted - J l_wish).
    turns = Rotation.from_matrix(np.asarray(BENT.rotation)).as_rotvec()
    angle = np.linalg.norm(turns, axis=-1, keepdims=True)
    moves = np.asarray(BENT.position) - LENGTHS[:, None] * [0, 0, 1]
    wish = np.concatenate([-1.0 * 2.0 * np.tan(angle / 2.0) * turns / angle, -0.7 * moves], -1)
    G, J = np.asarray(SEGMENTS.leg_jacobian(BENT)), leg_jacobian(BENT)[3:].reshape(3, -1)
    wished = np.einsum("nij,nj->ni", G, wish).ravel()
    legs = wished + np.linalg.pinv(J) @ (wanted - J @ wished)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", G, twist).ravel(), legs, rtol=0, atol=1e-6)
    alone = np.asarray(rates(Law(SEGMENTS, BASE), BENT, jnp.asarray(wanted)).twist)
    assert np.max(np.abs(twist - alone)) > 0.01


def obstacle_beside(segment, gap):
    """A ball whose surface is `gap` away from that of a segment of the bent arm, off its strut's middle."""
    _, p = chain(BENT)
    a, b = p[segment], p[segment + 1]
    side = np.cross(b - a, [0.0, 1.0, 0.3])
    ring = float(np.max(np.asarray(SEGMENTS.rings(BENT))[segment]))
    centre = 0.4 * a + 0.6 * b + (0.2 + ring + gap) * side / np.linalg.norm(side)
    return Obstacle(*(jnp.asarray(x) for x in (centre, 0.2, 0.1, 10.0)))


nearness = eqx.filter_jit(lambda law, T: clearance(law.obstacle, SEGMENTS, T, plates(law, T)))


def test_clearance_is_that_of_capsules_around_the_struts():
    law = Law(SEGMENTS, BASE, obstacle=obstacle_beside(3, 0.05))
    near = nearness(law, BENT)
    _, p = chain(BENT)
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    points = (1 - share) * p[:-1] + share * p[1:]
    far = np.linalg.norm(points - np.asarray(law.obstacle.centre), axis=-1)
    rings = np.max(np.asarray(SEGMENTS.rings(BENT)), -1)
    # The grid misses the nearest point by half a cell of 1 mm, squared over twice the distance.
    np.testing.assert_allclose(near.distance, far.min(0) - 0.2 - rings, rtol=0, atol=1e-5)
    np.testing.assert_allclose(near.place, share[np.argmin(far, 0), 0, 0], rtol=0, atol=5e-4)
    assert float(near.distance[3]) == pytest.approx(0.05, abs=1e-12)
    np.testing.assert_allclose(np.linalg.norm(near.away, axis=-1), 1.0, rtol=1e-12)


BOUNDED = Law(SEGMENTS, BASE, posture=POSTURE, legs=LEGS, plate_speed=jnp.asarray(15.0))
bounded = eqx.filter_jit(lambda law, T, wanted: bounded_rates(law, T, lambda tip: wanted, DT))


@pytest.mark.parametrize("segment", [1, 3])
def test_an_obstacle_is_kept_clear_of_as_demanded_and_the_tip_does_not_notice(segment):
    obstacle = obstacle_beside(segment, 0.05)
    law = replace(BOUNDED, obstacle=obstacle)
    near = nearness(law, BENT)
    # Towards the obstacle with the tip; within the margin, it must be left at gain times what is missing.
    wanted = -0.5 * np.asarray(near.away[segment])
    bound = -10.0 * (np.asarray(near.distance) - 0.1)
    assert bound[segment] == pytest.approx(0.5)

    def speeds(twist, h=1e-6):
        """At which every clearance grows."""
        far = [np.asarray(nearness(law, moved(BENT, twist, step)).distance) for step in (h, -h)]
        return (far[0] - far[1]) / (2 * h)

    free = rates(replace(law, obstacle=None), BENT, jnp.asarray(wanted)).twist
    found = bounded(law, BENT, jnp.asarray(wanted))
    kept = found.twist
    assert bool(found.solved)
    assert speeds(free)[segment] < bound[segment] - 0.1
    assert np.all(speeds(kept) >= bound - 1e-4)
    # No more than demanded: the task is met and not overdone.
    assert speeds(kept)[segment] == pytest.approx(0.5, abs=1e-4)
    # The tip's error counts 1e6 times what the rest costs.
    np.testing.assert_allclose(tip_velocity(BENT, kept)[3:], wanted, rtol=0, atol=1e-4)


def test_where_no_bound_is_met_the_law_is_that_without_bounds():
    law = replace(BOUNDED, obstacle=obstacle_beside(3, 30.0))
    wanted = jnp.array([0.1, 0.2, -0.3])
    np.testing.assert_allclose(bounded(law, BENT, wanted).twist, rates(law, BENT, wanted).twist, rtol=0, atol=1e-13)


def test_a_tip_that_is_asked_too_much_goes_the_right_way_within_all_bounds():
    # 48 m/s: rates of legs of 2 m/s do not suffice; each segment cut by itself would send the tip elsewhere.
    law = replace(BOUNDED, obstacle=obstacle_beside(3, 30.0), plate_speed=jnp.asarray(100.0))
    wanted = np.array([36.0, 24.0, -20.0])
    twist = bounded(law, BENT, jnp.asarray(wanted)).twist
    cut = rates(law, BENT, jnp.asarray(wanted)).twist
    assert np.max(np.abs(leg_rates(SEGMENTS, BENT, twist))) <= 2.0
    velocity, by_cuts = (tip_velocity(BENT, each)[3:] for each in (twist, cut))
    assert np.linalg.norm(velocity - wanted) < np.linalg.norm(by_cuts - wanted)


def test_plate_speeds_are_those_of_the_plates():
    twist = rates(BOUNDED, BENT, jnp.array([0.4, -0.2, 0.1])).twist
    found = plate_velocities(plates(BOUNDED, BENT), twist)
    h = 1e-6
    by_steps = (chain(moved(BENT, twist, h))[1] - chain(moved(BENT, twist, -h))[1])[1:] / (2 * h)
    np.testing.assert_allclose(found, by_steps, rtol=0, atol=1e-8)


# --- Damping


def test_damping_bounds_the_rates_and_leaves_sound_poses_alone():
    # One direction ever less ready: its rate is sqrt(g) w, with the wrench w that a speed of 1 m/s calls for.
    asked = jax.jit(jax.vmap(lambda least: call(jnp.diag(jnp.stack([least, 1.0, 2.0])), 1.0, jnp.ones(3), jnp.zeros(3),
                                                4.0, DT).wrench))  # fmt: skip
    least = np.logspace(-14, 1, 301)
    wrench = np.asarray(asked(jnp.asarray(least)))
    assert np.all(np.isfinite(wrench))
    leg_rate = np.sqrt(least) * wrench[:, 0]
    # Undamped it would be 1 / sqrt(g), 1e7 at the end; damping begins near 1 / sqrt(0.02) = 7.1.
    assert np.max(leg_rate) < 8.0
    assert leg_rate[0] < 1e-4
    assert np.max(np.abs(np.diff(leg_rate))) < 0.5  # no jump where it begins
    sound = least > 0.021
    np.testing.assert_allclose(wrench[sound, 0] * least[sound], 1.0, rtol=1e-9)  # a ground of 1e-12
    np.testing.assert_allclose(wrench[sound, 1:] * [1.0, 2.0], 1.0, rtol=1e-9)


def test_legs_that_hold_only_half_of_the_motions_still_get_finite_rates():
    printed = StewartSegment(LENGTHS, SEGMENTS.radius, SEGMENTS.taper, LOWER_DEG, (90, 90, 210, 210, 330, 330))
    found = rates(Law(printed, BASE), REST, jnp.array([1.0, 0.5, -0.3]))
    assert np.all(np.isfinite(found.twist))


# --- Following, with limits, posture and frozen segments


def following(goals, forward=None, start=REST, gain=100.0, frozen=NONE_FROZEN, posture=POSTURE):
    """The rows of 400 ticks within the legs' limits, and the poses after them."""
    law = Law(SEGMENTS, BASE, posture=posture, legs=LEGS, frozen=frozen)
    poses = SE3(jnp.broadcast_to(jnp.eye(3), (400, 3, 3)), jnp.broadcast_to(jnp.asarray(goals, float), (400, 3)))
    forward = jnp.zeros((400, 6)) if forward is None else jnp.asarray(forward)
    return follow(law, start, poses, forward, gain, DT)


def circle():
    """A goal on a circle of 0.4 m that starts at rest where the tip of the straight arm is, and its velocities."""
    _, p = chain(REST)
    share = np.linspace(0.0, 1.0, 401)
    angle = 2 * np.pi * share**2 * (3 - 2 * share)
    goals = p[-1] + 0.4 * np.stack([1 - np.cos(angle), np.sin(angle), -0.5 * np.sin(angle)], -1)
    forward = np.concatenate([np.zeros((400, 3)), np.diff(goals, axis=0) / DT], -1)
    return goals[:-1], forward


def test_a_moving_goal_is_tracked():
    goals, forward = circle()
    _, rows = following(goals, forward)
    miss = np.linalg.norm(np.asarray(rows.T_world_tip.position) - goals, axis=-1)
    # What a tick's curvature leaves, v^2 dt / (2 r gain) or so, with a speed of up to 5 m/s.
    assert np.max(miss) < 1e-3
    # Without feed-forward it lags by speed over gain.
    _, lagging = following(goals)
    lag = np.linalg.norm(np.asarray(lagging.T_world_tip.position) - goals, axis=-1)
    assert np.max(lag) == pytest.approx(np.max(np.linalg.norm(forward[:, 3:], axis=-1)) / 100.0, rel=0.1)


def test_a_frozen_segment_does_not_move_and_the_others_make_up_for_it():
    goals, forward = circle()
    frozen = NONE_FROZEN.at[2].set(True)
    end, rows = following(goals, forward, frozen=frozen)
    np.testing.assert_array_equal(rows.twist[:, 2], 0.0)
    np.testing.assert_allclose(end.position[2], REST.position[2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(end.rotation[2], np.eye(3), rtol=0, atol=1e-15)
    assert np.max(np.linalg.norm(np.asarray(rows.T_world_tip.position) - goals, axis=-1)) < 1e-3


def test_the_arm_returns_to_its_rest_shape_while_the_tip_holds():
    _, p = chain(BENT)
    posture = Posture(jnp.asarray(5.0), jnp.asarray(5.0))
    end, rows = following(p[-1], start=BENT, posture=posture)
    miss = np.linalg.norm(np.asarray(rows.T_world_tip.position) - p[-1], axis=-1)
    assert np.max(miss) < 1e-3
    bends = [np.sum(Rotation.from_matrix(np.asarray(T.rotation)).magnitude() ** 2) for T in (BENT, end)]
    assert bends[1] < 0.5 * bends[0]


def test_an_arm_that_is_frozen_all_over_stays_and_no_number_is_lost():
    end, rows = following([1.0, 0.0, 3.0], start=BENT, frozen=jnp.ones(N, bool))
    np.testing.assert_array_equal(rows.twist, 0.0)
    np.testing.assert_allclose(end.position, BENT.position, rtol=0, atol=1e-15)


# --- Limits


def jumping():
    """A goal that jumps by metres, every fifth of a second."""
    return np.repeat(np.random.default_rng(7).uniform(-12, 12, (4, 3)), 100, 0)


VIOLENT = {"out of reach": [20.0, 5.0, 3.0], "into the base": [0.1, -0.2, 0.5], "here and there": jumping()}


@pytest.fixture(scope="module", params=VIOLENT)
def violent(request):
    """Lengths, rates and heights of joints over 400 ticks of commands that no arm can follow."""
    looked = eqx.filter_jit(lambda T, v: (SEGMENTS.leg_lengths(T), leg_rates(SEGMENTS, T, v), SEGMENTS.gap(T)))
    _, rows = following(VIOLENT[request.param], gain=1000.0)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(rows))
    return [np.asarray(part) for part in looked(rows.T, rows.twist)]


def test_violent_commands_leave_legs_within_their_stroke(violent):
    lengths, _, gaps = violent
    assert np.all(lengths >= np.asarray(LEGS.shortest) - 1e-9)
    assert np.all(lengths <= np.asarray(LEGS.longest) + 1e-9)
    assert np.all(gaps > 0.1)


def test_violent_commands_leave_legs_within_their_rate(violent):
    _, rates, _ = violent
    assert np.all(np.abs(rates) <= np.asarray(LEGS.rate)[:, None] * (1 + 1e-12))
    assert np.max(np.abs(rates)) == pytest.approx(2.0, rel=2e-3)  # the commands were violent


def test_no_leg_changes_by_more_than_its_rate_allows_from_tick_to_tick(violent):
    lengths, *_ = violent
    assert np.max(np.abs(np.diff(lengths, axis=0))) / DT <= float(LEGS.rate[0])


# --- The paper's switching


def test_switching_takes_the_time_of_the_exponential():
    # Targets in a line ahead of the tip: each next one is d + gamma away when the one before is reached, and
    # ln((d + gamma) / gamma) / K away in time; a tick each is lost until the switch is seen.
    d, gamma, gain, dt = 0.1, 0.02, 20.0, 2e-4
    _, p = chain(REST)
    along = np.array([0.6, 0.0, 0.8])
    targets = p[-1] + d * np.arange(1, 5)[:, None] * along
    law = Law(SEGMENTS, BASE)
    (_, index), (rows, switched) = switch(law, REST, jnp.asarray(targets), 0, gamma, gain, dt, 2500)
    assert int(index) == 4
    heading = np.asarray(switched.target)
    arrivals = dt * np.array([np.argmax(heading > i) for i in range(4)])
    expected = np.cumsum([np.log(d / gamma), *[np.log((d + gamma) / gamma)] * 3]) / gain
    np.testing.assert_allclose(arrivals, expected, rtol=0.02)
    # On arrival within gamma, and after the last target the tip stays.
    tip = np.asarray(rows.T_world_tip.position)
    for i in range(4):
        tick = np.argmax(heading > i) - 1
        assert 0.9 * gamma < np.linalg.norm(targets[i] - tip[tick]) <= gamma
        assert float(switched.miss[tick]) == pytest.approx(np.linalg.norm(targets[i] - tip[tick]), abs=1e-12)
    np.testing.assert_allclose(tip[-1], tip[np.argmax(heading == 4)], rtol=0, atol=1e-9)


def test_targets_that_are_near_already_are_passed_in_the_same_tick():
    _, p = chain(REST)
    targets = p[-1] + np.array([[0.01, 0, 0], [0, 0.01, 0], [0.5, 0, 0], [0.01, 0, 0]])
    _, (_, switched) = switch(Law(SEGMENTS, BASE), REST, jnp.asarray(targets), 0, 0.02, 20.0, 2e-4, 2500)
    heading = np.asarray(switched.target)
    assert heading[:2].tolist() == [0, 2]
    # The last lies where the tip has been: it must be headed for all the same.
    assert sorted(set(heading.tolist())) == [0, 2, 3, 4]
