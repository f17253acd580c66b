"""Goals for the tip of a tracking arm at every tick: to a path and along it, each from rest to rest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.paths import Curve, smooth_pace
from hydrostat.control.platforms import Platforms
from hydrostat.control.resolved_rate import Law
from hydrostat.control.tracking import Tracked, follow
from hydrostat.errors import InputError, choice
from hydrostat.lie import SE3, so3

_MOST_TICKS = 100_000
CHUNK = 100
"""Ticks that are compiled as one program, and handed out together: fewer than a second's."""
Piece = Callable[[Callable[[], tuple]], tuple]
"""Makes a piece of a motion by a function that returns the arm after it and its rows, or has it from elsewhere."""


def made(make: Callable[[], tuple]) -> tuple:
    """A piece that is made."""
    return make()


@dataclass(frozen=True)
class TipGoals:
    """The pose of the tip that is asked for at every tick, and one more for the end."""

    arm: Platforms
    times: np.ndarray
    """[s]"""
    poses: SE3
    forward: np.ndarray
    """World velocities over the ticks, (angular, linear)."""
    first: int
    """The tick at which the approach is over and the path begins."""
    dt: float
    """Time of a tick [s]."""

    @property
    def positions(self) -> np.ndarray:
        """Positions of the tip (ticks, 3) [m]."""
        return np.asarray(self.poses.position)

    def positions_at(self, times: np.ndarray) -> np.ndarray:
        """Positions of the tip at any times, between those of the ticks on straight lines; at the end it stays [m]."""
        return np.stack([np.interp(times, self.times, axis) for axis in self.positions.T], -1)

    def errors(self, T_world_tip: SE3) -> np.ndarray:
        """The distance of the tip from its goal at every tick [m]."""
        return np.linalg.norm(np.asarray(T_world_tip.position) - self.positions, axis=-1)

    def rmse_percent(self, T_world_tip: SE3) -> float:
        """The root mean square of the errors along the path, over the length of the arm at rest [%]."""
        errors = self.errors(T_world_tip)[self.first :]
        return 100.0 * float(np.sqrt(np.mean(np.square(errors)))) / self.arm.length

    def rotation_errors(self, T_world_tip: SE3) -> np.ndarray:
        """The angle between the tip and its goal at every tick [rad]."""
        R, goal = np.asarray(T_world_tip.rotation), np.asarray(self.poses.rotation)
        return np.linalg.norm(np.asarray(so3.log(jnp.asarray(np.einsum("tij,tkj->tik", goal, R)))), axis=-1)

    def follow(
        self,
        law: Law,
        gain: float,
        decentralised: bool = False,
        on_progress: Callable[[float], None] | None = None,
        start: SE3 | None = None,
        on_rows: Callable[[SE3, np.ndarray], Any] | None = None,
        piece: Piece = made,
        keep: bool = True,
    ) -> Tracked:
        """The motion of the arm that follows the goals, one row for each.

        **Arguments:** `gain`: decay of errors [1/s]; `decentralised`: whether the law is that of agents, one for each
        segment; `on_progress`: gets the share that is done; `start`: relative poses of the plates at the start,
        at rest when not given; `on_rows`: gets the relative poses of some rows as they come, and the places of the tip
        that were asked for; `piece`: where such pieces come from, when a motion before is continued; `keep`: whether
        poses and twists of all segments are kept in the result as well, or those of no row.
        """
        parts, T, count = [], self.arm.rest if start is None else start, len(self.times)
        for begin in range(0, count, CHUNK):
            T, rows = piece(lambda T=T, begin=begin: self._ticks(law, T, begin, gain, decentralised))
            parts.append(rows if keep else rows._replace(T=rows.T[:0], twist=rows.twist[:0]))
            if on_rows is not None:
                some = slice(0, min(CHUNK, count - begin))
                on_rows(rows.T[some], self.positions[begin : begin + CHUNK])
            if on_progress is not None:
                on_progress(min((begin + CHUNK) / count, 1.0))
        return jax.tree.map(lambda *y: jnp.concatenate(y)[:count], *parts)

    def compile(self, law: Law, gain: float, decentralised: bool = False) -> None:
        """Compile what `follow` needs."""
        self._ticks(law, self.arm.rest, 0, gain, decentralised)

    def _ticks(self, law: Law, T: SE3, begin: int, gain: float, decentralised: bool):
        """Some ticks from one on; beyond the last goal the arm stays there."""
        check_gain("tracking_gain", gain, self.dt, 1.0)
        index = np.minimum(np.arange(begin, begin + CHUNK), len(self.times) - 1)
        poses, forward = self.poses[index], jnp.asarray(self.forward[index])
        return jax.block_until_ready(follow(law, T, poses, forward, gain, self.dt, decentralised))


def check_ticks(seconds: float, dt: float) -> None:
    """Refuse a run whose rows would fill the memory."""
    if seconds / dt > _MOST_TICKS:
        raise InputError(
            f"a run can have at most {_MOST_TICKS} ticks; {seconds:g} s at `dt_ms` = {1e3 * dt:g} has more: take a "
            f"longer tick or less time"
        )


def check_gain(name: str, gain: float, dt: float, most: float) -> None:
    """Refuse a gain with which the tip overshoots its goal within a tick."""
    if gain * dt > most:
        raise InputError(
            f"`{name}` must be at most {most / dt:g} 1/s at `dt_ms` = {1e3 * dt:g}, or the tip overshoots; got {gain:g}"
        )


def plan_tip_goals(
    arm: Platforms, curve: Curve, approach: float, seconds: float, dt: float, orientation: str = "free"
) -> TipGoals:
    """Goals from the place of the tip at rest to a path, and along the path, each from rest to rest.

    **Arguments:** `approach`, `seconds`: time to the path, and along it [s]; `dt`: of a tick [s]; `orientation`: of the
    tip, free, held as at rest, or along the tangent of the path.
    """
    choice("orientation", orientation, ("free", "held", "tangent"))
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
    return TipGoals(arm, times, SE3(jnp.asarray(rotations), jnp.asarray(positions)), forward, before, dt)


def hold_goal(arm: Platforms, target: np.ndarray, seconds: float, dt: float) -> TipGoals:
    """One goal that stays where it is, for a regulator.

    **Arguments:** `target` (3,) [m]; `seconds`: how long [s]; `dt`: of a tick [s].
    """
    check_ticks(seconds, dt)
    count = max(round(seconds / dt), 1) + 1
    positions = np.broadcast_to(np.asarray(target, float), (count, 3))
    rotations = np.broadcast_to(np.asarray(arm.tip.rotation), (count, 3, 3))
    poses = SE3(jnp.asarray(rotations), jnp.asarray(positions))
    return TipGoals(arm, np.arange(count) * dt, poses, np.zeros((count, 6)), 0, dt)


def _along_path(arm: Platforms, curve: Curve, pace: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Rotations whose z is the tangent of the path, each from the one before by the smallest rotation."""
    step = 1e-4
    ahead = curve(np.minimum(reached + step, 1.0)) - curve(np.maximum(reached - step, 0.0))
    size = np.linalg.norm(ahead, axis=-1, keepdims=True)
    if size.min() <= 1e-6 * size.max():
        where = float(reached[int(np.argmin(size))])
        raise InputError(
            f"orientation=tangent needs a path that does not turn back on itself; this one does at {where:.3g}"
        )
    tangents = ahead / size
    rest = np.asarray(arm.tip.rotation)
    rotation = _turned_to(rest, tangents[0])
    first = so3.log(jnp.asarray(rotation @ rest.T))
    approach = np.asarray(so3.exp(jnp.asarray(pace)[:, None] * first)) @ rest
    rows = []
    for tangent in tangents:
        rotation = _turned_to(rotation, tangent)
        rows.append(rotation)
    return np.concatenate([approach, np.stack(rows)])


def _turned_to(rotation: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The rotation with its z along a direction, by the smallest rotation that does so."""
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
