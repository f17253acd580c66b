"""The mass matrix of a robot with damping and stiffness added, factored by the articulated recursion.

The stiffness is the local one: what a change of coordinates does to the forces on the same segment or node.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.added_mass import added_inertia, entrained
from hydrostat.mechanics.articulated import ArmFactors, Factors, WireFactors, products, solve
from hydrostat.mechanics.body_in_water import added_inertia_of_body
from hydrostat.mechanics.contraction import muscle_operator
from hydrostat.mechanics.elasticity import local_operator
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.motion import Coordinates, Motion, base_motion, like_coordinates, skin_is_tips, unrolling
from hydrostat.mechanics.nodes import Entrained, NodeForces
from hydrostat.mechanics.outer_forces import OuterForces, forces_on_body, forces_per_arm
from hydrostat.mechanics.points import Points, collected, gathered_wrench, matrix_in_axes, membership
from hydrostat.mechanics.radial_inertia import radial_mass_matrix
from hydrostat.mechanics.robot import Inputs, Robot, each_arm, total
from hydrostat.mechanics.telescopes import gauss_inertia, telescope_inertia
from hydrostat.mechanics.wires import wire_couplings

_TURNS = np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
"""The components of a twist that are rotations across an axis z."""


@eqx.filter_jit
def factor(model: Robot, x: Coordinates, v: Coordinates, c_v, c_q, inputs: Inputs) -> Factors:
    """Factor the mass matrix with c_v times damping and c_q times stiffness of material and surroundings added."""
    still = like_coordinates(model)
    moving_at = v if inputs.surroundings is not None else still
    base = base_motion(model, x, moving_at, still, inputs)
    water = entrained(inputs)
    known, motion_and_forces = forces_per_arm(model, base, x, moving_at, still, inputs)

    def of_arm(arm: ArmModel, mount, known, q, qd, rate, qdd, activation):
        motion, outer = motion_and_forces(arm, mount, known, q, qd, qdd)
        local = local_operator(arm, q, c_v, c_q)
        if arm.muscles is not None:
            local = local + muscle_operator(arm, q, rate, c_v, c_q, activation)
        if arm.radial_inertia is not None:
            local = local + radial_mass_matrix(arm, q)
        factors, inertia = _factor_arm(arm, motion, local, outer, water, c_v, c_q)
        if mount is not None:
            X = mount.inverse().adjoint()
            inertia = small.matmul(X.T, small.matmul(inertia, X))
        return factors, inertia

    arms, inertia = each_arm(model, of_arm, known, x.q, moving_at.q, v.q, still.q, inputs.activation)
    own, J = jnp.zeros((6, 6)), jnp.eye(6)
    if model.base_inertia is not None:
        J = se3.tangent(x.base)
        articulated = total(model, inertia) + jnp.diag(model.base_inertia)
        if water is not None and model.body is not None:
            articulated = articulated + added_inertia_of_body(model.body, water)
        on_body = forces_on_body(base, inputs)
        if on_body is not None:
            resisting = c_v * on_body.damping + c_q * on_body.stiffness
            articulated = articulated + matrix_in_axes(base.T.rotation[None], resisting)[0]
        own = small.inverse_positive(small.matmul(J.T, small.matmul(articulated, J)))
    factors = Factors(arms, model.mounts, own, J, None)
    return factors._replace(wires=_factor_wires(model, factors, x, v, c_v, c_q, inputs))


def _factor_arm(arm: ArmModel, motion: Motion, local, outer: OuterForces, water: Entrained | None, c_v, c_q):
    """The factors of one arm, and the articulated inertia at its base."""
    # Masses at the Gauss points, with what the flow adds there or at nodes of its own, and lumped masses.
    inertia = gauss_inertia(arm) if water is None else gauss_inertia(arm) + added_inertia(arm, water)
    resisting = None if outer.flow is None else _resistance(motion, outer.flow, c_v, c_q)
    parts = [_mass_blocks(motion.inner, inertia, resisting if arm.flow_at_masses else None)]
    if resisting is not None and not arm.flow_at_masses:
        parts.append(_mass_blocks(motion.flow, jnp.zeros((*resisting.shape[:2], 6)), resisting))
    if motion.telescopes is not None:
        parts.append(_mass_blocks(motion.telescopes, telescope_inertia(arm)))
    blocks = [jnp.sum(y, 1) for y in parts[0]]
    for more in parts[1:]:
        blocks = [one + jnp.sum(other, 1) for one, other in zip(blocks, more, strict=True)]
    if arm.lump_inertia.shape[0]:
        member = membership(arm.arm.count, arm.lumps.segment)
        more = (collected(member, y) for y in _mass_blocks(motion.lumps, arm.lump_inertia))
        blocks = [one + other for one, other in zip(blocks, more, strict=True)]

    # Contact, at the contact nodes. The part at a tip is added to the articulated inertia of the next segment.
    at_tip = None
    if outer.contact is not None:
        added = c_v * outer.contact.damping + c_q * outer.contact.stiffness
        if skin_is_tips(arm):
            at_tip = matrix_in_axes(motion.T_skin.rotation[:, 0], added)
        else:
            more = (jnp.sum(y, 1) for y in _skin_blocks(motion, added))
            blocks = [one + other for one, other in zip(blocks, more, strict=True)]
    bb, bq, qq = blocks
    pull, lever = _pulling(arm, motion, outer, c_q)

    # Tip to base.
    tips = motion.tips
    each = at_tip, bb, bq, qq + local, pull, lever
    nothing = (jnp.zeros((6, 6)), jnp.zeros(3))
    (inertia, _), (U, Dinv) = jax.lax.scan(
        _eliminate, nothing, (tips.T, tips.J, *each), reverse=True, unroll=unrolling(arm.arm.count)
    )
    return ArmFactors(tips.T, tips.J, U, Dinv), inertia


def _eliminate(beyond, segment):
    """The articulated inertia at a segment's base, its coordinates eliminated: one step from tip to base.

    **Arguments:** `beyond`: articulated inertia at its tip, and the external force on all that is beyond.
    """
    (inertia, force), (T, J, at_tip, bb, bq, qq, pull, lever) = beyond, segment
    inertia = small.symmetric(inertia)
    inertia = inertia if at_tip is None else inertia + at_tip
    # Geometric stiffness of axial tension: what pulls at an arm from outside holds the direction of each segment, F l
    # against a turn. A slender arm has little else to hold its direction.
    force = force + pull
    bb = bb + jnp.maximum(small.dot(force, lever), 0.0) * _TURNS
    IJ = small.matmul(inertia, J)
    qq = small.symmetric(qq + small.matmul(J.T, IJ))
    U = bq + jnp.swapaxes(gathered_wrench(T, IJ.T), -1, -2)
    Dinv = small.inverse_positive(qq)
    # X^T I X: rows and then columns carried to the base.
    half, UD = gathered_wrench(T, inertia), small.matmul(U, Dinv)
    inertia = bb + gathered_wrench(T, jnp.swapaxes(half, -1, -2)) - small.matmul(UD, U.T)
    return (small.symmetric(inertia), force), (U, Dinv)


def _pulling(arm: ArmModel, motion: Motion, outer: OuterForces, c_q) -> tuple[Float[Array, "n 3"], Float[Array, "n 3"]]:
    """The force of the surroundings on each segment, and each segment's direction times its length and c_q."""
    n = arm.arm.count
    pulls = [jnp.sum(forces.force.reshape(n, -1, 3), 1) for forces in outer if forces is not None]
    if not pulls:
        return jnp.zeros((n, 3)), jnp.zeros((n, 3))
    along = motion.T_world.rotation[..., 2] * small.norm(motion.tips.T.position)[:, None]
    return sum(pulls[1:], start=pulls[0]), c_q * along


def _resistance(motion: Motion, flow: NodeForces, c_v, c_q) -> Float[Array, "n f 3 3"]:
    """The surroundings' part of the operator at each flow node, c_v C + c_q K against displacements, in its axes."""
    R = motion.T_flow.rotation
    linear = (c_v * flow.damping[:, 3:, 3:] + c_q * flow.stiffness[:, 3:, 3:]).reshape(R.shape)
    return small.symmetric(small.matmul(jnp.swapaxes(R, -1, -2), small.matmul(linear, R)))


def _mass_blocks(points: Points, inertia: Float[Array, "... 6"], resisting: Float[Array, "... 3 3"] | None = None):
    """The blocks of W^T I W with W = [Ad(T^-1) | J]: base-base, base-coordinates, coordinates-coordinates.

    **Arguments:** `resisting`: what is added to the mass, in the axes of the points, where that is more than a number.
    """
    R, p = points.T.rotation, points.T.position
    IJ = inertia[..., None] * points.J
    if resisting is not None:
        linear = IJ[..., 3:, :] + small.matmul(resisting, points.J[..., 3:, :])
        IJ = jnp.concatenate([IJ[..., :3, :], linear], -2)
    bq = jnp.swapaxes(gathered_wrench(_for_columns(points.T), jnp.swapaxes(IJ, -1, -2)), -1, -2)
    qq = small.symmetric(small.matmul(jnp.swapaxes(points.J, -1, -2), IJ))
    turned = jnp.swapaxes(R, -1, -2)
    rotary = small.matmul(R, inertia[..., :3, None] * turned)
    mass = inertia[..., 3:, None] * turned
    mass = small.symmetric(small.matmul(R, mass if resisting is None else mass + small.matmul(resisting, turned)))
    # hat(p) mass, and hat(p) mass hat(p)^T: columns crossed with p.
    crossed = _crossed(p, mass)
    rotary = small.symmetric(rotary + jnp.swapaxes(_crossed(p, jnp.swapaxes(crossed, -1, -2)), -1, -2))
    bb = jnp.concatenate(
        [
            jnp.concatenate([rotary, crossed], -1),
            jnp.concatenate([jnp.swapaxes(crossed, -1, -2), mass], -1),
        ],
        -2,
    )
    return bb, bq, qq


def _for_columns(T: SE3) -> SE3:
    """The pose with one more axis, for a stack of columns."""
    return SE3(T.rotation[..., None, :, :], T.position[..., None, :])


def _crossed(p: Float[Array, "... 3"], columns: Float[Array, "... 3 3"]) -> Float[Array, "... 3 3"]:
    """The product of hat(p) and a matrix."""
    return jnp.swapaxes(small.cross(p[..., None, :], jnp.swapaxes(columns, -1, -2)), -1, -2)


def _skin_blocks(motion: Motion, added: Float[Array, "m 6 6"]):
    """The same blocks for the surroundings' part of the operator at a node, c_v C + c_q K."""
    shape = motion.skin.Jv.shape
    S = added.reshape(*shape[:2], 6, 6)
    turn = _turned_twice(motion.T_skin.rotation)
    X = motion.skin.T.inverse().adjoint()
    W = small.matmul(turn, jnp.concatenate([X, motion.skin.J], -1))
    M = small.matmul(jnp.swapaxes(W, -1, -2), small.matmul(S, W))
    return M[..., :6, :6], M[..., :6, 6:], M[..., 6:, 6:]


def _turned_twice(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 6 6"]:
    """The matrix that rotates both parts of a twist."""
    zero = jnp.zeros_like(R)
    return jnp.concatenate([jnp.concatenate([R, zero], -1), jnp.concatenate([zero, R], -1)], -2)


def _factor_wires(model: Robot, factors: Factors, x, v, c_v, c_q, inputs: Inputs) -> WireFactors | None:
    """The operator with wires of prescribed length, which couple all segments they pass: one more solve for each
    wire."""
    scaled = wire_couplings(model, x, v, c_v, c_q, inputs)
    if scaled is None:
        return None
    solved = jax.vmap(lambda column: solve(factors, column))(scaled)
    inner = products(scaled, solved)
    return WireFactors(scaled, solved, small.inverse_by_elimination(jnp.eye(len(inner)) + inner))
