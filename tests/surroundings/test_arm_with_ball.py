"""An arm that holds a ball with its suckers, carries it, and lets it go."""

import jax.numpy as jnp
import numpy as np
import pytest
from lone_balls import LAW, RADIUS, SUBMERGED

from hydrostat.control.base import Controller
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.simulation import rollout
from hydrostat.surroundings import Suckers, Water
from hydrostat.surroundings.objects import BALL_DRAG, Ball
from hydrostat.system import Control, System

STEP, STEPS, SEGMENTS = 5e-3, 400, 6
BELOW = (0.06, 0.0, -0.012)
"""Below the arm, between its first two nodes."""


class HoldFor(Controller):
    """All muscles are stiff, and the suckers of the first two segments hold the ball until a time."""

    until: float

    def __call__(self, time, observation, memory):
        # Longitudinal muscles, and the radial ones twice as much: the arm keeps its shape.
        activation = jnp.tile(jnp.array([0.3, 0.3, 0.3, 0.3, 0.6]), (SEGMENTS, 1))
        take = jnp.where(time < self.until - 0.5 * STEP, jnp.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 0.0)
        return Control(activation=activation, take=take), memory


@pytest.fixture(scope="module")
def system():
    ball = Ball.of_density(0.01, 1100.0, BELOW, law=LAW)
    return System(build_robot(octopus_arm(SEGMENTS)), [Water(), ball, Suckers(reach=0.02)])


def carried(system, until):
    """What becomes of the arm and the ball, row by row."""
    # As an array, the time is not part of what is compiled.
    found = rollout(system, HoldFor(jnp.asarray(until)), steps=STEPS, dt=STEP)
    assert np.all(found.converged)
    return found, system.part_state(found.state, Ball)


def test_an_arm_that_holds_a_ball_still_comes_to_rest(system):
    found, prey = carried(system, 9.0)
    held = np.asarray(prey.attachment.held)
    assert not np.any(held[0])
    np.testing.assert_array_equal(held[1:], np.broadcast_to([1, 1, 0, 0, 0, 0], (STEPS, 6)))
    # It sags under the load, and slows down: no energy is fed to it.
    ball = prey.ball
    speed = np.linalg.norm(ball.velocity, axis=-1) + RADIUS * np.linalg.norm(ball.spin, axis=-1)
    peaks = speed[1:].reshape(4, -1).max(1)
    assert peaks[0] < 0.05
    assert np.all(peaks[1:] < 0.2 * peaks[0])
    assert peaks[3] < 0.1 * peaks[0]
    turning = np.abs(np.asarray(found.v)[1:, :, :2] * 0.04).reshape(4, -1).max(1)
    assert turning[3] < 0.05 * turning[0]
    # The ball hangs where it was taken, by springs that carry it.
    nodes = np.asarray(system.place(found.final).nodes.position)
    rotation, anchor = np.asarray(ball.rotation[-1]), np.asarray(prey.attachment.anchor[-1])
    apart = nodes[:2] - np.asarray(ball.position[-1]) - anchor[:2] @ rotation.T
    np.testing.assert_allclose(98.0 * apart.sum(0), [0.0, 0.0, SUBMERGED], rtol=0, atol=0.05 * SUBMERGED)
    # The ball stays a rigid body.
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-12)


def test_a_ball_that_is_let_go_sinks_in_the_water_alone(system):
    found, prey = carried(system, 0.5)
    rows = np.arange(1, STEPS + 1)
    np.testing.assert_array_equal(prey.attachment.held[1:].sum(1), np.where(rows <= 100, 2.0, 0.0))
    # It touches no node any more from some time on.
    centre = np.asarray(prey.ball.position)
    gap = np.linalg.norm(np.asarray(found.points)[:, 1:] - centre[:, None], axis=-1).min(1) - RADIUS - 7.5e-3
    free = slice(1 + np.flatnonzero(gap < 0.0).max(initial=100), None)
    v = np.asarray(prey.ball.velocity)[free]
    assert len(v) > 200
    k = 0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2 / 0.01
    rate = np.array([0.0, 0.0, -SUBMERGED / 0.01]) - k * np.linalg.norm(v, axis=-1, keepdims=True) * v
    gained = np.diff(v, axis=0) / STEP
    np.testing.assert_allclose(gained, 0.5 * (rate[1:] + rate[:-1]), rtol=0, atol=0.01 * SUBMERGED / 0.01)
    assert centre[-1, 2] < -0.15
