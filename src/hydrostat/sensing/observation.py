"""The observation: the state as sensors measure it."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import PerArm, joined, over_arms, split, stacked
from hydrostat.mechanics.wires import wire_tensions
from hydrostat.segments import SWELL
from hydrostat.surroundings.suckers import Suckers
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, State, System


class Observation(NamedTuple):
    """The measurements of all sensors; of several arms with the arm first, as in `State`."""

    period: Float[Array, ""]
    """Time for which the control that follows from the observation will be held [s]."""
    q: PerArm
    """Proprioception (n, k): bends and lengths of the segments; swell is not measured."""
    v: PerArm
    """Rates of these coordinates (n, k)."""
    held: PerArm
    """Touch (n,): 1 for segments whose suckers hold the ground."""
    taken: PerArm
    """Touch (n,): 1 for segments whose suckers hold a free object."""
    pose: SE3
    """Pose of the body."""
    twist: Float[Array, " 6"]
    """Twist of the body, in its own axes."""
    objects: Float[Array, "o 3"]
    """Positions of the free objects [m]."""
    tip: SE3
    """Pose of the tips, with the arm as leading axis unless there is but a single arm."""
    tension: PerArm
    """Tension of every tendon (w,) [N]."""
    depth: Float[Array, ""] | None = None
    """Depth of the body below the world's origin [m]."""
    flow: Float[Array, " 3"] | None = None
    """Velocity of the water relative to the body, in its own axes [m/s]; of a robot without water that of the world."""
    tip_force: Float[Array, "*arm 3"] | None = None
    """Force of contact on the tips, in their axes [N], with the arm first unless there is but a single arm; None where
    the sensors have no sense of force."""


def observe(system: System, state: State, control: Control, period, force: bool = False) -> Observation:
    """The observation of a state by perfect sensors.

    **Arguments:** `control`: what has been set up to now; `period`: for how long the next one will be held [s];
    `force`: whether there are force sensors at the tips.
    """
    robot = system.robot
    shapes = [jnp.zeros(arm.arm.count) for arm in robot.each]
    # A swell is the last mode.
    known = [len([mode for mode in arm.arm.segments.modes if mode != SWELL]) for arm in robot.each]
    q, v = (
        joined(robot, [y[:, :k] for y, k in zip(split(robot, part), known, strict=True)]) for part in (state.q, state.v)
    )
    suckers = system.part_state(state, Suckers)
    objects = system.objects(state)
    held = jnp.zeros(0) if suckers is None else suckers.held
    taken = [own.attachment.held[: system.environment.count] for own in objects] if system.part(Suckers) else []

    def of_segments(nodes):
        """The largest value among each segment's nodes."""
        if not nodes.shape[0]:
            return joined(robot, shapes)
        counts, parts, begin = system.environment.rows, [], 0
        for arm, rows in zip(robot.each, counts, strict=True):
            parts.append(jnp.max(nodes[begin : begin + rows].reshape(arm.arm.count, -1), -1))
            begin += rows
        return joined(robot, parts)

    return Observation(
        period=jnp.asarray(period, float),
        q=q,
        v=v,
        held=of_segments(held),
        taken=of_segments(jnp.max(jnp.stack(taken), 0) if taken else jnp.zeros(0)),
        pose=state.base_pose,
        twist=state.base_twist,
        objects=jnp.stack([own.ball.position for own in objects]) if objects else jnp.zeros((0, 3)),
        tip=tip_poses(system, state),
        tension=_tensions(system, state, control),
        depth=-state.base_pose.position[2],
        flow=_flow(system, state),
        tip_force=tip_forces(system, state) if force else None,
    )


def tip_forces(system: System, state: State) -> Float[Array, "*arm 3"]:
    """The forces of contact on the tips of the arms, in the tips' axes [N]: those on their last contact nodes."""
    place, forces = system.place(state), system.forces_at(state)
    touching = None if forces is None else forces.at("contact")
    tips = tip_poses(system, state)
    if place is None or touching is None:
        return jnp.zeros_like(tips.position)
    last = [sum(system.environment.rows[: i + 1]) - 1 for i in range(system.robot.count)]
    on_nodes = touching.forces(place.nodes).force
    found = stacked(system.robot, [on_nodes[i] for i in last])
    return small.matvec(jnp.swapaxes(tips.rotation, -1, -2), found)


def _flow(system: System, state: State) -> Float[Array, " 3"]:
    """The velocity of the water relative to the body, in the body's axes [m/s]."""
    water = system.part(Water)
    current = jnp.zeros(3) if water is None else water.current
    return small.matvec(state.base_pose.rotation.T, current) - state.base_twist[3:]


def tip_poses(system: System, state: State) -> SE3:
    """World poses of the tips, with the arm as leading axis unless there is but a single arm."""
    robot = system.robot

    def of_arm(mount, arm, q):
        base = state.base_pose if mount is None else state.base_pose @ mount
        return (kinematics.tip_pose(eqx.tree_at(lambda a: a.T_world_base, arm.arm, base), q),)

    if isinstance(robot.arms, tuple):
        return stacked(robot, over_arms(robot.mounts, of_arm, robot.arms, state.q)[0])
    arm = robot.arms
    return over_arms(robot.mounts, lambda mount, q: of_arm(mount, arm, q), state.q, together=True)[0]


def _tensions(system: System, state: State, control: Control) -> PerArm:
    """The tension of every tendon [N]."""
    robot = system.robot
    inputs = system.inputs(control, state, state.activation, 1.0, None)
    each = zip(robot.each, split(robot, state.q), split(robot, state.v), split(robot, inputs.wires), strict=True)
    return joined(robot, [wire_tensions(arm, q, v, setpoint) for arm, q, v, setpoint in each])
