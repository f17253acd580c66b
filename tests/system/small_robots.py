"""The smallest robots of every kind, and surroundings that touch them."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics.robot import Robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.surroundings import ArmContact, Ball, ContactLaw, Ground, Jet, Obstacles, Sphere, Suckers, Water
from hydrostat.system import System


def single() -> Robot:
    """One muscular arm of two segments."""
    return build_robot(octopus_arm(2))


def equal() -> Robot:
    """An octopus of two equal arms of two segments."""
    return build_robot(octopus(2, 2), free=True)


def unequal() -> Robot:
    """An octopus of two arms, of two segments and of three."""
    spec = octopus(2, 2)
    return build_robot(replace(spec, limbs=(spec.limbs[0], octopus(2, 3).limbs[1])), free=True)


def apart(robot: Robot) -> Robot:
    """The same robot with its equal arms as arms that might differ."""
    mounts = tuple(robot.mounts[i] for i in range(robot.count))
    arms = [eqx.tree_at(lambda a: a.arm.T_world_base, robot.one, robot.T_world_body @ mount) for mount in mounts]
    return Robot(tuple(arms), mounts, robot.T_world_body, robot.gravity, robot.base_inertia, robot.body)


ROBOTS = {"single": single, "equal": equal, "unequal": unequal}


def parts_about(robot: Robot) -> dict:
    """All surroundings by name, those that can be placed so that they touch the robot at rest by a millimetre."""
    system = System(robot, [Obstacles(ContactLaw(100.0, 5.0, 0.5, 0.01, 1e-3))])
    nodes = system.place(system.rest()).nodes
    position, radius = np.asarray(nodes.position), np.asarray(nodes.radius)
    above, beside = (position[-1] + (radius[-1] + 9e-3) * way for way in (np.eye(3)[2], np.eye(3)[1]))
    # A free body starts on the ground, and its arms a little above it.
    height = float((position[:, 2] - radius).min() + 1e-3)
    if robot.body is not None and robot.free_base:
        height = min(height, float(robot.T_world_body.position[2] - robot.body.radius))
    parts = {
        "water": Water(),
        "ground": Ground(height=height),
        "suckers": Suckers(reach=2e-2, seal_time=0.0, seal_gap=2e-2, seal_speed=1e3),
        "ball": Ball(0.01, 5e-3, above),
        "obstacles": Obstacles(ContactLaw(100.0, 5.0, 0.5, 0.01, 1e-3), [Sphere(beside, 0.01)]),
        "arm contact": ArmContact(),
    }
    return parts if robot.body is None else {**parts, "jet": Jet()}


NEEDS = {"suckers": "ground", "jet": "water"}
"""What a part does not go without."""


def some_control(robot: Robot, seed: int = 0) -> dict:
    """Some activation of all muscles, suckers that hold the ground, and those of the last arm the ball."""
    rng = np.random.default_rng(seed)
    counts = [arm.arm.count for arm in robot.each]
    activation = [0.2 * rng.uniform(size=(count, 5)) for count in counts]
    grip = [np.ones(count) for count in counts]
    take = [np.full(count, float(i == len(counts) - 1)) for i, count in enumerate(counts)]

    def per_arm(values):
        if robot.single:
            return values[0]
        return jnp.stack(values) if robot.equal else tuple(values)

    control = {"activation": per_arm(activation), "grip": per_arm(grip), "take": per_arm(take)}
    return control if robot.body is None else {**control, "jet": 1.0}
