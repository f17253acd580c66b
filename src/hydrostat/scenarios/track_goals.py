"""Where the tip of a tracking arm is to be at every tick: to the path and along it, each from rest to rest."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from hydrostat.control.paths import Curve, smooth_pace
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.scenarios.tracking import Platforms, check_ticks


@dataclass(frozen=True)
class Goals:
    """Where the tip is to be at every tick, and one more for the end."""

    times: np.ndarray
    poses: SE3
    forward: np.ndarray
    """World velocities over the ticks, (angular, linear)."""
    first: int
    """The tick at which the approach is over and the path begins."""


def plan_goals(arm: Platforms, curve: Curve, approach: float, seconds: float, dt: float, orientation: str) -> Goals:
    """The way from the tip's place at rest to the path, and along the path, each from rest to rest."""
    check_ticks(approach + seconds, dt)
    before, along = max(round(approach / dt), 1), max(round(seconds / dt), 1)
    start = np.asarray(arm.tip.position)
    pace = smooth_pace(np.arange(before) / before, 1.0)[:, None]
    reached = smooth_pace(np.arange(along + 1) / along, 1.0)
    positions = np.concatenate([start + pace * (curve(np.zeros(1)) - start), curve(reached)])
    rotations = np.broadcast_to(np.asarray(arm.tip.rotation), (len(positions), 3, 3))
    if orientation == "tangent":
        rotations = _along_path(arm, curve, pace[:, 0], reached)
    linear = np.diff(positions, axis=0) / dt
    turns = np.einsum("tij,tkj->tik", rotations[1:], rotations[:-1])
    angular = np.asarray(so3.log(jnp.asarray(turns))) / dt
    forward = np.concatenate([np.concatenate([angular, linear], -1), np.zeros((1, 6))])
    times = np.arange(len(positions)) * dt
    return Goals(times, SE3(jnp.asarray(rotations), jnp.asarray(positions)), forward, before)


def _along_path(arm: Platforms, curve: Curve, pace: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Rotations whose z is the path's tangent, turned on from moment to moment by the shortest way."""
    step = 1e-4
    ahead = curve(np.minimum(reached + step, 1.0)) - curve(np.maximum(reached - step, 0.0))
    size = np.linalg.norm(ahead, axis=-1, keepdims=True)
    if size.min() <= 1e-6 * size.max():
        where = float(reached[int(np.argmin(size))])
        raise InputError(
            f"orientation=tangent needs a path that does not turn back on itself; this one does at {where:.3g}"
        )
    tangents = ahead / size
    rotation = np.asarray(arm.tip.rotation)
    rotation = _turned_to(rotation, tangents[0])
    first = so3.log(jnp.asarray(rotation @ np.asarray(arm.tip.rotation).T))
    approach = np.asarray(so3.exp(jnp.asarray(pace)[:, None] * first)) @ np.asarray(arm.tip.rotation)
    rows = []
    for tangent in tangents:
        rotation = _turned_to(rotation, tangent)
        rows.append(rotation)
    return np.concatenate([approach, np.stack(rows)])


def _turned_to(rotation: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The rotation, turned by the shortest way so that its z is the direction."""
    axis = np.cross(rotation[:, 2], direction)
    sine, cosine = np.linalg.norm(axis), rotation[:, 2] @ direction
    if sine < 1e-12:
        axis, sine = (rotation[:, 0], 0.0) if cosine < 0.0 else (axis, 1.0)
        angle = np.pi if cosine < 0.0 else 0.0
    else:
        angle = np.arctan2(sine, cosine)
    unit = axis / max(np.linalg.norm(axis), 1e-300)
    x, y, z = unit
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (np.eye(3) + np.sin(angle) * hat + (1.0 - np.cos(angle)) * hat @ hat) @ rotation
