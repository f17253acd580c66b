"""The equations of motion of arms, in time linear in their segments.

`residual` is the recursive inverse dynamics: base to tip go poses, twists and accelerations, tip to base go wrenches.
`factor` and `solve` are the articulated recursion, the inverse of its derivative with respect to the accelerations.
A free body is one more segment with six coordinates and tangent operator J.

Everything is written without scatter and without library calls, which lets the compiler make one function of a loop
over steps instead of some hundred small ones.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import once
from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.added_mass import added_inertia, added_wrench, entrained
from hydrostat.mechanics.contraction import muscle_forces, muscle_operator
from hydrostat.mechanics.elasticity import elastic_forces, local_operator
from hydrostat.mechanics.girth import girth_forces, girth_operator
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.motion import (
    BaseMotion,
    Coordinates,
    Motion,
    all_nodes,
    arm_motion,
    at_mount,
    base_motion,
    body_node,
    like_coordinates,
    nodes_per_arm,
    relative_to_free_fall,
    skin_is_tips,
    skin_nodes,
    unrolling,
)
from hydrostat.mechanics.nodes import Entrained, NodeForces
from hydrostat.mechanics.points import Points, bracket, carried_twist, gathered_wrench, gyroscopic
from hydrostat.mechanics.pull import wire_couplings, wire_forces
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, dispersed, each_arm, over_arms, summed, total

__all__ = ["Coordinates", "Factors", "accelerations", "factor", "motions_of", "residual", "solve"]


_TURNS = np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
"""Of a twist, the turns across an axis z."""


class ArmFactors(NamedTuple):
    """The articulated recursion's factors of one arm."""

    T_tip: SE3
    J_tip: Float[Array, "n 6 k"]
    U: Float[Array, "n 6 k"]
    Dinv: Float[Array, "n k k"]


class Factors(NamedTuple):
    """The articulated recursion's factors."""

    arms: PerArm
    """`ArmFactors` each."""
    mounts: PerArm
    base: Float[Array, "6 6"]
    """Inverse of the articulated inertia that a free base feels; zero for a fixed one."""
    J_base: Float[Array, "6 6"]
    wires: "WireFactors | None"


class WireFactors(NamedTuple):
    """What wires of given length add to the operator: G diag(s) G^T, by Woodbury's formula."""

    scaled: Coordinates
    """The columns G sqrt(s), one per wire along a leading axis."""
    solved: Coordinates
    """The operator's inverse on them, without the wires."""
    inner: Float[Array, "w w"]
    """(1 + sqrt(s) G^T P^-1 G sqrt(s))^-1."""


def motions_of(model: Robot, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs, weight: bool = True):
    """The body's motion and that of every arm; accelerations are those relative to free fall where `weight` counts."""
    base = base_motion(model, x, v, a, inputs)
    if weight:
        base = relative_to_free_fall(base, model.gravity)
    (motions,) = each_arm(
        model, lambda arm, mount, q, v, a: (arm_motion(arm, q, v, a, at_mount(base, mount)),), x.q, v.q, a.q
    )
    return base, motions


@eqx.filter_jit
def residual(model: Robot, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> Coordinates:
    """What is missing for the accelerations a to be those of the motion: forces needed minus forces there."""
    base = relative_to_free_fall(base_motion(model, x, v, a, inputs), model.gravity)
    water = entrained(inputs)
    met, moving = _meeting(model, base, x, v, a, inputs)

    def of_arm(arm: ArmModel, mount, met, q, qd, qdd, force, follower, torque, wires, activation):
        motion, skin = moving(arm, mount, met, q, qd, qdd)
        at_base, on_q, at_tip = _local_wrenches(arm, motion, qdd, force, follower, skin, water, model.gravity)
        on_q = on_q + elastic_forces(arm, q, qd) + wire_forces(arm, q, qd, wires) - torque
        on_q = on_q + muscle_forces(arm, q, qd, activation) + girth_forces(arm, q, qd, qdd)
        F, on_q = _to_base(motion.tips, at_tip, at_base, on_q)
        on_q = jnp.where(arm.arm.segments.free, on_q, qdd)
        return (F if mount is None else gathered_wrench(mount, F)), on_q

    acting = (inputs.force, inputs.follower, inputs.torque, inputs.wires, inputs.activation)
    on_base, on_q = each_arm(model, of_arm, met, x.q, v.q, a.q, *acting)
    if model.base_inertia is None:
        return Coordinates(on_q, a.base)
    own = model.base_inertia * base.A + gyroscopic(base.V, model.base_inertia * base.V)
    outside = _on_body(base, inputs)
    if outside is not None:
        own = own - _in_axes(base.T.rotation, outside.torque[0], outside.force[0])
    return Coordinates(on_q, small.matvec(se3.tangent(x.base).T, total(model, on_base) + own))


def _meeting(model: Robot, base: BaseMotion, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs):
    """What each arm meets, and the function that tells from it how the arm moves and what acts on its skin.

    Surroundings may couple all arms, and then see the nodes of all of them at once. Of equal arms, each sees its own
    share of them, so that one arm is worked out from begin to end before the next.
    """

    def moved(arm, mount, q, v, a) -> Motion:
        return arm_motion(arm, q, v, a, at_mount(base, mount))

    around = inputs.surroundings
    if model.equal:
        met = None if around is None else around.by_arm(model.count)

        def meets(arm, mount, met, q, v, a):
            motion = moved(arm, mount, q, v, a)
            return motion, None if met is None else _stored(met.forces(skin_nodes(arm, motion, q)))

        return met, meets

    (motions,) = each_arm(model, lambda *own: (moved(*own),), x.q, v.q, a.q)
    skins = None if around is None else _stored(around.forces(all_nodes(model, motions, x)))
    met = (motions, skins)
    if not model.single:
        met = tuple(zip(motions, dispersed(model, skins, nodes_per_arm(model)), strict=True))
    return met, lambda arm, mount, met, *own: met


def _stored(skin: NodeForces) -> NodeForces:
    """Forces and torques as arrays: they are needed for every component of what they are turned into."""
    force, torque = once((skin.force, skin.torque))
    return skin._replace(force=force, torque=torque)


def _on_body(base: BaseMotion, inputs: Inputs) -> NodeForces | None:
    """What the surroundings do to the body itself, about its origin in world axes."""
    return None if inputs.surroundings is None else inputs.surroundings.on_body(body_node(base))


def _local_wrenches(
    arm: ArmModel, motion: Motion, a, force, follower, skin: NodeForces | None, water: Entrained | None, gravity
):
    """What the masses of each segment need, less the loads: on its base, on its own coordinates, and at its tip."""

    def moving(points: Points, V_base, A_base, a):
        V = carried_twist(points.T, V_base) + points.Jv
        return V, carried_twist(points.T, A_base) + small.matvec(points.J, a) + points.c + bracket(V, points.Jv)

    def needed(inertia, V, A):
        return inertia * A + gyroscopic(V, inertia * V)

    # Gauss points, with the water that they carry along.
    V, A = moving(motion.inner, motion.V[:, None], motion.A[:, None], a[:, None])
    f = needed(arm.inertia, V, A)
    if water is not None:
        R = small.matmul(motion.T_world.rotation[:, None], motion.inner.T.rotation)
        f = f + added_wrench(added_inertia(arm, water), R, V, A, water, gravity)
    f = once(f)
    at_base = jnp.sum(gathered_wrench(motion.inner.T, f), 1)
    on_q = jnp.sum(_projected(motion.inner.J, f), 1)

    # Surroundings, at the nodes of the skin. What acts on a tip goes the way of what the next segment hands down.
    at_tip = jnp.zeros_like(at_base)
    if skin is not None:
        shape = motion.skin.Jv.shape
        R = motion.T_skin.rotation
        f = -_in_axes(R, skin.torque.reshape(*shape[:2], 3), skin.force.reshape(*shape[:2], 3))
        if skin_is_tips(arm):
            at_tip = f[:, 0]
        else:
            at_base = at_base + jnp.sum(gathered_wrench(motion.skin.T, f), 1)
            on_q = on_q + jnp.sum(_projected(motion.skin.J, f), 1)

    # Lumped masses and loads, wherever they sit.
    for places, points in ((arm.lumps, motion.lumps), (arm.loads, motion.loads)):
        if not places.fraction.shape[0]:
            continue
        i = places.segment
        if places is arm.lumps:
            f = needed(arm.lump_inertia, *moving(points, motion.V[i], motion.A[i], a[i]))
        else:
            R = small.matmul(motion.T_world.rotation[i], points.T.rotation)
            f = -(_in_axes(R, force[:, :3], force[:, 3:]) + follower)
        member = _membership(arm, i)
        at_base = at_base + _collected(member, gathered_wrench(points.T, f))
        on_q = on_q + _collected(member, _projected(points.J, f))
    return at_base, on_q, at_tip


def _in_axes(R, moment, force) -> Float[Array, "... 6"]:
    """A wrench given in world axes, in the axes R."""
    turned = jnp.swapaxes(R, -1, -2)
    return jnp.concatenate([small.matvec(turned, moment), small.matvec(turned, force)], -1)


def _projected(J: Float[Array, "... 6 k"], f: Float[Array, "... 6"]) -> Float[Array, "... k"]:
    """J^T f."""
    return small.matvec(jnp.swapaxes(J, -1, -2), f)


def _membership(arm: ArmModel, index) -> Float[Array, "m n"]:
    """1 where a place is on a segment."""
    return (index[:, None] == jnp.arange(arm.arm.count)).astype(float)


def _collected(member: Float[Array, "m n"], values: Float[Array, "m *shape"]) -> Float[Array, "n *shape"]:
    """The sum of the places' values over each segment."""
    weights = member.reshape(*member.shape, *(1,) * (values.ndim - 1))
    return jnp.sum(weights * values[:, None], 0)


def _to_base(tips: Points, at_tip, at_base, on_q):
    """Tip to base: the wrench on the arm's base, and the forces on all coordinates."""

    def gather(F, inputs):
        T, J, f_tip, f_base, f_q = inputs
        F = F + f_tip
        return gathered_wrench(T, F) + f_base, f_q + _projected(J, F)

    each = (tips.T, tips.J, at_tip, at_base, on_q)
    return jax.lax.scan(gather, jnp.zeros(6), each, reverse=True, unroll=unrolling(at_base.shape[0]))


@eqx.filter_jit
def factor(model: Robot, x: Coordinates, v: Coordinates, c_v, c_q, inputs: Inputs) -> Factors:
    """Factor the mass matrix with c_v times damping and c_q times stiffness of material and surroundings added.

    The stiffness is the local one: what a change of coordinates does to the forces on the same segment or node.
    """
    still = like_coordinates(model)
    moving_at = v if inputs.surroundings is not None else still
    base = base_motion(model, x, moving_at, still, inputs)
    water = entrained(inputs)
    met, moving = _meeting(model, base, x, moving_at, still, inputs)

    def of_arm(arm: ArmModel, mount, met, q, qd, rate, qdd, activation):
        motion, skin = moving(arm, mount, met, q, qd, qdd)
        local = local_operator(arm, q, c_v, c_q)
        if arm.muscles is not None:
            local = local + muscle_operator(arm, q, rate, c_v, c_q, activation)
        if arm.girth_inertia is not None:
            local = local + girth_operator(arm, q)
        factors, inertia = _factor_arm(arm, motion, local, skin, water, c_v, c_q)
        if mount is not None:
            X = mount.inverse().adjoint()
            inertia = small.matmul(X.T, small.matmul(inertia, X))
        return factors, inertia

    arms, inertia = each_arm(model, of_arm, met, x.q, moving_at.q, v.q, still.q, inputs.activation)
    own, J = jnp.zeros((6, 6)), jnp.eye(6)
    if model.base_inertia is not None:
        J = se3.tangent(x.base)
        felt = total(model, inertia) + jnp.diag(model.base_inertia)
        outside = _on_body(base, inputs)
        if outside is not None:
            resisting = c_v * outside.damping + c_q * outside.stiffness
            felt = felt + _in_axes_twice(base.T.rotation[None], resisting)[0]
        own = small.inverse_positive(small.matmul(J.T, small.matmul(felt, J)))
    factors = Factors(arms, model.mounts, own, J, None)
    return factors._replace(wires=_factor_wires(model, factors, x, v, c_v, c_q, inputs))


def _turned_twice(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 6 6"]:
    """A rotation of both parts of a twist."""
    zero = jnp.zeros_like(R)
    return jnp.concatenate([jnp.concatenate([R, zero], -1), jnp.concatenate([zero, R], -1)], -2)


def _factor_arm(arm: ArmModel, motion: Motion, local, skin: NodeForces | None, water: Entrained | None, c_v, c_q):
    """The factors of one arm, and the articulated inertia that its base feels."""
    inertia = arm.inertia if water is None else arm.inertia + added_inertia(arm, water)
    bb, bq, qq = (jnp.sum(y, 1) for y in _mass_blocks(motion.inner, inertia))
    if arm.lump_inertia.shape[0]:
        member = _membership(arm, arm.lumps.segment)
        more = (_collected(member, y) for y in _mass_blocks(motion.lumps, arm.lump_inertia))
        bb, bq, qq = (one + other for one, other in zip((bb, bq, qq), more, strict=True))
    at_tip = jnp.zeros((arm.arm.count, 6, 6))
    if skin is not None:
        added = c_v * skin.damping + c_q * skin.stiffness
        if skin_is_tips(arm):
            at_tip = _in_axes_twice(motion.T_skin.rotation[:, 0], once(added))
        else:
            more = (jnp.sum(y, 1) for y in _skin_blocks(motion, added))
            bb, bq, qq = (one + other for one, other in zip((bb, bq, qq), more, strict=True))
    qq = qq + local
    outside, along = _pulling(arm, motion, skin)

    def eliminate(carry, inputs):
        (inertia, beyond), (T, J, at_tip, bb, bq, qq, outside, along) = carry, inputs
        inertia = inertia + at_tip
        # What pulls at an arm from outside holds the direction of each segment as a tight string's, F l against a
        # turn. A slender arm has little else to hold its direction.
        beyond = beyond + outside
        bb = bb + c_q * jnp.maximum(small.dot(beyond, along), 0.0) * _TURNS
        IJ = once(small.matmul(inertia, J))
        qq = qq + small.matmul(J.T, IJ)
        U = bq + jnp.swapaxes(gathered_wrench(T, IJ.T), -1, -2)
        U, Dinv = once((U, small.inverse_positive(once(qq))))
        # X^T I X: rows and then columns carried to the base.
        half, UD = once((gathered_wrench(T, inertia), small.matmul(U, Dinv)))
        inertia = bb + gathered_wrench(T, jnp.swapaxes(half, -1, -2)) - small.matmul(UD, U.T)
        return (inertia, beyond), (U, Dinv)

    tips = motion.tips
    blocks = once((at_tip, bb, bq, qq, outside, along))
    (inertia, _), (U, Dinv) = jax.lax.scan(
        eliminate,
        (jnp.zeros((6, 6)), jnp.zeros(3)),
        (tips.T, tips.J, *blocks),
        reverse=True,
        unroll=unrolling(arm.arm.count),
    )
    return ArmFactors(tips.T, tips.J, U, Dinv), inertia


def _pulling(arm: ArmModel, motion: Motion, skin: NodeForces | None) -> tuple[Float[Array, "n 3"], Float[Array, "n 3"]]:
    """The force on each segment from outside, and each segment's direction times its length."""
    n = arm.arm.count
    if skin is None:
        return jnp.zeros((n, 3)), jnp.zeros((n, 3))
    along = motion.T_world.rotation[..., 2] * small.norm(motion.tips.T.position)[:, None]
    return jnp.sum(skin.force.reshape(n, -1, 3), 1), along


def _mass_blocks(points: Points, inertia: Float[Array, "... 6"]):
    """The blocks of W^T I W with W = [Ad(T^-1) | J]: base-base, base-coordinates, coordinates-coordinates."""
    R, p = points.T.rotation, points.T.position
    IJ = inertia[..., None] * points.J
    bq = jnp.swapaxes(gathered_wrench(_spread(points.T), jnp.swapaxes(IJ, -1, -2)), -1, -2)
    qq = small.matmul(jnp.swapaxes(points.J, -1, -2), IJ)
    turned = jnp.swapaxes(R, -1, -2)
    rotary = small.matmul(R, inertia[..., :3, None] * turned)
    mass = small.matmul(R, inertia[..., 3:, None] * turned)
    # hat(p) mass, and hat(p) mass hat(p)^T: columns crossed with p.
    crossed = _crossed(p, mass)
    rotary = rotary + jnp.swapaxes(_crossed(p, jnp.swapaxes(crossed, -1, -2)), -1, -2)
    bb = jnp.concatenate(
        [
            jnp.concatenate([rotary, crossed], -1),
            jnp.concatenate([jnp.swapaxes(crossed, -1, -2), mass], -1),
        ],
        -2,
    )
    return once((bb, bq, qq))


def _spread(T: SE3) -> SE3:
    """The pose with one more axis, for a stack of columns."""
    return SE3(T.rotation[..., None, :, :], T.position[..., None, :])


def _crossed(p: Float[Array, "... 3"], columns: Float[Array, "... 3 3"]) -> Float[Array, "... 3 3"]:
    """hat(p) times a matrix."""
    return jnp.swapaxes(small.cross(p[..., None, :], jnp.swapaxes(columns, -1, -2)), -1, -2)


def _in_axes_twice(R: Float[Array, "n 3 3"], S: Float[Array, "n 6 6"]) -> Float[Array, "n 6 6"]:
    """A matrix from twists to wrenches, given in world axes, in the axes R."""
    turned = jnp.swapaxes(R, -1, -2)
    rows = [[small.matmul(turned, small.matmul(S[:, i : i + 3, j : j + 3], R)) for j in (0, 3)] for i in (0, 3)]
    return jnp.concatenate([jnp.concatenate(row, -1) for row in rows], -2)


def _skin_blocks(motion: Motion, added: Float[Array, "m 6 6"]):
    """The same blocks for what the surroundings add to the inertia of a node, c_v C + c_q K."""
    shape = motion.skin.Jv.shape
    S = once(added.reshape(*shape[:2], 6, 6))
    turn = _turned_twice(motion.T_skin.rotation)
    X = motion.skin.T.inverse().adjoint()
    W = once(small.matmul(turn, jnp.concatenate([X, motion.skin.J], -1)))
    M = small.matmul(jnp.swapaxes(W, -1, -2), once(small.matmul(S, W)))
    return M[..., :6, :6], M[..., :6, 6:], M[..., 6:, 6:]


@eqx.filter_jit
def solve(factors: Factors, force: Coordinates) -> Coordinates:
    """The accelerations that generalised forces cause, by the factors of `factor`."""

    def tip_to_base(mount, arm: ArmFactors, r):
        def gather(p, inputs):
            T, J, U, Dinv, r = inputs
            u = small.matvec(Dinv, r - _projected(J, p))
            return gathered_wrench(T, p) + small.matvec(U, u), u

        p, u = jax.lax.scan(gather, jnp.zeros(6), (*arm, r), reverse=True, unroll=unrolling(len(r)))
        return (p if mount is None else gathered_wrench(mount, p)), u

    def base_to_tip(mount, arm: ArmFactors, u):
        def spread(A, inputs):
            T, J, U, Dinv, u = inputs
            a = u - small.matvec(Dinv, _projected(U, A))
            return carried_twist(T, A) + small.matvec(J, a), a

        A = A_body if mount is None else carried_twist(mount, A_body)
        return (jax.lax.scan(spread, A, (*arm, u), unroll=unrolling(len(u)))[1],)

    on_base, own = over_arms(factors.mounts, tip_to_base, factors.arms, force.q, together=True)
    on_base = on_base if factors.mounts is None else summed(on_base)
    base = small.matvec(factors.base, force.base - small.matvec(factors.J_base.T, on_base))
    A_body = small.matvec(factors.J_base, base)
    (a,) = over_arms(factors.mounts, base_to_tip, factors.arms, own, together=True)
    found = Coordinates(a, base)
    return found if factors.wires is None else _with_wires(factors.wires, found)


def _factor_wires(model: Robot, factors: Factors, x, v, c_v, c_q, inputs: Inputs) -> WireFactors | None:
    """Wires of given length couple all segments they pass: one more solve each."""
    scaled = wire_couplings(model, x, v, c_v, c_q, inputs)
    if scaled is None:
        return None
    solved = jax.vmap(lambda column: solve(factors, column))(scaled)
    inner = _products(scaled, solved)
    return WireFactors(scaled, solved, small.inverse_by_elimination(jnp.eye(len(inner)) + inner))


def _with_wires(wires: WireFactors, found: Coordinates) -> Coordinates:
    """y - Z (1 + G^T Z)^-1 G^T y."""
    pulls = _products(wires.scaled, jax.tree.map(lambda y: y[None], found))[:, 0]
    share = jnp.sum(wires.inner * pulls, -1)
    return jax.tree.map(lambda y, z: y - jnp.sum(share.reshape(-1, *(1,) * y.ndim) * z, 0), found, wires.solved)


def _products(columns: Coordinates, others: Coordinates) -> Float[Array, "w u"]:
    """Scalar products of stacks of coordinates."""

    def one(a, b):
        return jnp.sum(a.reshape(len(a), 1, -1) * b.reshape(1, len(b), -1), -1)

    return sum(jax.tree.leaves(jax.tree.map(one, columns, others)), start=jnp.zeros(()))


def accelerations(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Coordinates:
    """The accelerations of the motion: forward dynamics in linear time."""
    lacking = residual(model, x, v, like_coordinates(model), inputs)
    return solve(factor(model, x, v, 0.0, 0.0, inputs), jax.tree.map(jnp.negative, lacking))


def base_of(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> BaseMotion:
    """Where the body is and how it moves."""
    return base_motion(model, x, v, like_coordinates(model), inputs)
