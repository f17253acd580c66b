"""The shape back from the wires' lengths: round trips, the cylinder's closed form, compression, misfit, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from wired_arms import bend_vectors, wired_arm

from hydrostat.actuation import shape_from_lengths

EPS = np.finfo(float).eps
K = np.radians([0, 120, 240])
# Heights and the wire circle's radii at the boundaries of three segments, in metres.
ARMS = {
    "cylinder": ([0.35, 0.35, 0.35], [0.045] * 4),
    "cone": ([0.35, 0.35, 0.35], [0.05, 0.04, 0.03, 0.02]),
    "extreme cone": ([0.2, 0.2, 0.2], [0.06, 0.01, 0.06, 0.01]),
}
# Every theta with every azimuth, and in the other segments the same ones in other combinations.
GRID = bend_vectors([0, 1e-7, 0.01, 1, *range(10, 180, 10)], range(0, 360, 15))
BENDS = np.stack([GRID, np.random.default_rng(0).permutation(GRID), np.random.default_rng(1).permutation(GRID)], 1)
PROMISE = 1e-9  # rad, and metres


@pytest.mark.parametrize("routing", ["decoupled", "through"])
@pytest.mark.parametrize("bays", [None, 10], ids=["hard", "soft"])
@pytest.mark.parametrize("name", ARMS)
def test_round_trip(lengths_of, shapes_of, name, bays, routing):
    wired = wired_arm(*ARMS[name], bays=bays, routing=routing)
    q = wired.configuration(BENDS)
    shape = shapes_of(wired, lengths_of(wired, q))
    assert np.all(shape.solved)
    np.testing.assert_allclose(shape.bend, BENDS, rtol=0, atol=PROMISE)
    np.testing.assert_allclose(shape.q, q, rtol=0, atol=PROMISE / min(ARMS[name][0]))
    np.testing.assert_allclose(shape.compression, 0, atol=PROMISE)
    np.testing.assert_allclose(shape.misfit, 0, atol=PROMISE)


def test_few_bays(lengths_of, shapes_of):
    # Long bays bend the models most; only part of the grid, since every number of bays is compiled anew.
    wired = wired_arm(*ARMS["extreme cone"], bays=2)
    some = BENDS[::7]
    shape = shapes_of(wired, lengths_of(wired, wired.configuration(some)))
    assert np.all(shape.solved)
    np.testing.assert_allclose(shape.bend, some, rtol=0, atol=PROMISE)


def test_closed_form_of_the_cylinder(lengths_of, shapes_of):
    heights, radii = ARMS["cylinder"]
    wired = wired_arm(heights, radii, shift=0)
    lengths = lengths_of(wired, wired.configuration(BENDS))
    shape = shapes_of(wired, lengths)
    L1, L2, L3 = np.moveaxis(lengths.reshape(-1, 3, 3), -1, 0)
    # Boccolato's equations 13 and 15, corrected.
    square = L1**2 + L2**2 + L3**2 - L1 * L2 - L2 * L3 - L3 * L1
    theta = 2 / (3 * radii[0]) * np.sqrt(np.maximum(square, 0))
    alpha = np.arctan2(np.sqrt(3) * (L3 - L2), L2 + L3 - 2 * L1)
    expected = theta[..., None] * np.stack([np.cos(alpha), np.sin(alpha)], -1)
    # The square loses its digits against L^2, which leaves eps L^2 / (r^2 theta) in theta.
    bent = np.linalg.norm(BENDS, axis=-1) > 0.1
    bound = 20 * EPS * (heights[0] / radii[0]) ** 2 / 0.1
    np.testing.assert_allclose(shape.bend[bent], expected[bent], rtol=0, atol=bound)
    # Without the detour over the square root it is linear, and exact to rounding.
    directions = np.stack([np.cos(K), np.sin(K)], -1)
    linear = -2 / (3 * radii[0]) * lengths.reshape(-1, 3, 3) @ directions
    np.testing.assert_allclose(shape.bend, linear, rtol=0, atol=40 * EPS * heights[0] / radii[0])


def test_constant_wire_speeds_are_a_straight_line_of_the_bend_vector(lengths_of, shapes_of):
    wired = wired_arm(*ARMS["cylinder"])
    ends = lengths_of(wired, wired.configuration(BENDS[[30, 400]]))
    fractions = np.linspace(0, 1, len(BENDS))[:, None]  # as many as in the other tests: one compilation
    shape = shapes_of(wired, ends[0] + fractions * (ends[1] - ends[0]))
    expected = BENDS[30] + fractions[..., None] * (BENDS[400] - BENDS[30])
    np.testing.assert_allclose(shape.bend, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shape.compression, 0, atol=1e-14)


@pytest.mark.parametrize("bays", [None, 10], ids=["hard", "soft"])
@pytest.mark.parametrize("name", ARMS)
def test_virtual_compression(lengths_of, shapes_of, name, bays):
    # Three wires of one decoupled segment longer by c, of another shorter: no other shape, but a compression.
    wired = wired_arm(*ARMS[name], bays=bays)
    lengths = lengths_of(wired, wired.configuration(BENDS))
    added = np.array([2e-3, -1e-3, 0.0])
    shape = shapes_of(wired, lengths + np.repeat(added, 3))
    assert np.all(shape.solved)
    np.testing.assert_allclose(shape.compression, np.broadcast_to(added, shape.compression.shape), rtol=0, atol=PROMISE)
    np.testing.assert_allclose(shape.bend, BENDS, rtol=0, atol=PROMISE)
    np.testing.assert_allclose(shape.misfit, 0, atol=PROMISE)


def test_compression_of_one_wire_pulled_alone(lengths_of, shapes_of):
    # A cylinder's wire 1 drawn in by d: a third of it is compression, the rest bends by 2 d / (3 r) towards the wire.
    heights, radii = ARMS["cylinder"]
    wired = wired_arm(heights, radii, shift=0)
    lengths = lengths_of(wired, wired.configuration(np.zeros_like(BENDS)))
    shape = shapes_of(wired, lengths - np.array([3e-3, *[0.0] * 8]))
    np.testing.assert_allclose(shape.compression[0], [-1e-3, 0, 0], atol=1e-15)
    np.testing.assert_allclose(shape.bend[0], [[2e-3 / radii[0], 0], [0, 0], [0, 0]], atol=1e-13)


def test_moving_a_proximal_segment_is_told_apart_from_the_distal_ones(lengths_of, shapes_of):
    # Through routing: all nine lengths change, and yet only the first segment has moved.
    wired = wired_arm(*ARMS["cone"], routing="through")
    bends = BENDS.copy()
    bends[:, 1:] = BENDS[100, 1:]
    shape = shapes_of(wired, lengths_of(wired, wired.configuration(bends)))
    np.testing.assert_allclose(shape.bend[:, 1:], bends[:, 1:], rtol=0, atol=PROMISE)


def test_four_wires_that_disagree(lengths_of, shapes_of):
    height, radius, slip = 0.3, 0.04, 5e-4
    wired = wired_arm([height], [radius, radius], azimuths=(0, 90, 180, 270))
    bends = GRID[::40][:, None]
    lengths = lengths_of(wired, wired.configuration(bends))
    agreeing = shapes_of(wired, lengths)
    np.testing.assert_allclose(agreeing.bend, bends, rtol=0, atol=PROMISE)
    np.testing.assert_allclose(agreeing.misfit, 0, atol=PROMISE)
    # The pattern + - + - is orthogonal to what bends and compression can do: all of it is left over.
    shape = shapes_of(wired, lengths + slip * np.array([1, -1, 1, -1]))
    np.testing.assert_allclose(shape.misfit, slip, rtol=1e-9)
    np.testing.assert_allclose(shape.bend, bends, rtol=0, atol=PROMISE)
    np.testing.assert_allclose(shape.compression, 0, atol=PROMISE)
    # One wire wrong by e: its least-squares share is e/4 compression, a bend, and e/4 left over.
    shape = shapes_of(wired, lengths + slip * np.array([1, 0, 0, 0]))
    np.testing.assert_allclose(shape.misfit, slip / 4, rtol=1e-9)
    np.testing.assert_allclose(shape.compression, slip / 4, rtol=1e-9)


def test_the_misfit_is_the_largest_one(lengths_of, shapes_of):
    # Unevenly spaced wires share a disagreement unevenly: a linear least-squares problem on the cylinder.
    height, radius = 0.3, 0.04
    azimuths = (0, 20, 100, 200)
    wired = wired_arm([height], [radius, radius], azimuths=azimuths)
    bends = GRID[::40][:, None]
    slips = np.array([5e-4, -2e-4, 0, 1e-4])
    shape = shapes_of(wired, lengths_of(wired, wired.configuration(bends)) + slips)
    angles = np.radians(azimuths)
    rows = np.stack([-radius * np.cos(angles), -radius * np.sin(angles), np.ones(4)], -1)
    fit = np.linalg.lstsq(rows, slips)[0]
    left = np.abs(slips - rows @ fit)
    assert left.max() > 1.5 * left.mean()
    np.testing.assert_allclose(shape.misfit, left.max(), rtol=1e-9)
    np.testing.assert_allclose(shape.bend[:, 0], bends[:, 0] + fit[:2], rtol=0, atol=PROMISE)
    np.testing.assert_allclose(shape.compression, fit[2], rtol=0, atol=PROMISE)


# --- Derivatives


@pytest.fixture(scope="module")
def derivatives():
    """d(bend, compression)/d(lengths) both ways, and the derivative of the lengths with respect to both."""

    def shape(arm, tendons, lengths):
        result = shape_from_lengths(arm, tendons, lengths)
        return jnp.concatenate([result.bend, result.compression[:, None]], -1)

    def lengths(arm, tendons, unknown):
        return jnp.sum(tendons.along_arcs(unknown[:, :2], arm.segments.length) + tendons.passes * unknown[:, 2], -1)

    def of(arm, tendons, unknown):
        given = lengths(arm, tendons, unknown)
        inverse = [d(shape, argnums=2)(arm, tendons, given) for d in (jax.jacfwd, jax.jacrev)]
        return jax.jacfwd(lengths, argnums=2)(arm, tendons, unknown), inverse

    # One by one: a batch would take half as long again to compile, and nothing is gained by it here.
    compiled = jax.jit(of)
    return lambda arm, tendons, stack: jax.tree.map(
        lambda *parts: np.stack(parts), *[compiled(arm, tendons, jnp.asarray(unknown)) for unknown in stack]
    )


@pytest.mark.parametrize("bays", [None, 10], ids=["hard", "soft"])
@pytest.mark.parametrize("routing", ["decoupled", "through"])
@pytest.mark.parametrize("name", ARMS)
def test_derivative_of_the_inverse(derivatives, name, routing, bays):
    wired = wired_arm(*ARMS[name], bays=bays, routing=routing)
    bends = BENDS[[0, 30, 100, 200, 300, 400]]
    unknown = np.concatenate([bends, np.zeros((len(bends), 3, 1))], -1)
    forward, inverses = derivatives(*wired, unknown)
    count = len(bends)
    forward = forward.reshape(count, 9, 9)
    # Both are sums of a few products; the inverse's entries are up to 1 / r = 100 per metre, its condition below 1e4.
    for inverse in inverses:
        product = inverse.reshape(count, 9, 9) @ forward
        # What bends do to the lengths, the inverse takes back; what compression does, too.
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(9), product.shape), rtol=0, atol=1e-9)


def test_rates_of_the_cylinder(derivatives):
    # theta' = -(2 / (3 r)) sum L_n' cos(a_n), alpha' = -(2 / (3 r theta)) sum L_n' sin(a_n), with a_n = k_n - alpha.
    heights, radii = ARMS["cylinder"]
    wired = wired_arm(heights, radii, shift=0)
    bends = BENDS[[30, 100, 200, 300, 400, 450]]
    unknown = np.concatenate([bends, np.zeros((len(bends), 3, 1))], -1)
    _, (jacobian, _) = derivatives(*wired, unknown)
    rates = np.array([1e-3, -3e-3, 2e-3])  # of one segment's wires; they add up to zero
    for i, j in np.ndindex(len(bends), 3):
        theta, alpha = np.hypot(*bends[i, j]), np.arctan2(bends[i, j, 1], bends[i, j, 0])
        if theta < 0.1:
            continue
        moved = jacobian[i, j, :2, 3 * j : 3 * j + 3] @ rates
        radial = moved @ [np.cos(alpha), np.sin(alpha)]
        around = moved @ [-np.sin(alpha), np.cos(alpha)] / theta
        assert radial == pytest.approx(-2 / (3 * radii[0]) * rates @ np.cos(K - alpha), abs=1e-12)
        assert around == pytest.approx(-2 / (3 * radii[0] * theta) * rates @ np.sin(K - alpha), abs=1e-12)
