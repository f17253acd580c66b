"""The recursions against a dense Lagrangian made from the kinematics alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from several_arms import Lagrangian

from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import Coordinates, accelerations, residual
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.segments import MODES, StrainSegment

COUNT = 2
SHAPE = (COUNT, 6)


@pytest.fixture(scope="module")
def arm():
    values = (1e5, 0.3, 1000.0, 0.0)
    return Arm(
        StrainSegment(jnp.array([0.2, 0.25]), MODES),
        Section(jnp.array([0.02, 0.016]), jnp.array([0.016, 0.01])),
        Material(*(jnp.full(COUNT, value) for value in values)),
        SE3.identity(),
    )


def random_motion(free):
    rng = np.random.default_rng(3)
    scale = jnp.array([2.0, 2.0, 2.0, 0.1, 0.1, 0.1])
    some = 1.0 if free else 0.0
    x = Coordinates(scale * rng.normal(size=SHAPE), some * jnp.asarray(0.3 * rng.normal(size=6)))
    v = Coordinates(jnp.asarray(rng.normal(size=SHAPE)), some * jnp.asarray(rng.normal(size=6)))
    loads = [jnp.asarray(rng.normal(size=(1, 6))) for _ in range(2)]
    return x, v, loads


def test_accelerations_are_those_of_the_lagrangian(arm):
    kinds = {"points": 2, "lumps": [(1.0, 0.05, 1e-4), (0.4, 0.02)], "load_places": [0.7]}
    free = single_arm(arm, **kinds, free_base=True, base_mass=0.3, base_inertia=1e-3)
    fixed = single_arm(arm, **kinds)
    lagrangian = Lagrangian(free)

    @quick_jit
    def recursive(model, x, v, inputs):
        a = accelerations(model, x, v, inputs)
        return a, residual(model, x, v, a, inputs), energy(model, x, v, inputs)

    for model in (free, fixed):
        x, v, (dead, follower) = random_motion(model.free_base)
        inputs = no_inputs(model)._replace(force=dead, follower=follower)
        y, rate = lagrangian.flat(x), lagrangian.flat(v)
        # A follower is here and now the dead load that it is turned to.
        turn = lagrangian.jacobians(y)[1][-1]
        turned = np.reshape(follower, (2, 3)) @ turn.T
        mass, force, kinetic, potential = lagrangian.equations(y, rate, dead + turned.reshape(1, 6))
        # A base held still takes its rows and columns with it, and its own inertia does not matter.
        size = len(y) if model.free_base else len(y) - 6
        expected = np.linalg.solve(mass[:size, :size], force[:size])
        found, left, whole = recursive(model, x, v, inputs)
        # Rounding times the condition of the mass matrix, whose entries span five orders of magnitude.
        assert lagrangian.flat(found)[:size] == pytest.approx(expected, rel=1e-9, abs=1e-10 * np.max(np.abs(expected)))
        assert np.max(np.abs(left.q)) < 1e-10 * np.max(np.abs(force))
        assert whole.kinetic == pytest.approx(kinetic, rel=1e-12)
        assert whole.elastic + whole.gravitational == pytest.approx(potential, rel=1e-12)


def test_momentum_of_a_free_arm_changes_by_its_weight_alone(arm):
    model = single_arm(arm, points=2, lumps=[(1.0, 0.05)], free_base=True, base_mass=0.3, base_inertia=1e-3)
    x, v, _ = random_motion(True)
    inputs = no_inputs(model)

    @quick_jit
    def momentum_rate(model):
        """The rate, and the sizes of what cancels in it: every coordinate's own share."""
        a = accelerations(model, x, v, inputs)
        rate = jax.jvp(lambda x, v: momentum(model, x, v, inputs), (x, v), (v, a))[1]
        shares = jax.jacfwd(lambda v: momentum(model, x, v, inputs))(v)
        return rate, jnp.sum(jnp.abs(shares.q * a.q), (1, 2)) + jnp.sum(jnp.abs(shares.base * a.base), 1)

    # Some kN of inertia forces cancel; the recursion's solves leave a few thousand roundings of them.
    rate, size = (np.asarray(y) for y in momentum_rate(model))
    mass = float(jnp.sum(model.one.inertia[..., 3])) + 0.05 + 0.3
    expected = mass * np.array([0.0, 0.0, -9.81])
    assert np.all(np.abs(rate[3:] - expected) < 1e-12 * size[3:].max())
    # Weight makes no angular momentum about the centre of mass: about the origin it is the centre times the weight.
    weightless = eqx.tree_at(lambda m: m.gravity, model, jnp.zeros(3))
    rate, size = (np.asarray(y) for y in momentum_rate(weightless))
    assert np.all(np.abs(rate) < 1e-12 * size.max())
