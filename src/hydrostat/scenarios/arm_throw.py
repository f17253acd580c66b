"""arm-throw: the octopus arm takes a load from the ground, swings it and lets go."""

import numpy as np

from hydrostat.control.commands import Bend, Grasp, Parallel, Sequence, Stiffen
from hydrostat.errors import InputError
from hydrostat.results.measures import speed
from hydrostat.scenarios.arm import balance_metrics, move
from hydrostat.scenarios.arm_loads import GATHERED, load_arm, load_outcome
from hydrostat.scenarios.base import Outcome, Run

_HOLDS_AT = 0.6  # of the arm: where it holds the load
_SETTLE = 0.3  # s before the swing in which the arm takes hold and stiffens


def throw(run: Run) -> Outcome:
    """Take hold of a load on the ground, swing it up and back, and let go."""
    settings, loaded = run.settings, load_arm(run, _HOLDS_AT, ground=True)
    if loaded.ball is None:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    release, end = _SETTLE + settings.release_s, settings.seconds
    if release >= end:
        raise InputError(f"`release_s` must end {_SETTLE:g} s before `seconds` = {end:g} s; got {release:g}")
    swing = Bend(settings.activation, settings.release_s + 0.1, 0.0, settings.swing_share, np.pi)
    n, segment = loaded.count, loaded.segment
    grasp = Grasp(release, (segment - 2) / n, min(1.0, (segment + 1) / n))
    command = Parallel(Sequence(Stiffen(0.2, _SETTLE), swing), grasp)
    motion = move(run, loaded.system, command, end, record="arm-throw", functions=GATHERED)
    time, found = motion.time, motion.values
    ball = found["objects"].position[:, 0]
    # The row in which the step has ended that was the last to hold it.
    row = int(np.searchsorted(time, release - 1e-9))
    held, pace = bool(found["taken"][row].any()), speed(ball, time)
    low = np.flatnonzero(ball[row:, 2] <= ball[0, 2] + 2e-3)
    lands = row + int(low[0]) if len(low) else len(time) - 1
    metrics = {
        "attached": held,
        "release_speed_m_s": float(pace[row]) if held else 0.0,
        "throw_range_m": float(np.linalg.norm((ball[lands] - ball[row])[:2])) if held else 0.0,
        "distance_from_start_m": float(np.linalg.norm((ball[lands] - ball[0])[:2])) if held else 0.0,
        "landed": bool(len(low)),
        "flight_s": float(time[lands] - time[row]),
        "highest_m": float(ball[:, 2].max() - ball[0, 2]),
        **balance_metrics([motion]),
    }
    title = f"arm-throw: {run.robot.name} throws {settings.load_g:g} g"
    return load_outcome(run, loaded, motion, metrics, title, ("speed of the load", pace, "[m/s]"))
