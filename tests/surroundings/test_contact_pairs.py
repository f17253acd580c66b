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
    CapsuleGap,
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
gaps_of = jax.jit(jax.vmap(capsule_gap))
gap_pullback = jax.jit(lambda ends, radii, weights: jax.vjp(capsule_gap, ends, radii)[1](weights))


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


@pytest.mark.parametrize("name", PARALLEL)
def test_gaps_and_their_gradients_are_finite(name):
    ends, radii = np.array(PARALLEL[name], float), np.array([0.2, 0.1, 0.15, 0.05])
    assert all(np.all(np.isfinite(leaf)) for leaf in gap_of(ends, radii))
    for gap, x, y, z, s, t in np.eye(6):
        slopes = gap_pullback(ends, radii, CapsuleGap(gap, np.array([x, y, z]), s, t))
        assert all(np.all(np.isfinite(slope)) for slope in slopes)


@given(segments, st.lists(st.floats(0.02, 0.3), min_size=4, max_size=4))
def test_gap_is_the_least_distance_of_balls_along_the_axes(ends, radii):
    lengths = [np.linalg.norm(ends[1] - ends[0]), np.linalg.norm(ends[3] - ends[2])]
    tapers = [abs(radii[1] - radii[0]), abs(radii[3] - radii[2])]
    if any(taper > 0.2 * length for taper, length in zip(tapers, lengths, strict=True)):
        return
    fraction = np.linspace(0, 1, 101)[:, None]
    a, b = ends[0] + fraction * (ends[1] - ends[0]), ends[2] + fraction * (ends[3] - ends[2])
    separation = np.linalg.norm(a[:, None] - b, axis=-1)
    balls = separation - _along(radii[:2], fraction) - _along(radii[2:], fraction).T
    gap = float(gap_of(ends, np.array(radii)).gap)
    best, pull = balls.min(), 0.04 * (sum(radii) / 2) ** 2
    # The grid misses the least by up to half a cell of each.
    assert gap >= best - 0.5 * (sum(lengths) + sum(tapers)) / 100
    # The pull adds sqrt(x^2 + pull / 2) - x at most; what one correction of the lean leaves is taper^6, 6e-5, of D,
    # as long as the axes do not cross.
    x = separation.flat[balls.argmin()]
    assert gap <= best + np.sqrt(x**2 + pull / 2) - x + 1e-4 * x or x < 0.25 * sum(radii)


def _along(radii, fraction):
    return radii[0] + fraction * (radii[1] - radii[0])


def test_points_of_touch_wander_and_do_not_jump_between_ends():
    # A capsule turned over another: with exact closest points s jumps from one end to the other at angle zero.
    def ends(angle):
        x, z = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
        return np.array([[-0.5, 0, 0], [0.5, 0, 0], [-x, 0, 0.2 - z], [x, 0, 0.2 + z]])

    exact = [float(nearest(ends(angle)).s) for angle in (-1e-6, 1e-6)]
    assert abs(exact[0] - exact[1]) > 0.9
    angles = np.linspace(-0.02, 0.02, 201)
    s = np.array([float(gap_of(ends(angle), np.full(4, 0.1)).s) for angle in angles])
    # The pull of 0.04 (0.2 m)^2 = 1.6e-3 m^2 keeps it that much short of the ends.
    assert s[0] == pytest.approx(1.0, abs=1.6e-3)
    assert s[-1] == pytest.approx(0.0, abs=1.6e-3)
    # It crosses while one end comes closer by _PULL times the radii, 8 mm over 1 m: 0.008 rad to each side.
    assert np.abs(np.diff(s)).max() < 2 * (angles[1] - angles[0]) / 0.008


# --- Loads of pairs

CROSSED = Candidates(*(np.array([(i, j) for i in range(3) for j in (4, 5, 6)]).T), np.asarray(0))
ENDS = np.stack([CROSSED.first, CROSSED.first + 1, CROSSED.second, CROSSED.second + 1], -1)

DEPTH = CapsuleGap(np.float64(-1.0), np.zeros(3), np.float64(0.0), np.float64(0.0))


def random_nodes(seed, taper=0.0):
    """Two short arms of four nodes, one over the other, deep in each other."""
    rng = np.random.default_rng(seed)
    along = np.linspace(-0.05, 0.05, 4)[:, None]
    lower, upper = along * [1, 0.2, 0], along * [0.1, 1, 0] + [0, 0, 0.027]
    position = np.concatenate([lower, upper]) + rng.uniform(-0.005, 0.005, (8, 3))
    velocity, spin, tangent = rng.normal(size=(3, 8, 3)) * np.array([0.5, 10.0, 1.0])[:, None, None]
    radius = 0.02 + taper * rng.uniform(-0.003, 0.003, 8)
    return Nodes(*map(jnp.asarray, (position, velocity, spin, tangent, radius, radius)))


def depths_and_slopes(nodes):
    """The depth of each pair, and its slopes by the positions of all nodes."""
    depth, slope = np.zeros(len(ENDS)), np.zeros((len(ENDS), 8, 3))
    for i, ends in enumerate(ENDS):
        pair = np.asarray(nodes.position)[ends], np.asarray(nodes.radius)[ends]
        depth[i], slope[i, ends] = -gap_of(*pair).gap, gap_pullback(*pair, DEPTH)[0]
    return depth, slope


def energy_slope(nodes):
    """The gradient of the elastic energy, k p(d) times that of the depth."""
    depth, slope = depths_and_slopes(nodes)
    d = np.maximum(depth, 0.0)
    return np.tensordot(K * np.where(d < ONSET, 0.5 * d**2 / ONSET, d - 0.5 * ONSET), slope, 1)


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
        np.testing.assert_allclose(contact.force, -energy_slope(nodes), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(contact.torque, 0.0, atol=1e-15)
        # Tapered by up to 6 mm over 33: what one correction leaves is of order taper^3 = 6e-3.
        nodes = random_nodes(seed, taper=1.0)
        error = touch(elastic, nodes, CROSSED).force + energy_slope(nodes)
        assert np.abs(error).max() < 6e-3 * np.abs(touch(elastic, nodes, CROSSED).force).max()


@given(st.integers(0, 2**32 - 1))
def test_contact_takes_energy_and_gives_none(seed):
    nodes = random_nodes(seed)
    contact = touch(LAW, nodes, CROSSED)
    power = np.sum(contact.force * nodes.velocity) + np.sum(contact.torque * nodes.angular_velocity)
    storing = np.sum(energy_slope(nodes) * nodes.velocity)
    assert power + storing <= 1e-10 * (1 + abs(power))


def test_loads_by_hand():
    # Two crossed arms whose second capsules touch: the upper sinks, at a quarter of its length, and slides along x.
    x, y = np.array([-0.3, -0.1, 0.1, 0.3]), np.array([-0.25, -0.05, 0.15, 0.35])
    position = np.zeros((8, 3))
    position[:4, 0], position[4:, 1], position[4:, 2] = x, y, 0.035
    velocity = np.zeros((8, 3))
    velocity[4:] = [1.0, 0.0, -0.5]
    nodes = Nodes(position, velocity, np.zeros((8, 3)), np.zeros((8, 3)), np.full(8, 0.02), np.full(8, 0.2))
    contact = touch(LAW, nodes, CROSSED)
    touching = [1, 2, 5, 6]
    np.testing.assert_array_equal(np.flatnonzero(np.abs(contact.force).sum(-1)), touching)
    # The pull moves the point of touch by 2 percent of a length, and the depth by less than a hundredth of the radii.
    gap, normal, s, t = gap_of(position[touching], np.full(4, 0.02))
    assert float(gap) == pytest.approx(-0.005, abs=4e-4)
    assert float(t) == pytest.approx(0.25, abs=0.02)
    assert float(s) == 0.5
    f = K * (-float(gap) - 0.5 * ONSET) * (1 + 0.7 * 0.5 * -float(normal[2]))
    on_upper = np.asarray(contact.force[4:].sum(0))
    np.testing.assert_allclose(on_upper[[0, 2]], [-0.6 * f, f], rtol=0.01)
    np.testing.assert_allclose(contact.force[6], contact.force[5] * t / (1 - t), rtol=1e-12)
    np.testing.assert_allclose(contact.force[1], contact.force[2], rtol=1e-12)
    # Friction acts at the surfaces, 17.5 mm from either axis, and turns both arms about y.
    turning = np.asarray(contact.torque).reshape(2, 4, 3).sum(1)
    np.testing.assert_allclose(turning[:, 1], 0.0175 * 0.6 * f, rtol=0.02)
    np.testing.assert_allclose(contact.penetration[np.array(touching)], -gap, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_matrices_majorise_the_coupled_ones(seed):
    # At rest the coupled C is -d(wrench)/d(twist), here by central differences: with steps h the law's curvature in
    # speed leaves c h / 4, about 1e-7, and rounding 1e-9.
    nodes, h = random_nodes(seed), 1e-6

    def wrench(twist):
        contact = touch(LAW, nodes._replace(angular_velocity=twist[:, :3], velocity=twist[:, 3:]), CROSSED)
        return np.concatenate([contact.torque, contact.force], -1).ravel()

    twists = h * np.eye(48).reshape(48, 8, 6)
    C = np.stack([(wrench(-twist) - wrench(twist)) / (2 * h) for twist in twists])
    at_rest = touch(LAW, nodes._replace(angular_velocity=np.zeros((8, 3)), velocity=np.zeros((8, 3))), CROSSED)
    size = np.abs(C).max()
    np.testing.assert_allclose(C, C.T, atol=1e-6 * size)
    assert np.linalg.eigvalsh(C).min() > -1e-6 * size
    assert smallest_excess(at_rest.damping, C) > -1e-6 * size
    # It is not larger than it need be: a quarter of it would not do.
    assert smallest_excess(0.25 * at_rest.damping, C) < -0.1 * size

    # The coupled K is k p'(d) times the slopes of the depth, summed over pairs.
    depth, slope = depths_and_slopes(nodes)
    assert np.count_nonzero(depth > ONSET) >= 2
    slope = slope.reshape(-1, 24)
    stiffness = K * np.clip(depth / ONSET, 0.0, 1.0)
    assert smallest_excess(at_rest.stiffness[:, 3:, 3:], slope.T @ (stiffness[:, None] * slope)) > -1e-9 * K


def smallest_excess(blocks, coupled):
    """The least eigenvalue of the block diagonal less the coupled matrix."""
    n, k, _ = blocks.shape
    diagonal = np.zeros((n, k, n, k))
    diagonal[np.arange(n), :, np.arange(n)] = blocks
    return np.linalg.eigvalsh(diagonal.reshape(n * k, n * k) - coupled).min()


# --- The search


def coiled_arms(seed, arms=3, count=12):
    """Arms that wind round one another."""
    rng = np.random.default_rng(seed)
    turn = np.linspace(0, 5, count) + 2 * np.pi * np.arange(arms)[:, None] / arms
    position = np.stack([0.015 * np.cos(turn), 0.015 * np.sin(turn), 0.01 * np.linspace(0, 5, count) + 0 * turn], -1)
    position = (position + rng.normal(size=position.shape) * 0.004).reshape(-1, 3)
    zero = jnp.zeros((arms * count, 3))
    radius = jnp.asarray(np.tile(np.linspace(0.008, 0.004, count), arms))
    return Nodes(jnp.asarray(position), zero, zero, zero, radius, radius)


def gaps_of_all(pairs, nodes):
    ends = np.stack([pairs.first, pairs.first + 1, pairs.second, pairs.second + 1], -1)
    return np.asarray(gaps_of(nodes.position[ends], nodes.radius[ends]).gap)


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
    candidates = find(pairs, nodes, 110, margin)
    assert int(candidates.overflow) == 0
    gap = gaps_of_all(pairs, nodes)
    near = {(i, j) for i, j, g in zip(pairs.first.tolist(), pairs.second.tolist(), gap, strict=True) if g < margin}
    assert len(near) > 20
    assert near <= set(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))
    assert gap.min() < 0.0


def test_search_reports_what_did_not_fit():
    nodes, pairs = coiled_arms(0), CapsulePairs([12] * 3, 2)
    enough = find(pairs, nodes, 110, 0.005)
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


def search(capacity, margin):
    return find_candidates(CapsulePairs([5], 1), coiled_arms(0, 1, 5), capacity, margin)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: CapsulePairs([], 1), "`nodes_per_arm` must name at least one arm; got none"),
        (lambda: CapsulePairs([5, 1], 1), "`nodes_per_arm[1]` must be a whole number from 2 to 1000000; got 1"),
        (lambda: CapsulePairs([5], 0), "`neighbours` must be a whole number from 1 to 1000000; got 0"),
        (lambda: search(0, 0.1), "`capacity` must be a whole number from 1 to 1000000; got 0"),
        (lambda: search(4, -0.1), "`margin` must be a finite number at least 0; got -0.1"),
        (lambda: search(4, float("nan")), "`margin` must be a finite number at least 0; got nan"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message
