"""A robot: a body, fixed, prescribed or free, that carries arms; and the inputs of its mechanics.

Arms that are equal in all but their place are one model with a batch of mounts, unequal ones are a tuple, and a single
arm on no other body than its base stands for itself. This module alone knows which: all others ask it to do something
for `each_arm`, to take the `total`, or to `split` and `join` what there is of each arm.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm, Hull
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.model import (
    GRAVITY,
    ArmModel,
    ball_inertia,
    checked_vector,
    make_arm_model,
    relaxed,
    require,
    slack,
)
from hydrostat.mechanics.nodes import AbstractForces

PerArm = Any
"""A quantity of each arm: of a single one an array such as Float[Array, "n k"], of several a tuple of them, of equal
ones an array with a leading axis."""


class BodyShape(eqx.Module):
    """The shape of the body that carries the arms, as its surroundings see it: a ball about its origin, and for water a
    hull where it has one."""

    radius: Float[Array, ""]
    """Radius of the ball [m]."""
    drag: Float[Array, ""]
    """Drag coefficient on the area of its shadow."""
    volume: Float[Array, ""]
    """Volume of the displaced water [m^3]."""
    hull: Hull | None = None
    """Hull of a body that swims; None where water resists the ball."""

    @property
    def T_body_centre(self) -> SE3:
        """Pose in the body's frame of the centre about which the body carries water along."""
        return SE3.identity() if self.hull is None else self.hull.T_body_centre

    @property
    def T_body_buoyancy(self) -> SE3:
        """Pose of the centre of buoyancy in the body's frame."""
        return SE3.identity() if self.hull is None else self.hull.T_body_buoyancy

    def entrained_inertia(self, density: Float[Array, ""]) -> Float[Array, " 6"]:
        """The diagonal inertia of the water carried along, of a density [kg/m^3]: of a ball, half of what it displaces
        where it moves, and none where it turns."""
        if self.hull is not None:
            return self.hull.entrained_inertia(density)
        return 0.5 * density * self.volume * jnp.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


class Robot(eqx.Module):
    """A body with arms.

    A fixed body stays where it is, or follows what is prescribed; a free one moves by the forces on it, and its six
    coordinates are the twist from where it was when the step began. Without mounts the body is the base of the one arm.
    """

    arms: ArmModel | tuple[ArmModel, ...]
    mounts: SE3 | tuple[SE3, ...] | None
    """Where the arms sit in the body's frame: a batch of equal arms, a tuple of unequal ones, None for a single one."""
    T_world_body: SE3
    """Pose of the body at the start."""
    gravity: Float[Array, " 3"]
    """[m/s^2]"""
    base_inertia: Float[Array, " 6"] | None = None
    """Diagonal spatial inertia of a free body, its frame at the centre of mass; None for a fixed or prescribed one."""
    body: BodyShape | None = None
    names: tuple[str, ...] = eqx.field(static=True, default=())
    """Names of the arms; empty where they have none."""
    name: str = eqx.field(static=True, default="robot")

    @property
    def single(self) -> bool:
        """Whether the robot is a single arm and its base."""
        return self.mounts is None

    @property
    def equal(self) -> bool:
        """Whether the arms are equal, and one batch."""
        return isinstance(self.mounts, SE3)

    @property
    def count(self) -> int:
        """The number of arms."""
        if isinstance(self.mounts, SE3):
            return self.mounts.position.shape[0]
        return 1 if self.mounts is None else len(self.mounts)

    @property
    def free_base(self) -> bool:
        """Whether the body moves under the forces on it."""
        return self.base_inertia is not None

    @property
    def one(self) -> ArmModel:
        """The single arm, or one of equal ones."""
        if isinstance(self.arms, tuple):
            raise InputError(f"{self.name} has {len(self.arms)} unequal arms; ask for one of them")
        return self.arms

    @property
    def arm(self) -> Arm:
        """The geometry of the single arm, or of one of equal ones."""
        return self.one.arm

    @property
    def tendons(self) -> Any:
        """The course of the tendons of the single arm."""
        if self.one.wires is None:
            raise InputError(f"{self.name} has no tendons to drive; add [[tendon]] tables")
        return self.one.wires.course

    @property
    def muscles(self) -> Any:
        """The muscles of the single arm, or of one of equal ones; None where it has none."""
        return self.one.muscles

    @property
    def legs(self) -> Any:
        """The limits of the legs of a chain of platforms; None for other arms."""
        return self.one.legs

    @property
    def motor(self) -> Any:
        """The motors of the tendons."""
        if self.one.motor is None:
            raise InputError(f"{self.name} has no motors; add a [motor] table")
        return self.one.motor

    @property
    def each(self) -> tuple[ArmModel, ...]:
        """The arms one by one."""
        return self.arms if isinstance(self.arms, tuple) else (self.arms,) * self.count


def single_arm(
    arm: Arm | ArmModel,
    *,
    gravity=GRAVITY,
    free_base: bool = False,
    base_mass: float = 0.0,
    base_inertia: float = 0.0,
    name: str = "arm",
    **options,
) -> Robot:
    """One arm and its base.

    **Arguments:** `gravity` [m/s^2]; `free_base`: whether the base is a body that moves, of mass `base_mass` [kg] and
    moment of inertia `base_inertia` [kg m^2]; `options`: of an arm that is given by its geometry and material alone, as
    those of `make_arm_model`.
    """
    if isinstance(arm, Arm):
        arm = make_arm_model(arm, **options)
    inertia = ball_inertia(base_inertia, base_mass) if free_base else None
    return Robot(arm, None, arm.arm.T_world_base, checked_vector("gravity", gravity), inertia, name=name)


def unequal_arms(
    arms: Sequence[ArmModel],
    T_world_body: SE3 | None = None,
    *,
    gravity=GRAVITY,
    base_mass: float | None = None,
    base_inertia: float = 0.0,
    names: tuple[str, ...] = (),
    name: str = "robot",
) -> Robot:
    """Several arms on one body, which may differ in number of segments and in their coordinates.

    **Arguments:** `arms`: each with its base where it is while the body is at `T_world_body` (the world's origin when
    not given); `base_mass` [kg]: of a body that moves freely; None for one that is fixed or prescribed;
    `base_inertia`: its moment of inertia [kg m^2].
    """
    if not arms:
        raise InputError("a robot must have at least one arm; got none")
    body = SE3.identity() if T_world_body is None else T_world_body
    mounts = tuple(body.inverse() @ model.arm.T_world_base for model in arms)
    free = None if base_mass is None else ball_inertia(base_inertia, base_mass)
    return Robot(tuple(arms), mounts, body, checked_vector("gravity", gravity), free, names=names, name=name)


def equal_arms(
    arm: ArmModel,
    mounts: SE3,
    T_world_body: SE3 | None = None,
    *,
    gravity=GRAVITY,
    base_inertia: Float[Array, " 6"] | None = None,
    body: BodyShape | None = None,
    names: tuple[str, ...] = (),
    name: str = "robot",
) -> Robot:
    """Equal arms on one body, as those of an octopus; eight of them take as long to compile as one.

    **Arguments:** `arm`: the model of each; `mounts`: where they sit in the body's frame, with a leading axis;
    `T_world_body`: where the body starts, the world's origin when not given; `base_inertia`: diagonal spatial inertia
    of a body that moves freely, its frame at the centre of mass; None for one that is fixed or prescribed; `body`: as
    the surroundings see it.
    """
    if mounts.position.ndim != 2 or not len(mounts.position):
        raise InputError(f"`mounts` must be a row of poses; got positions of shape {mounts.position.shape}")
    if arm.wires is not None and arm.wires.stiffness is not None:
        raise InputError("equal arms on one body must not have wires of prescribed length; give the arms one by one")
    at = SE3.identity() if T_world_body is None else T_world_body
    return Robot(arm, mounts, at, checked_vector("gravity", gravity), base_inertia, body, names, name)


# What is done for each arm, and for all of them.


def over_arms(mounts: PerArm, function, *values: PerArm, together: bool = False) -> tuple:
    """function(mount, values of an arm ...) for every arm: what it returns, a plain tuple, with each entry per arm.

    **Arguments:** `together`: whether equal arms take each operation side by side, instead of one arm after another:
    faster for short scans of few numbers, slower where there is much to compute.
    """
    if mounts is None:
        return function(None, *values)
    if isinstance(mounts, tuple):
        each = [function(mount, *own) for mount, *own in zip(mounts, *values, strict=True)]
        return tuple(zip(*each, strict=True))
    arrays, static = eqx.partition((mounts, *values), eqx.is_array)

    def of_arm(own):
        return function(*eqx.combine(own, static))

    return jax.vmap(of_arm)(arrays) if together else jax.lax.map(of_arm, arrays)


def each_arm(robot: Robot, function, *values: PerArm) -> tuple:
    """function(arm, mount, values of the arm ...) for every arm, as `over_arms`."""
    if isinstance(robot.arms, tuple):
        return over_arms(robot.mounts, lambda mount, arm, *own: function(arm, mount, *own), robot.arms, *values)
    arm = robot.arms
    return over_arms(robot.mounts, lambda mount, *own: function(arm, mount, *own), *values)


def summed(values: PerArm) -> Array:
    """The sum over several arms of the results of `over_arms`."""
    return jnp.sum(jnp.stack(values) if isinstance(values, tuple) else values, 0)


def total(robot: Robot, values: PerArm) -> Array:
    """The sum over the arms, also of a single one."""
    return values if robot.single else summed(values)


def gathered(robot: Robot, values: PerArm):
    """The rows of all arms, arm after arm."""
    if robot.single:
        return values
    if robot.equal:
        return jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), values)
    return jax.tree.map(lambda *parts: jnp.concatenate(parts), *values)


def dispersed(robot: Robot, values, rows: Sequence[int]) -> PerArm:
    """The inverse of `gathered`: rows of all arms as a quantity of each arm."""
    if robot.single:
        return values
    if robot.equal:
        return jax.tree.map(lambda y: y.reshape(robot.count, rows[0], *y.shape[1:]), values)
    ends = [sum(rows[: i + 1]) for i in range(len(rows))]
    return tuple(jax.tree.map(lambda y, a=a, b=b: y[a:b], values) for a, b in zip([0, *ends[:-1]], ends, strict=True))


def split(robot: Robot, values: PerArm) -> tuple:
    """A quantity of each arm, as a tuple also for one arm."""
    if robot.equal:
        return tuple(jax.tree.map(lambda y, i=i: y[i], values) for i in range(robot.count))
    return (values,) if robot.single else values


def joined(robot: Robot, values: Sequence) -> PerArm:
    """The inverse of `split`."""
    if robot.equal:
        return jax.tree.map(lambda *y: jnp.stack(y), *values)
    return values[0] if robot.single else tuple(values)


def stacked(robot: Robot, values: Sequence) -> PerArm:
    """Arrays of equal shape, one for each arm, stacked with the arm as leading axis; a single arm has no such axis."""
    return values[0] if robot.single else jax.tree.map(lambda *y: jnp.stack(y), *values)


def arms_in_world(robot: Robot) -> tuple[ArmModel, ...]:
    """The arms one by one, each with its base in the world while the body is at its start."""
    body = robot.T_world_body
    mounts = (None,) if robot.single else split(robot, robot.mounts)
    bases = [body if mount is None else body @ mount for mount in mounts]
    return tuple(
        eqx.tree_at(lambda model: model.arm.T_world_base, arm, base)
        for arm, base in zip(robot.each, bases, strict=True)
    )


def with_arms(robot: Robot, function) -> Robot:
    """The robot with function(arm) in the place of each arm."""
    arms = tuple(function(arm) for arm in robot.arms) if isinstance(robot.arms, tuple) else function(robot.arms)
    return eqx.tree_at(lambda robot: robot.arms, robot, arms)


# Inputs.


class Inputs(NamedTuple):
    """The inputs of the mechanics at a moment: loads, actuators, the body's prescribed motion and the surroundings."""

    force: PerArm
    """Dead loads (m, 6) at the places of the loads: moment [N m] and force [N] in world axes."""
    follower: PerArm
    """Follower loads (m, 6): the same in the axes of the material point."""
    torque: PerArm
    """Generalised forces (n, k) on the coordinates."""
    wires: PerArm
    """Tension [N] or length [m] of each wire, as the arm's wires are driven."""
    activation: PerArm
    """Activation (n, m) of every muscle, 0 to 1."""
    base_pose: SE3
    base_twist: Float[Array, " 6"]
    """Body twist of a prescribed body."""
    base_acceleration: Float[Array, " 6"]
    """Rate of the body twist, component by component."""
    surroundings: AbstractForces | None
    """Forces of the surroundings at this moment; objects may move."""


def no_inputs(robot: Robot, surroundings: AbstractForces | None = None) -> Inputs:
    """The inputs of a robot without loads whose wires are slack and whose body stays at its start."""

    def of_arm(arm: ArmModel) -> tuple:
        none = jnp.zeros((arm.loads.fraction.shape[0], 6))
        return none, none, jnp.zeros_like(arm.stiffness), slack(arm), relaxed(arm)

    parts = (joined(robot, part) for part in zip(*(of_arm(arm) for arm in robot.each), strict=True))
    force, follower, torque, wires, activation = parts
    still = jnp.zeros(6)
    body = robot.T_world_body
    return Inputs(force, follower, torque, wires, activation, body, still, still, surroundings)


def check_inputs(inputs: Inputs) -> None:
    """Refuse loads that are not numbers."""
    for name in ("force", "follower", "torque", "wires", "activation", "base_twist", "base_acceleration"):
        for value in jax.tree.leaves(getattr(inputs, name)):
            require(jnp.all(jnp.isfinite(value)), lambda name=name: f"every load must be finite; `{name}` is not")
