"""Inverse dynamics of a chain of platforms along a planned motion: the forces that its legs need, with any payload."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from hydrostat.actuation.legs import leg_forces
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.model import Places, places
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.segments import StewartSegment

_SPACING = 0.02
"""Plan time between the places where forces are known in advance [s]; one step where that is longer."""


class Plan(NamedTuple):
    """A motion by its coordinates, one row per step and one more for its end."""

    q: Float[Array, "rows n 6"]
    v: Float[Array, "rows n 6"]
    a: Float[Array, "rows n 6"]


def plan_of(q: Float[Array, "rows n 6"], dt: float) -> Plan:
    """The rates and accelerations of coordinates that are known step by step, by central differences."""
    v = np.gradient(np.asarray(q), dt, axis=0)
    a = np.gradient(v, dt, axis=0)
    return Plan(*map(jnp.asarray, (q, v, a)))


class LegDemand(NamedTuple):
    """What a plan takes of the legs at places along it: h + A ds/dt + B s^2 at a pace s, plan time per time [N]."""

    hold: Float[Array, "places n 6"]
    """h: the forces that hold the arm there."""
    change: Float[Array, "places n 6"]
    """A: the forces per rate of change of the pace [N s]."""
    motion: Float[Array, "places n 6"]
    """B: the forces per square of the pace."""


class PlanDemand(NamedTuple):
    """What a plan takes of the legs at even places along it, as an affine function of the payload."""

    alone: LegDemand
    """Without a payload."""
    per_kilogram: LegDemand
    """Per payload [N/kg]."""
    spacing: Float[Array, ""]
    """Plan time from place to place [s]."""

    def at(self, rows: Int[Array, " places"], payload) -> LegDemand:
        """What it takes at some of its places with a payload [kg]."""
        return jax.tree.map(lambda alone, more: alone[rows] + payload * more[rows], self.alone, self.per_kilogram)


def plan_demand(robot: Robot, plan: Plan, dt: float) -> PlanDemand:
    """What a plan takes of the legs: the inverse dynamics is affine in the payload, the robot's last lumped mass.

    **Arguments:** `dt`: of the plan's rows [s].
    """
    stride = max(round(_SPACING / dt), 1)
    count = -(-(len(plan.q) - 1) // stride) + 1
    q, v, a = (part[np.minimum(np.arange(count) * stride, len(plan.q) - 1)] for part in plan)
    still = jnp.zeros_like(v)
    # At rest, at rest but accelerated along the path, and as planned.
    cases = Plan(*map(jnp.concatenate, ((q, q, q), (still, still, v), (still, v, a))))

    def demand(payload: float) -> LegDemand:
        forces = inverse_dynamics_along(with_payload(robot, payload), cases, jnp.arange(3 * count))
        hold, changing, moving = jnp.split(forces, 3)
        return LegDemand(hold, changing - hold, moving - hold)

    alone, loaded = demand(0.0), demand(1.0)
    return PlanDemand(alone, jax.tree.map(jnp.subtract, loaded, alone), jnp.asarray(stride * dt))


def with_payload(robot: Robot, payload) -> Robot:
    """The robot with another mass at the tip, its last lumped mass [kg]."""
    inertia = robot.one.lump_inertia
    tip = jnp.concatenate([jnp.zeros(3), jnp.ones(3) * payload])
    return eqx.tree_at(lambda r: r.arms.lump_inertia, robot, jnp.concatenate([inertia[:-1], tip[None]]))


def with_payload_place(robot: Robot) -> Robot:
    """The robot with one more lumped mass, of 0 kg, at its tip."""
    arm = robot.one
    tip = places(arm.arm, [1.0])
    lumps = Places(*(jnp.concatenate(pair) for pair in zip(_arrays(arm.lumps), _arrays(tip), strict=True)))
    inertia = jnp.concatenate([arm.lump_inertia, jnp.zeros((1, 6))])
    return eqx.tree_at(lambda r: (r.arms.lumps, r.arms.lump_inertia), robot, (lumps, inertia))


def _arrays(at: Places):
    return at.segment, at.fraction


def inverse_dynamics(robot: Robot, plan: Plan, row) -> Float[Array, "n 6"]:
    """The forces of the legs along a planned motion, at one of its rows [N]."""
    zero = jnp.zeros(6)
    x, v, a = (Coordinates(part[row], zero) for part in plan)
    return leg_forces(platforms(robot), plan.q[row], residual(robot, x, v, a, no_inputs(robot)).q)


@quick_jit
def inverse_dynamics_along(robot: Robot, plan: Plan, rows: Int[Array, " m"]) -> Float[Array, "m n 6"]:
    """The forces of the legs along a planned motion, at some of its rows [N]."""
    return jax.lax.map(lambda row: inverse_dynamics(robot, plan, row), rows)


def platforms(robot: Robot) -> StewartSegment:
    """The segments of a robot that is a chain of platforms."""
    segments = robot.arm.segments
    if not isinstance(segments, StewartSegment):
        raise InputError(f"computed torque by legs needs a chain of platforms; {robot.name} is none")
    return segments
