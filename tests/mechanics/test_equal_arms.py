"""Equal arms on one body are the same as any arms on one body."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.mechanics import dynamics
from hydrostat.mechanics.energy import energy, external_wrench, momentum
from hydrostat.mechanics.model import Wires, make_arm_model
from hydrostat.mechanics.motion import Coordinates, all_nodes
from hydrostat.mechanics.nodes import AbstractForces
from hydrostat.mechanics.robot import Robot, equal_arms, joined, no_inputs, split
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.segments import StrainSegment
from hydrostat.simulation import rollout
from hydrostat.surroundings import Water
from hydrostat.system import Control, System

ARMS, SEGMENTS = 2, 3
OPTIONS = {"points": 1, "skin_points": 1}
QUANTITIES = ["residual", "solved", "nodes", "energy", "momentum", "wrench"]


def apart(robot: Robot) -> Robot:
    """The same robot with its equal arms as arms that might differ."""
    mounts = tuple(robot.mounts[i] for i in range(robot.count))
    arms = [eqx.tree_at(lambda a: a.arm.T_world_base, robot.one, robot.T_world_body @ mount) for mount in mounts]
    return Robot(tuple(arms), mounts, robot.T_world_body, robot.gravity, robot.base_inertia, robot.body)


def some_motion(robot: Robot, scale):
    """Coordinates, rates and accelerations, random but the same however the arms are held."""
    rng = np.random.default_rng(3)
    shape = (robot.count, *robot.each[0].stiffness.shape)
    parts = scale * rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape)
    bases = 0.1 * rng.normal(size=(3, 6))
    each = zip(parts, bases, strict=True)
    return [Coordinates(joined(robot, [jnp.asarray(own) for own in part]), jnp.asarray(base)) for part, base in each]


def drawn(robot: Robot, like, seed, size=1.0):
    """A quantity of each arm, random from 0 to its size."""
    rng = np.random.default_rng(seed)
    return joined(robot, [jnp.asarray(size * rng.uniform(size=part.shape)) for part in split(robot, like)])


@eqx.filter_jit
def measured(robot, motion, inputs):
    """What the mechanics says of a motion."""
    x, v, a = motion
    lacking = dynamics.residual(robot, x, v, a, inputs)
    solved = dynamics.solve(dynamics.factor(robot, x, v, 1e-3, 1e-6, inputs), lacking)
    _, motions = dynamics.motions_of(robot, x, v, a, inputs)
    return {
        "residual": lacking,
        "solved": solved,
        "nodes": all_nodes(robot, motions, x),
        "energy": energy(robot, x, v, inputs),
        "momentum": momentum(robot, x, v, inputs),
        "wrench": external_wrench(robot, x, v, inputs),
    }


def check_agreement(found, what):
    equal, unequal = (np.concatenate([np.ravel(y) for y in jax.tree.leaves(each[what])]) for each in found)
    np.testing.assert_allclose(equal, unequal, rtol=1e-10, atol=1e-10 * np.abs(unequal).max())


# --- An octopus in water


@pytest.fixture(scope="module")
def octopuses():
    """What the mechanics says of the same octopus as equal arms, and as arms that might differ."""
    equal = build_robot(octopus(ARMS, SEGMENTS, pitch_deg=20.0), free=True, **OPTIONS)
    assert equal.equal
    found = []
    for robot in (equal, apart(equal)):
        inputs = no_inputs(robot, Water())
        inputs = inputs._replace(activation=drawn(robot, inputs.activation, 4))
        found.append(measured(robot, some_motion(robot, 0.1 * np.array([1 / 0.06, 1 / 0.06, 1.0])), inputs))
    return found


@pytest.mark.parametrize("what", QUANTITIES)
def test_equal_arms_are_arms(octopuses, what):
    check_agreement(octopuses, what)


# --- Arms with tendons, lumped masses and loads


def tendon_arm():
    """A soft arm of two segments with two tendons, two lumped masses and two places for loads."""
    radius = jnp.linspace(0.02, 0.012, 3)
    arm = Arm(
        StrainSegment(jnp.array([0.2, 0.15]), ("bend_x", "bend_y", "stretch")),
        Section(radius[:-1], radius[1:]),
        Material(*(jnp.full(2, value) for value in (1e5, 0.3, 1000.0, 10.0))),
        SE3.identity(),
    )
    offsets = jnp.tile(jnp.array([0.01, 0.008]), (2, 2, 1))
    tendons = Tendons(jnp.array([0.3, 2.0]), offsets, jnp.array([[1.0, 1.0], [1.0, 0.0]]), (1, 0), None)
    lumps = [(0.4, 0.03), (1.0, 0.02, 1e-5)]
    return make_arm_model(
        arm, points=2, lumps=lumps, load_places=[0.5, 1.0], skin_points=1, wires=Wires(tendons, None, None)
    )


@pytest.fixture(scope="module")
def star():
    """Two such arms on a free body."""
    turns = jnp.array([[0.0, 1.2, 0.0], [-0.7, 0.4, 2.0]])
    mounts = SE3(jax.vmap(so3.exp)(turns), jnp.array([[0.1, 0.0, 0.02], [-0.08, 0.05, 0.0]]))
    body = SE3(so3.exp(jnp.array([0.3, -0.8, 1.1])), jnp.array([0.5, -0.2, 0.1]))
    inertia = jnp.array([2e-3, 3e-3, 4e-3, 0.4, 0.4, 0.4])
    return equal_arms(tendon_arm(), mounts, body, gravity=(1.0, 2.0, -9.0), base_inertia=inertia)


@pytest.fixture(scope="module")
def stars(star):
    found = []
    for robot in (star, apart(star)):
        none = no_inputs(robot)
        names = ("force", "follower", "torque", "wires")
        given = {name: drawn(robot, getattr(none, name), seed, 2.0) for seed, name in enumerate(names)}
        motion = some_motion(robot, np.array([2.0, 2.0, 0.1]))
        found.append(measured(robot, motion, none._replace(**given)))
        found[-1]["idle"] = measured(robot, motion, none)["residual"]
    return found


@pytest.mark.parametrize("what", QUANTITIES)
def test_equal_arms_may_have_tendons_masses_and_loads(stars, what):
    check_agreement(stars, what)
    # What acts is felt.
    for each in stars:
        pairs = zip(jax.tree.leaves(each["residual"]), jax.tree.leaves(each["idle"]), strict=True)
        assert all(np.abs(np.asarray(one - other)).max() > 0.1 for one, other in pairs)


# --- Momentum, and refusals


@pytest.mark.slow
def test_momentum_stays_in_free_float():
    """Without water and weight, muscles and stretched arms move the body, and momentum stays zero to rounding."""
    system = System(build_robot(octopus(ARMS, SEGMENTS), free=True, **OPTIONS), gravity=(0.0, 0.0, 0.0))
    activation = 0.1 * np.random.default_rng(0).uniform(size=(ARMS, SEGMENTS, 5))
    last = rollout(system, Control(activation=activation), steps=40, dt=5e-3)[-1:]
    size = float(np.sqrt(2.0 * last.energy().kinetic[0] * 0.25))  # of a quarter of a kilogram
    assert size > 1e-4
    assert np.abs(last.momentum()[0]).max() < 1e-10 * size


class AllTogether(AbstractForces):
    """Forces that take all nodes together."""

    def forces(self, nodes):
        raise NotImplementedError


def test_refusals(star):
    with pytest.raises(InputError, match="row of poses"):
        equal_arms(star.one, star.mounts[0])
    by_length = replace(star.one, wires=Wires(star.one.wires.course, jnp.ones(2), jnp.ones(2)))
    with pytest.raises(InputError, match="must not have wires of prescribed length"):
        equal_arms(by_length, star.mounts)
    x, *_ = some_motion(star, 0.0)
    with pytest.raises(InputError, match="takes all arms together"):
        dynamics.residual(star, x, x, x, no_inputs(star, AllTogether()))


def test_an_octopus_whose_arms_differ_is_built_of_unequal_arms():
    spec = octopus(ARMS, SEGMENTS)
    other = octopus(ARMS, SEGMENTS + 1).limbs[1]
    mixed = build_robot(replace(spec, limbs=(spec.limbs[0], other, *spec.limbs[2:])), free=True, **OPTIONS)
    assert not mixed.equal
    assert [arm.arm.count for arm in mixed.each] == [SEGMENTS, SEGMENTS + 1]
