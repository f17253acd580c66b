"""What water, ground, arms and prey do to the body of an octopus."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.lie import SE3
from hydrostat.mechanics import dynamics
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.nodes import Nodes
from hydrostat.mechanics.robot import BodyShape, no_inputs
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.surroundings import Ball, Commands, ContactLaw, Environment, Ground, Place, Suckers, Together, Water
from hydrostat.surroundings.base import OnBody
from hydrostat.surroundings.capsule_contact import body_contact

RADIUS, HEIGHT = 0.03, 0.0295
LAW = ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005)
WATER = Water(current=(0.02, 0.0, 0.0))
BODY = BodyShape(*(jnp.asarray(y) for y in (RADIUS, 0.47, 4.0 / 3.0 * np.pi * RADIUS**3)))
POSITION = np.array([0.1, 0.2, HEIGHT])
TWIST = np.array([0.3, -0.2, 0.1, 0.11, -0.05, -0.02])
"""Angular and linear velocity in world axes."""
GRAVITY = jnp.array([0.0, 0.0, -9.81])


def _body(twist=TWIST) -> Nodes:
    twist, zero = jnp.asarray(twist), jnp.zeros(1)
    return Nodes(jnp.asarray(POSITION)[None], twist[None, 3:], twist[None, :3], jnp.zeros((1, 3)), zero, zero)


def _around(*parts) -> Together:
    """What parts of the surroundings do during a step of no duration, with an arm far above the body."""
    body = _body()
    above = body._replace(position=body.position + jnp.array([0.0, 0.0, 1.0]), radius=jnp.array([0.01]))
    place = Place(above, body._replace(radius=jnp.array([RADIUS])))
    environment = Environment(GRAVITY, BODY, WATER, None, None, (1,), False)
    still = Commands(jnp.zeros(1), jnp.zeros(1), jnp.zeros(()))
    found = [part.begin(part.init(environment), place, environment, still, 0.0)[1] for part in parts]
    return Together(tuple(found))


def _sea(ground: bool) -> Together:
    return _around(WATER, Ground(law=LAW)) if ground else _around(WATER)


def test_drag_is_that_of_a_ball():
    flow = np.array([0.02, 0.0, 0.0]) - TWIST[3:]
    expected = 0.5 * 1022.0 * 0.47 * np.pi * RADIUS**2 * np.linalg.norm(flow) * flow
    found = _sea(ground=False).on_body(_body())
    np.testing.assert_allclose(found.force[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(found.torque, 0.0)


@pytest.mark.parametrize("ground", [False, True])
def test_damping_is_the_derivative(ground):
    sea = _sea(ground)

    def wrench(twist):
        found = sea.on_body(_body(twist))
        return jnp.concatenate([found.torque[0], found.force[0]])

    found = sea.on_body(_body())
    np.testing.assert_allclose(-jax.jacfwd(wrench)(jnp.asarray(TWIST)), found.damping[0], atol=1e-9)
    lift = found.force[0, 2] - _sea(ground=False).on_body(_body()).force[0, 2]
    # 0.5 mm deep, where the stiffness comes on over 0.3 of the radius, and 20 mm/s on its way down.
    pressed = 50.0 * 0.5 * 0.0005**2 / (0.3 * RADIUS) * (1.0 + 20.0 * 0.02)
    np.testing.assert_allclose(lift, pressed if ground else 0.0, rtol=1e-9)


def test_the_ground_is_as_stiff_as_its_law_says():
    stiffer = dataclasses.replace(LAW, stiffness=jnp.asarray(100.0))
    lifts = [_around(Ground(law=law)).on_body(_body()).force[0, 2] for law in (LAW, stiffer)]
    np.testing.assert_allclose(lifts[1], 2.0 * lifts[0], rtol=1e-9)
    # One that is not soft has the onset of its law, 0.5 mm deep at most.
    sharp = _around(Ground(law=dataclasses.replace(LAW, onset=jnp.asarray(1e-4)), soft=False))
    pressed = 50.0 * (0.0005 - 0.5e-4) * (1.0 + 20.0 * 0.02)
    np.testing.assert_allclose(sharp.on_body(_body()).force[0, 2], pressed, rtol=1e-9)


def test_the_body_feels_it():
    """The residual forces of the body's motion are those of the sea, in the body's axes, the other way round."""
    robot = build_robot(octopus(2, 2), points=1, skin_points=1, free=True)
    sea = _sea(ground=True)
    turned = jnp.asarray([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    zero = Coordinates(jnp.zeros_like(no_inputs(robot).torque), jnp.zeros(6))
    own = np.concatenate([turned.T @ TWIST[:3], turned.T @ TWIST[3:]])
    moving = zero._replace(base=jnp.asarray(own))
    inputs = no_inputs(robot)._replace(base_pose=SE3(turned, jnp.asarray(POSITION)))

    def residual(*around):
        return dynamics.residual(robot, zero, moving, zero, inputs._replace(surroundings=Together(around))).base

    # Of what acts on the body alone, without the drag of the arms, which comes to it through them.
    on_body = [part for one in sea.parts for part in one.parts if isinstance(part, OnBody)]
    there = sea.on_body(_body())
    expected = np.concatenate([turned.T @ there.torque[0], turned.T @ there.force[0]])
    assert len(on_body) == 2
    np.testing.assert_allclose(residual() - residual(*on_body), expected, rtol=1e-9, atol=1e-12)
    assert np.abs(residual() - residual(WATER)).max() > 1e-6


@pytest.fixture(scope="module")
def crowded():
    """Nodes of two arms of four, of which the third of each presses on the body, and what is between them."""
    rng = np.random.default_rng(3)
    away = rng.normal(size=(8, 3))
    away = away / np.linalg.norm(away, axis=1, keepdims=True)
    gaps = np.array([-1e-3, -1e-3, -1e-3, 5e-3] * 2)
    position = POSITION + (RADIUS + 4e-3 + gaps)[:, None] * away
    velocity = jnp.asarray(TWIST[3:] + 0.01 * rng.normal(size=(8, 3)))
    zero = jnp.zeros((8, 3))
    nodes = Nodes(jnp.asarray(position), velocity, zero, zero, jnp.full(8, 4e-3), zero[:, 0])
    body = _body()._replace(radius=jnp.array([RADIUS]))
    return nodes, body, body_contact(LAW, nodes, body, 2, 5e-3, np.tile(np.arange(4), 2))


def test_arms_and_body_press_on_each_other_without_momentum(crowded):
    nodes, body, (on_arms, on_body) = crowded
    force = np.asarray(on_arms.forces(nodes).force)
    assert np.linalg.norm(force[[2, 6]], axis=1).min() > 1e-3
    # The first two of each arm are where it is attached, and the last ones are away.
    np.testing.assert_array_equal(force[[0, 1, 3, 4, 5, 7]], 0.0)
    np.testing.assert_allclose(force.sum(0) + np.asarray(on_body.forces(body).force)[0], 0.0, atol=1e-15)
    turning = np.cross(np.asarray(nodes.position) - POSITION, force).sum(0)
    np.testing.assert_allclose(turning, 0.0, atol=1e-15)
    out = np.einsum("ij,ij->i", np.asarray(nodes.position) - POSITION, force)
    assert np.all(out[[2, 6]] > 0.0)


def test_prey_answers_to_the_arm_that_holds_it_as_it_does_to_all(crowded):
    """Each arm looks at its own suckers alone, which is exact while one arm holds."""
    nodes = crowded[0]
    prey = Ball.of_density(5e-3, 1300.0, POSITION, law=LAW)
    environment = Environment(GRAVITY, None, WATER, None, Suckers(reach=1.0), (4, 4), True)
    commands = Commands(jnp.zeros(8), jnp.array([0.0] * 4 + [1.0] * 4), jnp.zeros(()))
    _, forces = prey.begin(prey.init(environment), Place(nodes, None), environment, commands, 5e-3)
    grip = forces.grip
    moved = nodes._replace(position=nodes.position + 1e-3, velocity=nodes.velocity + 0.1)
    together = grip.forces(moved)
    parts = grip.by_arm(2)
    each = [
        jax.tree.map(lambda y, i=i: y[i], parts).forces(jax.tree.map(lambda y, i=i: y[4 * i : 4 * i + 4], moved))
        for i in range(2)
    ]
    apart = jax.tree.map(lambda *y: jnp.concatenate(y), *each)
    assert np.abs(together.force[4:]).max() > 1e-3
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * max(np.abs(one).max(), 1e-3))


def test_thin_nodes_meet_the_body_with_one_share_of_their_radius():
    """At one share of their radius two thin nodes are pressed off the body alike, and one that is apart is not."""
    body = _body(jnp.zeros(6))._replace(radius=jnp.array([RADIUS]))
    radius = jnp.array([0.4e-3, 0.8e-3, 0.8e-3, 4e-3])
    out = jnp.eye(3)[jnp.array([0, 1, 2, 2])] * jnp.array([1.0, 1.0, 1.0, -1.0])[:, None]
    away = RADIUS + radius * jnp.array([0.8, 0.8, 1.2, 2.0])
    zero = jnp.zeros((4, 3))
    nodes = Nodes(body.position + away[:, None] * out, zero, zero, out, radius, radius)
    soft = dataclasses.replace(LAW, onset=jnp.asarray(1e-3))
    on_arms, on_body = body_contact(soft, nodes, body, 0, 0.0, np.arange(4))
    push = np.asarray(on_arms.push)
    assert push[0, 0] > 0.0
    np.testing.assert_allclose(push[:2].sum(1), push[0, 0], rtol=1e-9)
    np.testing.assert_array_equal(push[2:], 0.0)
    np.testing.assert_allclose(np.asarray(on_body.push)[0], -push.sum(0), atol=1e-15)
