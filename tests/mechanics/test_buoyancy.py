"""Buoyancy: water lifts every piece of a robot by what it displaces there, and has the potential of that."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.control.feedback import KnownArm
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import Coordinates, accelerations, residual
from hydrostat.mechanics.energy import bulk, dissipation, energy, power
from hydrostat.mechanics.motion import like_coordinates
from hydrostat.mechanics.robot import BodyShape, equal_arms, make_arm_model, no_inputs, single_arm
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.segments import StrainSegment
from hydrostat.statics import equilibrium
from hydrostat.surroundings import Water
from hydrostat.surroundings.water import DENSITY
from hydrostat.system import System


def an_arm(densities, length=0.3):
    """A slender tapered arm that bends and stretches, each segment of a density of its own."""
    count = len(densities)
    radius = jnp.linspace(0.01, 0.006, count + 1)
    segments = StrainSegment(jnp.full(count, length / count), ("bend_x", "bend_y", "stretch"))
    material = Material(jnp.full(count, 3e5), jnp.full(count, 0.4), jnp.asarray(densities), jnp.full(count, 50.0))
    along_x = SE3(so3.exp(jnp.array([0.0, 0.5 * np.pi, 0.0])), jnp.zeros(3))
    return Arm(segments, Section(radius[:-1], radius[1:]), material, along_x)


def crab(densities=(1300.0, 900.0), volume=4e-4, mass=0.3, gravity=(0.0, 0.0, -9.81)):
    """Two equal arms on a free body, all of different densities."""
    mounts = SE3(jnp.stack([jnp.eye(3), so3.exp(jnp.array([0.4, 0.0, 0.0]))]), jnp.array([[0.02, 0, 0], [-0.02, 0, 0]]))
    body = BodyShape(*(jnp.asarray(value) for value in (0.04, 0.5, volume)))
    inertia = jnp.array([1e-4, 1e-4, 1e-4, mass, mass, mass])
    arm = make_arm_model(an_arm(densities), points=2, lumps=[(0.5, 0.02)])
    return equal_arms(arm, mounts, gravity=gravity, base_inertia=inertia, body=body)


def in_motion(robot, seed=0):
    rng = np.random.default_rng(seed)
    size = np.array([2.0, 2.0, 0.05])
    q, v = (jnp.asarray(size * rng.normal(size=(2, 2, 3))) for _ in range(2))
    return Coordinates(q, jnp.zeros(6)), Coordinates(v, jnp.asarray(0.3 * rng.normal(size=6)))


def test_in_a_robot_of_one_density_buoyancy_is_a_share_of_the_weight():
    robot = System(build_robot(octopus(arms=2, segments=2), free=True), [Water()]).robot
    rng = np.random.default_rng(0)
    shape = robot.one.rest.shape
    x, v = (Coordinates(jnp.asarray(rng.normal(size=(2, *shape)) * [5.0, 5.0, 0.1]), jnp.zeros(6)) for _ in range(2))
    dry = no_inputs(robot)
    wet = no_inputs(robot, Water(normal=0.0, tangential=0.0))
    lighter = eqx.tree_at(lambda r: r.gravity, robot, robot.gravity * (1.0 - DENSITY / 1042.0))
    found, expected = residual(robot, x, v, v, wet), residual(lighter, x, v, v, dry)
    none = residual(robot, x, v, v, dry)
    for one, other, heavy in zip(*(jax.tree.leaves(y) for y in (found, expected, none)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(heavy).max())
        assert np.abs(heavy - other).max() > 1e-3 * np.abs(heavy).max()


@pytest.mark.parametrize("added_mass", [None, 1.0])
def test_energy_with_the_potential_of_buoyancy_balances(added_mass):
    robot = crab()
    x, v = in_motion(robot)

    @eqx.filter_jit
    def rates(robot, x, v):
        inputs = no_inputs(robot, Water(current=(0.1, 0.0, 0.05), added_mass=added_mass))
        a = accelerations(robot, x, v, inputs)
        change = jax.jvp(lambda x, v: energy(robot, x, v, inputs).total, (x, v), (v, a))[1]
        return change, power(robot, x, v, inputs) - dissipation(robot, x, v)

    change, given = rates(robot, x, v)
    assert abs(float(change)) > 1e-3
    assert float(change) == pytest.approx(float(given), rel=1e-9)


def test_a_robot_whose_every_part_is_as_dense_as_water_stays():
    robot = crab((DENSITY, DENSITY), volume=0.3 / DENSITY)
    robot = eqx.tree_at(lambda r: (r.arms.lump_inertia,), robot, (jnp.zeros((1, 6)),))
    still = like_coordinates(robot)
    a = accelerations(robot, still, still, no_inputs(robot, Water()))
    for part in jax.tree.leaves(a):
        np.testing.assert_allclose(part, 0.0, rtol=0, atol=1e-11)


def test_the_weight_in_water_is_that_of_all_masses_less_that_of_all_water_displaced():
    robot = crab()
    still = like_coordinates(robot)
    weight = bulk(robot, still, still, no_inputs(robot, Water())).weight
    arm = robot.one
    volume = float(jnp.sum(arm.inertia[..., 3] / arm.arm.material.density[:, None]))
    radii = np.array([0.01, 0.008, 0.006])
    cones = np.pi * 0.15 / 3.0 * np.sum(radii[:-1] ** 2 + radii[:-1] * radii[1:] + radii[1:] ** 2)
    assert volume == pytest.approx(cones, rel=1e-12)
    mass = 0.3 + 2.0 * (float(jnp.sum(arm.inertia[..., 3])) + 0.02)
    displaced = DENSITY * (4e-4 + 2.0 * cones)
    np.testing.assert_allclose(weight[3:], [0.0, 0.0, -9.81 * (mass - displaced)], rtol=1e-12, atol=1e-14)


def test_where_an_arm_rests_depends_on_the_density_of_the_water():
    robot = single_arm(an_arm((1100.0, 1100.0, 1100.0)))

    def height(density):
        return equilibrium(System(robot, [Water(density)]), load_steps=4).tip[2]

    slope, step = float(jax.grad(height)(1000.0)), 1.0
    assert slope == pytest.approx(float(height(1000.0 + step) - height(1000.0 - step)) / (2.0 * step), rel=1e-4)
    # Lighter than water it rises, and as heavy it stays straight.
    assert float(height(1000.0)) < -1e-3
    assert float(height(1100.0)) == pytest.approx(0.0, abs=1e-12)
    assert float(height(1200.0)) > 1e-3


def test_a_known_arm_needs_no_force_where_water_bears_it():
    bearing = KnownArm.of(System(single_arm(an_arm((1100.0, 1100.0))), [Water(1100.0)]))
    still = jnp.zeros((2, 3))
    np.testing.assert_allclose(bearing.needed(still, still, still), 0.0, rtol=0, atol=1e-14)
    heavy = KnownArm.of(System(single_arm(an_arm((1100.0, 1100.0)))))
    assert np.abs(heavy.needed(still, still, still)).max() > 1e-3
