"""Arms that bend in one plane: positions in that plane, the bends of their arcs, and a tip that a force holds.

The plane is spanned by the axis of the clamp and by the direction away from which a positive `bend_y` leads: for a
finger that is clamped horizontally, along it and up.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.optimize import root_scalar

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Inputs, Robot, no_inputs
from hydrostat.mechanics.statics import equilibrium
from hydrostat.segments import StrainSegment

_LOAD_STEPS = 4  # parts of weight and force to begin with, while an equilibrium is solved for
_LARGEST_TURN = 0.7  # rad, by which any place of the arm may turn with one more part of weight and force
_LEAST_SHARE = 1e-6  # of weight and force: where no smaller part of them has an equilibrium, it ends
_ANGLE_TOLERANCE = 1e-3  # deg
_DOUBLINGS = 20  # of the force, until the angle is passed


def in_plane(arm: Arm, positions) -> np.ndarray:
    """World positions (..., 3) in the plane of bending (..., 2): along the axis of the clamp, and up [m]."""
    local = (np.asarray(positions) - np.asarray(arm.T_world_base.position)) @ np.asarray(arm.T_world_base.rotation)
    return np.stack([local[..., 2], -local[..., 0]], -1)


def in_world(arm: Arm, positions) -> np.ndarray:
    """Positions in the plane of bending (..., 2) as positions in the world (..., 3) [m]; the inverse of `in_plane`."""
    positions = np.asarray(positions)
    across, along = np.asarray(arm.T_world_base.rotation)[:, [0, 2]].T
    return np.asarray(arm.T_world_base.position) + positions[..., :1] * along - positions[..., 1:] * across


def tip_in_plane(arm: Arm, q) -> np.ndarray:
    """The tip of an arm with coordinates (n, k), in the plane of bending: along the axis of the clamp, and up [m]."""
    return in_plane(arm, _tip_position(arm, q))


@quick_jit
def _tip_position(arm: Arm, q):
    return kinematics.tip_pose(arm, q).position


def arc_angles(arm: Arm, q: np.ndarray) -> np.ndarray:
    """The angle of every arc, the preshape included, (..., n) for coordinates (..., n, 1) of `bend_y` [rad]."""
    segments = arm.segments
    if not isinstance(segments, StrainSegment) or segments.modes != ("bend_y",):
        raise InputError(f"angles of arcs need segments with the mode bend_y alone; got {', '.join(segments.modes)}")
    return (q[..., 0] + np.asarray(segments.rest_strain)[:, 1]) * np.asarray(segments.length)


def rest(robot: Robot, inputs: Inputs | None = None) -> np.ndarray:
    """The coordinates of an arm at rest (n, k) under its weight and the forces of the inputs.

    Both grow from nothing in parts, each solved for from the equilibrium before it. A part is halved where none is
    found, or where the arm would turn by much: so the branch of equilibria is followed that starts at the unloaded arm.
    """
    inputs = no_inputs(robot) if inputs is None else inputs
    scale = np.asarray(robot.arm.segments.scale)[:, None]
    share, step, q = 0.0, 1.0 / _LOAD_STEPS, np.asarray(robot.one.rest)
    while share < 1.0:
        # Of parts that make up the whole but for rounding, the last one is the whole.
        trial = 1.0 if share + step > 1.0 - _LEAST_SHARE else share + step
        part = eqx.tree_at(lambda robot: robot.gravity, robot, trial * robot.gravity)
        try:
            found = np.asarray(equilibrium(part, inputs._replace(force=trial * jnp.asarray(inputs.force)), q).q)
            turn = np.max(np.abs(np.cumsum(scale * (found - q), 0)))
        except UnsolvedError:
            found, turn = q, np.inf
        if turn <= _LARGEST_TURN:
            q, share, step = found, trial, 2.0 * step
        elif (step := 0.5 * (trial - share)) < _LEAST_SHARE:
            raise UnsolvedError(
                f"the arm has an equilibrium up to {100.0 * share:.3g} % of its weight and loads only; "
                "take lighter ones, or a stiffer arm"
            )
    return q


class HeldTip(NamedTuple):
    """An arm at rest whose tip is held by a force."""

    q: np.ndarray
    """Coordinates of the arm (n, k)."""
    force: float
    """The force on the tip, across the axis of the clamp and upwards [N]."""


def hold_tip(robot: Robot, degrees: float) -> HeldTip:
    """The force across the axis of the clamp that holds the tip at an angle, and the arm at rest under it.

    The robot needs a load place at its tip (`load_places=[1.0]`).

    **Arguments:** `degrees`: angle between the axis of the clamp and the line from the clamp to the tip, upwards.
    """
    up = -np.asarray(robot.arm.T_world_base.rotation)[:, 0]

    def held(force: float):
        inputs = no_inputs(robot)._replace(force=jnp.asarray([[0.0, 0.0, 0.0, *(force * up)]]))
        q = rest(robot, inputs)
        along, above = tip_in_plane(robot.arm, q)
        return q, np.rad2deg(np.arctan2(above, along))

    def angle_error(force: float) -> float:
        return held(force)[1] - degrees

    # From the free arm on, a growing force until the angle is passed.
    arm = robot.one
    mass = float(jnp.sum(arm.inertia[..., 3]) + jnp.sum(arm.lump_inertia[:, 3]))
    weight = mass * float(np.linalg.norm(np.asarray(robot.gravity)))
    bending = float(arm.stiffness[0, 0] / robot.arm.segments.length[0] / robot.arm.length**2)
    near, far = 0.0, np.copysign(weight + bending, degrees - held(0.0)[1])
    for _ in range(_DOUBLINGS):
        if angle_error(far) * far > 0.0:
            force = float(root_scalar(angle_error, bracket=(near, far), xtol=1e-10 * abs(far), rtol=1e-10).root)
            q, angle = held(force)
            if abs(angle - degrees) > _ANGLE_TOLERANCE:
                break  # A soft arm snaps through this angle.
            return HeldTip(q, force)
        near, far = far, 2.0 * far
    raise UnsolvedError(f"no force across the clamp holds the tip at {degrees:g} degrees")
