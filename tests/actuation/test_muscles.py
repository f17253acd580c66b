"""Muscles and tissue of a hydrostat: static lengths, virtual work, twist."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from hydrostat.mechanics.contraction import (
    muscle_forces,
    muscle_lengths,
    muscle_operator,
    muscle_power,
    muscle_tensions,
)
from hydrostat.mechanics.elasticity import elastic_energy, elastic_forces
from hydrostat.mechanics.model import relaxed
from hydrostat.mechanics.nodes import AbstractMuscles
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm

E, STRESS, STIFFNESS = 10e3, 80e3, 132e3
KINDS = ("strut", "strain")
MODELS = {kind: build_robot(octopus_arm(4, kind, oblique=True)).one for kind in KINDS}
RNG = np.random.default_rng(1)
Q = jnp.asarray(RNG.normal(size=(4, 4)) * [4.0, 4.0, 3.0, 0.15])
V = jnp.asarray(RNG.normal(size=(4, 4)))
ACTIVATION = jnp.asarray(RNG.uniform(0.0, 0.3, (4, 7)))


def passive(stretch):
    """Nominal stress of the tissue."""
    return E / 3.0 * (stretch - stretch**-2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", [0.05, 0.4])
def test_radial_muscles_elongate_to_the_root_of_the_static_balance(kind, activation):
    model = MODELS[kind]
    root = brentq(lambda s: passive(s) - activation * STRESS / 2.0 / s, 1.0, 4.0)
    q = jnp.zeros((4, 4)).at[:, 3].set(root - 1.0)
    forces = elastic_forces(model, q, 0 * q) + muscle_forces(model, q, 0 * q, relaxed(model).at[:, 4].set(activation))
    np.testing.assert_allclose(forces, 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", [0.05, 1.0])
def test_longitudinal_muscles_shorten_to_the_root_of_the_static_balance(kind, activation):
    model = MODELS[kind]
    root = brentq(lambda s: passive(s) + activation * (STRESS + STIFFNESS * (s - 1.0)), 0.4, 1.0)
    q = jnp.zeros((4, 4)).at[:, 3].set(root - 1.0)
    forces = elastic_forces(model, q, 0 * q) + muscle_forces(model, q, 0 * q, relaxed(model).at[:, :4].set(activation))
    np.testing.assert_allclose(forces, 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_power_of_muscles_is_what_their_forces_do(kind):
    model = MODELS[kind]
    given = muscle_power(model, Q, V, ACTIVATION)
    taken = jnp.sum(muscle_forces(model, Q, V, ACTIVATION) * V)
    assert float(jnp.sum(given)) == pytest.approx(-float(taken), rel=1e-12)
    assert np.all(np.asarray(muscle_tensions(model, Q, V, ACTIVATION)) >= 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_tissue_is_stiff_as_its_energy_says(kind):
    model = MODELS[kind]
    still = jnp.zeros((4, 4))
    hessian = jax.jacfwd(jax.grad(lambda q: elastic_energy(model, q)))(still)
    own = model.tissue.stiffness(model.arm, still)
    for i in range(4):
        np.testing.assert_allclose(own[i], hessian[i, :, i, :], rtol=1e-9, atol=1e-15)
        assert not np.any(np.asarray(hessian[i, :, (i + 1) % 4, :]))


@pytest.mark.parametrize("stretch", [0.6, 1.0, 2.0])
def test_bending_a_stretched_arm_costs_what_its_fibres_store(stretch):
    # Fibres of a disc, thinner as it is longer, each stretched by its own share of the bend.
    model, curvature = MODELS["strut"], 0.3
    section, length = model.arm.section, np.asarray(model.arm.segments.length)
    lower, upper = np.asarray(section.radius_base), np.asarray(section.radius_tip)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    radii = lower + (upper - lower) * 0.5 * (nodes[:, None] + 1.0)
    y = radii[:, None] * nodes[:, None] * stretch**-0.5
    chord = 2.0 * radii[:, None] ** 2 * np.sqrt(1.0 - nodes[:, None] ** 2)
    density = lambda s: E / 6.0 * (s**2 + 2.0 / s - 3.0)  # noqa: E731
    extra = density(stretch + y * curvature) - density(stretch)
    stored = 0.5 * length * np.einsum("a,b,abn->n", weights, weights, chord * extra)
    q = jnp.zeros((4, 4)).at[:, 3].set(stretch - 1.0)
    own = model.tissue.energy(model.arm, q.at[:, 1].set(curvature)) - model.tissue.energy(model.arm, q)
    np.testing.assert_allclose(own, stored, rtol=1e-3)


def test_muscles_let_go_when_they_are_short():
    muscles = build_robot(octopus_arm(4)).muscles
    for relative, share in ((1.0, 1.0), (0.5, 14.0 / 80.0), (0.39, 0.0), (0.2, 0.0)):
        lengths = jnp.concatenate([relative * muscles.fibre_rest, muscles.radius[:, None]], -1)
        tension = muscles.tensions(lengths, 0.0 * lengths, jnp.ones((4, 5)))[:, :4]
        np.testing.assert_allclose(tension, np.tile(share * STRESS * 0.25 * muscles.area[:, None], 4), rtol=1e-12)


def test_struts_and_arcs_have_the_same_muscles_when_straight():
    q = jnp.zeros((4, 4)).at[:, 3].set(0.2)
    lengths = [np.asarray(muscle_lengths(MODELS[kind], q)) for kind in KINDS]
    np.testing.assert_allclose(lengths[0][:, :5], lengths[1][:, :5], rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_oblique_muscles_twist_and_do_not_bend(kind):
    model = MODELS[kind]
    still = jnp.zeros((4, 4))
    right = muscle_forces(model, still, still, relaxed(model).at[:, 5].set(0.1))
    left = muscle_forces(model, still, still, relaxed(model).at[:, 6].set(0.1))
    assert np.all(np.asarray(right)[:, 2] < 0.0)  # it wants positive twist
    np.testing.assert_allclose(right[:, 2], -left[:, 2], rtol=1e-12)
    np.testing.assert_allclose(right[:, :2], 0.0, atol=1e-18)


def test_without_active_stiffness_the_tissue_alone_would_stop_a_muscle():
    """What the stiffness is for: with a constant stress the arm would shorten to a fifth before tissue holds it."""
    constant = brentq(lambda s: passive(s) + STRESS, 0.05, 1.0)
    falling = brentq(lambda s: passive(s) + STRESS + STIFFNESS * (s - 1.0), 0.05, 1.0)
    assert constant < 0.21
    assert falling > 0.48


BENT = build_robot(octopus_arm()).one


@jax.jit
def stiffnesses(q, activation):
    """That of each segment by its forces, and that which steps are made with."""
    still = jnp.zeros_like(q)

    def along(direction):
        forces = lambda q: muscle_forces(BENT, q, still, activation) + elastic_forces(BENT, q, still)  # noqa: E731
        return jax.jvp(forces, (q,), (jnp.broadcast_to(direction, q.shape),))[1]

    exact = jax.vmap(along, out_axes=-1)(jnp.eye(3))
    return exact, muscle_operator(BENT, q, still, 0.0, 1.0, activation) + BENT.tissue.stiffness(BENT.arm, q)


@pytest.mark.parametrize("bend", [0.0, 0.4, 1.5, 3.5])
def test_how_muscles_of_struts_turn_is_the_second_derivative_of_their_lengths(bend):
    q = jnp.asarray(RNG.uniform(-1.0, 1.0, (20, 3)) * [bend / 0.012, bend / 0.012, 0.3])
    tension = jnp.asarray(RNG.uniform(0.0, 1.0, (20, 5)))

    @jax.jit
    def both(q):
        lengths, J = BENT.muscles.pulls(BENT.arm, q)
        formula = BENT.muscles.turning(BENT.arm, q, tension, lengths, J)
        return formula, AbstractMuscles.turning(BENT.muscles, BENT.arm, q, tension, lengths, J)

    formula, derivative = both(q)
    np.testing.assert_allclose(formula, derivative, rtol=0, atol=1e-12 * float(jnp.max(jnp.abs(derivative))))


@pytest.mark.parametrize("azimuth", [0.0, 27.0, 45.0])
@pytest.mark.parametrize("bend", [0.5, 0.9, 1.3])
def test_steps_know_how_stiff_a_bent_arm_at_full_activation_is(azimuth, bend):
    # Most of it is how tensions turn with their fibres. Left out, linearly implicit steps of some ms diverge: they can
    # lack a third of what they know.
    towards = np.array([np.cos(np.deg2rad(azimuth)), np.sin(np.deg2rad(azimuth))])
    q = np.tile([*(bend / 0.012 * towards[[1, 0]] * [-1.0, 1.0]), 0.3], (20, 1))
    on = np.tile([*towards, 0.0, 0.0, 1.0], (20, 1))
    exact, known = (np.asarray(part) for part in stiffnesses(jnp.asarray(q), jnp.asarray(on)))
    ratio = np.linalg.eigvals(np.linalg.solve(known, exact))
    assert np.all(np.linalg.eigvalsh(known) > 0.0)
    assert np.all((ratio.real > 0.7) & (ratio.real < 1.33))


def test_what_steps_know_of_stiffness_is_positive_whatever_the_shape():
    rng = np.random.default_rng(5)
    for _ in range(50):
        q = rng.normal(size=(20, 3)) * [80.0, 80.0, 0.0] + rng.uniform(-0.6, 2.0, (20, 1)) * [0.0, 0.0, 1.0]
        known = stiffnesses(jnp.asarray(q), jnp.asarray(rng.uniform(size=(20, 5))))[1]
        assert np.all(np.linalg.eigvalsh(known) > 0.0)


def test_force_falls_with_the_rate_of_shortening_where_that_is_wanted():
    from dataclasses import replace

    spec = octopus_arm(4)
    fast = build_robot(replace(spec, muscles=replace(spec.muscles, fastest=10.0))).muscles
    slow = build_robot(spec).muscles
    lengths = jnp.concatenate([fast.fibre_rest, fast.radius[:, None]], -1)
    on = jnp.ones((4, 5))
    rest = fast.fibre_rest
    for speed, factor in ((0.0, 1.0), (-10.0, 0.0), (-5.0, 0.5), (8.0, 1.8), (20.0, 1.8)):
        rates = jnp.concatenate([speed * rest, 0 * rest[:, :1]], -1)
        ratio = fast.tensions(lengths, rates, on)[:, :4] / slow.tensions(lengths, rates, on)[:, :4]
        np.testing.assert_allclose(ratio, factor, atol=1e-12)
