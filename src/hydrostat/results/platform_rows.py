"""Poses of chains of platforms, row by row: lengths and rates of legs, rings, volume, and what is wrong with them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation.legs import leg_rates, rest_poses
from hydrostat.compiling import quick_jit
from hydrostat.control.platforms import Platforms
from hydrostat.errors import DivergedError
from hydrostat.lie import SE3, so3
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import faults

_PIECE = 100  # rows that are computed together: numbers of rows are filled up to multiples of it


class PlatformRows(NamedTuple):
    """Quantities of a chain of platforms in each of some poses, with the row as leading axis."""

    legs: np.ndarray
    """Lengths of the legs (rows, n, 6) [m]."""
    rates: np.ndarray
    """Rates of the legs (rows, n, 6) [m/s]."""
    rings: np.ndarray
    """Radii of the lower and the upper rings (rows, n, 2) [m]."""
    volume: np.ndarray
    """Relative change of the volume of each segment (rows, n)."""
    angle: np.ndarray
    """Rotation of each segment (rows, n) [rad]."""
    plates: SE3
    """Poses of the plates in the world (rows, n + 1)."""
    joints: np.ndarray
    """Lower and upper ends of the legs in the world (rows, n, 2, 6, 3) [m]."""
    faults: Any
    """Conditioning, and which segments are folded or singular (rows, n)."""


def platform_rows(arm: Platforms, T: SE3, twist=None) -> PlatformRows:
    """The quantities of a chain of platforms in some poses.

    **Arguments:** `T`: relative poses (rows, n); `twist`: relative twists (rows, n, 6), zero when not given.
    """
    T = jax.tree.map(jnp.asarray, T)
    count = len(T.position)
    twist = jnp.zeros((count, arm.count, 6)) if twist is None else jnp.asarray(twist)
    parts = []
    for begin in range(0, count, _PIECE):
        some = np.minimum(np.arange(begin, begin + _PIECE), count - 1)
        parts.append(jax.tree.map(np.asarray, _rows(arm.segments, arm.base, T[some], twist[some])))
    return PlatformRows(*jax.tree.map(lambda *y: np.concatenate(y)[:count], *parts))


def first_diverged(T: SE3, twist=None) -> tuple[int, int] | None:
    """The first row, and its first segment, that is not a number; None where all are."""
    parts = [np.asarray(T.position)] + ([] if twist is None else [np.asarray(twist)])
    bad = np.argwhere(~np.isfinite(np.concatenate(parts, -1)).all(-1))
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


def diverged(time: float, segment: int) -> DivergedError:
    """The error of a tracking that diverged after some seconds in a segment, counted from 0."""
    return DivergedError(
        f"the tracking diverged after {time:.4g} s in segment {segment + 1}; a smaller tick or a lower gain may help"
    )


@quick_jit
def _rows(segments: StewartSegment, base: SE3, T: SE3, twist):
    """Legs, rings, volume, rotations, plates, joints and faults of rows of poses."""
    rings = segments.rings(T)
    rest = rest_poses(segments)
    volume = segments.body_volume(T, rings) / segments.body_volume(rest, segments.rings(rest)) - 1.0
    skew = so3.vee(T.rotation)
    cosine = 0.5 * (jnp.trace(T.rotation, axis1=-2, axis2=-1) - 1.0)
    angle = jnp.arctan2(jnp.linalg.norm(skew, axis=-1), cosine)
    ends = jax.vmap(lambda T: jax.lax.scan(lambda a, b: ((a @ b), (a @ b)), base, T)[1])(T)
    plates = jax.tree.map(
        lambda first, others: jnp.concatenate([jnp.broadcast_to(first, (len(others), 1, *first.shape)), others], 1),
        base,
        ends,
    )
    circle = jnp.stack([jnp.cos(segments.lower), jnp.sin(segments.lower), jnp.zeros_like(segments.lower)], -1)
    lower = rings[..., :1, None] * circle
    both = jnp.stack([lower, lower + segments.leg_vectors(T, rings)], -3)
    joints = plates.position[:, :-1, None, None] + jnp.einsum("tnij,tnelj->tneli", plates.rotation[:, :-1], both)
    rates, wrong = leg_rates(segments, T, twist), faults(segments, T)
    return segments.leg_lengths(T), rates, rings, volume, angle, plates, joints, wrong
