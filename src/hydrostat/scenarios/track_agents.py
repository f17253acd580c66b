"""The agents of a chain of platforms: compared with one controller of all, with a frozen segment, with bad messages."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat import control
from hydrostat.errors import DivergedError
from hydrostat.results import accuracy
from hydrostat.scenarios.base import Run
from hydrostat.scenarios.recorded_tracking import pieces


def agents_metrics(run: Run, law: control.Law, goals: control.TipGoals, rows: control.Tracked) -> dict[str, Any]:
    """Agents compared with a controller of the whole arm, and once more with a segment that does not move."""
    count, gain = goals.arm.count, run.settings.tracking_gain
    number = run.settings.frozen_segment or (count + 1) // 2
    frozen = eqx.tree_at(lambda law: law.frozen, law, jnp.arange(count) == number - 1, is_leaf=lambda x: x is None)
    with run.compiling("compiling the other controllers"):
        central = goals.follow(law, gain, piece=pieces(dt=goals.dt))
        stuck = goals.follow(frozen, gain, True, piece=pieces(dt=goals.dt))
    if not np.all(np.isfinite(np.asarray(stuck.T.position))):
        raise DivergedError(f"the tracking diverged with segment {number} frozen")
    linked = _linked(run, law, goals)
    messages, numbers = np.moveaxis(np.asarray(rows.sent), -1, 0).sum(1)
    return {
        "difference_from_central": accuracy.largest_difference(rows[:3], central[:3]),
        "messages_per_segment_per_step": float(messages.sum()) / (count * len(goals.times)),
        "message_up_numbers": float(numbers[0] / messages[0]) if count > 1 else None,
        "message_down_numbers": float(numbers[1] / messages[1]) if count > 1 else None,
        "frozen_segment": number,
        "frozen_segment_rmse_percent": goals.rmse_percent(stuck.T_world_tip),
        **linked,
    }


def _linked(run: Run, law: control.Law, goals: control.TipGoals) -> dict[str, Any]:
    """Agents whose messages are late, lost and wrong as the settings say; nothing where they are not."""
    settings = run.settings
    late, lost, wrong = settings.message_delay_ticks, settings.message_loss_percent, settings.message_noise_percent
    if not (late or lost or wrong):
        return {}
    with run.compiling("compiling agents with their links"):
        links = control.Links(late, 0.01 * lost, 0.01 * wrong)
        rows = control.follow_by_links(goals, law, settings.tracking_gain, links, run.seed)
    if not np.all(np.isfinite(np.asarray(rows.T.position))):
        raise DivergedError("the tracking diverged with messages that are late, lost or wrong; less `tracking_gain`?")
    return {
        "linked_rmse_percent": goals.rmse_percent(rows.T_world_tip),
        "linked_error_max_mm": 1e3 * float(goals.errors(rows.T_world_tip)[goals.first :].max()),
    }
