"""The paper's tracker on an arm: from target to target, with legs that know no limits."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.paths import Curve, distances_to
from hydrostat.control.resolved_rate import Law
from hydrostat.control.tracking import switch
from hydrostat.lie import SE3
from hydrostat.scenarios.base import Run
from hydrostat.scenarios.tracking import Examined, Platforms, check_gain, check_ticks, examine, rms, step_ms

_CHUNK = 500  # ticks before it is looked whether all targets are reached


@dataclass(frozen=True)
class Switching:
    """How the paper's tracker went."""

    times: np.ndarray
    seen: Examined
    headed_for: np.ndarray
    """The target of every tick (ticks, 3) [m]."""
    arrivals: tuple[np.ndarray, np.ndarray]
    """When each target was reached, and the targets."""
    metrics: dict
    step_ms: float
    notes: list[str]


def run_switching(run: Run, arm: Platforms, curve: Curve, targets: np.ndarray) -> Switching:
    """Head for one target after another until all are reached or the time is over."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    check_ticks(settings.seconds_max, dt)
    check_gain("gain", settings.gain, dt, 2.0)
    law = Law(arm.segments, arm.base)
    aims = jnp.asarray(targets)
    go = partial(switch, targets=aims, radius=settings.gamma_m, gain=settings.gain, dt=dt, ticks=_CHUNK)
    with run.compiling("compiling the controller"):
        jax.block_until_ready(go(law, arm.rest, index=0))
    parts, T, index, most = [], arm.rest, jnp.asarray(0), max(round(settings.seconds_max / dt), 1)
    with run.timed():
        while (int(index) < len(targets) and len(parts) * _CHUNK < most) or not parts:
            (T, index), rows = go(law, T, index=index)
            parts.append(rows)
            if not np.all(np.isfinite(np.asarray(T.position))):
                break
            run.progress("tracking", max(int(index) / len(targets), min(len(parts) * _CHUNK / most, 1.0)))
    rows, switched = jax.tree.map(lambda *y: np.concatenate(y), *parts)
    heading = np.concatenate([switched.target, [int(index)]])
    # All is over at the begin of the tick that finds the last target reached.
    over = int(index) >= len(targets)
    count = int(np.argmax(heading[1:] >= len(targets))) + 1 if over else len(rows.twist)
    count = min(count, most)
    rows = jax.tree.map(lambda y: y[:count], rows)
    times = dt * np.arange(count)
    seen = examine(
        arm, SE3(*map(jnp.asarray, (rows.T.rotation, rows.T.position))), rows.twist, times, limits=False, dt=dt
    )

    number, tip = int(heading[count]), seen.positions[:, -1]
    # The tick at which each target was found reached; several may be passed at once.
    ticks = np.repeat(np.arange(count), np.diff(heading[: count + 1]))
    begun = min(int(ticks[0]) + 1, count - 1) if number else count - 1
    metrics = {
        "targets_reached": number,
        "arrival_rms_m": rms(np.linalg.norm(targets[:number] - tip[ticks], axis=-1)) if number else None,
        "crosstrack_rms_m": rms(distances_to(curve, tip[begun:])) if number else None,
        "duration_s": float(times[-1]),
        **seen.metrics,
    }
    return Switching(
        times,
        seen,
        targets[np.minimum(heading[:count], len(targets) - 1)],
        (times[ticks], targets[:number]),
        metrics,
        step_ms(lambda: go(law, arm.rest, index=0), _CHUNK),
        _notes(settings.gamma_m, targets, number, times[-1], tip[-1]),
    )


def _notes(gamma: float, targets: np.ndarray, number: int, when: float, tip: np.ndarray) -> list[str]:
    """What is odd about the targets, and which was not reached."""
    notes = []
    spacing = np.linalg.norm(np.diff(targets, axis=0), axis=-1).min()
    if gamma > spacing:
        notes.append(
            f"gamma {gamma:g} m is larger than the distance {spacing:.3g} m of two targets: targets that are near "
            f"already are passed without being headed for"
        )
    if number < len(targets):
        away = np.linalg.norm(targets[number] - tip)
        notes.append(f"target {number + 1} not reached in {when:.3g} s: the tip is still {away:.3g} m away")
    return notes
