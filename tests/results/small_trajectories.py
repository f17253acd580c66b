"""Trajectories of small robots, made by the step alone."""

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import single_arm, unequal_arms
from hydrostat.results import Trajectory
from hydrostat.robots.build import build_arm, build_robot
from hydrostat.robots.spec import MaterialSpec, RobotSpec, SegmentSpec
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.stepping import SDIRK2
from hydrostat.stepping.step import advance
from hydrostat.surroundings import Ball, Ground, Suckers, Water
from hydrostat.system import Control, System


def rollout(system, control, state, steps, dt, tolerance=1e-8) -> Trajectory:
    """The rows of so many steps under one control."""
    # Without smaller steps where one does not converge, which reverse mode cannot go through.
    stepper = SDIRK2(tolerance=tolerance, rescue=False)

    def one(carry, _):
        new = advance(system, *carry, control, dt, stepper)
        return (new.state, new.place), (new.state, control, (), new.converged, new.iterations)

    _, rows = jax.lax.scan(one, (state, system.place(state)), None, length=steps)
    first = (state, jax.tree.map(jnp.zeros_like, control), (), jnp.array(True), jnp.array(0))
    return Trajectory(system, *jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, rows))


_rollout = quick_jit(rollout)


def arm_in_water(steps: int = 20, dt: float = 5e-3) -> Trajectory:
    """An octopus arm of two segments that bends in water."""
    system = System(build_robot(octopus_arm(segments=2)), [Water()])
    activation = np.zeros((2, 5))
    activation[:, 0], activation[:, 4] = 0.3, 0.1
    return _rollout(system, Control(activation=activation), system.rest(), steps, dt)


def octopus_on_ground(steps: int = 10) -> Trajectory:
    """An octopus of two arms of two segments, close to the ground, that takes hold of it; a ball sinks beside it."""
    robot = build_robot(octopus(arms=2, segments=2), free=True)
    ball = Ball.of_density(0.01, 2000.0, position=(0.1, 0.1, 0.05))
    system = System(robot, [Water(), Ground(), Suckers(seal_time=0.0, seal_gap=1e-3, seal_speed=1e3), ball])
    state = system.rest()
    # The arms leave the body below its centre: their tips lie in the ground by a little.
    low = float(jnp.min(robot.mounts.position[:, 2])) + 1e-3
    state = state._replace(base_pose=SE3(state.base_pose.rotation, jnp.array([0.0, 0.0, -low])))
    activation = np.zeros((2, 2, 5))
    activation[:, :, 0] = 0.2
    return _rollout(system, Control(activation=activation, grip=np.ones((2, 2))), state, steps, 5e-3)


def _finger(segments: int):
    pieces = tuple(SegmentSpec(length=0.05, radius=(0.01, 0.01)) for _ in range(segments))
    return build_arm(RobotSpec(name="finger", segments=pieces, material=MaterialSpec(youngs_modulus=1e6)))


def hand(steps: int = 5, unequal: bool = False) -> Trajectory:
    """A finger of two arcs that falls; or two fingers, of one arc and of two."""
    robot = unequal_arms([_finger(1), _finger(2)], names=("thumb", "finger")) if unequal else single_arm(_finger(2))
    system = System(robot, gravity=(9.81, 0.0, 0.0))
    return _rollout(system, Control(), system.rest(), steps, 2e-3)
