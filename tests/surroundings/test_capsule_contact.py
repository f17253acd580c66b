"""Contact of an arm with itself, chosen once a step: momentum, who may touch, directions, and the matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hydrostat.surroundings import ContactLaw, Nodes
from hydrostat.surroundings.capsule_contact import capsule_contact

K, ONSET = 100.0, 1e-3
LAW = ContactLaw(K, 5.0, 0.5, 0.01, ONSET)
SMOOTH = ContactLaw(K, 0.0, 0.0, 0.01, ONSET)
COUNT, PIECE, RADIUS = 16, 0.012, 5e-3
APART = 3
STEP = 5e-3
made = jax.jit(
    lambda law, nodes, apart, dt=STEP: capsule_contact(law, nodes, apart, dt, (len(nodes.radius),)), static_argnums=2
)
felt = jax.jit(lambda contact, nodes: contact.forces(nodes))


def make_nodes(position, velocity=None, radius=RADIUS):
    position = jnp.asarray(position, float)
    n, zero = len(position), jnp.zeros_like(position)
    velocity = zero if velocity is None else jnp.asarray(velocity, float)
    return Nodes(position, velocity, zero, zero, jnp.broadcast_to(jnp.asarray(radius, float), (n,)), jnp.full(n, PIECE))


def coiled(seed):
    """An arm that winds over itself, its coils less far apart than it is thick."""
    rng = np.random.default_rng(seed)
    turn = PIECE / 0.022 * np.arange(COUNT)
    position = np.stack([0.022 * np.cos(turn), 0.022 * np.sin(turn), 6e-3 * turn / (2 * np.pi)], -1)
    position = position + rng.uniform(-5e-4, 5e-4, (COUNT, 3))
    return make_nodes(position, 0.1 * rng.normal(size=(COUNT, 3)), np.linspace(6e-3, 4e-3, COUNT))


def hairpin(gap, shift=0.0):
    """An arm that comes back along itself at a distance of surfaces."""
    away = 2 * RADIUS + gap
    there = np.stack([PIECE * np.arange(6), np.zeros(6), np.zeros(6)], -1)
    bend = np.array([[6 * PIECE, 0.3 * away, 0.0], [6 * PIECE, 0.7 * away, 0.0]])
    back = np.stack([PIECE * np.arange(5, -1, -1) + shift, np.full(6, away), np.zeros(6)], -1)
    return np.concatenate([there, bend, back])


def crossing(height):
    """An arm whose last piece lies across its first one, the axes at a distance."""
    return np.array(
        [
            [-0.5 * PIECE, 0.0, 0.0],
            [0.5 * PIECE, 0.0, 0.0],
            [1.5 * PIECE, 0.0, 0.0],
            [2.2 * PIECE, 0.8 * PIECE, 0.3 * PIECE],
            [1.5 * PIECE, 1.7 * PIECE, 0.5 * PIECE],
            [0.6 * PIECE, 1.5 * PIECE, 1.0 * height],
            [0.0, 0.5 * PIECE, height],
            [0.0, -0.5 * PIECE, height],
        ]
    )


# --- Momentum

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
@hypothesis_settings(max_examples=40)
def test_no_momentum_is_made(seed):
    nodes = coiled(seed)
    forces = felt(made(LAW, nodes, APART), nodes)
    size = np.abs(forces.force).sum()
    assert size > 0.1
    np.testing.assert_allclose(np.asarray(forces.force).sum(0), 0.0, rtol=0, atol=1e-13 * size)


@given(seeds)
@hypothesis_settings(max_examples=40)
def test_without_friction_no_angular_momentum_is_made(seed):
    nodes = coiled(seed)
    force = np.asarray(felt(made(SMOOTH, nodes, APART), nodes).force)
    moment = np.cross(nodes.position, force).sum(0)
    # Forces are along the line between the points of touch, and so have no moment together.
    np.testing.assert_allclose(moment, 0.0, rtol=0, atol=1e-12 * np.abs(force).sum() * 0.03)


@given(seeds)
@hypothesis_settings(max_examples=40)
def test_friction_and_damping_take_energy(seed):
    nodes = coiled(seed)
    law_force, elastic = (np.asarray(felt(made(law, nodes, APART), nodes).force) for law in (LAW, SMOOTH))
    power = np.sum((law_force - elastic) * np.asarray(nodes.velocity))
    assert power <= 1e-14


# --- Who touches


def test_a_straight_arm_does_not_touch_itself():
    position = np.stack([PIECE * np.arange(COUNT), np.zeros(COUNT), np.zeros(COUNT)], -1)
    rng = np.random.default_rng(0)
    nodes = make_nodes(position, rng.normal(size=(COUNT, 3)))
    # 3 places apart there are two pieces of 12 mm between, more than two radii of 5 mm.
    forces = felt(made(LAW, nodes, APART), nodes)
    assert not any(np.any(part) for part in forces)


def test_neighbours_do_not_touch():
    # Pieces of 4 mm and 5 mm thick: everything within two places is in each other.
    position = np.stack([4e-3 * np.arange(COUNT), np.zeros(COUNT), np.zeros(COUNT)], -1)
    nodes = make_nodes(position)
    for neighbours, touches in ((2, True), (3, True), (4, False), (6, False)):
        forces = felt(made(LAW, nodes, neighbours), nodes)
        assert np.any(forces.force) == touches


def test_who_is_just_that_many_places_apart_touches():
    # Of the pieces of a crossing, the first and the last are six places apart.
    nodes = make_nodes(crossing(2 * RADIUS - 1e-3))
    assert np.any(felt(made(LAW, nodes, 6), nodes).force)
    assert not np.any(felt(made(LAW, nodes, 7), nodes).force)


def test_a_gap_makes_no_force():
    for gap in (1e-6, 1e-3):
        nodes = make_nodes(hairpin(gap, 0.3 * PIECE))
        assert not np.any(felt(made(LAW, nodes, 5), nodes).force)


# --- Forces


def test_crossing_parts_push_each_other_apart_as_the_law_says():
    depth = 2e-3
    nodes = make_nodes(crossing(2 * RADIUS - depth))
    force = np.asarray(felt(made(LAW, nodes, 6), nodes).force)
    push = K * (depth - 0.5 * ONSET)
    np.testing.assert_allclose(force[:2], [[0, 0, -0.5 * push]] * 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(force[6:], [[0, 0, 0.5 * push]] * 2, rtol=0, atol=1e-12)
    assert not np.any(force[2:6])
    # Closing makes it more, leaving less, but never a pull; sliding is resisted.
    for speed, factor in ((-0.1, 1.5), (0.1, 0.75**2), (0.5, 0.0)):
        velocity = np.zeros((8, 3))
        velocity[6:, 2] = speed
        moving = nodes._replace(velocity=jnp.asarray(velocity))
        force = np.asarray(felt(made(LAW, moving, 6), moving).force)
        np.testing.assert_allclose(force[6:, 2], 0.5 * push * factor, rtol=0, atol=1e-12)
    velocity = np.zeros((8, 3))
    velocity[6:, 0] = 1.0
    sliding = nodes._replace(velocity=jnp.asarray(velocity))
    force = np.asarray(felt(made(LAW, sliding, 6), sliding).force)
    np.testing.assert_allclose(force[6:, 0], -0.25 * push, rtol=1e-4)
    np.testing.assert_allclose(force[:2, 0], 0.25 * push, rtol=1e-4)


def test_the_parts_of_a_hairpin_are_pushed_apart():
    position = hairpin(-1.5e-3, 0.3 * PIECE)
    nodes = make_nodes(position)
    force = np.asarray(felt(made(LAW, nodes, 5), nodes).force)
    assert force[:6, 1].sum() < -0.1
    assert force[8:, 1].sum() > 0.1
    assert np.all(force[:6, 1] <= 1e-15)
    assert np.all(force[8:, 1] >= -1e-15)


def test_a_touch_at_a_joint_is_as_hard_as_it_is_deep():
    # The last bend of an arm, a corner, is pressed into the middle of an early piece: whichever of its two pieces is
    # nearer by rounding, the depth is the corner's.
    rng, forces = np.random.default_rng(2), []
    for _ in range(40):
        corner = np.array([1.5 * PIECE + 2e-3 * rng.uniform(-1, 1), 2 * RADIUS - 1.5e-3, 0.0])
        arm = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [3.75, 0.67, 0], [3.75, 1.67, 0]]) * PIECE
        side, up = PIECE * np.cos(0.25), PIECE * np.sin(0.25)
        bend = corner + np.array([[side, up, 0.0], [0.0, 0.0, 0.0], [-side, up, 0.0]])
        nodes = make_nodes(np.concatenate([arm, bend]))
        forces.append(float(felt(made(LAW, nodes, 4), nodes).force[6:, 1].sum()))
    # Piece 1 is pressed by 1.5 mm. Others, further from the corner, may be by less.
    assert min(forces) > 0.99 * K * (1.5e-3 - 0.5 * ONSET)
    assert max(forces) < 2.5 * K * (1.5e-3 - 0.5 * ONSET)


# --- Matrices


@given(seeds)
@hypothesis_settings(max_examples=30)
def test_matrices_are_positive_semidefinite(seed):
    nodes = coiled(seed)
    forces = felt(made(LAW, nodes, APART), nodes)
    matrix = np.asarray(forces.damping)
    size = np.abs(matrix).max()
    assert size > 0.0
    np.testing.assert_allclose(matrix, np.swapaxes(matrix, -1, -2), rtol=0, atol=1e-14 * size)
    assert np.linalg.eigvalsh(matrix).min() > -1e-13 * size
    assert not np.any(matrix[:, :3])
    assert not np.any(matrix[:, :, :3])
    assert not np.any(forces.stiffness)


@pytest.mark.parametrize("depth", [3e-3, 0.5e-3])
@pytest.mark.parametrize("where", [0.0, 0.2, 0.45])
def test_matrices_majorise_those_of_the_pair_and_not_by_more_than_they_must(depth, where):
    # One pair alone: its coupled K is k p'(d) times the slopes of the depth, C by differences of the force about rest.
    position = crossing(2 * RADIUS - depth)
    position[6:, 0] += where * PIECE
    nodes, ends, h = make_nodes(position), np.array([0, 1, 6, 7]), 1e-7
    expected, longer = (felt(made(LAW, nodes, 6, dt), nodes) for dt in (0.0, 1.0))
    slopes = np.array([0.5 - where, 0.5 + where, -0.5, -0.5])
    k = K * min(depth / ONSET, 1.0)
    own = (np.asarray(longer.damping) - np.asarray(expected.damping))[ends][:, 3:, 3:]
    np.testing.assert_allclose(own[:, 2, 2], 2.0 * k * np.abs(slopes), rtol=1e-9)
    np.testing.assert_allclose(np.delete(own.reshape(4, 9), 8, 1), 0.0, atol=1e-9 * k)
    check_majorised(np.diag(own[:, 2, 2]), k * np.outer(slopes, slopes))

    def forces_at(i, axis, speed):
        moved = nodes._replace(velocity=nodes.velocity.at[i, axis].set(speed))
        return np.asarray(felt(made(LAW, moved, 6), moved).force)[ends].ravel()

    coupled = np.stack([(forces_at(i, x, -h) - forces_at(i, x, h)) / (2 * h) for i in ends for x in range(3)], -1)
    own = np.zeros((12, 12))
    for place, node in zip((0, 3, 6, 9), ends, strict=True):
        own[place : place + 3, place : place + 3] = np.asarray(expected.damping)[node, 3:, 3:]
    check_majorised(own, coupled)


def check_majorised(own, coupled):
    size = np.abs(coupled).max()
    np.testing.assert_allclose(coupled, coupled.T, rtol=0, atol=1e-5 * size)
    assert np.linalg.eigvalsh(own - coupled).min() > -1e-5 * size
    # Nine tenths of it would not do.
    assert np.linalg.eigvalsh(0.9 * own - coupled).min() < -1e-2 * size


def test_within_a_step_the_force_falls_with_the_matrices():
    nodes = coiled(1)
    contact = made(LAW, nodes, APART)
    rng = np.random.default_rng(5)
    shift, faster = 1e-4 * rng.normal(size=(COUNT, 3)), 1e-2 * rng.normal(size=(COUNT, 3))
    before, after = (
        felt(contact, nodes),
        felt(contact, nodes._replace(position=nodes.position + shift, velocity=nodes.velocity + faster)),
    )
    expected = np.einsum("nij,nj->ni", np.asarray(before.stiffness)[:, 3:, 3:], shift)
    expected = expected + np.einsum("nij,nj->ni", np.asarray(before.damping)[:, 3:, 3:], faster)
    np.testing.assert_allclose(before.force - after.force, expected, rtol=0, atol=1e-13)
    assert not contact.abrupt


def test_what_touches_and_moves_together_is_not_pushed_along():
    # Within a step, wherever on its way: forces come in pairs.
    nodes = make_nodes(hairpin(-1.5e-3, 0.3 * PIECE), np.broadcast_to([0.3, -0.2, 0.5], (14, 3)))
    contact = made(LAW, nodes._replace(position=nodes.position + STEP * nodes.velocity), 5)
    for elapsed in (0.0, 0.3 * STEP, STEP):
        there = nodes._replace(position=nodes.position + elapsed * nodes.velocity)
        force = np.asarray(felt(contact.after(elapsed), there).force)
        assert np.abs(force).max() > 0.01
        np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-13)


# --- Two arms, however they are numbered

SIDE = 8  # nodes of each of two arms
DEPTH = 1.5e-3
PUSH = K * (DEPTH - 0.5 * ONSET)
between = jax.jit(
    lambda law, nodes: capsule_contact(law, nodes, APART, STEP, (len(nodes.radius) // 2,) * 2).forces(nodes).force
)


def straight(centre, angle=0.0):
    """A straight arm that crosses the x axis at an angle, the middle of its middle piece at a place."""
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    return np.asarray(centre, float) + PIECE * (np.arange(SIDE)[:, None] - 0.5 * (SIDE - 1)) * along


def crossed(at_first, at_second, angle=0.5 * np.pi):
    """Two arms that cross so many pieces from the middles of both; 0.5 is at a node."""
    along = PIECE * np.array([np.cos(angle), np.sin(angle), 0.0])
    return straight([at_first * PIECE, 0, 0]), straight(at_second * along + [0, 0, 2 * RADIUS - DEPTH], angle)


def forces_between(one, other, law=SMOOTH, velocity=None):
    force = between(law, make_nodes(np.concatenate([one, other]), velocity))
    return np.asarray(force[:SIDE]), np.asarray(force[SIDE:])


@pytest.mark.parametrize("angle", [0.8, 1.2, 0.5 * np.pi])
@pytest.mark.parametrize(("at_first", "at_second"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)])
def test_a_crossing_is_one_touch_also_at_nodes(at_first, at_second, angle):
    one, other = crossed(at_first, at_second, angle)
    for first, second in ((one, other), (other, one), (one[::-1], other)):
        pushed = [force.sum(0) for force in forces_between(first, second)]
        up = 1.0 if first is other else -1.0
        # The next pairs are farther by 0.02 of 10 mm at least, 20 widths: they count e^-20 at most.
        np.testing.assert_allclose(pushed[0], [0.0, 0.0, up * PUSH], rtol=0, atol=1e-8 * PUSH)
        np.testing.assert_allclose(pushed[1], -pushed[0], rtol=0, atol=1e-13 * PUSH)


@given(seeds)
@hypothesis_settings(max_examples=40)
def test_forces_do_not_depend_on_numbers_and_on_axes(seed):
    rng = np.random.default_rng(seed)
    angle, places = rng.uniform(0.0, np.pi), rng.uniform(-0.6, 0.6, 2)
    one, other = (arm + 3e-4 * rng.normal(size=arm.shape) for arm in crossed(*places, angle))
    speeds = 0.05 * rng.normal(size=(2, SIDE, 3))
    force = forces_between(one, other, LAW, np.concatenate(speeds))
    size = np.abs(force).sum()
    assert size > 0.01
    # Points of touch are found with a determinant of 0.01 at least, of numbers of 1: errors of 1e-14 of a capsule,
    # which an exponent of a thousandth of a capsule's width makes 1e-11.
    close = {"rtol": 0, "atol": 1e-10 * size}
    swapped = forces_between(other, one, LAW, np.concatenate(speeds[::-1]))
    np.testing.assert_allclose(swapped[::-1], force, **close)
    backwards = forces_between(one[::-1], other, LAW, np.concatenate([speeds[0][::-1], speeds[1]]))
    np.testing.assert_allclose((backwards[0][::-1], backwards[1]), force, **close)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))  # a rotation, or one with a reflection
    turned = forces_between(one @ turn.T, other @ turn.T, LAW, np.concatenate(speeds) @ turn.T)
    np.testing.assert_allclose(turned, np.asarray(force) @ turn.T, **close)


@pytest.mark.parametrize("at_second", [0.0, 0.5])
def test_a_crossing_that_passes_a_node_is_pushed_evenly(at_second):
    total = [-forces_between(*crossed(place, at_second))[0][:, 2].sum() for place in np.linspace(-0.6, 0.6, 241)]
    # Two pairs share: the farther one, by y widths of 1e-3 (2 radii), has the share 1 / (1 + e^y), so that K y / (1 +
    # e^y) widths are missing, 0.28 at most; by both arms twice.
    missing = 2 * 0.28 * K * 1e-3 * 2 * RADIUS
    assert max(total) < PUSH * (1.0 + 1e-9)
    assert min(total) > PUSH - missing


@pytest.mark.parametrize("shift", [0.0, 0.25, 0.5, 0.9])
def test_arms_along_each_other_are_pushed_by_the_length_of_it(shift):
    one, other = straight([0, 0, 0]), straight([shift * PIECE, 0, 2 * RADIUS - DEPTH])
    force = forces_between(one, other)
    # Within, each node stands for one piece, whatever the shift; ends of arms, where fewer pairs share, have the rest.
    np.testing.assert_allclose(-force[0][2:-2, 2], PUSH, rtol=0.02)
    assert -force[0][:, 2].sum() == pytest.approx((SIDE - 1 - shift) * PUSH, rel=0.05)
    np.testing.assert_allclose(forces_between(other, one)[::-1], force, rtol=0, atol=1e-12 * PUSH)
