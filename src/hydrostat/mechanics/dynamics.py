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
from hydrostat.mechanics.model import AnyModel, Branched, Inputs, Model
from hydrostat.mechanics.motion import (
    BaseMotion,
    Coordinates,
    Motion,
    all_nodes,
    arm_motion,
    at_mount,
    base_motion,
    branches,
    joined,
    like_coordinates,
    nodes_per_arm,
    relative_to_free_fall,
    split,
    unrolling,
)
from hydrostat.mechanics.nodes import Entrained, NodeForces
from hydrostat.mechanics.points import Points, bracket, carried_twist, gathered_wrench, gyroscopic
from hydrostat.mechanics.pull import wire_couplings, wire_forces

__all__ = ["Coordinates", "Factors", "accelerations", "factor", "motions_of", "residual", "solve"]


class ArmFactors(NamedTuple):
    """The articulated recursion's factors of one arm."""

    T_tip: SE3
    J_tip: Float[Array, "n 6 k"]
    U: Float[Array, "n 6 k"]
    Dinv: Float[Array, "n k k"]


class Factors(NamedTuple):
    """The articulated recursion's factors."""

    arms: tuple[ArmFactors, ...]
    mounts: tuple[SE3, ...]
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


def motions_of(model: AnyModel, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs, weight: bool = True):
    """The body's motion and that of every arm; accelerations are those relative to free fall where `weight` counts."""
    base = base_motion(model, x, v, a, inputs)
    if weight:
        base = relative_to_free_fall(base, model.gravity)
    each = zip(branches(model), split(model, x.q), split(model, v.q), split(model, a.q), strict=True)
    return base, [arm_motion(arm, q, v, a, at_mount(model, base, i)) for i, (arm, q, v, a) in enumerate(each)]


@eqx.filter_jit
def residual(model: AnyModel, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> Coordinates:
    """What is missing for the accelerations a to be those of the motion: forces needed minus forces there."""
    base, motions = motions_of(model, x, v, a, inputs)
    skins = _on_skin(model, motions, x, inputs)
    water = entrained(inputs)

    on_base, on_coordinates = jnp.zeros(6), []
    for i, (arm, motion, skin) in enumerate(zip(branches(model), motions, skins, strict=True)):
        q, qd, qdd, force, follower, torque, wires, activation = (
            split(model, part)[i]
            for part in (x.q, v.q, a.q, inputs.force, inputs.follower, inputs.torque, inputs.wires, inputs.activation)
        )
        at_base, on_q = _local_wrenches(arm, motion, qdd, force, follower, skin, water, model.gravity)
        on_q = on_q + elastic_forces(arm, q, qd) + wire_forces(arm, q, qd, wires) - torque
        on_q = on_q + muscle_forces(arm, q, qd, activation) + girth_forces(arm, q, qd, qdd)
        F, on_q = _to_base(motion.tips, at_base, on_q)
        on_coordinates.append(jnp.where(arm.arm.segments.free, on_q, qdd))
        on_base = on_base + (gathered_wrench(model.mounts[i], F) if isinstance(model, Branched) else F)

    if model.base_inertia is None:
        return Coordinates(joined(model, on_coordinates), a.base)
    own = model.base_inertia * base.A + gyroscopic(base.V, model.base_inertia * base.V)
    return Coordinates(joined(model, on_coordinates), small.matvec(se3.tangent(x.base).T, on_base + own))


def _on_skin(model: AnyModel, motions: list[Motion], x: Coordinates, inputs: Inputs) -> list[NodeForces | None]:
    """The forces of the surroundings on the skin of each arm."""
    if inputs.surroundings is None:
        return [None] * len(motions)
    forces = inputs.surroundings.forces(all_nodes(model, motions, x))
    ends = [0]
    for count in nodes_per_arm(model):
        ends.append(ends[-1] + count)
    return [jax.tree.map(lambda y, i=i: y[ends[i] : ends[i + 1]], forces) for i in range(len(motions))]


def _local_wrenches(
    arm: Model, motion: Motion, a, force, follower, skin: NodeForces | None, water: Entrained | None, gravity
):
    """What the masses of each segment need, less the loads: on its base and on its own coordinates."""

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

    # Surroundings, at the nodes of the skin.
    if skin is not None:
        shape = motion.skin.Jv.shape
        R = small.matmul(motion.T_world.rotation[:, None], motion.skin.T.rotation)
        f = -_in_axes(R, skin.torque.reshape(*shape[:2], 3), skin.force.reshape(*shape[:2], 3))
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
    return at_base, on_q


def _in_axes(R, moment, force) -> Float[Array, "... 6"]:
    """A wrench given in world axes, in the axes R."""
    turned = jnp.swapaxes(R, -1, -2)
    return jnp.concatenate([small.matvec(turned, moment), small.matvec(turned, force)], -1)


def _projected(J: Float[Array, "... 6 k"], f: Float[Array, "... 6"]) -> Float[Array, "... k"]:
    """J^T f."""
    return small.matvec(jnp.swapaxes(J, -1, -2), f)


def _membership(arm: Model, index) -> Float[Array, "m n"]:
    """1 where a place is on a segment."""
    return (index[:, None] == jnp.arange(arm.arm.count)).astype(float)


def _collected(member: Float[Array, "m n"], values: Float[Array, "m *shape"]) -> Float[Array, "n *shape"]:
    """The sum of the places' values over each segment."""
    weights = member.reshape(*member.shape, *(1,) * (values.ndim - 1))
    return jnp.sum(weights * values[:, None], 0)


def _to_base(tips: Points, at_base, on_q):
    """Tip to base: the wrench on the arm's base, and the forces on all coordinates."""

    def gather(F, inputs):
        T, J, f_base, f_q = inputs
        return gathered_wrench(T, F) + f_base, f_q + _projected(J, F)

    count = at_base.shape[0]
    return jax.lax.scan(gather, jnp.zeros(6), (tips.T, tips.J, at_base, on_q), reverse=True, unroll=unrolling(count))


@eqx.filter_jit
def factor(model: AnyModel, x: Coordinates, v: Coordinates, c_v, c_q, inputs: Inputs) -> Factors:
    """Factor the mass matrix with c_v times damping and c_q times stiffness of material and surroundings added.

    The stiffness is the local one: what a change of coordinates does to the forces on the same segment or node.
    """
    still = like_coordinates(model)
    moving = v if inputs.surroundings is not None else still
    _, motions = motions_of(model, x, moving, still, inputs, weight=False)
    skins = _on_skin(model, motions, x, inputs)
    arms, mounts, total = [], [], jnp.zeros((6, 6))
    for i, (arm, motion, skin) in enumerate(zip(branches(model), motions, skins, strict=True)):
        q = split(model, x.q)[i]
        local = local_operator(arm, q, c_v, c_q)
        if arm.muscles is not None:
            rate, activation = split(model, v.q)[i], split(model, inputs.activation)[i]
            local = local + muscle_operator(arm, q, rate, c_v, c_q, activation)
        if arm.girth_inertia is not None:
            local = local + girth_operator(arm, q)
        factors, inertia = _factor_arm(arm, motion, local, skin, entrained(inputs), c_v, c_q)
        mount = model.mounts[i] if isinstance(model, Branched) else SE3.identity()
        X = mount.inverse().adjoint()
        total = total + small.matmul(X.T, small.matmul(inertia, X))
        arms.append(factors)
        mounts.append(mount)
    base, J = jnp.zeros((6, 6)), jnp.eye(6)
    if model.base_inertia is not None:
        J = se3.tangent(x.base)
        felt = total + jnp.diag(model.base_inertia)
        base = small.inverse_positive(small.matmul(J.T, small.matmul(felt, J)))
    factors = Factors(tuple(arms), tuple(mounts), base, J, None)
    return factors._replace(wires=_factor_wires(model, factors, x, v, c_v, c_q, inputs))


def _factor_arm(arm: Model, motion: Motion, local, skin: NodeForces | None, water: Entrained | None, c_v, c_q):
    """The factors of one arm, and the articulated inertia that its base feels."""
    inertia = arm.inertia if water is None else arm.inertia + added_inertia(arm, water)
    bb, bq, qq = (jnp.sum(y, 1) for y in _mass_blocks(motion.inner, inertia))
    if arm.lump_inertia.shape[0]:
        member = _membership(arm, arm.lumps.segment)
        more = (_collected(member, y) for y in _mass_blocks(motion.lumps, arm.lump_inertia))
        bb, bq, qq = (one + other for one, other in zip((bb, bq, qq), more, strict=True))
    if skin is not None:
        more = (jnp.sum(y, 1) for y in _skin_blocks(motion, skin, c_v, c_q))
        bb, bq, qq = (one + other for one, other in zip((bb, bq, qq), more, strict=True))
        bb = bb + c_q * _tightened(arm, motion, skin)
    qq = qq + local

    def eliminate(inertia, inputs):
        T, J, bb, bq, qq = inputs
        IJ = small.matmul(inertia, J)
        qq = qq + small.matmul(J.T, IJ)
        U = bq + jnp.swapaxes(gathered_wrench(T, IJ.T), -1, -2)
        Dinv = small.inverse_positive(qq)
        # X^T I X: rows and then columns carried to the base.
        half = gathered_wrench(T, inertia)
        inertia = bb + gathered_wrench(T, jnp.swapaxes(half, -1, -2)) - small.matmul(small.matmul(U, Dinv), U.T)
        return inertia, (U, Dinv)

    tips = motion.tips
    blocks = once((bb, bq, qq))
    inertia, (U, Dinv) = jax.lax.scan(
        eliminate, jnp.zeros((6, 6)), (tips.T, tips.J, *blocks), reverse=True, unroll=unrolling(arm.arm.count)
    )
    return ArmFactors(tips.T, tips.J, U, Dinv), inertia


def _tightened(arm: Model, motion: Motion, skin: NodeForces) -> Float[Array, "n 6 6"]:
    """What pulls at an arm from outside holds the direction of each segment, as a tight string's: F l against a turn.

    The forces beyond each segment, along it, where they pull. A slender arm has little else to hold its direction.
    """
    n = arm.arm.count
    force = jnp.sum(skin.force.reshape(n, -1, 3), 1)
    beyond = jnp.sum(np.triu(np.ones((n, n)))[..., None] * force[None], 1)
    along = motion.T_world.rotation[..., 2]
    pull = jnp.maximum(small.dot(beyond, along), 0.0) * small.norm(motion.tips.T.position)
    return pull[:, None, None] * np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])


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


def _skin_blocks(motion: Motion, skin: NodeForces, c_v, c_q):
    """The same blocks for what the surroundings add to the inertia of a node, c_v C + c_q K."""
    shape = motion.skin.Jv.shape
    R = small.matmul(motion.T_world.rotation[:, None], motion.skin.T.rotation)
    S = once((c_v * skin.damping + c_q * skin.stiffness).reshape(*shape[:2], 6, 6))
    zero = jnp.zeros_like(R)
    turn = jnp.concatenate([jnp.concatenate([R, zero], -1), jnp.concatenate([zero, R], -1)], -2)
    X = motion.skin.T.inverse().adjoint()
    W = once(small.matmul(turn, jnp.concatenate([X, motion.skin.J], -1)))
    M = small.matmul(jnp.swapaxes(W, -1, -2), once(small.matmul(S, W)))
    return M[..., :6, :6], M[..., :6, 6:], M[..., 6:, 6:]


@eqx.filter_jit
def solve(factors: Factors, force: Coordinates) -> Coordinates:
    """The accelerations that generalised forces cause, by the factors of `factor`."""
    several = isinstance(force.q, tuple)
    forces: tuple = force.q if isinstance(force.q, tuple) else (force.q,)

    # Tip to base, arm by arm.
    on_base, own = jnp.zeros(6), []
    for arm, mount, r in zip(factors.arms, factors.mounts, forces, strict=True):

        def gather(p, inputs):
            T, J, U, Dinv, r = inputs
            u = small.matvec(Dinv, r - _projected(J, p))
            return gathered_wrench(T, p) + small.matvec(U, u), u

        p, u = jax.lax.scan(gather, jnp.zeros(6), (*arm, r), reverse=True, unroll=unrolling(len(r)))
        on_base = on_base + gathered_wrench(mount, p)
        own.append(u)
    base = small.matvec(factors.base, force.base - small.matvec(factors.J_base.T, on_base))

    # Base to tip.
    A_body, a = small.matvec(factors.J_base, base), []
    for arm, mount, u in zip(factors.arms, factors.mounts, own, strict=True):

        def spread(A, inputs):
            T, J, U, Dinv, u = inputs
            a = u - small.matvec(Dinv, _projected(U, A))
            return carried_twist(T, A) + small.matvec(J, a), a

        a.append(jax.lax.scan(spread, carried_twist(mount, A_body), (*arm, u), unroll=unrolling(len(u)))[1])
    found = Coordinates(tuple(a) if several else a[0], base)
    return found if factors.wires is None else _with_wires(factors.wires, found)


def _factor_wires(model: AnyModel, factors: Factors, x, v, c_v, c_q, inputs: Inputs) -> WireFactors | None:
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


def accelerations(model: AnyModel, x: Coordinates, v: Coordinates, inputs: Inputs) -> Coordinates:
    """The accelerations of the motion: forward dynamics in linear time."""
    lacking = residual(model, x, v, like_coordinates(model), inputs)
    return solve(factor(model, x, v, 0.0, 0.0, inputs), jax.tree.map(jnp.negative, lacking))


def base_of(model: AnyModel, x: Coordinates, v: Coordinates, inputs: Inputs) -> BaseMotion:
    """Where the body is and how it moves."""
    return base_motion(model, x, v, like_coordinates(model), inputs)
