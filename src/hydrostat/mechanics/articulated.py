"""The articulated recursion: the accelerations that generalised forces cause, by factors of the mass matrix.

Tip to base go the forces, base to tip the accelerations, one segment at a time. `mechanics.operator` makes the factors.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.mechanics.motion import Coordinates, unrolling
from hydrostat.mechanics.points import carried_twist, gathered_wrench, projected
from hydrostat.mechanics.robot import PerArm, over_arms, summed


class ArmFactors(NamedTuple):
    """The articulated recursion's factors of one arm."""

    T_tip: SE3
    J_tip: Float[Array, "n 6 k"]
    U: Float[Array, "n 6 k"]
    Dinv: Float[Array, "n k k"]


class Factors(NamedTuple):
    """The articulated recursion's factors of a robot."""

    arms: PerArm
    """The `ArmFactors` of every arm."""
    mounts: PerArm
    base: Float[Array, "6 6"]
    """Inverse of the articulated inertia of a free base; zero for a fixed one."""
    J_base: Float[Array, "6 6"]
    wires: "WireFactors | None"


class WireFactors(NamedTuple):
    """The part of the operator that wires of prescribed length add: G diag(s) G^T, by Woodbury's formula."""

    scaled: Coordinates
    """The columns G sqrt(s), one per wire along a leading axis."""
    solved: Coordinates
    """The inverse of the operator without the wires, applied to the columns."""
    inner: Float[Array, "w w"]
    """The inverse of the small matrix, (1 + sqrt(s) G^T P^-1 G sqrt(s))^-1."""


@eqx.filter_jit
def solve(factors: Factors, force: Coordinates) -> Coordinates:
    """The accelerations that generalised forces cause, by the factors of `mechanics.operator.factor`."""

    def tip_to_base(mount, arm: ArmFactors, r):
        p, u = jax.lax.scan(_gather, jnp.zeros(6), (*arm, r), reverse=True, unroll=unrolling(len(r)))
        return (p if mount is None else gathered_wrench(mount, p)), u

    def base_to_tip(mount, arm: ArmFactors, u):
        A = A_body if mount is None else carried_twist(mount, A_body)
        return (jax.lax.scan(_spread, A, (*arm, u), unroll=unrolling(len(u)))[1],)

    on_base, own = over_arms(factors.mounts, tip_to_base, factors.arms, force.q, together=True)
    on_base = on_base if factors.mounts is None else summed(on_base)
    base = small.matvec(factors.base, force.base - small.matvec(factors.J_base.T, on_base))
    A_body = small.matvec(factors.J_base, base)
    (a,) = over_arms(factors.mounts, base_to_tip, factors.arms, own, together=True)
    found = Coordinates(a, base)
    return found if factors.wires is None else _with_wires(factors.wires, found)


def _gather(p, segment):
    """Tip to base over one segment: the bias wrench on its base, and its accelerations while the base rests."""
    T, J, U, Dinv, r = segment
    u = small.matvec(Dinv, r - projected(J, p))
    return gathered_wrench(T, p) + small.matvec(U, u), u


def _spread(A, segment):
    """Base to tip over one segment: the acceleration of its tip, and those of its coordinates."""
    T, J, U, Dinv, u = segment
    a = u - small.matvec(Dinv, projected(U, A))
    return carried_twist(T, A) + small.matvec(J, a), a


def _with_wires(wires: WireFactors, found: Coordinates) -> Coordinates:
    """Woodbury's correction of a solution, y - Z (1 + G^T Z)^-1 G^T y."""
    pulls = products(wires.scaled, jax.tree.map(lambda y: y[None], found))[:, 0]
    share = jnp.sum(wires.inner * pulls, -1)
    return jax.tree.map(lambda y, z: y - jnp.sum(share.reshape(-1, *(1,) * y.ndim) * z, 0), found, wires.solved)


def products(columns: Coordinates, others: Coordinates) -> Float[Array, "w u"]:
    """Scalar products of stacks of coordinates."""

    def one(a, b):
        return jnp.sum(a.reshape(len(a), 1, -1) * b.reshape(1, len(b), -1), -1)

    return sum(jax.tree.leaves(jax.tree.map(one, columns, others)), start=jnp.zeros(()))
