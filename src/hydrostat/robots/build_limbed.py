"""From the specification of a robot with limbs to arrays, and to the model that the mechanics works on."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY, Branched, make_branched
from hydrostat.robots.build import Robot, base_pose, build_robot
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.robots.mechanical import robot_model


class Limbed(eqx.Module):
    """A body with its limbs, each a robot of one arm whose base is in the world."""

    limbs: tuple[Robot, ...]
    T_world_body: SE3
    names: tuple[str, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def limb(self, name: str) -> Robot:
        """The limb of a name."""
        return self.limbs[self.names.index(name)]


def build_limbed(spec: LimbedSpec) -> Limbed:
    """The robot that a specification describes."""
    T_world_body = base_pose(spec.base)
    limbs = []
    for limb in spec.limbs:
        robot = build_robot(limb.arm)
        T_world_base = T_world_body @ robot.arm.T_world_base
        limbs.append(eqx.tree_at(lambda robot: robot.arm.T_world_base, robot, T_world_base))
    return Limbed(tuple(limbs), T_world_body, tuple(limb.name for limb in spec.limbs), spec.name)


def limbed_model(robot: Limbed, *, gravity=GRAVITY, surroundings=None, **options) -> Branched:
    """The model of all limbs on the body, which stays where it is.

    **Arguments:** `options`: of each limb's model, as those of `robot_model`.
    """
    arms = [robot_model(limb, gravity=gravity, **options) for limb in robot.limbs]
    return make_branched(arms, robot.T_world_body, gravity=gravity, surroundings=surroundings)


def free_model(spec: LimbedSpec, robot: Limbed, *, gravity=GRAVITY, surroundings=None, **options) -> Branched:
    """The same on a body that moves freely, with the body's mass; the water's lift on the body is not in it.

    The frame of a free body is at its centre of mass, and its axes are the principal ones.
    """
    tensor = spec.body.inertia
    off = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if off > 1e-9 * np.abs(tensor).max():
        raise ValueError("the axes of a free body must be its principal ones")
    T_world_body = robot.T_world_body @ SE3(jnp.eye(3), jnp.asarray(spec.body.centre))
    arms = [robot_model(limb, gravity=gravity, **options) for limb in robot.limbs]
    model = make_branched(arms, T_world_body, gravity=gravity, base_mass=spec.body.mass, surroundings=surroundings)
    diagonal = jnp.concatenate([jnp.asarray(np.diag(tensor)), jnp.full(3, spec.body.mass)])
    return eqx.tree_at(lambda model: model.base_inertia, model, diagonal)
