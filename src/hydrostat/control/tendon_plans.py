"""Tensions that bring a limb's tip, or the end of one of its segments, to a place and point it at a target, at rest.

The limb rests at its equilibrium q(T), so that the errors of the task are functions of the tensions alone.
Its derivative is exact: dq/dT = -K^-1 J^T with the whole stiffness K at the equilibrium, weight and tensions included,
and the change J of the tendons' lengths. Each step of Gauss and Newton is a small problem of tensions that do not push.
"""

import contextlib
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hydrostat.actuation.limb_tendons import least_pull
from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.errors import UnsolvedError
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Inputs, Robot, no_inputs
from hydrostat.mechanics.statics import at_rest, equilibrium
from hydrostat.mechanics.wires import wire_lengths

_MOST_STEPS = 60
_LARGEST_STEP = 0.5  # N: what one step may change a tension by
_MOST_HALVINGS = 6  # of a step to where the limb has no equilibrium
_CONVERGED = 1e-7  # N


class TipTask(eqx.Module):
    """The task of a tip, or of the end of another segment: to be at a place, to point at a target, or both."""

    place: Float[Array, " 3"]
    """Place of the tip [m]."""
    look_at: Float[Array, " 3"]
    """Target that the tip points at [m]."""
    segment: Int[Array, ""]
    """Number of the segment whose end does the task, from 1; -1 for the tip."""
    place_counts: Float[Array, " 3"]
    """Weight of each component of the miss over the limb's length; 0 for one that is free."""
    look_counts: Float[Array, ""]
    """Weight of the angle between the tip's direction and the target [rad]; 0 where the direction is free."""

    def __init__(
        self, place=None, look_at=None, place_counts: ArrayLike = 1.0, look_counts: ArrayLike = 1.0, segment: int = -1
    ):
        self.place = jnp.zeros(3) if place is None else jnp.asarray(place, float)
        self.look_at = jnp.ones(3) if look_at is None else jnp.asarray(look_at, float)
        self.place_counts = jnp.broadcast_to(jnp.asarray(0.0 if place is None else place_counts, float), (3,))
        self.look_counts = jnp.asarray(0.0 if look_at is None else look_counts, float)
        self.segment = jnp.asarray(segment)

    def pose(self, arm: Arm, q: Float[Array, "n k"]) -> SE3:
        """The pose of what does the task, in a configuration."""
        return kinematics.segment_poses(arm, q)[self.segment]

    def residual(self, T_world_tip: SE3, length) -> Float[Array, " 6"]:
        """The weighted errors of the task."""
        miss = self.place_counts * (T_world_tip.position - self.place) / length
        return jnp.concatenate([miss, self.look_counts * off_axis(T_world_tip, self.look_at)])


class TendonPlan(NamedTuple):
    """Tensions, and the equilibrium of a limb under them."""

    tension: np.ndarray
    """Tension of every tendon [N]."""
    q: np.ndarray
    lengths: np.ndarray
    """Lengths of the tendons [m]."""
    sensitivity: np.ndarray
    """Sensitivity of the coordinates to the tensions, dq/dT, (n, k, w)."""
    miss: float
    """Distance of the tip from its place [m], in the components that count."""
    turn: float
    """Angle between the tip's direction and its target [rad]; 0 where the direction is free."""


def off_axis(T_world_tip: SE3, point: Float[Array, " 3"]) -> Float[Array, " 3"]:
    """The direction of a point in the frame of a tip, less that of its z axis: zero where the tip points at it."""
    seen = small.matvec(T_world_tip.rotation.T, point - T_world_tip.position)
    return seen / small.norm(seen) - jnp.array([0.0, 0.0, 1.0])


def plan_tension(
    robot: Robot,
    task: TipTask,
    start: ArrayLike,
    *,
    least: ArrayLike = 0.0,
    adjusts: ArrayLike = 1.0,
    effort: float = 1e-3,
) -> TendonPlan:
    """The tensions at which a limb rests with its tip as the task says, or as near to it as possible.

    **Arguments:** `start`: tensions to start from [N]; `least`: that every tendon keeps, so that none goes slack,
    one for all or one for each [N]; `adjusts`: 1 for tendons that may pull more, 0 for those that pull their least;
    `effort`: weight of a newton, so that of many solutions a small one is taken.
    """
    tension = jnp.asarray(start, float)
    least, adjusts = (jnp.broadcast_to(jnp.asarray(y, float), tension.shape) for y in (least, adjusts))
    tension, size = jnp.where(adjusts > 0.0, tension, least), np.inf
    slack = no_inputs(robot)
    q = _rest_at(robot, slack, tension, None)
    for _ in range(_MOST_STEPS):
        step = np.asarray(_improved(robot, task, q, tension, least, adjusts, effort) - tension)
        size = float(np.abs(step).max())
        if size < _CONVERGED:
            return _planned(robot, task, q, tension)
        tension, q = _moved(robot, slack, tension, step * min(1.0, _LARGEST_STEP / size), q)
    raise UnsolvedError(f"no tensions were found in {_MOST_STEPS} steps; the last one changed them by {size:.2g} N")


def _rest_at(robot: Robot, slack: Inputs, tension, q):
    """The equilibrium under tensions, from a configuration nearby.

    **Arguments:** `slack`: the inputs without tensions.
    """
    return equilibrium(robot, slack._replace(wires=jnp.asarray(tension, float)), q).q


def _moved(robot: Robot, slack: Inputs, tension, step: np.ndarray, q):
    """Tensions after a step, and their equilibrium; half the step, and half of that, where none is found."""
    for _ in range(_MOST_HALVINGS):
        with contextlib.suppress(UnsolvedError):
            return tension + step, _rest_at(robot, slack, tension + step, q)
        step = 0.5 * step
    return tension + step, _rest_at(robot, slack, tension + step, q)


def rest_under(robot: Robot, tension, q=None) -> TendonPlan:
    """The equilibrium of a limb under tensions [N]."""
    tension = jnp.asarray(tension, float)
    return _planned(robot, TipTask(), _rest_at(robot, no_inputs(robot), tension, q), tension)


def _planned(robot: Robot, task: TipTask, q, tension) -> TendonPlan:
    """The plan of these tensions."""
    lengths, S, tip = _rests(robot, task, q, tension)
    counts = np.asarray(task.place_counts) > 0.0
    miss = np.linalg.norm(np.where(counts, np.asarray(tip.position - task.place), 0.0))
    off = np.linalg.norm(np.asarray(off_axis(tip, task.look_at))) if task.look_counts > 0.0 else 0.0
    turn = 2.0 * np.arcsin(min(0.5 * off, 1.0))
    arrays = (np.asarray(x) for x in (tension, q, lengths, S))
    return TendonPlan(*arrays, miss=float(miss), turn=float(turn))


@quick_jit
def _rests(robot: Robot, task: TipTask, q, tension):
    return wire_lengths(robot.one, q), sensitivity(robot, q, tension), task.pose(robot.arm, q)


def sensitivity(robot: Robot, q, tension) -> Float[Array, "n k w"]:
    """The derivative dq/dT of a limb's equilibrium: -K^-1 J^T."""
    inputs, size = no_inputs(robot)._replace(wires=tension), q.size

    def unbalanced(x):
        found = at_rest(robot, x.reshape(q.shape), inputs)
        assert isinstance(found, Array)  # of one arm
        return found.ravel()

    K = jax.jacfwd(unbalanced)(q.ravel())
    J = jax.jacrev(lambda x: wire_lengths(robot.one, x.reshape(q.shape)))(q.ravel())
    return -jnp.linalg.solve(K.reshape(size, size), J.T).reshape(*q.shape, -1)


@quick_jit
def _improved(robot: Robot, task: TipTask, q, tension, least, adjusts, effort):
    """The tensions above the least ones that make the task's linearised errors, and the effort, least."""
    length = jnp.sum(robot.arm.segments.length)

    def left(q):
        return task.residual(task.pose(robot.arm, q), length)

    S = sensitivity(robot, q, tension)
    A = adjusts * jnp.einsum("rnk,nkw->rw", jax.jacfwd(left)(q), S)
    target = A @ (tension - least) - left(q)
    return least + least_pull(A.T @ A + effort**2 * jnp.eye(len(tension)), A.T @ target)
