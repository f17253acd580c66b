"""Measures of an episode of teleoperation, from the rows of both sides."""

from typing import NamedTuple

import numpy as np

from hydrostat.teleoperation.experiment import TICK, Rows

JUMP_SECONDS = 0.05
"""Time over which a motion counts as a jump [s]."""
_TOUCHES = 2e-3  # N
_AFTER_RETURN = 3.0  # s


class Measures(NamedTuple):
    """How well an episode went."""

    operator_latency_ms: float
    """From a motion of the hand to the answer of the local model: the 99th percentile of the time that the answer took
    by the machine's clock, and a whole tick that the motion may have waited for it."""
    command_delay_ms: float
    """Median age of the command that the robot follows: the link's delay, and the margin against jitter and loss."""
    remote_error_mm: float
    """Root mean square distance of the robot's tip from the place of the hand that it follows, where nothing touches it
    and the link is there."""
    contact_force_error_percent: float
    """Root mean square difference between the local model's contact force and the robot's, at the same command, over
    the mean of the robot's, in the second press."""
    bandwidth_used_bps: float
    """Bits per second in the busier direction, headers included."""
    jump_max_mm: float
    """Largest motion of the robot's tip within 50 ms, in the 3 s after the link came back."""
    hold_drift_mm: float
    """Largest distance of the tip from where it was in the last tenth of the time that it held still."""
    force_max_n: float
    """Largest contact force of the robot."""
    press_deviation_percent: float
    """Standard deviation of the robot's contact force over its mean in the second press: a hand that bounces has
    much."""
    contacts: float
    """Number of times that a contact began."""


def measure_episode(rows: Rows, normal: np.ndarray, press: tuple[float, float]) -> Measures:
    """The measures of an episode.

    **Arguments:** `normal`: outward normal of the face that is pressed; `press`: begin and end of the second press, on
    the operator's clock [s].
    """
    robot, operator = rows.robot, rows.operator
    time, played, tip = robot["time"], robot["played"], robot["tip"]
    force, local = (side["force"] @ normal for side in (robot, operator))
    hand = np.stack([np.interp(played, operator["time"], operator["hand"][:, i]) for i in range(3)], 1)
    link = (robot["holding"] == 0) & (robot["resuming"] == 0) & (played > 0.0)
    miss = np.linalg.norm(tip - hand, axis=1)[link & (force < _TOUCHES)]
    pressed = (played >= press[0]) & (played < press[1]) & (robot["holding"] == 0)
    mean = max(float(force[pressed].mean()), 1e-9)
    difference = force[pressed] - np.interp(played[pressed], operator["time"], local)
    held = np.flatnonzero((robot["holding"] > 0) & (time > press[0]))
    back = float(time[held[-1]]) if held.size else np.inf
    over = round(JUMP_SECONDS / TICK)
    jumps = np.linalg.norm(tip[over:] - tip[:-over], axis=1)[
        (time[over:] > back) & (time[over:] < back + _AFTER_RETURN)
    ]
    last = tip[held[-max(1, held.size // 10) :]] if held.size else tip[-1:]
    return Measures(
        operator_latency_ms=1e3 * (float(np.percentile(operator["latency"], 99)) + TICK),
        command_delay_ms=1e3 * float(np.median((time - played)[link])),
        remote_error_mm=1e3 * float(np.sqrt(np.mean(miss**2))),
        contact_force_error_percent=100.0 * float(np.sqrt(np.mean(difference**2))) / mean,
        bandwidth_used_bps=max(rows.carried_bps),
        jump_max_mm=1e3 * float(jumps.max(initial=0.0)),
        hold_drift_mm=1e3 * float(np.linalg.norm(last - last[-1], axis=1).max()),
        force_max_n=float(force.max()),
        press_deviation_percent=100.0 * float(force[pressed].std()) / mean,
        contacts=float(np.count_nonzero(np.diff((force > _TOUCHES).astype(int)) > 0)),
    )
