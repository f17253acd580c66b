"""Base to tip: poses, twists and accelerations of all segments, and of the nodes on an arm's skin."""

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.model import AnyModel, Branched, Crown, Inputs, Model, Places
from hydrostat.mechanics.nodes import Nodes
from hydrostat.mechanics.points import Points, bracket, carried_twist, points_at

# Scans over segments are unrolled for very short arms: fewer turns of the loop, more to fuse.
_UNROLL_ALL_UP_TO = 2


def unrolling(count: int) -> int:
    """By how much a scan over segments is unrolled."""
    return count if count <= _UNROLL_ALL_UP_TO else 1


PerArm = Any
"""A quantity of each arm: of a single one an array such as Float[Array, "n k"], of several a tuple of them, of equal
ones an array with a leading axis."""


class Coordinates(NamedTuple):
    """One value per coordinate: positions, velocities, accelerations or forces."""

    q: PerArm
    """Arrays (n, k)."""
    base: Float[Array, " 6"]
    """Of a free base: twist coordinates from where it was; zeros for a fixed base."""


class BaseMotion(NamedTuple):
    """How a body moves."""

    T: SE3
    V: Float[Array, " 6"]
    A: Float[Array, " 6"]
    """Body acceleration, relative to free fall where weight is to be felt."""


class Motion(NamedTuple):
    """An arm in motion."""

    inner: Points
    """The Gauss points (n, g)."""
    skin: Points
    """The nodes that meet the surroundings (n, c)."""
    tips: Points
    """The ends of the segments (n)."""
    lumps: Points
    """The lumped masses (m)."""
    loads: Points
    """Where loads act (m)."""
    T_world: SE3
    """Of the segments' bases."""
    V: Float[Array, "n 6"]
    """Body twists of the segments' bases."""
    A: Float[Array, "n 6"]
    """Body accelerations of the segments' bases."""
    T_skin: SE3
    """Of the nodes that meet the surroundings, in the world (n, c)."""
    V_skin: Float[Array, "n c 6"]
    """Their body twists."""


def mounts_of(model: AnyModel) -> PerArm:
    """Where the arms sit on their body: None for a single arm, which has no other body than its base."""
    return None if isinstance(model, Model) else model.mounts


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


def each_arm(model: AnyModel, function, *values: PerArm) -> tuple:
    """function(arm, mount, values of the arm ...) for every arm, as `over_arms`."""
    if isinstance(model, Branched):
        return over_arms(model.mounts, lambda mount, arm, *own: function(arm, mount, *own), model.arms, *values)
    arm = model.arm if isinstance(model, Crown) else model
    return over_arms(mounts_of(model), lambda mount, *own: function(arm, mount, *own), *values)


def summed(values: PerArm) -> Array:
    """The sum over several arms of what `over_arms` gave of them."""
    return jnp.sum(jnp.stack(values) if isinstance(values, tuple) else values, 0)


def total(model: AnyModel, values: PerArm) -> Array:
    """The sum over the arms, also of a single one."""
    return values if isinstance(model, Model) else summed(values)


def gathered(model: AnyModel, values: PerArm):
    """The rows of all arms, arm after arm."""
    if isinstance(model, Model):
        return values
    if isinstance(model, Branched):
        return jax.tree.map(lambda *parts: jnp.concatenate(parts), *values)
    return jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), values)


def branches(model: AnyModel) -> tuple[Model, ...]:
    """The arms of a model, one by one."""
    if isinstance(model, Crown):
        return (model.arm,) * model.count
    return model.arms if isinstance(model, Branched) else (model,)


def split(model: AnyModel, values) -> tuple:
    """A quantity per arm, as a tuple also for one arm."""
    if isinstance(model, Crown):
        return tuple(values[i] for i in range(model.count))
    return values if isinstance(model, Branched) else (values,)


def joined(model: AnyModel, values):
    """The inverse of `split`."""
    if isinstance(model, Crown):
        return jnp.stack(values)
    return tuple(values) if isinstance(model, Branched) else values[0]


def like_coordinates(model: AnyModel) -> Coordinates:
    """Zeros for every coordinate."""
    return Coordinates(joined(model, [jnp.zeros_like(arm.stiffness) for arm in branches(model)]), jnp.zeros(6))


def base_motion(model: AnyModel, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> BaseMotion:
    """Pose, twist and acceleration of the body."""
    if not model.free_base:
        return BaseMotion(inputs.base_pose, inputs.base_twist, inputs.base_acceleration)
    twist, c = jax.jvp(lambda z: se3.tangent_times(z, v.base), (x.base,), (v.base,))
    return BaseMotion(inputs.base_pose @ se3.exp(x.base), twist, se3.tangent_times(x.base, a.base) + c)


def relative_to_free_fall(base: BaseMotion, gravity: Float[Array, " 3"]) -> BaseMotion:
    """The same motion in a frame that falls freely: what is felt as weight is then an acceleration of the base."""
    lift = small.matvec(base.T.rotation.T, gravity)
    return base._replace(A=base.A - jnp.concatenate([jnp.zeros(3), lift]))


def at_mount(base: BaseMotion, mount: SE3 | None) -> BaseMotion:
    """The motion of an arm's base, which is fixed to the body; the body's own without a mount."""
    if mount is None:
        return base
    return BaseMotion(base.T @ mount, carried_twist(mount, base.V), carried_twist(mount, base.A))


def arm_motion(model: Model, q, v, a, base: BaseMotion) -> Motion:
    """Poses, twists and accelerations along an arm: A = X A_base + J q'' + J' q' + ad(V) J q', X = Ad(T^-1)."""
    inner, skin, tips, lumps, loads = _all_points(model, q, v)
    Ja = small.matvec(tips.J, a) + tips.c

    def advance(carry, inputs):
        T, V, A = carry
        T_tip, Jv, Ja = inputs
        V_new = carried_twist(T_tip, V) + Jv
        A_new = carried_twist(T_tip, A) + Ja + bracket(V_new, Jv)
        return (T @ T_tip, V_new, A_new), (T, V, A)

    last, bases = jax.lax.scan(advance, tuple(base), (tips.T, tips.Jv, Ja), unroll=unrolling(model.arm.count))
    if skin_is_tips(model):
        # Where a segment ends the next one begins.
        T_skin, V_skin = jax.tree.map(lambda y, end: jnp.concatenate([y[1:], end[None]])[:, None], bases[:2], last[:2])
    else:
        T_skin = jax.tree.map(lambda y: y[:, None], bases[0]) @ skin.T
        V_skin = carried_twist(skin.T, bases[1][:, None]) + skin.Jv
    return Motion(inner, skin, tips, lumps, loads, *bases, T_skin, V_skin)


def skin_is_tips(model: Model) -> bool:
    """Whether an arm meets its surroundings at the ends of its segments alone."""
    return model.skin_at == (model.tip_at,)


def without_masses(model: AnyModel) -> AnyModel:
    """The same arms with no other material points than their segments' ends and their skin: less to work out."""
    if isinstance(model, Crown):
        return eqx.tree_at(lambda crown: crown.arm, model, _massless(model.arm))
    if isinstance(model, Branched):
        return eqx.tree_at(lambda body: body.arms, model, tuple(_massless(arm) for arm in model.arms))
    return _massless(model)


def _massless(arm: Model) -> Model:
    kept = sorted({*arm.skin_at, arm.tip_at})
    nowhere = jax.tree.map(lambda y: y[:0], arm.lumps)
    return replace(
        arm,
        grid=arm.grid[np.array(kept)],
        inertia=arm.inertia[:, :0],
        lumps=nowhere,
        lump_inertia=arm.lump_inertia[:0],
        loads=nowhere,
        gauss_at=(),
        skin_at=tuple(kept.index(i) for i in arm.skin_at),
        tip_at=kept.index(arm.tip_at),
    )


def _all_points(model: Model, q, v) -> list[Points]:
    """The Gauss points, the skin, the tips, the lumps and the loads of an arm, computed together: compiled once."""
    n, size = model.arm.count, model.grid.shape[0]
    own = Places(jnp.repeat(jnp.arange(n), size), jnp.broadcast_to(model.grid, (n, size)).reshape(-1))
    all_places = [own, model.lumps, model.loads]
    together = jax.tree.map(lambda *parts: jnp.concatenate(parts), *all_places)
    points = points_at(model.arm, q, v, together)
    ends = np.cumsum([places.fraction.shape[0] for places in all_places])
    grid, lumps, loads = (
        jax.tree.map(lambda y, a=a, b=b: y[a:b], points) for a, b in zip([0, *ends[:-1]], ends, strict=True)
    )
    grid = jax.tree.map(lambda y: y.reshape(n, size, *y.shape[1:]), grid)
    inner, skin = (_chosen(grid, at) for at in (model.gauss_at, model.skin_at))
    tips = jax.tree.map(lambda y: y[:, model.tip_at], grid)
    return [inner, skin, tips, lumps, loads]


def _chosen(grid: Points, at: tuple[int, ...]) -> Points:
    """Some points of every segment's grid; those in a row are cut out, which is cheaper than gathering them."""
    if at == tuple(range(at[0], at[0] + len(at))) if at else True:
        first = at[0] if at else 0
        return jax.tree.map(lambda y: y[:, first : first + len(at)], grid)
    return jax.tree.map(lambda y: jnp.stack([y[:, i] for i in at], 1), grid)


def stretch_of(model: Model, q: Float[Array, "n k"]) -> Float[Array, " n"]:
    """The axial strain component of each segment; 1 for an arm that cannot stretch."""
    return jax.vmap(lambda segment, q: segment.stretch(q))(model.arm.segments, q)


def skin_nodes(model: Model, motion: Motion, q: Float[Array, "n k"]) -> Nodes:
    """The nodes of one arm, in world axes."""
    T, V = motion.T_skin, motion.V_skin
    section = model.arm.section
    radius = section.radius_base[:, None] + model.skin * (section.radius_tip - section.radius_base)[:, None]
    stretch = stretch_of(model, q)
    if model.constant_volume:
        radius = radius * jnp.sqrt(model.arm.segments.area_ratio(q))[:, None]
    # A node stands for half the way to the one before it and half the way to the next.
    spacing = model.arm.segments.length * stretch / max(len(model.skin_at), 1)
    following = jnp.concatenate([spacing[1:], jnp.zeros(1)])
    last = np.arange(len(model.skin_at)) == len(model.skin_at) - 1
    length = jnp.where(last, 0.5 * (spacing + following)[:, None], spacing[:, None])
    return Nodes(
        position=T.position.reshape(-1, 3),
        velocity=small.matvec(T.rotation, V[..., 3:]).reshape(-1, 3),
        angular_velocity=small.matvec(T.rotation, V[..., :3]).reshape(-1, 3),
        tangent=T.rotation[..., 2].reshape(-1, 3),
        radius=radius.reshape(-1),
        length=length.reshape(-1),
    )


def body_node(base: BaseMotion) -> Nodes:
    """The origin of a body as a node without extent."""
    R = base.T.rotation
    own = (base.T.position, small.matvec(R, base.V[3:]), small.matvec(R, base.V[:3]), R[:, 2], jnp.zeros(()),
           jnp.zeros(()))  # fmt: skip
    return Nodes(*(part[None] for part in own))


def all_nodes(model: AnyModel, motions: PerArm, x: Coordinates) -> Nodes:
    """The nodes of all arms, arm after arm."""
    (each,) = each_arm(model, lambda arm, _, motion, q: (skin_nodes(arm, motion, q),), motions, x.q)
    return gathered(model, each)


def nodes_per_arm(model: AnyModel) -> list[int]:
    """How many nodes each arm offers to its surroundings."""
    return [arm.arm.count * len(arm.skin_at) for arm in branches(model)]
