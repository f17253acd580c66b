"""The paper's tracker: from target to target, each a regulator of its own, with legs that have no limits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.platforms import Platforms, milliseconds_per_tick
from hydrostat.control.resolved_rate import Law
from hydrostat.control.tip_goals import CHUNK, Piece, check_gain, check_ticks, made
from hydrostat.control.tracking import switch
from hydrostat.lie import SE3


class TargetRun(NamedTuple):
    """The motion of an arm from target to target, one row per tick."""

    times: np.ndarray
    """[s]"""
    T: SE3
    """Relative poses of the plates (ticks, n)."""
    twist: np.ndarray
    """Twists of the plates during the ticks (ticks, n, 6)."""
    headed_for: np.ndarray
    """The target of every tick (ticks, 3) [m]."""
    arrivals: np.ndarray
    """The tick at which each of the targets that were reached was found so; several may be passed at once."""


class TargetTracker:
    """The switching regulator on an arm: E' = -gain E towards a target until the tip is within a radius, then the next.

    tracker = TargetTracker(Platforms.of(robot), targets, radius=0.05, gain=20.0, dt=2e-3)
    found = tracker.run(60.0)
    """

    def __init__(self, arm: Platforms, targets: np.ndarray, *, radius: float, gain: float, dt: float):
        """**Arguments:** `targets` (m, 3) [m]; `radius`: how near the tip must come [m]; `gain` [1/s]; `dt`: of a tick
        [s].
        """
        check_gain("gain", gain, dt, 2.0)
        self.arm, self.targets, self.radius, self.gain, self.dt = arm, np.asarray(targets), radius, gain, dt
        self._law = Law(arm.segments, arm.base)

    def compile(self) -> None:
        """Compile what `run` needs."""
        jax.block_until_ready(self._ticks(self.arm.rest, 0))

    def milliseconds_per_tick(self) -> float:
        """The cost of one control tick [ms]."""
        return milliseconds_per_tick(lambda: self._ticks(self.arm.rest, 0), CHUNK)

    def run(
        self,
        seconds: float,
        on_progress: Callable[[float], None] | None = None,
        on_rows: Callable[[SE3, np.ndarray], Any] | None = None,
        piece: Piece = made,
        keep: bool = True,
    ) -> TargetRun:
        """Head for one target after another until all are reached or the time is over [s].

        **Arguments:** `on_progress`: gets the share that is done; `on_rows`: gets the relative poses of some rows as
        they come, and their targets; `piece`: where such pieces come from, when a motion before is continued; `keep`:
        whether poses and twists are kept in the result as well, or those of no row.
        """
        check_ticks(seconds, self.dt)
        count, most = len(self.targets), max(round(seconds / self.dt), 1)
        parts, T, index, ticks, last = [], self.arm.rest, jnp.asarray(0), 0, 0
        while (int(index) < count and ticks < most) or not parts:
            (T, index), (rows, switched) = piece(lambda T=T, index=index: self._ticks(T, index))
            # The run is over at the begin of the tick that finds the last target reached.
            heading = np.append(np.asarray(switched.target), int(index))
            new = int(np.argmax(heading[1:] >= count)) + 1 if int(index) >= count else CHUNK
            new = min(new, most - ticks)
            part = (rows.T[:new], np.asarray(rows.twist)[:new], heading[:new])
            parts.append(part if keep else (part[0][:0], part[1][:0], part[2]))
            if on_rows is not None:
                on_rows(part[0], self._headed_for(part[2]))
            ticks, last = ticks + new, heading[new]
            if not np.all(np.isfinite(np.asarray(T.position))):
                break
            if on_progress is not None:
                on_progress(max(int(index) / count, min(ticks / most, 1.0)))
        T_rows, twist, heading = jax.tree.map(lambda *y: np.concatenate(y), *parts)
        return TargetRun(
            self.dt * np.arange(ticks),
            jax.tree.map(jnp.asarray, T_rows),
            twist,
            self._headed_for(heading),
            np.repeat(np.arange(ticks), np.diff(heading, append=last)),
        )

    def _headed_for(self, heading: np.ndarray) -> np.ndarray:
        """The target of every tick (ticks, 3) [m], from its index."""
        return self.targets[np.minimum(heading, len(self.targets) - 1)]

    def notes(self, arrived: int, seconds: float, tip: np.ndarray) -> list[str]:
        """Sentences about targets that lie too close to each other, and about the first that was not reached.

        **Arguments:** `arrived`: number of targets that were reached; `seconds`, `tip`: time and tip at the end.
        """
        notes = []
        spacing = np.linalg.norm(np.diff(self.targets, axis=0), axis=-1).min()
        if self.radius > spacing:
            notes.append(
                f"gamma {self.radius:g} m is larger than the distance {spacing:.3g} m of two targets: targets that are "
                f"near already are passed without being headed for"
            )
        if arrived < len(self.targets):
            away = np.linalg.norm(self.targets[arrived] - tip)
            notes.append(f"target {arrived + 1} not reached in {seconds:.3g} s: the tip is still {away:.3g} m away")
        return notes

    def _ticks(self, T: SE3, index):
        targets = jnp.asarray(self.targets)
        return switch(self._law, T, targets, index, self.radius, self.gain, self.dt, CHUNK)
