"""The equations of motion of arms, in time linear in their segments.

`residual` is the recursive inverse dynamics: base to tip go poses, twists and accelerations, tip to base go wrenches.
`factor` (mechanics.operator) and `solve` (mechanics.articulated) are the articulated recursion, the inverse of its
derivative with respect to the accelerations. A free body is one more segment with six coordinates and tangent
operator J.

Everything is written without scatter and without library calls, which lets the compiler make one function of a loop
over steps instead of some hundred small ones.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import se3, small
from hydrostat.mechanics.added_mass import added_inertia, added_wrench, entrained
from hydrostat.mechanics.articulated import Factors, solve
from hydrostat.mechanics.body_in_water import added_wrench_on_body, body_lift
from hydrostat.mechanics.buoyancy import buoyant_wrench, displaced, displaced_mass
from hydrostat.mechanics.contraction import muscle_forces
from hydrostat.mechanics.elasticity import elastic_forces
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.motion import (
    Coordinates,
    Motion,
    arm_motion,
    at_mount,
    base_motion,
    like_coordinates,
    relative_to_free_fall,
    skin_is_tips,
    unrolling,
)
from hydrostat.mechanics.nodes import NodeForces
from hydrostat.mechanics.operator import factor
from hydrostat.mechanics.outer_forces import OuterForces, forces_on_body, forces_per_arm
from hydrostat.mechanics.points import (
    Points,
    bracket,
    carried_twist,
    collected,
    gathered_wrench,
    gyroscopic,
    membership,
    projected,
    wrench_in_axes,
)
from hydrostat.mechanics.radial_inertia import radial_inertia_forces
from hydrostat.mechanics.robot import Inputs, Robot, each_arm, total
from hydrostat.mechanics.telescopes import gauss_inertia, telescope_inertia
from hydrostat.mechanics.wires import wire_forces

__all__ = ["Coordinates", "Factors", "accelerations", "factor", "motions_of", "residual", "solve"]


def motions_of(model: Robot, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs, weight: bool = True):
    """The motion of the body and of every arm; accelerations are relative to free fall where `weight` is true."""
    base = base_motion(model, x, v, a, inputs)
    if weight:
        base = relative_to_free_fall(base, model.gravity)
    (motions,) = each_arm(
        model, lambda arm, mount, q, v, a: (arm_motion(arm, q, v, a, at_mount(base, mount)),), x.q, v.q, a.q
    )
    return base, motions


@eqx.filter_jit
def residual(model: Robot, x: Coordinates, v: Coordinates, a: Coordinates, inputs: Inputs) -> Coordinates:
    """The residual of the equations of motion at accelerations a: required generalised forces minus applied ones."""
    base = relative_to_free_fall(base_motion(model, x, v, a, inputs), model.gravity)
    known, motion_and_forces = forces_per_arm(model, base, x, v, a, inputs)

    def of_arm(arm: ArmModel, mount, known, q, qd, qdd, force, follower, torque, wires, activation):
        motion, outer = motion_and_forces(arm, mount, known, q, qd, qdd)
        at_base, on_q, at_tip = _local_wrenches(arm, motion, qdd, force, follower, outer, inputs, model.gravity)
        on_q = on_q + elastic_forces(arm, q, qd) + wire_forces(arm, q, qd, wires) - torque
        on_q = on_q + muscle_forces(arm, q, qd, activation) + radial_inertia_forces(arm, q, qd, qdd)
        F, on_q = _to_base(motion.tips, at_tip, at_base, on_q)
        on_q = jnp.where(arm.arm.segments.free, on_q, qdd)
        return (F if mount is None else gathered_wrench(mount, F)), on_q

    acting = (inputs.force, inputs.follower, inputs.torque, inputs.wires, inputs.activation)
    on_base, on_q = each_arm(model, of_arm, known, x.q, v.q, a.q, *acting)
    if model.base_inertia is None:
        return Coordinates(on_q, a.base)
    own = model.base_inertia * base.A + gyroscopic(base.V, model.base_inertia * base.V)
    water, density = entrained(inputs), displaced(inputs)
    if density is not None and model.body is not None:
        own = own - body_lift(model.body, density, base.T.rotation, model.gravity)
    if water is not None and model.body is not None:
        own = own + added_wrench_on_body(model.body, base.T.rotation, base.V, base.A, water, model.gravity)
    outside = forces_on_body(base, inputs)
    if outside is not None:
        own = own - wrench_in_axes(base.T.rotation, outside.torque[0], outside.force[0])
    return Coordinates(on_q, small.matvec(se3.tangent(x.base).T, total(model, on_base) + own))


def _local_wrenches(arm: ArmModel, motion: Motion, a, force, follower, outer: OuterForces, inputs: Inputs, gravity):
    """The inertial wrenches of each segment less its loads: on its base, on its own coordinates, and at its tip."""
    at_base, on_q = jnp.zeros_like(motion.V), jnp.zeros_like(a)
    for points, wrench in _along_segments(arm, motion, a, outer, inputs, gravity):
        at_base = at_base + jnp.sum(gathered_wrench(points.T, wrench), 1)
        on_q = on_q + jnp.sum(projected(points.J, wrench), 1)

    # Contact, at the contact nodes. A force on a tip is added to the wrench of the next segment.
    at_tip = None
    if outer.contact is not None:
        f = -_at_nodes(motion.T_skin.rotation, outer.contact)
        if skin_is_tips(arm):
            at_tip = f[:, 0]
        else:
            at_base = at_base + jnp.sum(gathered_wrench(motion.skin.T, f), 1)
            on_q = on_q + jnp.sum(projected(motion.skin.J, f), 1)

    # Lumped masses and loads, wherever they sit.
    for places, points in ((arm.lumps, motion.lumps), (arm.loads, motion.loads)):
        if not places.fraction.shape[0]:
            continue
        i = places.segment
        if places is arm.lumps:
            f = _inertial(arm.lump_inertia, *_moving(points, motion.V[i], motion.A[i], a[i]))
        else:
            R = small.matmul(motion.T_world.rotation[i], points.T.rotation)
            f = -(wrench_in_axes(R, force[:, :3], force[:, 3:]) + follower)
        member = membership(arm.arm.count, i)
        at_base = at_base + collected(member, gathered_wrench(points.T, f))
        on_q = on_q + collected(member, projected(points.J, f))
    return at_base, on_q, at_tip


def _along_segments(arm: ArmModel, motion: Motion, a, outer: OuterForces, inputs: Inputs, gravity) -> list:
    """The points of each segment that have inertia, or at which distributed forces act, with the wrenches on them."""
    # Gauss points, with the water that they carry along, and that which they displace.
    known = motion.V_flow if arm.flow_at_masses and outer.flow is not None else None
    V, A = _moving(motion.inner, motion.V[:, None], motion.A[:, None], a[:, None], known)
    f = _inertial(gauss_inertia(arm), V, A)
    water, density = entrained(inputs), displaced(inputs)
    if water is not None or density is not None:
        own = arm.flow_at_masses
        R = motion.T_flow.rotation if own else small.matmul(motion.T_world.rotation[:, None], motion.inner.T.rotation)
        if water is not None:
            f = f + added_wrench(added_inertia(arm, water), R, V, A, water, gravity)
        if density is not None:
            f = f - buoyant_wrench(displaced_mass(arm, density), R, gravity)
    parts = [(motion.inner, f)]

    # What is distributed along the arm, at the flow nodes: at the same points where these are the Gauss points.
    if outer.flow is not None:
        drag = -_at_nodes(motion.T_flow.rotation, outer.flow)
        parts = [(motion.inner, f + drag)] if arm.flow_at_masses else [*parts, (motion.flow, drag)]
    if motion.telescopes is not None:
        moved = _moving(motion.telescopes, motion.V[:, None], motion.A[:, None], a[:, None])
        parts.append((motion.telescopes, _inertial(telescope_inertia(arm), *moved)))
    return parts


def _moving(points: Points, V_base, A_base, a, V=None):
    """The twists and accelerations of points, by those of their segment's base.

    **Arguments:** `V`: the twists, where they are known.
    """
    V = carried_twist(points.T, V_base) + points.Jv if V is None else V
    return V, carried_twist(points.T, A_base) + small.matvec(points.J, a) + points.c + bracket(V, points.Jv)


def _inertial(inertia, V, A):
    """The wrenches that accelerate bodies of a diagonal spatial inertia."""
    return inertia * A + gyroscopic(V, inertia * V)


def _at_nodes(R: Float[Array, "n d 3 3"], forces: NodeForces) -> Float[Array, "n d 6"]:
    """The wrenches of the surroundings on nodes, in the nodes' axes R."""
    shape = R.shape[:-1]
    return wrench_in_axes(R, forces.torque.reshape(shape), forces.force.reshape(shape))


def _to_base(tips: Points, at_tip, at_base, on_q):
    """The wrench on the arm's base and the generalised forces on all coordinates, summed from tip to base."""
    each = (tips.T, tips.J, at_tip, at_base, on_q)
    return jax.lax.scan(_gather, jnp.zeros(6), each, reverse=True, unroll=unrolling(at_base.shape[0]))


def _gather(F, segment):
    """The wrench on a segment's base and the forces on its coordinates, one step of the recursion from tip to base."""
    T, J, at_tip, at_base, on_q = segment
    F = F if at_tip is None else F + at_tip
    return gathered_wrench(T, F) + at_base, on_q + projected(J, F)


def accelerations(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Coordinates:
    """The accelerations of the motion: forward dynamics in linear time."""
    bias = residual(model, x, v, like_coordinates(model), inputs)
    return solve(factor(model, x, v, 0.0, 0.0, inputs), jax.tree.map(jnp.negative, bias))
