"""What the sea does to the body of an octopus."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics import dynamics
from hydrostat.mechanics.model import no_inputs
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.nodes import Nodes
from hydrostat.robots.build_limbed import crown_model
from hydrostat.robots.octopus import octopus
from hydrostat.surroundings import ContactLaw, Water
from hydrostat.surroundings.floor import floor
from hydrostat.surroundings.own import body_contact
from hydrostat.surroundings.sea import Jet, Mantle, OnMantle, Sea
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.world import Ball, World

RADIUS, HEIGHT = 0.03, 0.0295
LAW = ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005)
MANTLE, WATER = Mantle(RADIUS), Water(current=(0.02, 0.0, 0.0))
POSITION = np.array([0.1, 0.2, HEIGHT])
TWIST = np.array([0.3, -0.2, 0.1, 0.11, -0.05, -0.02])
"""Angular and linear velocity in world axes."""


def _body(twist) -> Nodes:
    zero = jnp.zeros(1)
    return Nodes(jnp.asarray(POSITION)[None], twist[None, 3:], twist[None, :3], jnp.zeros((1, 3)), zero, zero)


def _sea(ground: bool) -> OnMantle:
    at = _body(jnp.asarray(TWIST))._replace(radius=jnp.array([RADIUS]))
    return OnMantle(MANTLE, WATER, floor(LAW, jnp.zeros(()), at) if ground else None, jnp.zeros(3))


def test_drag_is_that_of_a_ball():
    flow = np.array([0.02, 0.0, 0.0]) - TWIST[3:]
    expected = 0.5 * 1022.0 * 0.47 * np.pi * RADIUS**2 * np.linalg.norm(flow) * flow
    found = _sea(ground=False).on_body(_body(jnp.asarray(TWIST)))
    np.testing.assert_allclose(found.force[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(found.torque, 0.0)


@pytest.mark.parametrize("ground", [False, True])
def test_damping_is_the_derivative(ground):
    sea = _sea(ground)

    def wrench(twist):
        found = sea.on_body(_body(twist))
        return jnp.concatenate([found.torque[0], found.force[0]])

    found = sea.on_body(_body(jnp.asarray(TWIST)))
    np.testing.assert_allclose(-jax.jacfwd(wrench)(jnp.asarray(TWIST)), found.damping[0], atol=1e-9)
    lift = found.force[0, 2] - _sea(ground=False).on_body(_body(jnp.asarray(TWIST))).force[0, 2]
    # 0.5 mm deep, where the stiffness comes on over 0.3 of the radius, and 20 mm/s on its way down.
    pressed = 50.0 * 0.5 * 0.0005**2 / (0.3 * RADIUS) * (1.0 + 20.0 * 0.02)
    np.testing.assert_allclose(lift, pressed if ground else 0.0, rtol=1e-9)


def test_the_floor_can_be_stiffer_than_arms():
    stiffer = ContactLaw(stiffness=100.0, damping=20.0, friction=0.5, slip_speed=0.005)
    body = _body(jnp.asarray(TWIST))
    above = body._replace(position=body.position + jnp.array([0.0, 0.0, 1.0]), radius=jnp.array([0.01]))
    lifts = []
    for bed in (None, stiffer):
        sea = Sea(WATER, LAW, MANTLE, jnp.zeros(()), arms=1, bed=bed)
        around = sea.around(sea.begin(1), above, 0.0, body)
        lifts.append(around.on_body(body).force[0, 2] - _sea(ground=False).on_body(body).force[0, 2])
    np.testing.assert_allclose(lifts[1], 2.0 * lifts[0], rtol=1e-9)


def test_the_body_feels_it():
    """The forces that the motion of the body lacks are those of the sea, in the body's axes, the other way round."""
    model = crown_model(octopus(2, 2), points=1, skin_points=1)
    sea = _sea(ground=True)
    turned = jnp.asarray([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    pose = type(model.T_world_body)(turned, jnp.asarray(POSITION))
    zero = Coordinates(jnp.zeros_like(no_inputs(model).torque), jnp.zeros(6))
    own = np.concatenate([turned.T @ TWIST[:3], turned.T @ TWIST[3:]])
    moving = zero._replace(base=jnp.asarray(own))
    given = no_inputs(model)._replace(base_pose=pose)
    without, felt = (
        dynamics.residual(model, zero, moving, zero, given._replace(surroundings=around)).base for around in (None, sea)
    )
    there = sea.on_body(_body(jnp.asarray(TWIST)))
    expected = np.concatenate([turned.T @ there.torque[0], turned.T @ there.force[0]])
    np.testing.assert_allclose(without - felt, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def crowded():
    """Nodes of two arms of four, of which the third of each presses on the body, and what is between them."""
    rng = np.random.default_rng(3)
    away = rng.normal(size=(8, 3))
    away = away / np.linalg.norm(away, axis=1, keepdims=True)
    gaps = np.array([-1e-3, -1e-3, -1e-3, 5e-3] * 2)
    position = POSITION + (RADIUS + 4e-3 + gaps)[:, None] * away
    zero = jnp.zeros((8, 3))
    nodes = Nodes(
        jnp.asarray(position),
        jnp.asarray(TWIST[3:] + 0.01 * rng.normal(size=(8, 3))),
        zero,
        zero,
        jnp.full(8, 4e-3),
        zero[:, 0],
    )
    body = _body(jnp.asarray(TWIST))._replace(radius=jnp.array([RADIUS]))
    return nodes, body, body_contact(LAW, nodes, body, 2, 5e-3, 2)


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
    world = World(WATER, jnp.array([0.0, 0.0, -9.81]), LAW, Ball.of_density(5e-3, 1300.0), suckers=SuckerLaw(reach=1.0))
    start = world.begin(8, POSITION)
    taking = jnp.array([0.0] * 4 + [1.0] * 4)
    state = world.advance(start, nodes, taking, 5e-3)
    state = world.advance(state, nodes, taking, 5e-3)
    moved = nodes._replace(position=nodes.position + 1e-3, velocity=nodes.velocity + 0.1)
    together = state.ties.forces(moved)
    parts = state.ties.by_arm(2)
    each = [
        jax.tree.map(lambda y, i=i: y[i], parts).forces(jax.tree.map(lambda y, i=i: y[4 * i : 4 * i + 4], moved))
        for i in range(2)
    ]
    apart = jax.tree.map(lambda *y: jnp.concatenate(y), *each)
    assert np.abs(together.force[4:]).max() > 1e-3
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * max(np.abs(one).max(), 1e-3))


def test_a_jet_presses_out_what_it_has_and_its_thrust_is_the_momentum_that_leaves():
    jet = Jet(volume=40e-6, nozzle=60e-6, burst_s=0.25, refill_s=0.75)
    left, thrust, impulse = jnp.ones(()), 0.0, 0.0
    for _ in range(100):
        left, thrust = jet.press(left, 1.0, 1022.0, 5e-3)
        impulse += 5e-3 * float(thrust)
    assert float(left) == 0.0
    assert float(thrust) == 0.0
    # rho Q^2 / A for as long as the water lasts, at Q = V / t.
    flow = 40e-6 / 0.25
    assert impulse == pytest.approx(0.25 * 1022.0 * flow**2 / 60e-6, rel=1e-9)
    left, thrust = jet.press(left, 0.0, 1022.0, 0.3)
    assert float(left) == pytest.approx(0.4)
    assert float(thrust) == 0.0
