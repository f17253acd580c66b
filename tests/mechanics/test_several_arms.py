"""Several unlike arms on one body, and bases that are moved, against a dense Lagrangian."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from several_arms import Lagrangian

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import Coordinates, accelerations, residual
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.model import make_arm_model
from hydrostat.mechanics.robot import no_inputs, single_arm, unequal_arms
from hydrostat.segments import StrainSegment

GRAVITY = (1.0, 2.0, -9.0)
BODY = SE3(so3.exp(jnp.array([0.3, -0.8, 1.1])), jnp.array([0.5, -0.2, 0.1]))
MOUNTS = (
    SE3(so3.exp(jnp.array([0.0, 1.2, 0.0])), jnp.array([0.1, 0.0, 0.02])),
    SE3(so3.exp(jnp.array([-0.7, 0.4, 2.0])), jnp.array([-0.08, 0.05, 0.0])),
)


def make_arm(count, modes, base):
    radius = jnp.linspace(0.02, 0.012, count + 1)
    return Arm(
        StrainSegment(jnp.linspace(0.2, 0.15, count), modes),
        Section(radius[:-1], radius[1:]),
        Material(*(jnp.full(count, value) for value in (1e5, 0.3, 1000.0, 0.0))),
        base,
    )


@pytest.fixture(scope="module")
def arms():
    """A planar one of two segments and a spatial one of three, with masses and places for loads."""
    planar = make_arm(2, ("bend_y",), BODY @ MOUNTS[0])
    spatial = make_arm(3, ("bend_x", "twist", "stretch"), BODY @ MOUNTS[1])
    return (
        make_arm_model(planar, points=2, lumps=[(1.0, 0.05, 1e-4)], load_places=[0.8]),
        make_arm_model(spatial, points=2, lumps=[(0.4, 0.03), (1.0, 0.02, 1e-5)], load_places=[1.0]),
    )


def some_coordinates(shapes, seed, base):
    rng = np.random.default_rng(seed)
    parts = tuple(jnp.asarray(rng.normal(size=shape) * np.where(np.arange(shape[1]) < 2, 2.0, 0.1)) for shape in shapes)
    return Coordinates(parts, base * jnp.asarray(rng.normal(size=6)))


@pytest.fixture(scope="module")
def lagrangian(arms):
    """Of the robot with a free body: that of a robot whose body is held is a part of it."""
    return Lagrangian(unequal_arms(arms, BODY, gravity=GRAVITY, base_mass=0.4, base_inertia=2e-3))


@pytest.mark.parametrize("free", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_two_unlike_arms_move_as_the_lagrangian_says(arms, lagrangian, free):
    model = lagrangian.model if free else unequal_arms(arms, BODY, gravity=GRAVITY)
    x, v = (some_coordinates(lagrangian.shapes, seed, 0.3 * free) for seed in (1, 2))
    dead = jnp.asarray(np.random.default_rng(3).normal(size=(2, 6)))
    inputs = no_inputs(model)._replace(force=(dead[:1], dead[1:]))

    mass, force, kinetic, potential = lagrangian.equations(lagrangian.flat(x), lagrangian.flat(v), dead)
    size = len(force) if free else sum(lagrangian.sizes)
    expected = np.linalg.solve(mass[:size, :size], force[:size])

    @jax.jit
    def recursive(x, v):
        a = accelerations(model, x, v, inputs)
        return a, residual(model, x, v, a, inputs), energy(model, x, v, inputs)

    found, left, whole = recursive(x, v)
    # Rounding times the condition of the mass matrix.
    assert np.asarray(lagrangian.flat(found))[:size] == pytest.approx(
        expected, rel=1e-9, abs=1e-10 * np.max(np.abs(expected))
    )
    assert np.max(np.abs(lagrangian.flat(left))) < 1e-10 * np.max(np.abs(force))
    assert whole.kinetic == pytest.approx(float(kinetic), rel=1e-12)
    held = 0.0 if free else -0.4 * float(jnp.dot(BODY.position, jnp.array(GRAVITY)))
    assert whole.elastic + whole.gravitational + held == pytest.approx(float(potential), rel=1e-12)


@pytest.mark.parametrize("free", [True, False])
def test_one_arm_on_a_body_is_the_arm_itself(arms, free):
    own = arms[1].arm
    alone = single_arm(arms[1], gravity=GRAVITY, free_base=free, base_mass=0.4, base_inertia=2e-3)
    carried = unequal_arms(
        [arms[1]], own.T_world_base, gravity=GRAVITY,
        base_mass=0.4 if free else None, base_inertia=2e-3,
    )  # fmt: skip
    x, v = (some_coordinates([alone.one.stiffness.shape], seed, 0.3 * free) for seed in (4, 5))
    load = jnp.asarray(np.random.default_rng(6).normal(size=(1, 6)))

    @jax.jit
    def of_alone(x, v):
        given = no_inputs(alone)._replace(force=load)
        return accelerations(alone, x, v, given), energy(alone, x, v, given), momentum(alone, x, v, given)

    @jax.jit
    def of_carried(x, v):
        given = no_inputs(carried)._replace(force=(load,))
        return accelerations(carried, x, v, given), energy(carried, x, v, given), momentum(carried, x, v, given)

    a, energies, momenta = of_alone(x._replace(q=x.q[0]), v._replace(q=v.q[0]))
    b, energies_carried, momenta_carried = of_carried(x, v)
    scale = float(jnp.max(jnp.abs(a.q)))
    assert np.asarray(b.q[0]) == pytest.approx(np.asarray(a.q), abs=1e-11 * scale)
    assert np.asarray(b.base) == pytest.approx(np.asarray(a.base), abs=1e-11 * scale)
    assert np.asarray(energies_carried) == pytest.approx(np.asarray(energies), rel=1e-12)
    assert np.asarray(momenta_carried) == pytest.approx(np.asarray(momenta), abs=1e-12)


def test_a_moved_body_drives_its_arms_as_the_lagrangian_says(arms, lagrangian):
    """Twist and acceleration of the body are given: the rows of the arms hold, with those of the body moved over."""
    model = unequal_arms(arms, BODY, gravity=GRAVITY)
    x, v = (some_coordinates(lagrangian.shapes, seed, 0.0) for seed in (1, 2))
    rng = np.random.default_rng(7)
    twist, acceleration = (jnp.asarray(rng.normal(size=6)) for _ in range(2))
    dead = jnp.asarray(rng.normal(size=(2, 6)))
    inputs = no_inputs(model)._replace(
        force=(dead[:1], dead[1:]), base_twist=twist, base_acceleration=acceleration
    )  # fmt: skip
    found = jax.jit(accelerations)(model, x, v, inputs)

    # Where the body's coordinates are zero, their second rates are those of its twist.
    rate = lagrangian.flat(v)
    rate[-6:] = twist
    mass, force, *_ = lagrangian.equations(lagrangian.flat(x), rate, dead)
    expected = np.linalg.solve(mass[:-6, :-6], force[:-6] - mass[:-6, -6:] @ acceleration)
    assert np.asarray(lagrangian.flat(found))[:-6] == pytest.approx(
        expected, rel=1e-9, abs=1e-10 * np.max(np.abs(expected))
    )
