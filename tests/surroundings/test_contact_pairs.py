"""Arms against arms: closest points, conserved momentum and energy, and a search that misses nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.errors import InputError
from hydrostat.surroundings import (
    Candidates,
    CapsulePairs,
    ContactLaw,
    Nodes,
    capsule_gap,
    closest_points,
    contact_between_capsules,
    find_candidates,
)

K, ONSET = 800.0, 1e-3
LAW = ContactLaw(K, 0.7, 0.6, 0.01, ONSET)
touch = jax.jit(contact_between_capsules)
find = jax.jit(find_candidates, static_argnums=2)
nearest = jax.jit(closest_points)
gap_of = jax.jit(capsule_gap)


# --- Closest points

coordinate = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 0.5, 1.0, -1.0]))
segments = st.lists(st.tuples(*[coordinate] * 3), min_size=4, max_size=4).map(np.array)
PARALLEL = {
    "parallel": [[0, 0, 0], [1, 0, 0], [0.3, 0.2, 0], [1.5, 0.2, 0]],
    "opposite": [[0, 0, 0], [1, 0, 0], [1.5, 0.2, 0], [0.3, 0.2, 0]],
    "in line": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]],
    "overlapping": [[0, 0, 0], [1, 0, 0], [0.5, 0, 0], [3, 0, 0]],
    "the same": [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]],
    "nearly parallel": [[0, 0, 0], [1, 0, 0], [0, 0.2, 1e-9], [1, 0.2, -1e-9]],
    "crossing": [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]],
    "a point": [[0, 0, 0], [0, 0, 0], [1, -1, 0], [1, 2, 0]],
    "two points": [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0]],
    "one point": [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
}


def check_minimum(ends, pull, leans=(0.0, 0.0)):
    """A convex function is least where it cannot fall: slope zero inside, outwards at a bound."""
    s, t, separation = (np.asarray(x) for x in nearest(ends, pull, *leans))
    u, w = ends[1] - ends[0], ends[3] - ends[2]
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    np.testing.assert_allclose(separation, ends[0] + s * u - ends[2] - t * w, atol=1e-15)
    for x, slope in (
        (s, separation @ u + pull * (s - 0.5) - leans[0]),
        (t, -separation @ w + pull * (t - 0.5) - leans[1]),
    ):
        assert slope >= -1e-13 or x == 1.0
        assert slope <= 1e-13 or x == 0.0


@given(segments, st.sampled_from([0.0, 0.01, 1.0]))
def test_closest_points_are_the_minimum(ends, pull):
    check_minimum(ends, pull)


@pytest.mark.parametrize("name", PARALLEL)
def test_closest_points_of_special_pairs(name):
    ends = np.array(PARALLEL[name], float)
    check_minimum(ends, 0.0)
    check_minimum(ends, 0.05)
    check_minimum(ends, 0.05, (0.02, -0.4))
    # And by brute force: the grid's best is worse by no more than half a cell of each.
    fraction = np.linspace(0, 1, 201)[:, None]
    a, b = ends[0] + fraction * (ends[1] - ends[0]), ends[2] + fraction * (ends[3] - ends[2])
    best = np.linalg.norm(a[:, None] - b, axis=-1).min()
    length = np.linalg.norm(nearest(ends).separation)
    reach = np.linalg.norm(ends[1] - ends[0]) + np.linalg.norm(ends[3] - ends[2])
    assert -1e-12 <= best - length <= 0.5 * reach / 200


@pytest.fixture(scope="module")
def gap_gradients():
    return jax.jit(jax.jacrev(capsule_gap, (0, 1)))


@pytest.mark.parametrize("name", PARALLEL)
def test_gaps_and_their_gradients_are_finite(name, gap_gradients):
    ends, radii = jnp.asarray(np.array(PARALLEL[name], float)), jnp.array([0.2, 0.1, 0.15, 0.05])
    leaves = jax.tree.leaves((gap_of(ends, radii), gap_gradients(ends, radii)))
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves)


@given(segments, st.lists(st.floats(0.02, 0.3), min_size=4, max_size=4))
def test_gap_is_the_least_distance_of_balls_along_the_axes(ends, radii):
    lengths = [np.linalg.norm(ends[1] - ends[0]), np.linalg.norm(ends[3] - ends[2])]
    tapers = [abs(radii[1] - radii[0]), abs(radii[3] - radii[2])]
    if any(taper > 0.2 * length for taper, length in zip(tapers, lengths, strict=True)):
        return
    fraction = np.linspace(0, 1, 101)[:, None]
    a, b = ends[0] + fraction * (ends[1] - ends[0]), ends[2] + fraction * (ends[3] - ends[2])
    balls = np.linalg.norm(a[:, None] - b, axis=-1)
    balls = balls - (radii[0] + fraction * (radii[1] - radii[0])) - (radii[2] + fraction * (radii[3] - radii[2])).T
    gap = float(gap_of(ends, np.array(radii)).gap)
    best, total = balls.min(), sum(radii) / 2
    # The grid misses the least by up to half a cell of each; the pull adds a hundredth of the radii where they touch,
    # a tenth where the axes cross, and less outside.
    assert gap >= best - 0.5 * (sum(lengths) + sum(tapers)) / 100
    assert gap <= best + (0.01 * total if best > 0 else 0.15 * total)


def test_points_of_touch_wander_and_do_not_jump_between_ends():
    # A capsule turned over another: with exact closest points s jumps from one end to the other at angle zero.
    def ends(angle):
        tilt = 0.5 * np.array([np.cos(angle), 0.0, np.sin(angle)])
        return np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0, 0.2] - tilt, [0, 0, 0.2] + tilt])

    exact = [float(nearest(ends(angle)).s) for angle in (-1e-6, 1e-6)]
    assert abs(exact[0] - exact[1]) > 0.9
    angles = np.linspace(-0.02, 0.02, 201)
    s = np.array([float(gap_of(ends(angle), np.full(4, 0.1)).s) for angle in angles])
    assert s[0] == 1.0
    assert s[-1] == 0.0
    # It crosses while one end comes closer by _PULL times the radii, 8 mm over 1 m: 0.008 rad to each side.
    assert np.abs(np.diff(s)).max() < 2 * (angles[1] - angles[0]) / 0.008


# --- Loads of pairs

CROSSED = Candidates(jnp.array([0, 1, 0, 2]), jnp.array([4, 5, 6, 4]), jnp.asarray(0))


def random_nodes(seed, taper=0.0):
    """Two short arms of four nodes, one over the other, deep in each other."""
    rng = np.random.default_rng(seed)
    along = np.linspace(-0.1, 0.1, 4)[:, None]
    lower, upper = along * [1, 0.2, 0], along * [0.1, 1, 0] + [0, 0, 0.035]
    position = np.concatenate([lower, upper]) + rng.normal(size=(8, 3)) * 0.006
    velocity, spin, tangent = rng.normal(size=(3, 8, 3)) * np.array([0.5, 10.0, 1.0])[:, None, None]
    radius = 0.02 + taper * rng.uniform(-0.005, 0.005, 8)
    return Nodes(*map(jnp.asarray, (position, velocity, spin, tangent, radius)))


def stored(position, radius, candidates=CROSSED):
    """The elastic energy of all candidates: k times the integral of the onset."""
    ends = np.stack([candidates.first, candidates.first + 1, candidates.second, candidates.second + 1], -1)
    d = jnp.maximum(-jax.vmap(capsule_gap)(position[ends], radius[ends]).gap, 0.0)
    return jnp.sum(K * jnp.where(d < ONSET, d**3 / (6 * ONSET), 0.5 * d * d - 0.5 * ONSET * d + ONSET**2 / 6))


stored_slope = jax.jit(jax.grad(stored))


@given(st.integers(0, 2**32 - 1))
def test_momentum_is_conserved(seed):
    nodes = random_nodes(seed, taper=1.0)
    contact = touch(LAW, nodes, CROSSED)
    force, moment = np.asarray(contact.force), np.cross(nodes.position, contact.force) + contact.torque
    size = np.abs(force).sum()
    np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-14 * size)
    np.testing.assert_allclose(moment.sum(0), 0.0, atol=1e-14 * size)


def test_without_damping_and_friction_the_force_is_a_slope_of_energy():
    elastic = ContactLaw(K, 0.0, 0.0, 0.01, ONSET)
    for seed in range(20):
        nodes = random_nodes(seed)
        contact = touch(elastic, nodes, CROSSED)
        assert np.abs(contact.force).max() > 0.5
        np.testing.assert_allclose(contact.force, -stored_slope(nodes.position, nodes.radius), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(contact.torque, 0.0, atol=1e-15)
        # Tapered by up to 10 mm over 67: what one correction leaves is of order taper^3 = 3e-3.
        nodes = random_nodes(seed, taper=1.0)
        error = touch(elastic, nodes, CROSSED).force + stored_slope(nodes.position, nodes.radius)
        assert np.abs(error).max() < 3e-3 * np.abs(touch(elastic, nodes, CROSSED).force).max()


@given(st.integers(0, 2**32 - 1))
def test_contact_takes_energy_and_gives_none(seed):
    nodes = random_nodes(seed)
    contact = touch(LAW, nodes, CROSSED)
    power = np.sum(contact.force * nodes.velocity) + np.sum(contact.torque * nodes.angular_velocity)
    storing = np.sum(stored_slope(nodes.position, nodes.radius) * nodes.velocity)
    assert power + storing <= 1e-10 * (1 + abs(power))


def test_loads_by_hand():
    # Two crossed capsules, the upper one sinking at a quarter of its length and sliding along x.
    position = np.array([[-0.1, 0, 0], [0.1, 0, 0], [0, -0.05, 0.035], [0, 0.15, 0.035]])
    velocity = np.array([[0.0, 0, 0]] * 2 + [[1.0, 0, -0.5]] * 2)
    zero = np.zeros((4, 3))
    nodes = Nodes(*map(jnp.asarray, (position, velocity, zero, zero, np.full(4, 0.02))))
    contact = touch(LAW, nodes, Candidates(jnp.array([0]), jnp.array([2]), jnp.asarray(0)))
    # The pull moves the point of touch by 2 mm and the depth by 0.1; beyond that these are exact.
    gap, normal, s, t = gap_of(position, np.full(4, 0.02))
    assert float(gap) == pytest.approx(-0.005, abs=2e-4)
    assert float(t) == pytest.approx(0.25, abs=0.02)
    assert float(s) == 0.5
    f = K * (-float(gap) - 0.5 * ONSET) * (1 + 0.7 * 0.5 * -float(normal[2]))
    np.testing.assert_allclose(contact.force[2:].sum(0)[2], f, rtol=0.01)
    np.testing.assert_allclose(contact.force[2:].sum(0)[0], -0.6 * f, rtol=0.01)
    np.testing.assert_allclose(contact.force[3] / contact.force[2], t / (1 - t), rtol=1e-12)
    np.testing.assert_allclose(contact.force[0], contact.force[1], rtol=1e-12)
    # Friction acts at the surfaces, 17.5 mm from either axis, and turns both arms about y.
    turning = np.asarray(contact.torque).reshape(2, 2, 3).sum(1)
    np.testing.assert_allclose(turning[:, 1], 0.0175 * 0.6 * f, rtol=0.02)
    np.testing.assert_allclose(contact.penetration, -gap, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_matrices_majorise_the_coupled_ones(seed):
    # At rest -d(wrench)/d(twist) of all nodes is the pairs' coupled C, and k (d gap)(d gap)^T their coupled K.
    nodes = random_nodes(seed)
    nodes = nodes._replace(velocity=jnp.zeros((8, 3)), angular_velocity=jnp.zeros((8, 3)))
    pair = Candidates(CROSSED.first[:2], CROSSED.second[:2], CROSSED.overflow)

    def wrench(twist):
        contact = contact_between_capsules(
            LAW, nodes._replace(angular_velocity=twist[:, :3], velocity=twist[:, 3:]), pair
        )
        return -jnp.concatenate([contact.torque, contact.force], -1)

    def gaps(position):
        ends = np.stack([pair.first, pair.first + 1, pair.second, pair.second + 1], -1)
        return jax.vmap(capsule_gap)(position[ends], nodes.radius[ends]).gap

    contact = touch(LAW, nodes, pair)
    coupled = np.asarray(jax.jit(jax.jacfwd(wrench))(jnp.zeros((8, 6)))).reshape(48, 48)
    np.testing.assert_allclose(coupled, coupled.T, atol=1e-12 * np.abs(coupled).max())
    assert np.linalg.eigvalsh(coupled).min() > -1e-12 * np.abs(coupled).max()
    assert smallest_excess(contact.damping, coupled) > -1e-12 * np.abs(coupled).max()

    slope, depth = np.asarray(jax.jacrev(gaps)(nodes.position)).reshape(2, 24), -np.asarray(gaps(nodes.position))
    assert np.all(depth > ONSET)
    coupled = K * slope.T @ slope
    assert smallest_excess(contact.stiffness[:, 3:, 3:], coupled) > -1e-9 * K


def smallest_excess(blocks, coupled):
    """The least eigenvalue of the block diagonal less the coupled matrix."""
    n, k, _ = blocks.shape
    diagonal = np.zeros((n, k, n, k))
    diagonal[np.arange(n), :, np.arange(n)] = blocks
    return np.linalg.eigvalsh(diagonal.reshape(n * k, n * k) - coupled).min()


# --- The search


def coiled_arms(seed, arms=3, count=12):
    """Arms that wind through the same small space."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(arms, count, 3)) + 1.5 * rng.normal(size=(arms, 1, 3))
    position = (
        np.cumsum(0.02 * steps / np.linalg.norm(steps, axis=-1, keepdims=True), 1)
        + rng.normal(size=(arms, 1, 3)) * 0.03
    )
    zero = jnp.zeros((arms * count, 3))
    radius = jnp.asarray(np.tile(np.linspace(0.01, 0.004, count), arms))
    return Nodes(jnp.asarray(position.reshape(-1, 3)), zero, zero, zero, radius)


def gaps_of_all(pairs, nodes):
    ends = np.stack([pairs.first, pairs.first + 1, pairs.second, pairs.second + 1], -1)
    return np.asarray(jax.jit(jax.vmap(capsule_gap))(nodes.position[ends], nodes.radius[ends]).gap)


def test_pairs_are_all_but_neighbours():
    pairs = CapsulePairs([4, 2, 5], 2)
    # Capsules 0 1 2 | 4 | 6 7 8 9: all pairs of different arms, and 6-9 alone of one arm.
    expected = {(i, j) for i in (0, 1, 2) for j in (4, 6, 7, 8, 9)} | {(4, j) for j in (6, 7, 8, 9)} | {(6, 9)}
    found = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.mark.parametrize("seed", range(5))
def test_search_finds_every_pair_within_the_margin(seed):
    nodes, pairs, margin = coiled_arms(seed), CapsulePairs([12] * 3, 2), 0.005
    candidates = find(pairs, nodes, 300, margin)
    assert int(candidates.overflow) == 0
    gap = gaps_of_all(pairs, nodes)
    near = {(i, j) for i, j, g in zip(pairs.first.tolist(), pairs.second.tolist(), gap, strict=True) if g < margin}
    assert len(near) > 20
    assert near <= set(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))
    # All pairs in contact are among the candidates, so contact is that of all pairs.
    everything = Candidates(pairs.first, pairs.second, jnp.asarray(0))
    whole, found = touch(LAW, nodes, everything), touch(LAW, nodes, candidates)
    np.testing.assert_allclose(found.force, whole.force, atol=1e-12 * np.abs(whole.force).max())
    np.testing.assert_array_equal(found.penetration, whole.penetration)
    assert float(whole.penetration.max()) == pytest.approx(max(0.0, -gap.min()), rel=1e-12)


def test_search_reports_what_did_not_fit():
    nodes, pairs = coiled_arms(0), CapsulePairs([12] * 3, 2)
    enough = find(pairs, nodes, 300, 0.005)
    larger = np.maximum(nodes.radius, np.roll(nodes.radius, -1))
    ends = np.stack([pairs.first, pairs.first + 1, pairs.second, pairs.second + 1], -1)
    separation = np.asarray(jax.jit(jax.vmap(closest_points))(nodes.position[ends]).separation)
    bound = np.linalg.norm(separation, axis=-1) - larger[pairs.first] - larger[pairs.second]
    within = np.count_nonzero(bound < 0.005)
    few = find(pairs, nodes, 10, 0.005)
    assert int(enough.overflow) == 0
    assert int(few.overflow) == within - 10 > 0
    # The nearest are kept; single precision may swap what is equal to seven digits.
    kept = set(zip(few.first.tolist(), few.second.tolist(), strict=True))
    nearest_ten = np.argsort(bound)[:10]
    assert kept == set(zip(pairs.first[nearest_ten].tolist(), pairs.second[nearest_ten].tolist(), strict=True))


def test_an_arm_too_short_to_touch_itself_has_no_contact():
    nodes, pairs = coiled_arms(0, 1, 3), CapsulePairs([3], 1)
    candidates = find(pairs, nodes, 16, 0.01)
    contact = touch(LAW, nodes, candidates)
    assert candidates.first.shape == (0,)
    assert int(candidates.overflow) == 0
    assert not any(np.any(leaf) for leaf in contact)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: CapsulePairs([], 1), "`nodes_per_arm` must name at least one arm; got none"),
        (lambda: CapsulePairs([5, 1], 1), "`nodes_per_arm[1]` must be a whole number from 2 to 1000000; got 1"),
        (lambda: CapsulePairs([5], 0), "`neighbours` must be a whole number from 1 to 1000000; got 0"),
        (lambda: find_candidates(CapsulePairs([5], 1), coiled_arms(0, 1, 5), 0, 0.1), "`capacity` must be a whole number from 1 to 1000000; got 0"),
        (lambda: find_candidates(CapsulePairs([5], 1), coiled_arms(0, 1, 5), 4, -0.1), "`margin` must be a finite number at least 0; got -0.1"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message
