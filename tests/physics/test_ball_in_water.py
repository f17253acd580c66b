"""The water that a ball carries along: half of what it displaces, and no moment in a steady flow."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Hull, Material, Section
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import accelerations, residual
from hydrostat.mechanics.energy import dissipation, energy, external_wrench, momentum, power
from hydrostat.mechanics.model import make_arm_model
from hydrostat.mechanics.motion import Coordinates, like_coordinates
from hydrostat.mechanics.robot import BodyShape, equal_arms, no_inputs
from hydrostat.robots.hull_spec import HullSpec
from hydrostat.segments import StrainSegment
from hydrostat.simulation import simulate
from hydrostat.surroundings import Water
from hydrostat.system import System

DENSITY, MASS, VOLUME = 1022.0, 0.5, 4e-4
INERTIA = np.array([1e-4, 2e-4, 3e-4, MASS, MASS, MASS])
CURRENT = (0.3, -0.2, 0.1)
MOUNTS = SE3(jnp.stack([jnp.eye(3), so3.exp(jnp.array([0.4, 0.0, 0.0]))]), jnp.array([[0.02, 0, 0], [-0.02, 0, 0]]))


def water(current=(0.0, 0.0, 0.0), added_mass=1.0, drag=0.0):
    """Water, without drag on arms unless told."""
    return Water(DENSITY, drag, 0.1 * drag, current, added_mass)


def ball(radius=1e-6, hull=None, pose=None):
    """A ball with two arms: hairs that weigh nothing beside it, or thicker ones."""
    segments = StrainSegment(jnp.full(2, 0.05), ("bend_x", "bend_y", "stretch"))
    material = Material(jnp.full(2, 3e5), jnp.full(2, 0.4), jnp.full(2, 1100.0), jnp.full(2, 50.0))
    arm = make_arm_model(
        Arm(segments, Section(jnp.full(2, radius), jnp.full(2, radius)), material, SE3.identity()), points=2
    )
    shape = BodyShape(*(jnp.asarray(value) for value in ((0.75 * VOLUME / np.pi) ** (1 / 3), 0.0, VOLUME)), hull)
    gravity = (0.0, 0.0, -9.81)
    return equal_arms(arm, MOUNTS, pose, gravity=gravity, base_inertia=jnp.asarray(INERTIA), body=shape)


def spheroid(ratio: float) -> Hull:
    """A spheroid of the ball's volume about the same centre."""
    width = (6.0 * VOLUME / np.pi / ratio) ** (1.0 / 3.0)
    spec = HullSpec(ratio * width, width, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    numbers = (spec.centre, spec.buoyancy_centre, spec.length / 2, width / 2, spec.added, 0.0, 0.0, 0.05)
    return Hull(*(jnp.asarray(number, float) for number in numbers))


def test_a_ball_released_in_still_water_falls_with_half_of_the_water_that_it_displaces():
    expected = (MASS - DENSITY * VOLUME) * 9.81 / (MASS + 0.5 * DENSITY * VOLUME)
    turned = SE3(so3.exp(jnp.array([0.4, -0.7, 0.2])), jnp.zeros(3))
    robot = ball(pose=turned)
    still = like_coordinates(robot)
    found = accelerations(robot, still, still, no_inputs(robot, water())).base
    # The hairs are 1e-9 of the ball.
    np.testing.assert_allclose(turned.rotation @ found[3:], [0.0, 0.0, -expected], rtol=1e-6, atol=1e-7)
    rows = simulate(System(robot, [water()]), None, 0.2, 0.01)
    np.testing.assert_allclose(rows.body[:, 2], -0.5 * expected * rows.time**2, rtol=0, atol=1e-6 * expected)


def moment(robot, velocity) -> np.ndarray:
    """The moment that the water exerts on a body that moves steadily through it [N m]."""
    x, V = like_coordinates(robot), like_coordinates(robot)._replace(base=jnp.array([0.0, 0.0, 0.0, *velocity]))
    inputs = no_inputs(robot, water())
    dry = no_inputs(robot, water(added_mass=None))
    return np.asarray((residual(robot, x, V, x, dry).base - residual(robot, x, V, x, inputs).base)[:3])


def test_a_steady_flow_turns_no_ball_and_turns_a_spheroid_broadside():
    velocity = np.array([0.5, 0.0, 1.0])
    np.testing.assert_allclose(moment(ball(), velocity), 0.0, atol=1e-9)
    hull = spheroid(2.0)
    across, along = DENSITY * np.asarray(hull.added)[[3, 5]]
    # Munk's moment, -v x (m v): it turns the nose, which is the body's z, away from where the body goes.
    expected = [0.0, -(across - along) * velocity[0] * velocity[2], 0.0]
    np.testing.assert_allclose(moment(ball(hull=hull), velocity), expected, rtol=1e-6, atol=1e-9)


def test_a_spheroid_that_is_nearly_a_ball_carries_along_what_a_ball_does():
    one, other = (shape.body.entrained_inertia(jnp.asarray(DENSITY)) for shape in (ball(), ball(hull=spheroid(1.01))))
    # Shares of a spheroid differ from a ball's by less than its eccentricity squared, here 0.02; what turns, by the
    # square of that, of the moment of inertia of the displaced water.
    turning = 0.4 * DENSITY * VOLUME * (0.75 * VOLUME / np.pi) ** (2 / 3)
    np.testing.assert_allclose(other[3:], one[3:], rtol=0.02)
    np.testing.assert_allclose(other[:3], one[:3], atol=0.02**2 * turning)


def in_motion(robot, seed):
    """Bent arms that move, on a body that moves and turns."""
    rng = np.random.default_rng(seed)
    size = np.array([2.0, 2.0, 0.05])
    q, v = (jnp.asarray(size * rng.normal(size=(2, 2, 3))) for _ in range(2))
    return Coordinates(q + robot.one.rest, jnp.zeros(6)), Coordinates(v, jnp.asarray(0.5 * rng.normal(size=6)))


@eqx.filter_jit
def rates(robot, x, v, around):
    """Rates of energy and momentum along the motion, and what they should be."""
    inputs = no_inputs(robot, around)
    both = lambda x, v: (energy(robot, x, v, inputs).total, momentum(robot, x, v, inputs))  # noqa: E731
    watts, force = jax.jvp(both, (x, v), (v, accelerations(robot, x, v, inputs)))[1]
    wrench, _ = external_wrench(robot, x, v, inputs)
    return watts, power(robot, x, v, inputs) - dissipation(robot, x, v), force, wrench


@pytest.mark.parametrize("current", [(0.0, 0.0, 0.0), CURRENT])
def test_energy_and_momentum_of_a_ball_with_arms_change_by_what_acts_from_outside(current):
    robot = ball(radius=0.01)
    for seed in range(3):
        watts, net, force, wrench = rates(robot, *in_motion(robot, seed), water(current, drag=1.0))
        assert abs(float(net)) > 1e-3
        assert float(watts) == pytest.approx(float(net), rel=1e-9)
        np.testing.assert_allclose(force, wrench, rtol=0, atol=1e-9 * float(jnp.max(jnp.abs(wrench))))


def test_a_ball_that_drifts_with_a_current_does_not_know_of_it():
    robot = ball(radius=0.01)
    x, v = in_motion(robot, 3)
    drift = jnp.asarray(CURRENT)
    one = accelerations(robot, x, v, no_inputs(robot, water()))
    drifting = v._replace(base=v.base.at[3:].add(drift))
    other = accelerations(robot, x, drifting, no_inputs(robot, water(CURRENT)))
    # The coordinates of the body are the twist itself here, whose rate has the current turn against the body.
    turning = jnp.cross(v.base[:3], drift)
    np.testing.assert_allclose(other.q, one.q, rtol=0, atol=1e-9 * float(jnp.abs(one.q).max()))
    np.testing.assert_allclose(other.base[:3], one.base[:3], rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.base[3:], one.base[3:] - turning, rtol=0, atol=1e-8)
