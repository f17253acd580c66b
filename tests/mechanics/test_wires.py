"""Wires of any arm: their course in space, the work they do, and the arms that they bend and hold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import Coordinates, factor, solve
from hydrostat.mechanics.energy import energy
from hydrostat.mechanics.model import Wires, make_arm_model
from hydrostat.mechanics.robot import no_inputs, single_arm, unequal_arms
from hydrostat.mechanics.statics import equilibrium
from hydrostat.mechanics.wires import wire_forces, wire_lengths, wire_tensions
from hydrostat.segments import MODES, StrainSegment

EPS = np.finfo(float).eps
LENGTHS = np.array([0.3, 0.2])
# Three wires: the first ends at the first segment, the third begins at the second.
PASSES = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
TAPERED = np.array([[0.04, 0.03], [0.02, 0.005]])  # at base and tip of each segment [m]


def an_arm(modes, lengths=LENGTHS, radius=0.01, young=1e6, base=None):
    n = len(lengths)
    return Arm(
        StrainSegment(jnp.asarray(lengths), modes),
        Section(jnp.full(n, radius), jnp.full(n, radius)),
        Material(*(jnp.full(n, value) for value in (young, 0.3, 1000.0, 0.0))),
        SE3.identity() if base is None else base,
    )


def tendons(bays=None, offsets=TAPERED, passes=PASSES, azimuth=(0.3, 2.4, -1.5)):
    w, n = np.shape(passes)
    return Tendons(
        jnp.asarray(azimuth), jnp.broadcast_to(jnp.asarray(offsets), (w, n, 2)), jnp.asarray(passes), (n - 1,) * w, bays
    )


def strained(seed, count=2):
    """Strains of every kind: bends and twists of one to two radians a segment, a tenth of shear and stretch."""
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.normal(size=(count, 6)) * np.array([4.0, 4.0, 5.0, 0.1, 0.1, 0.1]))


# --- Where the wires run

along = eqx.filter_jit(lambda wires, arm, q: wires.along_segments(arm, q))
poses = jax.jit(lambda segments, q, s: jax.vmap(lambda g, q: jax.vmap(lambda s: g.pose(q, s))(s))(segments, q))


def holes(wires, arm, q, count):
    """Where wires are in their segments at equal fractions, [wire, segment, fraction, 3], by the segments' poses."""
    s = np.linspace(0.0, 1.0, count + 1)
    T = poses(arm.segments, q, jnp.asarray(s))
    base, tip = np.asarray(wires.offsets[..., 0]), np.asarray(wires.offsets[..., 1])
    reach = base[..., None] + s * (tip - base)[..., None]
    azimuth = np.asarray(wires.azimuth)
    spoke = np.stack([np.cos(azimuth), np.sin(azimuth), 0.0 * azimuth], -1)
    local = reach[..., None] * spoke[:, None, None]
    return np.einsum("nsij,wnsj->wnsi", T.rotation, local) + np.asarray(T.position)


def polyline(points):
    return np.linalg.norm(np.diff(points, axis=2), axis=-1).sum(-1)


@pytest.mark.parametrize("seed", range(4))
def test_hard_wires_are_as_long_as_their_curve(seed):
    wires, arm, q = tendons(), an_arm(MODES), strained(seed)
    # Chords through N points fall short by 1 / N^2; the combination of two leaves 1 / N^4. A wire turns by less than
    # 4 rad a segment of 0.3 m: 0.3 (4 / 2048)^4 / 1920 = 2e-15 m, below the rounding of 4096 chords, 4096 EPS 0.3.
    fine = holes(wires, arm, q, 4096)
    curve = (4.0 * polyline(fine) - polyline(fine[:, :, ::2])) / 3.0
    found = np.asarray(along(wires, arm, q))
    # Six Gauss points for the root of a quadratic: with the strains above its complex zeros are more than one length
    # of the interval away, which makes the error at most rho^-12, rho = 3 + sqrt(8), of 0.3 m: 2e-10.
    np.testing.assert_allclose(found, curve * PASSES, rtol=0, atol=2e-10)
    assert np.all(found[PASSES == 0.0] == 0.0)


@pytest.mark.parametrize("bays", [1, 7])
def test_soft_wires_run_straight_from_disc_to_disc(bays):
    wires, arm = tendons(bays), an_arm(MODES)
    for seed in range(3):
        q = strained(seed)
        expected = polyline(holes(wires, arm, q, bays)) * PASSES
        # Differences of positions below 0.4 m, a dozen roundings each.
        np.testing.assert_allclose(along(wires, arm, q), expected, rtol=0, atol=6 * bays * EPS)


def test_wires_of_constant_offset_wind_as_helices():
    # Twisted and stretched, a wire advances by (1 + e) along the axis and by t d round it.
    d, twist, stretch = 0.03, 9.0, 0.2
    wires, arm = tendons(offsets=np.full((2, 2), d)), an_arm(MODES)
    q = jnp.zeros((2, 6)).at[:, 2].set(twist).at[:, 5].set(stretch)
    expected = LENGTHS * np.hypot(1.0 + stretch, twist * d) * PASSES
    np.testing.assert_allclose(along(wires, arm, q), expected, rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("bays", [None, 5])
def test_with_bends_alone_the_general_course_is_that_of_the_arcs(bays):
    wires = tendons(bays)
    arcs, general = an_arm(("bend_x", "bend_y")), an_arm(MODES)
    for seed in range(3):
        bends = strained(seed)[:, :2]
        q = jnp.zeros((2, 6)).at[:, :2].set(bends)
        # Two ways to the same number: closed forms and quadrature. With bends of 4 / m the taper of 15 mm changes the
        # wire's advance by 0.06 of itself: zeros at 16 intervals' distance leave nothing of the quadrature's error.
        np.testing.assert_allclose(along(wires, general, q), along(wires, arcs, bends), rtol=0, atol=40 * EPS)


# --- The work of wires


@pytest.fixture(scope="module", params=[None, 4], ids=["hard", "soft"])
def wired(request):
    wires = tendons(request.param)
    return {
        "tension": make_arm_model(an_arm(MODES), wires=Wires(wires, None, None)),
        "length": make_arm_model(
            an_arm(MODES), wires=Wires(wires, jnp.array([3e3, 5e3, 4e3]), jnp.array([2.0, 4.0, 3.0]))
        ),
    }


forces = eqx.filter_jit(wire_forces)
tensions = eqx.filter_jit(wire_tensions)
lengths = eqx.filter_jit(wire_lengths)
length_slopes = eqx.filter_jit(jax.jacrev(wire_lengths, 1))


def directional(function, q, way, h=1e-3):
    """Fourth-order differences: at this step truncation and rounding are both some 1e-12 of a smooth function."""
    f = [function(q + i * h * way) for i in (-2, -1, 1, 2)]
    return (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / (12.0 * h)


@pytest.mark.parametrize("seed", range(3))
def test_forces_of_given_tensions_are_their_virtual_work(wired, seed):
    model, q = wired["tension"], strained(seed)
    wires, pull = model.wires.course, jnp.array([3.0, 1.0, 7.0])
    way = jnp.asarray(np.random.default_rng(seed + 10).normal(size=q.shape))
    held = float(jnp.sum(forces(model, q, jnp.zeros_like(q), pull) * way))

    def work_against(q):
        # Lengths from points in space; hard wires as chords of 256 and 512, the rest of which is 1e-13 of them.
        if wires.bays is not None:
            each = polyline(holes(wires, model.arm, q, wires.bays))
        else:
            fine = holes(wires, model.arm, q, 512)
            each = (4.0 * polyline(fine) - polyline(fine[:, :, ::2])) / 3.0
        return float(np.asarray(pull) @ np.sum(each * PASSES, -1))

    # A work of some 2 N m known to 512 EPS, over steps of 1e-3, and 1e-9 of it as chords: 1e-8 is a safe bound.
    assert held == pytest.approx(directional(work_against, q, way), abs=1e-8)


def test_wires_of_given_length_pull_as_springs_and_dampers_that_go_slack(wired):
    model, q = wired["length"], strained(1)
    stiffness, damping = np.asarray(model.wires.stiffness), np.asarray(model.wires.damping)
    rng = np.random.default_rng(2)
    v = jnp.asarray(rng.normal(size=q.shape))
    now = np.asarray(lengths(model, q))
    rate = directional(lambda q: np.asarray(lengths(model, q)), q, v)
    given = now - np.array([2e-3, -1e-3, 1e-3])
    expected = np.maximum(stiffness * (now - given) + damping * rate, 0.0)
    assert expected[1] == 0.0
    assert np.all(expected[[0, 2]] > 0.0)
    found = tensions(model, q, v, jnp.asarray(given))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    # At rest the force is the slope of the energy in the wires.
    still = jnp.zeros_like(q)
    way = jnp.asarray(rng.normal(size=q.shape))

    def stored(q):
        stretch = np.maximum(np.asarray(lengths(model, q)) - given, 0.0)
        return float(0.5 * stiffness @ stretch**2)

    slope = directional(stored, q, way, h=1e-4)
    assert float(jnp.sum(forces(model, q, still, jnp.asarray(given)) * way)) == pytest.approx(slope, rel=1e-7)
    # Damping takes energy, whatever the motion: the more so, the faster.
    power = [float(jnp.sum(forces(model, q, s * v, jnp.asarray(given)) * s * v)) for s in (-1.0, 1.0)]
    without = float(jnp.sum(forces(model, q, still, jnp.asarray(given)) * v))
    assert power[0] > -without
    assert power[1] > without


# --- Arms bent by tension

ROD = {"lengths": np.full(4, 0.05), "radius": 1e-3, "young": 60e9}
EI, EA = 60e9 * np.pi / 4.0 * 1e-12, 60e9 * np.pi * 1e-6


@pytest.fixture(scope="module")
def rod():
    """A rod without weight between two tendons on either side, which bends and stretches."""
    arm = an_arm(("bend_x", "bend_y", "stretch"), **ROD)
    pair = tendons(offsets=np.full((4, 2), 0.008), passes=np.ones((2, 4)), azimuth=(0.6, 0.6 + np.pi))
    return single_arm(arm, gravity=(0.0, 0.0, 0.0), wires=Wires(pair, None, None))


@pytest.mark.parametrize("turns", [0.0, 0.01, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("both", [0.0, 30.0])
def test_a_difference_of_tensions_bends_a_rod_to_a_circle(rod, turns, both):
    e = 0.008
    curvature = 2.0 * np.pi * turns / 0.2
    difference = EI * curvature / e
    found = equilibrium(rod, no_inputs(rod)._replace(wires=jnp.array([both + difference, both])))
    # Newton's last step is below 1e-11 of strain times length, 0.05 m.
    expected = np.tile([-curvature * np.sin(0.6), curvature * np.cos(0.6), -(2.0 * both + difference) / EA], (4, 1))
    np.testing.assert_allclose(found.q, expected, rtol=0, atol=1e-11 / 0.05)


# --- The operator with wires: Woodbury


def on_its_side(turn):
    c, s = np.cos(turn), np.sin(turn)
    return SE3(jnp.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]), jnp.array([0.02, 0.0, 0.05]))


BENT = ("bend_x", "bend_y", "twist")


def operator_models(kind):
    """A model whose wires are driven by length, and the same without them."""
    spring = Wires(tendons(3), jnp.array([3e3, 5e3, 4e3]), jnp.array([20.0, 40.0, 30.0]))
    pair = tendons(offsets=np.full((1, 2), 0.02), passes=np.ones((2, 1)), azimuth=(0.0, 2.0))
    models = []
    for driven in (True, False):
        first = make_arm_model(an_arm(BENT), points=2, lumps=[(1.0, 0.05)], wires=spring if driven else None)
        if kind == "free, three arms":
            # The middle one's wires are driven by tension, and add nothing.
            ways = (Wires(pair, None, None), Wires(pair, jnp.array([6e3, 5e3]), jnp.array([5.0, 8.0])))
            others = [
                make_arm_model(
                    an_arm(("bend_x", "bend_y"), lengths=[0.25], base=on_its_side(turn)),
                    points=2,
                    wires=way if driven else None,
                )
                for turn, way in zip((-1.0, 1.0), ways, strict=True)
            ]
            models.append(unequal_arms([first, *others], base_mass=0.3, base_inertia=1e-3))
        else:
            models.append(single_arm(first))
    return models


@pytest.mark.parametrize("kind", ["fixed", "free, three arms"])
def test_operator_with_wires_is_the_dense_one(kind):
    model, bare = operator_models(kind)
    several = kind != "fixed"
    rng = np.random.default_rng(5)
    first = strained(4)[:, :3]
    q = (first, jnp.asarray([[1.0, 2.0]]), jnp.asarray([[-2.0, 1.5]])) if several else first
    base = jnp.asarray(0.2 * rng.normal(size=6)) if several else jnp.zeros(6)
    x = Coordinates(q, base)
    v = jax.tree.map(lambda y: 0.1 * y, x)
    arms = model.each
    qs, vs = (q, v.q) if several else ((q,), (v.q,))

    # The first wire of each arm is slack, the others are 2 mm too long.
    given, columns, scales = [], [], []
    c_v, c_q = 6e-4, 3.6e-7
    sizes = [part.size for part in qs]
    for i, (arm, own) in enumerate(zip(arms, qs, strict=True)):
        if arm.wires is None or arm.wires.stiffness is None:
            given.append(no_inputs(model).wires[i])
            continue
        at = lengths(arm, own) - jnp.where(jnp.arange(len(arm.wires.stiffness)) > 0, 2e-3, -2e-3)
        given.append(at)
        taut = np.asarray(tensions(arm, own, vs[i], at)) > 0.0
        assert list(taut) == [False, *[True] * (len(taut) - 1)]
        G = np.zeros((len(taut), sum(sizes) + 6))
        slopes = length_slopes(arm, own)
        G[:, sum(sizes[:i]) : sum(sizes[: i + 1])] = np.asarray(slopes).reshape(len(taut), -1)
        columns.append(G)
        scales.append(taut * (c_q * np.asarray(arm.wires.stiffness) + c_v * np.asarray(arm.wires.damping)))
    G, scale = np.concatenate(columns).T, np.concatenate(scales)

    inputs = no_inputs(model)._replace(wires=tuple(given) if several else given[0])
    bare_inputs = no_inputs(bare)
    flat, unravel = ravel_pytree(x)

    @quick_jit
    def inverses(model, bare, inputs, bare_inputs):
        def inverse(model, inputs):
            factors = factor(model, x, v, c_v, c_q, inputs)
            return jax.vmap(lambda r: ravel_pytree(solve(factors, unravel(r)))[0])(jnp.eye(len(flat))).T

        return inverse(model, inputs), inverse(bare, bare_inputs)

    found, without = (np.asarray(part) for part in inverses(model, bare, inputs, bare_inputs))
    size = len(flat) - (0 if several else 6)
    found, without, G = found[:size, :size], without[:size, :size], G[:size]
    dense = np.linalg.inv(without) + G @ (scale[:, None] * G.T)
    expected = np.linalg.inv(dense)
    # Scaled to a unit diagonal, since coordinates differ in kind. Inverses are right to rounding times the condition,
    # some 1e3, and a sum of some dozen terms.
    scaling = np.sqrt(np.outer(np.diag(dense), np.diag(dense)))
    condition = np.linalg.cond(dense / scaling)
    assert condition < 1e5
    np.testing.assert_allclose(scaling * found, scaling * expected, rtol=0, atol=100 * EPS * condition)
    # The wires do matter: by more than a thousandth.
    assert np.abs(scaling * (without - expected)).max() > 1e-3


# --- Arms held by the length of their wires


@pytest.fixture(scope="module")
def held():
    """A soft horizontal arm with three wires to each of its two segments, and a shape for them to hold."""
    arm = an_arm(("bend_x", "bend_y"), young=2e5, base=on_its_side(0.5 * np.pi))
    passes = np.repeat(np.eye(2), 3, 0)
    six = tendons(offsets=np.full((2, 2), 0.03), passes=passes, azimuth=np.tile([0.0, 2.0, 4.0], 2) * np.pi / 3.0)
    model = single_arm(arm, wires=Wires(six, jnp.asarray(np.full(6, 1e4)), jnp.asarray(np.full(6, 1.0))))
    return model, jnp.array([[1.5, -2.0], [-3.0, 1.0]])


def with_stiffness(model, stiffness):
    return eqx.tree_at(lambda m: m.arms.wires.stiffness, model, jnp.asarray(np.full(6, stiffness)))


@quick_jit
def slopes_of(model, q):
    """The slopes of the energy of weight and material, and of the wires' lengths."""
    still = Coordinates(jnp.zeros_like(q), jnp.zeros(6))

    def potential(q):
        stored = energy(model, Coordinates(q, jnp.zeros(6)), still, no_inputs(model))
        return stored.elastic + stored.gravitational

    return jax.grad(potential)(q), jax.jacrev(lambda q: wire_lengths(model.one, q))(q)


def test_tensions_of_held_wires_balance_weight_and_elasticity(held):
    model, shape = held
    given = lengths(model.one, shape)
    inputs = no_inputs(model)._replace(wires=given)
    found = equilibrium(model, inputs, shape).q
    # The tension by hand, from the lengths at rest.
    tension = np.maximum(1e4 * np.asarray(lengths(model.one, found) - given), 0.0)
    assert np.count_nonzero(tension) < len(tension)
    assert np.count_nonzero(tension) >= 2
    by_weight, by_wires = slopes_of(model, found)
    pulls = np.tensordot(tension, np.asarray(by_wires), 1)
    # Newton stops at 1e-11 of strain times length, which the wires' stiffness, 1e4 N/m x (0.03 m)^2, makes 1e-10 N m.
    np.testing.assert_allclose(pulls, -np.asarray(by_weight), rtol=0, atol=1e-10)
    assert np.abs(pulls).max() > 1e-3


def test_the_shape_follows_the_wires_as_they_stiffen(held):
    model, shape = held
    inputs = no_inputs(model)._replace(wires=lengths(model.one, shape))
    stiffness = np.array([1e4, 1e5, 1e6, 1e7])
    strays = []
    for k in stiffness:
        q = equilibrium(with_stiffness(model, k), inputs, shape).q
        strays.append(np.abs((q - shape) * LENGTHS[:, None]).max())
    slopes = np.diff(np.log(strays)) / np.diff(np.log(stiffness))
    # A tension that tends to a limit stretches its wire by 1 / k of it; the next term is the stray itself.
    np.testing.assert_allclose(slopes, -1.0, atol=strays[0])
    # A wire of 1e7 N/m at 30 mm that carries what the arm needs, some 10 N: 1e-6 m over 30 mm.
    assert strays[-1] < 1e-4


def test_no_tension_is_negative(held):
    model, shape = held
    rng = np.random.default_rng(3)
    for _ in range(50):
        q, v = (jnp.asarray(rng.normal(size=(2, 2)) * scale) for scale in (4.0, 100.0))
        given = lengths(model.one, shape) + jnp.asarray(rng.normal(size=6)) * 0.02
        found = np.asarray(tensions(model.one, q, v, given))
        assert np.all(found >= 0.0)
    # All wires too long: nothing pulls, and the arm rests as it would without them.
    found = equilibrium(model, no_inputs(model)._replace(wires=lengths(model.one, shape) + 1.0), shape).q
    by_weight, _ = slopes_of(model, found)
    np.testing.assert_allclose(by_weight, 0.0, atol=1e-10)
