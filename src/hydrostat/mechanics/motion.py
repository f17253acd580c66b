"""The forward recursion from base to tip: poses, twists and accelerations of all segments and of the nodes of an
arm."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.nodes import NodeFamily, Nodes
from hydrostat.mechanics.points import Points, bracket, carried_twist, points_at, points_of
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, each_arm, gathered, joined, with_arms
from hydrostat.mechanics.telescopes import telescope_points

# Scans over segments are unrolled for very short arms: fewer turns of the loop, more to fuse.
_UNROLL_ALL_UP_TO = 2


def unrolling(count: int) -> int:
    """The number of segments by which a scan is unrolled."""
    return count if count <= _UNROLL_ALL_UP_TO else 1


class Coordinates(NamedTuple):
    """One value per coordinate: positions, velocities, accelerations or forces."""

    q: PerArm
    """The values of all segments (n, k)."""
    base: Float[Array, " 6"]
    """The values of a free base: twist coordinates relative to its pose at the begin of the step; zeros for a fixed
    base."""


class BaseMotion(NamedTuple):
    """Pose, twist and acceleration of a body."""

    T: SE3
    V: Float[Array, " 6"]
    A: Float[Array, " 6"]
    """Body acceleration, relative to free fall where weight counts."""


class Motion(NamedTuple):
    """The motion of an arm: its material points, and the motion of its segments."""

    inner: Points
    """The Gauss points (n, g)."""
    skin: Points
    """The nodes that touch the surroundings (n, c)."""
    tips: Points
    """The ends of the segments (n)."""
    flow: Points
    """The flow nodes (n, f), where distributed forces act."""
    lumps: Points
    """The lumped masses (m)."""
    loads: Points
    """The places of loads (m)."""
    T_world: SE3
    """World poses of the segments' bases."""
    V: Float[Array, "n 6"]
    """Body twists of the segments' bases."""
    A: Float[Array, "n 6"]
    """Body accelerations of the segments' bases."""
    T_skin: SE3
    """World poses of the contact nodes (n, c)."""
    V_skin: Float[Array, "n c 6"]
    """Body twists of the contact nodes."""
    T_flow: SE3
    """World poses of the flow nodes (n, f)."""
    V_flow: Float[Array, "n f 6"]
    """Body twists of the flow nodes."""
    telescopes: Points | None
    """The masses of muscles that are pistons, and of the platforms between them (n, p); None for a rod."""


def like_coordinates(robot: Robot) -> Coordinates:
    """Zeros for every coordinate."""
    return Coordinates(joined(robot, [jnp.zeros_like(arm.stiffness) for arm in robot.each]), jnp.zeros(6))


def base_motion(robot: Robot, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> BaseMotion:
    """Pose, twist and acceleration of the body."""
    if not robot.free_base:
        return BaseMotion(inputs.base_pose, inputs.base_twist, inputs.base_acceleration)
    twist, c = jax.jvp(lambda z: se3.tangent_times(z, v.base), (x.base,), (v.base,))
    return BaseMotion(inputs.base_pose @ se3.exp(x.base), twist, se3.tangent_times(x.base, a.base) + c)


def relative_to_free_fall(base: BaseMotion, gravity: Float[Array, " 3"]) -> BaseMotion:
    """The same motion relative to a freely falling frame, in which weight is an acceleration of the base."""
    lift = small.matvec(base.T.rotation.T, gravity)
    return base._replace(A=base.A - jnp.concatenate([jnp.zeros(3), lift]))


def at_mount(base: BaseMotion, mount: SE3 | None) -> BaseMotion:
    """The motion of an arm's base, which is fixed to the body; the body's own without a mount."""
    if mount is None:
        return base
    return BaseMotion(base.T @ mount, carried_twist(mount, base.V), carried_twist(mount, base.A))


def arm_motion(model: ArmModel, q, v, a, base: BaseMotion) -> Motion:
    """Poses, twists and accelerations along an arm: A = X A_base + J q'' + J' q' + ad(V) J q', X = Ad(T^-1)."""
    inner, skin, tips, lumps, loads = _all_points(model, q, v)
    Ja = small.matvec(tips.J, a) + tips.c

    last, bases = jax.lax.scan(_advance, tuple(base), (tips.T, tips.Jv, Ja), unroll=unrolling(model.arm.count))
    if skin_is_tips(model):
        # Where a segment ends the next one begins.
        T_skin, V_skin = jax.tree.map(lambda y, end: jnp.concatenate([y[1:], end[None]])[:, None], bases[:2], last[:2])
    else:
        T_skin = jax.tree.map(lambda y: y[:, None], bases[0]) @ skin.T
        V_skin = carried_twist(skin.T, bases[1][:, None]) + skin.Jv
    flow = inner if model.flow_at_masses else points_at(model.arm, q, v, model.flow)
    T_base, V_base = jax.tree.map(lambda y: y[:, None], bases[:2])
    T_flow, V_flow = T_base @ flow.T, carried_twist(flow.T, V_base) + flow.Jv
    T_world, V, A = bases
    own = None if model.telescopes is None else telescope_points(model, q, v, tips)
    return Motion(inner, skin, tips, flow, lumps, loads, T_world, V, A, T_skin, V_skin, T_flow, V_flow, own)


def _advance(base, segment):
    """The motion of a segment's tip, which is that of the next one's base; the motion of its own base is kept."""
    T, V, A = base
    T_tip, Jv, Ja = segment
    V_tip = carried_twist(T_tip, V) + Jv
    A_tip = carried_twist(T_tip, A) + Ja + bracket(V_tip, Jv)
    return (T @ T_tip, V_tip, A_tip), base


def skin_is_tips(model: ArmModel) -> bool:
    """Whether an arm touches its surroundings at the ends of its segments alone."""
    return model.skin_at == (model.tip_at,)


def without_masses(robot: Robot) -> Robot:
    """The same arms with no other material points than their segments' ends and their nodes, for less computation."""
    return with_arms(robot, _massless)


def _massless(arm: ArmModel) -> ArmModel:
    kept = sorted({*arm.skin_at, arm.tip_at})
    nowhere = jax.tree.map(lambda y: y[:0], arm.lumps)
    return replace(
        arm,
        grid=arm.grid[np.array(kept)],
        inertia=arm.inertia[:, :0],
        telescopes=None,
        lumps=nowhere,
        lump_inertia=arm.lump_inertia[:0],
        loads=nowhere,
        gauss_at=(),
        flow_at_masses=False,
        skin_at=tuple(kept.index(i) for i in arm.skin_at),
        tip_at=kept.index(arm.tip_at),
    )


def _all_points(model: ArmModel, q, v) -> list[Points]:
    """The Gauss points, contact nodes, tips, lumps and load places of an arm; coinciding ones are computed once."""
    grid = points_at(model.arm, q, v, model.grid)
    inner, skin = (_chosen(grid, at) for at in (model.gauss_at, model.skin_at))
    tips = jax.tree.map(lambda y: y[:, model.tip_at], grid)
    return [inner, skin, tips, *(points_of(model.arm, q, v, places) for places in (model.lumps, model.loads))]


def _chosen(grid: Points, at: tuple[int, ...]) -> Points:
    """Some points of every segment's grid; those in a row are cut out, which is cheaper than gathering them."""
    if at == tuple(range(at[0], at[0] + len(at))) if at else True:
        first = at[0] if at else 0
        return jax.tree.map(lambda y: y[:, first : first + len(at)], grid)
    return jax.tree.map(lambda y: jnp.stack([y[:, i] for i in at], 1), grid)


def stretch_of(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, " n"]:
    """The axial strain component of each segment; 1 for an arm that cannot stretch."""
    return jax.vmap(lambda segment, q: segment.stretch(q))(model.arm.segments, q)


def skin_nodes(model: ArmModel, motion: Motion, q: Float[Array, "n k"]) -> Nodes:
    """The contact nodes of one arm, in world axes."""
    # A node stands for half the way to the one before it and half the way to the next.
    spacing = model.arm.segments.length * stretch_of(model, q) / max(len(model.skin_at), 1)
    following = jnp.concatenate([spacing[1:], jnp.zeros(1)])
    last = np.arange(len(model.skin_at)) == len(model.skin_at) - 1
    length = jnp.where(last, 0.5 * (spacing + following)[:, None], spacing[:, None])
    T = motion.T_skin
    return _in_world(T, motion.V_skin, T.rotation[..., 2], _radius(model, q, model.skin), length)


def flow_nodes(model: ArmModel, motion: Motion, q: Float[Array, "n k"]) -> Nodes:
    """The flow nodes of one arm, in world axes; each stands for its quadrature weight times the segment's length."""
    along = jax.vmap(lambda segment, q, T: segment.direction(q, T))(model.arm.segments, q, motion.flow.T)
    tangent = small.matvec(motion.T_world.rotation[:, None], along)
    length = model.flow_share * (model.arm.segments.length * stretch_of(model, q))[:, None]
    # Stored: each of them is needed for every component of a force and of its damping.
    return Nodes(*_in_world(motion.T_flow, motion.V_flow, tangent, _radius(model, q, model.flow), length))


def _radius(model: ArmModel, q: Float[Array, "n k"], fractions: Float[Array, " d"]) -> Float[Array, "n d"]:
    """The arm's radius at the same fractions of every segment."""
    section = model.arm.section
    radius = section.radius_base[:, None] + fractions * (section.radius_tip - section.radius_base)[:, None]
    if model.constant_volume:
        radius = radius * jnp.sqrt(model.arm.segments.area_ratio(q))[:, None]
    return radius


def _in_world(T: SE3, V: Float[Array, "n d 6"], tangent: Float[Array, "n d 3"], radius, length) -> Nodes:
    """Nodes in world axes, all in a row, by their poses and body twists."""
    return Nodes(
        position=T.position.reshape(-1, 3),
        velocity=small.matvec(T.rotation, V[..., 3:]).reshape(-1, 3),
        angular_velocity=small.matvec(T.rotation, V[..., :3]).reshape(-1, 3),
        tangent=tangent.reshape(-1, 3),
        radius=radius.reshape(-1),
        length=length.reshape(-1),
    )


def arm_nodes(family: NodeFamily, model: ArmModel, motion: Motion, q: Float[Array, "n k"]) -> Nodes:
    """The nodes of a family of one arm, in world axes."""
    return (skin_nodes if family == "contact" else flow_nodes)(model, motion, q)


def body_node(base: BaseMotion) -> Nodes:
    """The origin of a body as a node without extent, with the body's axes."""
    R = base.T.rotation
    own = (base.T.position, small.matvec(R, base.V[3:]), small.matvec(R, base.V[:3]), R[:, 2], jnp.zeros(()),
           jnp.zeros(()), R)  # fmt: skip
    return Nodes(*(part[None] for part in own))


def all_nodes(robot: Robot, motions: PerArm, x: Coordinates, family: NodeFamily = "contact") -> Nodes:
    """The nodes of a family of all arms, arm after arm."""
    (each,) = each_arm(robot, lambda arm, _, motion, q: (arm_nodes(family, arm, motion, q),), motions, x.q)
    return gathered(robot, each)


def nodes_per_arm(robot: Robot, family: NodeFamily = "contact") -> list[int]:
    """How many nodes of a family each arm offers to its surroundings."""
    each = robot.each
    return [arm.arm.count * (len(arm.skin_at) if family == "contact" else arm.flow.shape[0]) for arm in each]
