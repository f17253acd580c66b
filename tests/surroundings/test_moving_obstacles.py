"""Obstacles that move as they are told to: where their shapes are, and what they do to an arm within a step."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from hydrostat.control.base import Controller
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.motion import BaseMotion
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.rod import elastic_rod
from hydrostat.simulation import rollout
from hydrostat.surroundings import Box, Capsule, ContactLaw, Obstacles, Plane, Sphere
from hydrostat.system import Control, System

SHAPES = {
    "plane": Plane([0.1, 0.0, 0.2], [1.0, 2.0, 3.0]),
    "sphere": Sphere([0.1, 0.0, 0.2], 0.3),
    "capsule": Capsule([0.1, 0.0, 0.2], [0.4, 0.1, 0.0], 0.1),
    "box": Box(SE3(so3.exp(jnp.array([0.3, -0.2, 0.5])), jnp.array([0.1, 0.0, 0.2])), [0.1, 0.2, 0.3]),
}
SPEED = jnp.array([0.0, 0.0, 0.4])  # m/s
LAW = ContactLaw(stiffness=500.0, damping=2.0, friction=0.5, slip_speed=1e-2)


class Steady(eqx.Module):
    """A displacement at a constant speed."""

    velocity: Float[Array, " 3"]

    def __call__(self, time) -> Float[Array, " 3"]:
        return time * self.velocity


class Lowered(eqx.Module):
    """The base of an arm at a constant speed, the opposite one."""

    base: SE3
    velocity: Float[Array, " 3"]

    def __call__(self, time) -> Control:
        twist = jnp.concatenate([jnp.zeros(3), -self.base.rotation.T @ self.velocity])
        pose = SE3(self.base.rotation, self.base.position - time * self.velocity)
        return Control(base=BaseMotion(pose, twist, jnp.zeros(6)))


class Follow(Controller):
    """Sets a course that is a function of time."""

    course: Lowered

    def __call__(self, time, observation, memory):
        return self.course, memory


@pytest.mark.parametrize("name", SHAPES)
def test_a_moved_shape_is_the_same_elsewhere(name):
    shift, velocity = jnp.array([0.3, -0.7, 0.2]), jnp.array([1.0, 2.0, -3.0])
    shape, point = SHAPES[name], jnp.array([0.5, 0.4, -0.3])
    moved = shape.moved(shift, velocity)
    own, other = shape.distance_and_normal(point), moved.distance_and_normal(point + shift)
    # Sums of numbers about 1.
    np.testing.assert_allclose(other.distance, own.distance, atol=1e-15)
    np.testing.assert_allclose(other.normal, own.normal, atol=1e-15)
    np.testing.assert_allclose(other.closest, own.closest + shift, atol=1e-15)
    np.testing.assert_allclose(moved.reference_point, shape.reference_point + shift, atol=1e-15)
    np.testing.assert_array_equal(moved.velocity_at(point), velocity)


def test_an_arm_cannot_tell_whether_the_wall_comes_or_its_base_goes():
    """Galilean invariance: a wall that rises at a constant speed, or a base that sinks, bend an arm alike."""
    robot = build_robot(elastic_rod(0.2, 0.01, 2, modes=("bend_y", "stretch"), viscosity=500.0))
    wall = Plane([0.0, 0.0, -0.02], [0.1, 0.0, 1.0])
    run = {"steps": 40, "dt": 2e-3}
    rising = rollout(System(robot, [Obstacles(LAW, [wall], Steady(SPEED))]), **run)
    sinking = rollout(System(robot, [Obstacles(LAW, [wall])]), Follow(Lowered(robot.arm.T_world_base, SPEED)), **run)
    # It has been touched, and bent up: a positive bend leads down.
    assert float(rising.q[-1, 0, 0]) < -1.0
    # Each of 40 steps is iterated until bends are known to 1e-8 rad; coordinates are bends over lengths of 0.1 m.
    np.testing.assert_allclose(rising.q, sinking.q, rtol=0, atol=40 * 1e-8 / 0.1)
    # The state of the obstacles is the time.
    np.testing.assert_allclose(rising.state.surroundings[0], rising.time, atol=1e-14)


def test_obstacles_have_a_law_unless_one_is_given():
    assert Obstacles(shapes=[Sphere([0.1, 0.0, 0.2], 0.3)]).law.stiffness > 0.0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([Sphere([0.1, 0.0, 0.2], 0.3)],), "`law` must be a `ContactLaw`"),
        ((LAW, [LAW]), "`shapes` must be a list of shapes"),
    ],
)
def test_wrong_obstacles_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Obstacles(*arguments)


@pytest.mark.parametrize("motion", [None, Steady(jnp.zeros(3))])
def test_a_body_that_is_a_ball_touches_shapes_as_a_node_does(motion):
    """Beside a sphere, 1 mm deep in it: k (d - d_0 / 2), straight away from it; a body with a hull is no ball."""
    robot = build_robot(octopus(2, 2), free=True)
    assert robot.body is not None
    away, depth = float(robot.body.radius) + 0.1 - 1e-3, 1e-3
    shape = Sphere(robot.T_world_body.position - jnp.array([0.0, 0.0, -away]), 0.1)
    system = System(robot, [Obstacles(LAW, [shape], motion)])
    state = system.rest()
    found = system.forces_at(state).on_body(system.place(state).body)
    expected = [0.0, 0.0, -500.0 * (depth - 0.5 * float(LAW.onset))]
    np.testing.assert_allclose(found.force[0], expected, rtol=1e-9, atol=1e-12)
