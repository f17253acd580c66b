"""Contact within the equations of motion of a clamped arm: every shape, statics, and derivatives."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from touching_arms import ALONG_X, NODES, ONSET, RADIUS, STIFFNESS, G, an_arm, ground, law, shapes

from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.mechanics.energy import external_wrench
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import nodes_of, rest_state
from hydrostat.mechanics.statics import equilibrium
from hydrostat.stepping import SDIRK2
from hydrostat.surroundings import Obstacles


@pytest.fixture(scope="module")
def clamped():
    """A soft arm clamped along x, 20 mm above the ground."""
    pose = SE3(ALONG_X.rotation, jnp.array([0.0, 0.0, RADIUS + 0.02]))
    return single_arm(an_arm(pose), points=2, skin_points=NODES // 2)


STEPS, DT = 25, 2e-3
# Newton within the step, and Richardson's iteration within its derivative, both to rounding.
EXACT = SDIRK2(tolerance=1e-13, rescue=False)


def after_some_steps(values):
    """The state of a clamped arm after some steps, by everything that could be differentiated by."""
    model, around, state = values

    def step(state, _):
        new = EXACT.step(model, state, 0.0, DT, lambda time, state: no_inputs(model, around))
        return new.state, new.converged

    end, good = jax.lax.scan(step, state, None, length=STEPS)
    return end, jnp.all(good)


advance = quick_jit(after_some_steps)
touch_of = quick_jit(lambda model, around, state: around.contact(nodes_of(model, state))[0])


def settled(model, around, calls=40):
    """The arm after 50 ms each, from straight."""
    state = rest_state(model)
    for _ in range(calls):
        state, good = advance((model, around, state))
        assert bool(good)
    return state


@pytest.mark.parametrize("kind", ["plane", "sphere", "capsule", "box"])
def test_every_shape_stops_a_falling_arm(clamped, kind):
    top = 0.0 if kind == "plane" else 0.05
    place = np.array([0.17, 0.0, -top])
    around = Obstacles(law(), shapes(**{kind: place}))
    end = settled(clamped, around)
    touch = touch_of(clamped, around, end)
    weight = G * float(jnp.sum(clamped.one.inertia[..., 3]))
    lift = float(jnp.sum(touch.force[:, 2]))
    # At rest: a tip at 0.2 m that moves with less than a micrometre a second.
    assert np.abs(np.asarray(end.v) * 0.2**2).max() < 1e-6
    # Part of the weight lies on the shape, as deep as its stiffness says.
    assert 0.05 * weight < lift < weight
    np.testing.assert_allclose(
        np.linalg.norm(touch.force, axis=-1),
        STIFFNESS
        * np.where(touch.penetration < ONSET, 0.5 * touch.penetration**2 / ONSET, touch.penetration - 0.5 * ONSET)
        * (touch.penetration > 0.0),
        rtol=1e-4,
        atol=1e-9,
    )


def test_at_rest_clamp_and_ground_bear_the_weight(clamped):
    around = Obstacles(law(), ground())
    state = settled(clamped, Obstacles(law(), shapes(plane=np.zeros(3))))
    # The same shape by Newton's method: friction has no part in it at rest.
    found = equilibrium(clamped, no_inputs(clamped, around), q=state.q)
    np.testing.assert_allclose(state.q, found.q, rtol=0, atol=1e-8)
    # What a body of no mass would need in place of the clamp is the clamp's reaction.
    free = eqx.tree_at(lambda m: m.base_inertia, clamped, jnp.zeros(6), is_leaf=lambda x: x is None)
    still, x = Coordinates(jnp.zeros_like(state.q), jnp.zeros(6)), Coordinates(found.q, jnp.zeros(6))
    lacking = quick_jit(residual)(free, x, still, still, no_inputs(free, around))
    clamp = ALONG_X.rotation @ lacking.base[3:]
    touch = touch_of(clamped, around, state._replace(q=found.q))
    weight = G * float(jnp.sum(clamped.one.inertia[..., 3]))
    np.testing.assert_allclose(clamp + jnp.sum(touch.force, 0), [0.0, 0.0, weight], atol=1e-13 * weight * 100)
    # And so do the moments about the world's origin.
    about_origin = ALONG_X.rotation @ lacking.base[:3] + np.cross(clamped.arm.T_world_base.position, clamp)
    wrench, power = quick_jit(external_wrench)(clamped, x, still, no_inputs(clamped, around))
    np.testing.assert_allclose(np.concatenate([about_origin, clamp]), -wrench, atol=1e-13)
    assert float(power) == 0.0
    assert 0.0 < float(clamp[2]) < weight


# --- Gradients

DIRECTIONS = {
    "contact stiffness": lambda m, f, s: f.law.stiffness,
    "contact damping": lambda m, f, s: f.law.damping,
    "friction": lambda m, f, s: f.law.friction,
    "height of the ground": lambda m, f, s: f.shapes[0].point,
    "speed of the ground": lambda m, f, s: f.shapes[0].velocity,
    "stiffness": lambda m, f, s: m.arms.stiffness,
    "mass": lambda m, f, s: m.arms.inertia,
    "skin": lambda m, f, s: m.arms.arm.section.radius_tip,
    "gravity": lambda m, f, s: m.gravity,
    "coordinates": lambda m, f, s: s.q,
    "rates": lambda m, f, s: s.v,
}


def where(values, name):
    return DIRECTIONS[name](*values)


@pytest.fixture(scope="module")
def dragged(clamped):
    """An arm that lies on the ground while this is drawn along under it."""
    state = settled(clamped, Obstacles(law(), shapes(plane=np.zeros(3))), 20)
    return clamped, Obstacles(law(), ground(velocity=[0.02, 0.05, 0.0])), state


def outcome(values):
    """A number that tells where the dragged arm gets to."""
    end, _ = after_some_steps(values)
    return jnp.sum(end.q * jnp.array([[1.0, -0.3], [0.5, 0.8]])) + 0.1 * jnp.sum(end.v), end


@quick_jit
def outcome_along(values, ways):
    """The outcome, the state in the end, and how the outcome changes along some ways."""
    (value, end), (change, _) = eqx.filter_jvp(outcome, (values,), (ways,))
    return value, end, change


def way_of(values, name):
    """A change of every number by half to all of its size, or of what is next to nothing by something."""
    here = where(values, name)
    rng = np.random.default_rng(len(name))
    size = np.maximum(np.abs(here), 1e-9 if name == "mass" else 1e-2)
    return jnp.asarray(rng.uniform(0.5, 1.0, size=np.shape(here)) * size)


def ways_of(values, name):
    """That change, and none of all other numbers."""
    nothing = jax.tree.map(jnp.zeros_like, eqx.filter(values, eqx.is_inexact_array))
    return eqx.tree_at(lambda v: where(v, name), nothing, way_of(values, name))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_derivative_is_that_of_differences(dragged, name):
    ways = ways_of(dragged, name)
    change = outcome_along(dragged, ways)[2]

    def moved(h):
        new = eqx.apply_updates(dragged, jax.tree.map(lambda way: h * way, ways))
        value, end, _ = outcome_along(new, ways)
        return float(value), np.asarray(touch_of(*new[:2], end).penetration) > 0.0

    # Central differences: at 1e-5 of the value truncation is 1e-10 and rounding 1e-13 / 1e-5, as long as the same nodes
    # touch. Where the depth or the rate of one passes a change of the law's curvature, the error is some 1e-5 of that.
    h = 1e-5
    (up, touching_up), (down, touching_down) = moved(h), moved(-h)
    assert np.array_equal(touching_up, touching_down)
    assert touching_up.any()
    assert float(change) == pytest.approx((up - down) / (2.0 * h), rel=1e-5)


@pytest.mark.slow
def test_gradient_is_the_derivative_in_every_direction(dragged):
    gradient, _ = quick_jit(eqx.filter_grad(outcome, has_aux=True))(dragged)
    for name in DIRECTIONS:
        change = outcome_along(dragged, ways_of(dragged, name))[2]
        assert np.all(np.isfinite(where(gradient, name)))
        assert float(jnp.sum(where(gradient, name) * way_of(dragged, name))) == pytest.approx(float(change), rel=1e-9)
