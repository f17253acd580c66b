"""The strength of the legs of track-dynamics: what is refused, what is measured, and what is said."""

import jax.numpy as jnp
import numpy as np

from hydrostat import System, control
from hydrostat.errors import InputError


def check_strength(known: System, real: System, plan: control.Plan, strongest: float) -> None:
    """Refuse a path that takes more than the legs have without a payload, and a payload that they cannot hold."""
    alone = _largest(known, plan, jnp.arange(0, len(plan.q), 5))
    if alone > strongest:
        raise InputError(
            f"the path must be one that the legs are strong enough for; it takes {alone:.0f} N of one without a "
            f"payload, and they have {strongest:g} N: give it more time"
        )
    first = _largest(real, plan, jnp.arange(1))
    if first > strongest:
        raise InputError(
            f"`payload_kg` must be what the legs hold at the start; it takes {first:.0f} N of one, and they have "
            f"{strongest:g} N"
        )


def _largest(system: System, plan: control.Plan, rows) -> float:
    """The largest force of a leg in some rows of a plan [N]."""
    return float(np.abs(np.asarray(control.inverse_dynamics_along(system.robot, plan, rows))).max())


def strength_metrics(times: np.ndarray, errors: np.ndarray, forces: np.ndarray, strongest: float) -> dict:
    """For how long legs were at the end of their strength, and how far off the tip was then and after.

    **Arguments:** `times` and `errors`: of all rows [s, m]; `forces`: of the legs during the steps before all rows but
    the first [N]; `strongest`: their limit.
    """
    ended = np.concatenate([[False], np.abs(forces).max((1, 2)) >= strongest * (1.0 - 1e-9)])
    last = np.flatnonzero(ended)[-1] if ended.any() else None
    after = errors[last + 1 :] if last is not None else errors[:0]
    return {
        "saturated_s": float(ended.sum() * (times[1] - times[0])),
        "saturated_last_s": None if last is None else float(times[last]),
        "error_while_saturated_max_mm": 1e3 * float(errors[ended].max()) if ended.any() else None,
        "error_after_saturation_max_mm": 1e3 * float(after.max()) if len(after) else None,
        "error_end_mm": 1e3 * float(errors[-1]),
    }


def outcome_notes(metrics: dict) -> list[str]:
    """What came of the legs' limited strength, in a sentence each."""
    notes, limit = [], f"{metrics['leg_force_limit_n']:g} N"
    if metrics["saturated_s"] > 0.0:
        notes.append(
            f"legs were at the end of their strength, {limit}, for {metrics['saturated_s']:.2f} s; "
            f"the tip was off by up to {metrics['error_while_saturated_max_mm']:.3g} mm meanwhile"
        )
    if metrics["path_done_percent"] < 100.0 and metrics["behind_plan_s"] > 0.0:
        notes.append(
            f"the path takes up to {metrics['leg_force_needed_max_n']:.0f} N of a leg with this payload: the "
            f"arm waits at {metrics['path_done_percent']:.0f} % of it, where its legs still hold"
        )
    return notes
