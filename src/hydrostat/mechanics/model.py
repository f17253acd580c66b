"""What the mechanics of an arm needs to know: masses, stiffness, and everything that pulls at it."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from hydrostat.bodies import Arm
from hydrostat.bodies.rod import damping, gauss_points, node_inertias, stiffness
from hydrostat.errors import InputError
from hydrostat.lie import SE3

GRAVITY = (0.0, 0.0, -9.81)
"""The world's gravity unless said otherwise [m/s^2]."""


class Places(eqx.Module):
    """Material points of an arm, by segment and fraction of it."""

    segment: Int[Array, " m"]
    fraction: Float[Array, " m"]


class Model(eqx.Module):
    """An arm with its masses and forces, ready for the recursions.

    `fixed` bases stay where the arm says or follow what is prescribed; a `free` base is a rigid body of its own, whose
    six coordinates are the twist from where it was when the step began.
    """

    arm: Arm
    fractions: Float[Array, " g"]
    inertia: Float[Array, "n g 6"]
    """Diagonal spatial inertias at the Gauss points."""
    stiffness: Float[Array, "n k"]
    damping: Float[Array, "n k"]
    rest: Float[Array, "n k"]
    """Coordinates of the unstressed arm beyond its rest strain (a preshape)."""
    gravity: Float[Array, " 3"]
    lumps: Places
    lump_inertia: Float[Array, "m 6"]
    """Diagonal spatial inertias of lumped masses."""
    loads: Places
    base_inertia: Float[Array, " 6"] | None
    """Diagonal spatial inertia of a free base; None for a fixed one."""

    @property
    def free_base(self) -> bool:
        """Whether the base moves by the forces on it."""
        return self.base_inertia is not None


class Inputs(NamedTuple):
    """What acts on an arm at a moment, from outside the mechanics."""

    force: Float[Array, "m 6"]
    """Dead loads at the places of the loads: moment [N m] and force [N] in world axes."""
    follower: Float[Array, "m 6"]
    """Follower loads: the same in the axes of the material point."""
    torque: Float[Array, "n k"]
    """Generalised forces on the coordinates."""
    base_pose: SE3
    base_twist: Float[Array, " 6"]
    """Body twist of a prescribed base."""
    base_acceleration: Float[Array, " 6"]
    """Its rate, component by component."""


def make_model(
    arm: Arm,
    *,
    points: int = 3,
    gravity=GRAVITY,
    lumps=(),
    load_places=(),
    rest=None,
    free_base: bool = False,
    base_mass: float = 0.0,
    base_inertia: float = 0.0,
) -> Model:
    """The model of an arm.

    **Arguments:** `points`: Gauss points per segment; `gravity` [m/s^2]; `lumps`: (place, mass [kg]) or (place, mass,
    moment of inertia [kg m^2]) each, a place being a fraction 0 ... 1 of the arm's rest length; `load_places`: places
    where loads act; `rest`: coordinates of the unstressed arm; `free_base`: whether the base is a body that moves, of
    mass `base_mass` and moment of inertia `base_inertia`.
    """
    gravity = jnp.asarray(gravity, float)
    if gravity.shape != (3,) or not bool(jnp.all(jnp.isfinite(gravity))):
        raise InputError(f"`gravity` must be three finite numbers; got {gravity.tolist()}")
    for name, value in (("youngs_modulus", arm.material.youngs_modulus), ("density", arm.material.density)):
        if not bool(jnp.all(value > 0.0)):
            raise InputError(f"`{name}` must be positive; got {float(jnp.min(value)):g}")
    lumps = [(*lump, 0.0) if len(lump) == 2 else lump for lump in lumps]
    for _, mass, moment in lumps:
        if not (mass >= 0.0 and moment >= 0.0):
            raise InputError(f"a lumped mass and its inertia must not be negative; got {mass:g}, {moment:g}")
    lump_inertia = jnp.array([[j, j, j, m, m, m] for _, m, j in lumps], float).reshape(-1, 6)
    base = None
    if free_base:
        base = jnp.array([base_inertia] * 3 + [base_mass] * 3, float)
    fractions, _ = gauss_points(points)
    return Model(
        arm=arm,
        fractions=jnp.asarray(fractions),
        inertia=node_inertias(arm, points),
        stiffness=stiffness(arm, points),
        damping=damping(arm, points),
        rest=arm.straight() if rest is None else jnp.asarray(rest, float),
        gravity=gravity,
        lumps=places(arm, [lump[0] for lump in lumps]),
        lump_inertia=lump_inertia,
        loads=places(arm, list(load_places)),
        base_inertia=base,
    )


def places(arm: Arm, fractions: list[float]) -> Places:
    """The material points at fractions 0 ... 1 of the arm's rest length."""
    ends = jnp.cumsum(arm.segments.length) / arm.length
    for fraction in fractions:
        if not 0.0 <= fraction <= 1.0:
            raise InputError(f"a place on the arm must be a fraction from 0 to 1 of its length; got {fraction:g}")
    s = jnp.asarray(fractions, float).reshape(-1)
    index = jnp.clip(jnp.searchsorted(ends, s - 1e-12, side="left"), 0, arm.count - 1)
    start = ends[index] - arm.segments.length[index] / arm.length
    return Places(index, jnp.clip((s - start) * arm.length / arm.segments.length[index], 0.0, 1.0))


def no_inputs(model: Model) -> Inputs:
    """Nothing acts, and the base stays where it is."""
    m = model.loads.fraction.shape[0]
    zero = jnp.zeros((m, 6))
    torque = jnp.zeros_like(model.stiffness)
    return Inputs(zero, zero, torque, model.arm.T_world_base, jnp.zeros(6), jnp.zeros(6))
