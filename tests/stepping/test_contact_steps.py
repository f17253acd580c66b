"""Contact within the equations of motion: arms that land, lie, slide, bounce, and hit each other."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.mechanics.energy import energy, external_wrench, momentum
from hydrostat.mechanics.robot import no_inputs, single_arm, unequal_arms
from hydrostat.mechanics.state import acting, nodes_of, positions, rest_state, velocities
from hydrostat.mechanics.statics import equilibrium
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2
from hydrostat.surroundings import Box, Capsule, CapsulePairs, ContactLaw, Contacts, Plane, Sphere

G = 9.81
RADIUS, LENGTH, BASE_MASS, NODES = 0.01, 0.2, 0.02, 6
STIFFNESS, DAMPING, FRICTION, SLIP, ONSET = 2e3, 2.0, 0.5, 0.01, 1e-4
MASS = 1000.0 * np.pi * RADIUS**2 * LENGTH + BASE_MASS
ALONG_X = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))
AWAY = np.array([0.0, 0.0, -100.0])
ROWS = 200


def an_arm(base, viscosity=2e3):
    return Arm(
        StrainSegment(jnp.asarray(np.full(2, LENGTH / 2)), ("bend_x", "bend_y")),
        Section(*(jnp.asarray(np.full(2, RADIUS)),) * 2),
        Material(*(jnp.asarray(np.full(2, value)) for value in (2e6, 0.4, 1000.0, viscosity))),
        base,
    )


def law(stiffness=STIFFNESS, damping=DAMPING):
    return ContactLaw(stiffness, damping, FRICTION, SLIP, ONSET)


def shapes(plane=AWAY, sphere=AWAY, capsule=AWAY, box=AWAY):
    """All four kinds, those that are not placed far away: they share what is compiled."""
    half = np.array([0.0, 0.1, 0.0])
    return (
        Plane(plane, [0.0, 0.0, 1.0]),
        Sphere(sphere, 0.05),
        Capsule(capsule - half, capsule + half, 0.05),
        Box(SE3(jnp.eye(3), jnp.asarray(box)), [0.15, 0.1, 0.05]),
    )


def ground(height=0.0, velocity=(0.0, 0.0, 0.0)):
    """A plane alone: every shape more is compiled into each of a step's many looks at contact."""
    return (Plane([0.0, 0.0, height], [0.0, 0.0, 1.0], velocity=velocity),)


@pytest.fixture(scope="module")
def body():
    """A body with one arm along x, free to move."""
    return single_arm(
        an_arm(ALONG_X),
        points=2,
        free_base=True,
        base_mass=BASE_MASS,
        base_inertia=2e-6,
        skin_points=NODES // 2,
        surroundings=Contacts(law(), ground()),
    )


@quick_jit
def roll(model, inputs, state, dt, every, keep: bool):
    """Steps of SDIRK2, with momentum kept if asked for, and what can be seen every so many of them."""

    def given(time, state):
        return inputs

    def row(state, _):
        def step(_, carry):
            state, good = carry
            new = SDIRK2().step(model, state, 0.0, dt, given, keep_momentum=keep)
            return new.state, good & new.converged

        state, good = jax.lax.fori_loop(0, every, step, (state, jnp.asarray(True)))
        here, x, v = acting(model, state, 0.0, given), positions(state), velocities(state)
        touch, _ = here.surroundings.contact(nodes_of(model, x, v, here))
        seen = {
            "good": good,
            "energy": energy(model, x, v, here).total + stored(here.surroundings.law, touch.penetration),
            "momentum": momentum(model, x, v, here),
            "wrench": external_wrench(model, x, v, here)[0],
            "force": touch.force,
            "depth": touch.penetration,
            "state": state,
        }
        overflow = here.surroundings.overflow
        return state, seen if overflow is None else seen | {"overflow": overflow}

    return jax.lax.scan(row, state, None, length=ROWS)[1]


def stored(law, depth):
    """The energy of compressed contact, the integral of k p(d) [J]."""
    onset = law.onset
    shallow, deep = depth**3 / (6.0 * onset), 0.5 * depth**2 - 0.5 * onset * depth + onset**2 / 6.0
    return law.stiffness * jnp.sum(jnp.where(depth < onset, shallow, deep))


def run(model, state, *, dt=2e-3, every=1, keep=False, around=None, contact=None, gravity=None):
    """A rollout of a body from a state, everything in NumPy."""
    if around is not None:
        model = eqx.tree_at(lambda m: m.surroundings, model, Contacts(contact or law(), around))
    if gravity is not None:
        model = eqx.tree_at(lambda m: m.gravity, model, jnp.asarray(gravity))
    found = roll(model, no_inputs(model), state, jnp.asarray(dt, float), jnp.asarray(every), keep)
    found = jax.tree.map(np.asarray, found)
    assert np.all(found["good"])
    return found


def lifted(model, height, velocity=(0.0, 0.0, 0.0)):
    """At rest with the lowest line of its skin at a height, or on its way with a velocity in world axes."""
    pose = SE3(ALONG_X.rotation, jnp.asarray([0.0, 0.0, height + RADIUS]))
    twist = jnp.concatenate([jnp.zeros(3), ALONG_X.rotation.T @ jnp.asarray(velocity)])
    return rest_state(model)._replace(base_pose=pose, base_twist=twist)


GROUND = ground()
# How deep the nodes are at rest if each bears its share of the weight: k (d - onset / 2) = share.
SUNK = MASS * G / NODES / STIFFNESS + 0.5 * ONSET


# --- At rest


@pytest.mark.parametrize("keep", [False, True])
def test_a_dropped_body_comes_to_rest_on_its_weight(body, keep):
    seen = run(body, lifted(body, 0.02), around=GROUND, every=10, keep=keep)
    # Hunt and Crossley's damping of the last ripples has the coefficient c f: rates above c g / 2 = 10 / s make
    # exp(-36) of them in the 3.6 s after the fall.
    np.testing.assert_allclose(seen["force"][-1].sum(0), [0.0, 0.0, MASS * G], rtol=0, atol=1e-6 * MASS * G)
    # Nothing is left over, neither force nor moment, and nothing moves.
    np.testing.assert_allclose(seen["wrench"][-1], 0.0, atol=1e-6 * MASS * G)
    np.testing.assert_allclose(seen["momentum"][-1], 0.0, atol=1e-6 * MASS)
    assert np.count_nonzero(seen["depth"][-1] > 0.0) >= 2


def test_without_shapes_it_falls(body):
    seen = run(body, lifted(body, 0.01), around=ground(-100.0), every=4)
    expected = np.array([0.0, 0.0, -MASS * G * ROWS * 4 * 2e-3])
    np.testing.assert_allclose(seen["momentum"][-1, 3:], expected, rtol=1e-9, atol=1e-9)
    assert np.all(seen["force"] == 0.0)


# --- Friction


def tilted(degrees):
    """Gravity as on a slope that falls towards x."""
    angle = np.radians(degrees)
    return G * np.array([np.sin(angle), 0.0, -np.cos(angle)])


@pytest.mark.parametrize("degrees", [5.0, 20.0, 26.0])
def test_below_the_friction_angle_it_creeps_as_the_law_says(body, degrees):
    seen = run(body, lifted(body, -SUNK), around=GROUND, gravity=tilted(degrees), every=5)
    share = np.tan(np.radians(degrees)) / FRICTION
    creep = SLIP * share / np.sqrt(1.0 - share**2)
    speed = seen["momentum"][:, 3] / MASS
    # Steady after some v / (mu g) = 2 ms / (1 - share^2)^1.5 and the ripples of the landing.
    assert speed[-1] == pytest.approx(creep, rel=1e-4)
    np.testing.assert_allclose(seen["momentum"][-1, 4:] / MASS, 0.0, atol=1e-4 * creep)


def test_above_the_friction_angle_it_slides(body):
    angle = np.radians(40.0)
    seen = run(body, lifted(body, -SUNK), around=GROUND, gravity=tilted(40.0), every=2)
    speed = seen["momentum"][:, 3] / MASS
    some = np.searchsorted(speed, [0.5, 1.5])
    seconds = (some[1] - some[0]) * 2 * 2e-3
    # The normal impulse is the weight's, less what it changed of the momentum across.
    across = np.diff(seen["momentum"][some, 5])[0] / MASS
    expected = G * np.sin(angle) - FRICTION * (G * np.cos(angle) + across / seconds)
    found = np.diff(speed[some])[0] / seconds
    # Friction is v^2 / (2 u^2) short of mu N: 2e-4 at 0.5 m/s, less than 1e-4 on the way to 1.5.
    assert found == pytest.approx(expected, abs=1e-4 * FRICTION * G + 1e-6)
    assert found > 2.0


def test_a_moving_plane_drags_it_along(body):
    belt = ground(velocity=(0.5, 0.0, 0.0))
    seen = run(body, lifted(body, -SUNK), around=belt, every=5)
    speed = seen["momentum"][:, 3] / MASS
    # Slip is above 0.3 m/s for the first 40 ms: friction is mu N within 6e-4, the normal impulse the weight's and what
    # it gave to the momentum across.
    i = 3
    normal = G * (i + 1) * 10e-3 + seen["momentum"][i, 5] / MASS
    assert speed[i] == pytest.approx(FRICTION * normal, rel=6e-4)
    # At the end it goes with the plane, and what is left of the rocking has died out in 2 s.
    assert speed[-1] == pytest.approx(0.5, rel=1e-6)


# --- Bounces


def bounce(body, stiffness, damping, dt, keep):
    contact = law(stiffness, damping)
    return run(body, lifted(body, 1e-3, (0.0, 0.0, -0.5)), around=GROUND, contact=contact, dt=dt, keep=keep)


@pytest.mark.parametrize(
    ("stiffness", "damping", "dt", "keep"),
    [
        *[(k, c, dt, False) for k in (2e3, 2e5) for c in (0.0, 2.0) for dt in (1e-3, 5e-3)],
        *[(2e3, c, 1e-3, True) for c in (0.0, 2.0)],
        # Where momentum is kept by an impulse from the ends of a step, stiff contact must not throw the body off.
        *[(2e5, c, dt, True) for c in (0.0, 2.0) for dt in (1e-3, 5e-3)],
    ],
)
def test_energy_never_grows_in_a_bounce(body, stiffness, damping, dt, keep):
    seen = bounce(body, stiffness, damping, dt, keep)
    start = 0.5 * MASS * 0.5**2 + MASS * G * (1e-3 + RADIUS)
    # In the air, from one moment to the next and from flight to flight, it falls.
    flying = seen["energy"][np.all(seen["depth"] == 0.0, -1)]
    assert len(flying) >= 5
    assert np.all(np.diff(flying) < 0.0)
    assert flying[0] < start * (1.0 + 1e-14)
    # Where steps resolve the touch, ten to a swing, also the energy of contact counts, to the step's own error.
    if stiffness * dt**2 < 1e-2:
        assert seen["energy"].max() < start * (1.0 + 1e-3)
    assert seen["energy"][-1] < start


@pytest.mark.parametrize("stiffness", [2e3, 2e4, 2e5])
def test_penetration_is_what_stiffness_and_energy_allow(body, stiffness):
    seen = bounce(body, stiffness, 0.0, 2e-4, False)
    # Nothing is damped: all the energy there is in one node, k (d^2 / 2 - onset d / 2) <= m V^2 / 2 + m g (h + d).
    available = 0.5 * MASS * 0.5**2 + MASS * G * 3e-3
    most = 0.5 * ONSET + np.sqrt(0.25 * ONSET**2 + 2.0 * available / stiffness)
    deepest = seen["depth"].max()
    # And it is a good part of that: as much as if all nodes shared the blow, and half a node's more.
    assert most / np.sqrt(2.0 * NODES) < deepest + ONSET
    assert deepest < most


def test_steps_of_different_size_agree(body):
    # Lands flat and slides, on ground so soft that 5 ms resolve it: contact swings with some 120 rad/s.
    start, soft = lifted(body, 1e-3, (0.3, 0.0, -0.2)), law(200.0, 1.0)

    def path(dt):
        """Where the base is and how the arm is bent, every 10 ms."""
        every = max(1, round(1e-3 / dt))
        state = run(body, start, around=GROUND, contact=soft, dt=dt, every=every)["state"]
        seen = np.concatenate([state.base_pose.position, 0.05 * state.q.reshape(ROWS, -1)], -1)
        apart = round(10e-3 / (every * dt))
        return seen[apart - 1 :: apart][:20]

    reference = path(1e-4)
    steps = np.array([5e-4, 1e-3, 2e-3, 5e-3])
    errors = [np.abs(path(dt) - reference).max() for dt in steps]
    slope, _ = np.polyfit(np.log(steps), np.log(errors), 1)
    # Where a node touches down within a step changes each error by a factor of 2 either way, the slope over a factor of
    # ten in the step by ln 4 / ln 10 / 2 = 0.3.
    assert slope > SDIRK2.order - 0.3
    assert errors[1] < 1e-3
    assert errors[3] < 1e-2


# --- An arm that is clamped


@pytest.fixture(scope="module")
def clamped():
    """A soft arm clamped along x, 20 mm above the ground."""
    pose = SE3(ALONG_X.rotation, jnp.array([0.0, 0.0, RADIUS + 0.02]))
    return single_arm(an_arm(pose), points=2, skin_points=NODES // 2, surroundings=Contacts(law(), shapes()))


STEPS, DT = 25, 2e-3
# Newton within the step, and Richardson's iteration within its derivative, both to rounding.
EXACT = SDIRK2(tolerance=1e-13, rescue=False)


def after_some_steps(values):
    """The state of a clamped arm after some steps, by everything that could be differentiated by."""
    model, state = values

    def step(state, _):
        new = EXACT.step(model, state, 0.0, DT, lambda time, state: no_inputs(model))
        return new.state, new.converged

    end, good = jax.lax.scan(step, state, None, length=STEPS)
    return end, jnp.all(good)


advance = quick_jit(after_some_steps)
touch_of = quick_jit(
    lambda model, state: model.surroundings.contact(
        nodes_of(model, positions(state), velocities(state), no_inputs(model))
    )[0]
)


def settled(model, calls=40):
    """The arm after 50 ms each, from straight."""
    state = rest_state(model)
    for _ in range(calls):
        state, good = advance((model, state))
        assert bool(good)
    return state


@pytest.mark.parametrize("kind", ["plane", "sphere", "capsule", "box"])
def test_every_shape_stops_a_falling_arm(clamped, kind):
    top = 0.0 if kind == "plane" else 0.05
    place = np.array([0.17, 0.0, -top])
    model = eqx.tree_at(lambda m: m.surroundings, clamped, Contacts(law(), shapes(**{kind: place})))
    end = settled(model)
    touch = touch_of(model, end)
    weight = G * float(jnp.sum(model.one.inertia[..., 3]))
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
    model = eqx.tree_at(lambda m: m.surroundings, clamped, Contacts(law(), GROUND))
    state = settled(eqx.tree_at(lambda m: m.surroundings, clamped, Contacts(law(), shapes(plane=np.zeros(3)))))
    # The same shape by Newton's method: friction has no part in it at rest.
    found = equilibrium(model, q=state.q)
    np.testing.assert_allclose(state.q, found.q, rtol=0, atol=1e-8)
    # What a body of no mass would need in place of the clamp is the clamp's reaction.
    free = eqx.tree_at(lambda m: m.base_inertia, model, jnp.zeros(6), is_leaf=lambda x: x is None)
    still, x = Coordinates(jnp.zeros_like(state.q), jnp.zeros(6)), Coordinates(found.q, jnp.zeros(6))
    lacking = quick_jit(residual)(free, x, still, still, no_inputs(free))
    clamp = ALONG_X.rotation @ lacking.base[3:]
    touch = touch_of(model, state._replace(q=found.q))
    weight = G * float(jnp.sum(model.one.inertia[..., 3]))
    np.testing.assert_allclose(clamp + jnp.sum(touch.force, 0), [0.0, 0.0, weight], atol=1e-13 * weight * 100)
    # And so do the moments about the world's origin.
    about_origin = ALONG_X.rotation @ lacking.base[:3] + np.cross(model.arm.T_world_base.position, clamp)
    wrench, power = quick_jit(external_wrench)(model, x, still, no_inputs(model))
    np.testing.assert_allclose(np.concatenate([about_origin, clamp]), -wrench, atol=1e-13)
    assert float(power) == 0.0
    assert 0.0 < float(clamp[2]) < weight


# --- Gradients

DIRECTIONS = {
    "contact stiffness": lambda m, s: m.surroundings.law.stiffness,
    "contact damping": lambda m, s: m.surroundings.law.damping,
    "friction": lambda m, s: m.surroundings.law.friction,
    "height of the ground": lambda m, s: m.surroundings.shapes[0].point,
    "speed of the ground": lambda m, s: m.surroundings.shapes[0].velocity,
    "stiffness": lambda m, s: m.stiffness,
    "mass": lambda m, s: m.inertia,
    "skin": lambda m, s: m.arm.section.radius_tip,
    "gravity": lambda m, s: m.gravity,
    "coordinates": lambda m, s: s.q,
    "rates": lambda m, s: s.v,
}


def where(values, name):
    return DIRECTIONS[name](*values)


@pytest.fixture(scope="module")
def dragged(clamped):
    """An arm that lies on the ground while this is drawn along under it."""
    resting = Contacts(law(), shapes(plane=np.zeros(3)))
    state = settled(eqx.tree_at(lambda m: m.surroundings, clamped, resting), 20)
    belt = ground(velocity=[0.02, 0.05, 0.0])
    return eqx.tree_at(lambda m: m.surroundings, clamped, Contacts(law(), belt)), state


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
        return float(value), np.asarray(touch_of(new[0], end).penetration) > 0.0

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


# --- Arms against each other


@pytest.fixture(scope="module")
def pair():
    """A free body without weight that carries two arms side by side, bent apart, and a motion to begin with."""
    mounts = [SE3(jnp.eye(3), jnp.array([x, 0.0, 0.0])) for x in (-0.03, 0.03)]
    arms = [single_arm(an_arm(mount, viscosity=300.0), points=2, skin_points=NODES // 2) for mount in mounts]
    pairs = CapsulePairs([NODES, NODES], neighbours=4)
    model = unequal_arms(
        arms,
        gravity=(0.0, 0.0, 0.0),
        base_mass=BASE_MASS,
        base_inertia=2e-5,
        surroundings=Contacts(law(), pairs=pairs, capacity=16),
    )
    bent = (jnp.array([[0.3, -2.0], [0.0, -2.5]]), jnp.array([[0.1, 2.2], [0.4, 2.0]]))
    start = rest_state(model, bent)._replace(base_twist=jnp.array([0.5, -0.3, 1.0, 0.1, 0.2, -0.1]))
    return model, start


@quick_jit
def momentum_of(model, state):
    here = no_inputs(model)._replace(base_pose=state.base_pose)
    return momentum(model, positions(state), velocities(state), here)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_two_arms_hit_each_other_and_keep_their_momentum(pair, keep):
    model, start = pair
    begin, drifts = np.asarray(momentum_of(model, start)), []
    for dt, every in ((2e-3, 4), (1e-3, 8)):
        seen = run(model, start, dt=dt, every=every, keep=keep)
        drifts.append(np.abs(seen["momentum"] - begin).max(0))
        # They touch, come apart, and touch again.
        touching = np.any(seen["depth"] > 0.0, -1)
        landings = np.count_nonzero(np.diff(touching.astype(int)) > 0)
        assert np.all(seen["overflow"] == 0)
        assert landings >= 2
        assert np.count_nonzero(np.diff(touching.astype(int)) < 0) >= 2
        assert 0.0 < seen["depth"].max() < RADIUS
        # Nothing from outside at any time.
        size = np.abs(seen["force"]).sum((1, 2)).max()
        assert np.abs(seen["wrench"]).max() < 1e-13 * size
        # And every touch takes energy.
        flying = seen["energy"][~touching]
        assert np.all(np.diff(flying) < 1e-6 * flying[0])
    size = np.abs(begin).max()
    if keep:
        # Rounding of some sixty masses, corrected anew in each of 1600 steps.
        assert np.max(drifts) < 1e-12 * size
    else:
        # No generic step keeps momentum on a turning body; what it loses is of its order.
        assert np.max(drifts[1]) < np.max(drifts[0]) / 2 ** (SDIRK2.order - 0.3)
        assert np.max(drifts[1]) < 1e-3 * size
