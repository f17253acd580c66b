"""Rows of a motion: the same by every way to make them, and each of them belongs to its time."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_robots import parts_about, single

from hydrostat.bodies import Arm, Material, Section
from hydrostat.control.base import Controller
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import single_arm
from hydrostat.segments import StrainSegment
from hydrostat.sensing import observe
from hydrostat.simulation import rollout, simulate
from hydrostat.stepping import step
from hydrostat.surroundings import Ball, ContactLaw, Suckers
from hydrostat.system import Control, System

DT, STEPS = 5e-3, 6


class TakeAndRelease(Controller):
    """Muscles contract more and more; suckers hold the ground from the second step, the ball until the fourth."""

    strength: jax.Array

    def init(self, observation):
        return jnp.asarray(0)

    def __call__(self, time, observation, memory):
        activation = jnp.full((2, 5), self.strength) * (1.0 + memory)
        grip, take = (jnp.where(condition, jnp.ones(2), 0.0) for condition in (memory >= 1, memory < 3))
        return Control(activation=activation, grip=grip, take=take), memory + 1


@pytest.fixture(scope="module")
def system():
    parts = parts_about(single())
    return System(single(), [parts[name] for name in ("water", "ground", "suckers", "ball")])


CONTROLLER = TakeAndRelease(jnp.asarray(0.05))


@pytest.fixture(scope="module")
def rolled(system):
    return rollout(system, CONTROLLER, steps=STEPS, dt=DT)


def check_equal(found, expected, atol=1e-10):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=atol * max(1.0, np.abs(np.asarray(other)).max()))


def test_a_simulation_is_a_rollout(system, rolled):
    found = simulate(system, CONTROLLER, STEPS * DT, DT)
    assert len(found) == len(rolled) == STEPS + 1
    check_equal((found.state, found.control, found.memory), (rolled.state, rolled.control, rolled.memory))


def test_a_row_belongs_to_its_time(system, rolled):
    """Step by step by hand: what is held, the ball and the activation of a row are those at its time."""
    take_step = eqx.filter_jit(step)
    state, memory = system.rest(), jnp.asarray(0)
    check_equal(rolled[0], state)
    for i in range(STEPS):
        control, memory = CONTROLLER(state.time, observe(system, state, Control(), DT), memory)
        state = take_step(system, state, control, DT)
        check_equal(rolled[i + 1], state)
        check_equal(jax.tree.map(lambda y, i=i: y[i + 1], (rolled.control, rolled.memory)), (control, memory))
    np.testing.assert_allclose(rolled.time, DT * np.arange(STEPS + 1), rtol=1e-14)
    # The ball is held from the first step's begin to the fourth's, the ground from the second's on.
    held, taken = np.asarray(rolled.held)[:, 0], np.asarray(rolled.taken)[:, -1]
    np.testing.assert_array_equal(held, [0, 0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(taken, [0, 1, 1, 1, 0, 0, 0])
    # Where it is at a time and how fast, belong together: it moves by the velocity of the row.
    ball = system.part_state(rolled.state, Ball).ball
    np.testing.assert_allclose(np.diff(ball.position, axis=0), DT * np.asarray(ball.velocity)[1:], rtol=0, atol=1e-15)


def test_a_batch_of_rollouts_is_a_loop_of_them(system):
    """With suckers and a ball in the scene."""
    strengths = jnp.array([0.02, 0.05, 0.08])

    def final(strength):
        return rollout(system, TakeAndRelease(strength), steps=STEPS, dt=DT).state

    batch = jax.vmap(final)(strengths)
    for i, strength in enumerate(strengths):
        check_equal(jax.tree.map(lambda y, i=i: y[i], batch), final(strength))
    # They differ.
    assert np.abs(batch.q[0, -1] - batch.q[2, -1]).max() > 1e-4


# --- An arm and a ball, alone in the world


@pytest.fixture(scope="module")
def adrift():
    """A free soft arm without weight, and a ball that hits it near its tip."""
    arm = Arm(
        StrainSegment(jnp.full(2, 0.1), ("bend_x", "bend_y")),
        Section(jnp.full(2, 0.01), jnp.full(2, 0.01)),
        Material(*(jnp.full(2, value) for value in (2e5, 0.4, 1000.0, 100.0))),
        SE3.identity(),
    )
    robot = single_arm(arm, points=2, free_base=True, base_mass=0.02, base_inertia=2e-6)
    ball = Ball(0.015, 0.02, (-0.03, 0.0, 0.19), law=ContactLaw(100.0, 0.0, 0.3, 0.01, 1e-3))
    return System(robot, [ball, Suckers()], gravity=(0.0, 0.0, 0.0))


def total_momentum(found):
    """Of arm and ball: angular about the world's origin, and linear, row by row."""
    prey, ball = found.system.part(Ball), found.system.part_state(found.state, Ball).ball
    mass, position, velocity = float(prey.mass), np.asarray(ball.position), np.asarray(ball.velocity)
    spin = 0.4 * mass * float(prey.radius) ** 2 * np.asarray(ball.spin)
    own = np.concatenate([mass * np.cross(position, velocity) + spin, mass * velocity], -1)
    return np.asarray(found.momentum()) + own, own


def test_an_arm_and_a_ball_keep_their_momentum_as_the_step_shrinks(adrift):
    rest = adrift.rest()
    prey = rest.surroundings[0]
    thrown = prey._replace(ball=prey.ball._replace(velocity=jnp.array([0.2, 0.05, 0.0])))
    start = rest._replace(surroundings=(thrown, *rest.surroundings[1:]))
    drifts = []
    for every in (1, 2, 4):
        # As many rows each, which share what is compiled.
        found = simulate(adrift, None, 0.2, 2e-3 / every, state=start, every=every)
        whole, own = total_momentum(found)
        exchanged = np.abs(own[-1] - own[0])[3:].max()
        assert exchanged > 0.3 * 0.02 * 0.2
        drifts.append(np.abs(whole - whole[0]).max() / exchanged)
    # Each of the two is implicit in the contact by itself, which leaves an error of first order.
    assert np.all(np.log2(np.array(drifts[:-1]) / drifts[1:]) > 0.9), drifts
    # Before they touch nothing is lost.
    ball = adrift.part_state(found.state, Ball).ball
    apart = np.flatnonzero(np.abs(np.asarray(ball.velocity) - [0.2, 0.05, 0.0]).max(1) < 1e-12)
    assert len(apart) >= 10
    assert np.abs(whole[apart] - whole[0]).max() < 1e-12 * np.abs(whole[0]).max()
