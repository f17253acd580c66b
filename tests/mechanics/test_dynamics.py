"""The recursions against a dense Lagrangian made by automatic differentiation from the kinematics alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3, se3, so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.dynamics import Coordinates, accelerations, residual
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.model import make_model, no_inputs
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


class Lagrangian:
    """Kinetic and potential energy as functions of all coordinates, node by node."""

    def __init__(self, model):
        self.model = model
        # Whole numbers before anything is traced.
        self.homes = {id(p): [int(i) for i in p.segment] for p in (model.lumps, model.loads)}

    def nodes(self, y):
        """Poses and inertias of everything that has mass, and the pose of the load."""
        m = self.model
        q = y[: q_size()].reshape(SHAPE)
        base = se3.exp(y[q_size() :])
        moved = eqx.tree_at(lambda a: a.T_world_base, m.arm, base)
        ends = kinematics.segment_poses(moved, q)
        grid = kinematics.node_poses(moved, q, m.fractions)
        poses = [grid[i, g] for i in range(COUNT) for g in range(len(m.fractions))]
        inertias = [m.inertia[i, g] for i in range(COUNT) for g in range(len(m.fractions))]

        def at(places, j):
            i = self.homes[id(places)][j]
            segment = jax.tree.map(lambda a: a[i], m.arm.segments)
            return ends[i] @ segment.pose(q[i], places.fraction[j])

        poses += [at(m.lumps, j) for j in range(len(m.lump_inertia))]
        inertias += list(m.lump_inertia)
        if m.base_inertia is not None:
            poses, inertias = [*poses, base], [*inertias, m.base_inertia]
        stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *poses)
        return stacked, jnp.stack(inertias), at(m.loads, 0)

    def kinetic(self, y, rate):
        poses, rates = jax.jvp(lambda y: self.nodes(y)[0], (y,), (rate,))
        inertias = self.nodes(y)[1]
        turned = jnp.swapaxes(poses.rotation, -1, -2)
        angular = so3.vee(turned @ rates.rotation)
        linear = jnp.einsum("mij,mj->mi", turned, rates.position)
        return 0.5 * jnp.sum(inertias * jnp.concatenate([angular, linear], -1) ** 2)

    def potential(self, y):
        poses, inertias, _ = self.nodes(y)
        elastic = 0.5 * jnp.sum(self.model.stiffness * y[: q_size()].reshape(SHAPE) ** 2)
        return elastic - jnp.sum(inertias[:, 3] * (poses.position @ self.model.gravity))

    def work(self, y, dead, follower):
        """Generalised forces of one load: its wrench times the Jacobian of its pose."""
        pose = self.nodes(y)[2]
        change = jax.jacfwd(lambda y: self.nodes(y)[2])(y)
        angular = so3.vee(jnp.moveaxis(jnp.einsum("ji,jkc->ikc", pose.rotation, change.rotation), -1, 0))
        linear = change.position.T @ pose.rotation
        turned = jnp.concatenate([pose.rotation.T @ dead[:3], pose.rotation.T @ dead[3:]])
        return jnp.concatenate([angular, linear], -1) @ (turned + follower)


def q_size():
    return SHAPE[0] * SHAPE[1]


def test_accelerations_are_those_of_the_lagrangian(arm):
    kinds = {"points": 2, "lumps": [(1.0, 0.05, 1e-4), (0.4, 0.02)], "load_places": [0.7]}
    free = make_model(arm, **kinds, free_base=True, base_mass=0.3, base_inertia=1e-3)
    fixed = make_model(arm, **kinds)
    lagrangian = Lagrangian(free)

    @jax.jit
    def dense(y, rate, dead, follower):
        momenta = jax.grad(lagrangian.kinetic, 1)
        mass = jax.jacfwd(momenta, 1)(y, rate)
        gyroscopic = jax.jvp(lambda y: momenta(y, rate), (y,), (rate,))[1] - jax.grad(lagrangian.kinetic)(y, rate)
        force = lagrangian.work(y, dead, follower) - gyroscopic - jax.grad(lagrangian.potential)(y)
        return mass, force, lagrangian.kinetic(y, rate), lagrangian.potential(y)

    @jax.jit
    def recursive(model, x, v, inputs):
        a = accelerations(model, x, v, inputs)
        return a, residual(model, x, v, a, inputs), energy(model, x, v, inputs)

    for model in (free, fixed):
        x, v, (dead, follower) = random_motion(model.free_base)
        inputs = no_inputs(model)._replace(force=dead, follower=follower)
        y, rate = (jnp.concatenate([c.q.ravel(), c.base]) for c in (x, v))
        mass, force, kinetic, potential = dense(y, rate, dead[0], follower[0])
        # A base held still takes its rows and columns with it, and its own inertia does not matter.
        size = len(y) if model.free_base else q_size()
        expected = np.linalg.solve(mass[:size, :size], force[:size])
        found, left, whole = recursive(model, x, v, inputs)
        flat = np.concatenate([np.ravel(found.q), found.base])[:size]
        # Rounding times the condition of the mass matrix, whose entries span five orders of magnitude.
        assert flat == pytest.approx(expected, rel=1e-9, abs=1e-10 * np.max(np.abs(expected)))
        assert np.max(np.abs(left.q)) < 1e-10 * float(jnp.max(jnp.abs(force)))
        assert whole.kinetic == pytest.approx(float(kinetic), rel=1e-12)
        assert whole.elastic + whole.gravitational == pytest.approx(float(potential), rel=1e-12)


def test_momentum_of_a_free_arm_changes_by_its_weight_alone(arm):
    model = make_model(arm, points=2, lumps=[(1.0, 0.05)], free_base=True, base_mass=0.3, base_inertia=1e-3)
    x, v, _ = random_motion(True)
    inputs = no_inputs(model)

    @jax.jit
    def momentum_rate(model):
        a = accelerations(model, x, v, inputs)
        return jax.jvp(lambda x, v: momentum(model, x, v, inputs), (x, v), (v, a))[1]

    rate = momentum_rate(model)
    mass = float(jnp.sum(model.inertia[..., 3])) + 0.05 + 0.3
    assert np.asarray(rate[3:]) == pytest.approx(mass * np.array([0.0, 0.0, -9.81]), abs=1e-9)
    # Weight makes no angular momentum about the centre of mass: about the origin it is the centre times the weight.
    weightless = eqx.tree_at(lambda m: m.gravity, model, jnp.zeros(3))
    assert np.asarray(momentum_rate(weightless)) == pytest.approx(np.zeros(6), abs=1e-9)
