"""Basic motions of a chain of platforms, each alone: elongate, shorten, bend, twist; and poses from lengths of legs."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import quick_jit
from hydrostat.control.platforms import Platforms
from hydrostat.errors import UnsolvedError
from hydrostat.lie import SE3, so3
from hydrostat.segments.stewart import LegSolution, pose_from_legs


def even_motion(
    arm: Platforms,
    shares: Float[np.ndarray, " rows"],
    *,
    stretch: float = 1.0,
    bend: float = 0.0,
    azimuth: float = 0.0,
    twist: float = 0.0,
) -> SE3:
    """Relative poses (rows, n) of an arm that is stretched, bent or twisted evenly over all its segments.

    A bent segment is an arc, with its plate at the end of the chord.

    **Arguments:** `shares`: of the whole motion at each row; `stretch`: length over that at rest; `bend`: of the whole
    arm [rad]; `azimuth`: direction that it bends to [rad]; `twist`: of the whole arm [rad].
    """
    lengths = np.asarray(arm.segments.length)
    axis = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    turn = np.outer(bend * lengths / lengths.sum(), axis) + np.outer(
        np.full(arm.count, twist / arm.count), [0.0, 0.0, 1.0]
    )
    turns = shares[:, None, None] * turn
    half = so3.exp(jnp.asarray(0.5 * turns))
    angle = np.linalg.norm(turns[..., :2], axis=-1)
    chord = (1.0 + shares[:, None] * (stretch - 1.0)) * lengths * np.sinc(angle / (2.0 * np.pi))
    return SE3(so3.exp(jnp.asarray(turns)), jnp.asarray(chord)[..., None] * half[..., :, 2])


def outside_stroke(arm: Platforms, lengths: np.ndarray) -> tuple[int, int, int] | None:
    """The first row, segment and leg whose length (rows, n, 6) is outside its range; None where all are within."""
    shortest, longest = np.asarray(arm.legs.shortest), np.asarray(arm.legs.longest)
    outside = (lengths < shortest - 1e-12) | (lengths > longest + 1e-12)
    if not outside.any():
        return None
    row, segment, leg = np.argwhere(outside)[0]
    return int(row), int(segment), int(leg)


def poses_by_actuators(
    arm: Platforms, lengths: Float[Array, "rows n 6"], rings: Float[Array, "rows n 2"], start: SE3
) -> SE3:
    """The relative poses (rows, n) that lengths of legs and radii of rings [m] determine, each from the row before.

    `UnsolvedError` says where no pose was found. The legs alone do not determine a flat segment: as its plates part its
    rings narrow, which shortens legs, and one set of lengths belongs to two poses.
    """
    solution = jax.block_until_ready(_solved(arm.segments, lengths, rings, start))
    found = np.asarray(solution.found)
    if not found.all():
        row, segment = np.argwhere(~found)[0]
        raise UnsolvedError(
            f"no pose was found for the legs of segment {segment + 1} at row {row + 1}; the nearest differs by "
            f"{float(solution.miss[row, segment]):.3g} m"
        )
    return solution.T


@quick_jit
def _solved(segments, lengths, rings, start: SE3) -> LegSolution:
    def row(T, actuators):
        solution = pose_from_legs(segments, actuators[0], T, actuators[1])
        return solution.T, solution

    return jax.lax.scan(row, start, (lengths, rings))[1]
