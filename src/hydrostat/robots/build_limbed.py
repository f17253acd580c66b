"""From the specification of a robot with limbs to arrays, and to the model that the mechanics works on."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY, Branched, Crown, make_branched, make_crown
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


def crown_model(
    spec: LimbedSpec, *, gravity=GRAVITY, surroundings=None, free: bool = True, arms=None, **options
) -> Crown:
    """The model of equal limbs, such as an octopus has, computed by the same code one after another.

    **Arguments:** `free`: whether the body moves, with its mass; `arms`: which limbs are there, by their numbers from
    0, all when not given; `options`: of each limb's model, as those of `robot_model`.
    """
    odd = spec.odd_limb()
    if odd is not None:
        raise InputError(f"limbs must be equal to be computed alike; {odd.name} differs from {spec.limbs[0].name}")
    kept = range(len(spec.limbs)) if arms is None else arms
    T_world_body, T_body = _body_frame(spec)
    poses = [T_body.inverse() @ base_pose(spec.limbs[i].arm.base) for i in kept]
    mounts = SE3(jnp.stack([pose.rotation for pose in poses]), jnp.stack([pose.position for pose in poses]))
    arm = robot_model(build_robot(spec.limbs[0].arm), gravity=gravity, **options)
    inertia = _body_inertia(spec) if free else None
    return make_crown(arm, mounts, T_world_body, gravity=gravity, base_inertia=inertia, surroundings=surroundings)


def _body_frame(spec: LimbedSpec) -> tuple[SE3, SE3]:
    """The frame at the body's centre of mass, in the world and in the frame of the specification."""
    T_body = SE3(jnp.eye(3), jnp.asarray(spec.body.centre))
    return base_pose(spec.base) @ T_body, T_body


def _body_inertia(spec: LimbedSpec):
    """The diagonal spatial inertia about the centre of mass."""
    tensor = spec.body.inertia
    off = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if off > 1e-9 * np.abs(tensor).max():
        raise ValueError("the axes of a free body must be its principal ones")
    return jnp.concatenate([jnp.asarray(np.diag(tensor)), jnp.full(3, spec.body.mass)])


def free_model(spec: LimbedSpec, robot: Limbed, *, gravity=GRAVITY, surroundings=None, **options) -> Branched:
    """The limbs on a body that moves freely, with the body's mass; the water's lift on the body is not in it.

    The frame of a free body is at its centre of mass, and its axes are the principal ones.
    """
    arms = [robot_model(limb, gravity=gravity, **options) for limb in robot.limbs]
    T_world_body, _ = _body_frame(spec)
    model = make_branched(arms, T_world_body, gravity=gravity, base_mass=spec.body.mass, surroundings=surroundings)
    return eqx.tree_at(lambda model: model.base_inertia, model, _body_inertia(spec))
