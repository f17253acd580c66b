"""octopus-turn and octopus-stand: an octopus that stays where it is, and turns, or holds on in a current."""

import numpy as np

import hydrostat as hs
from hydrostat.control.gaits import Stand, Turn
from hydrostat.results.measures import axis_error, distance_covered, stays_from
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, move_both, octopus, outcome, row_steps
from hydrostat.scenarios.octopus_figures import draw_on_ground, yaw

_SETTLE_S = 1.0  # in still water, before it stands in a current
_NEAR_DEG = 2.0  # from its goal, within which an octopus does not turn


def turn(run: Run) -> Outcome:
    """A turn on the spot and, beside it, the same without suckers."""
    settings = run.settings
    animal = octopus(run)
    options = {"near": float(np.deg2rad(_NEAR_DEG)), "failed_suckers": animal.failed_suckers}
    controllers = [
        Turn(np.deg2rad(settings.turn_deg), closed_loop=closed_loop, suckers=suckers, **options)
        for closed_loop, suckers in ((settings.closed_loop, True), (False, False))
    ]
    seconds = settings.strokes * float(controllers[0].stroke(animal.system).duration)
    held, without = move_both(run, animal, controllers, seconds)
    turned, away = yaw(held), 1e3 * distance_covered(held, 2)
    there = stays_from(np.abs(turned - settings.turn_deg) <= 2.0 * _NEAR_DEG)
    metrics = {
        "turned_deg": float(turned[-1]),
        "turn_error_deg": abs(float(turned[-1]) - settings.turn_deg),
        "turned_without_suckers_deg": float(yaw(without)[-1]),
        "strokes": int(held.memory.strokes[-1]),
        "turn_s": None if there is None else float(held.time[there]),
        "drift_mm": float(away[-1]),
        "drift_max_mm": float(away.max()),
        "penetration_max_radii": float(np.max(held.ground_depth)),
    }
    title = f"octopus-turn: {settings.turn_deg:g} deg on the spot in {metrics['strokes']} strokes"
    return _outcome(run, animal, (held, without), metrics, title, seconds)


def stand(run: Run) -> Outcome:
    """Standing in a current with suckers and, beside it, without."""
    settings = run.settings
    azimuth = np.deg2rad(settings.azimuth_deg)
    flow = settings.current_m_s * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    animal = octopus(run, current=flow)
    still = octopus(run, current=np.zeros(3))
    controllers = (Stand(failed_suckers=animal.failed_suckers), Stand(suckers=False))
    # It lies down and takes hold in still water, before the current sets in.
    settled = move(run, still, controllers[0], _SETTLE_S, every=row_steps(run)).final
    start = settled._replace(time=0.0 * settled.time)
    held, without = move_both(run, animal, controllers, settings.seconds, state=start)
    moved, swept = (1e3 * distance_covered(one, 2) for one in (held, without))
    metrics = {
        "drift_mm": float(moved[-1]),
        "drift_max_mm": float(moved.max()),
        "drift_without_suckers_mm": float(swept[-1]),
        "tilt_max_deg": float(axis_error(held, np.array([0.0, 0.0, 1.0])).max()),
        "yaw_deg": float(yaw(held)[-1]),
        "held_segments": int(np.sum(held.held[-1])),
        "penetration_max_radii": float(np.max(held.ground_depth)),
    }
    title = f"octopus-stand: a current of {settings.current_m_s:g} m/s"
    return _outcome(run, animal, (held, without), metrics, title, settings.seconds)


def _outcome(run: Run, animal, motions, metrics: dict, title: str, seconds: float) -> Outcome:
    """The outcome of a motion with suckers and one without."""
    both: dict[str, hs.Trajectory] = dict(zip(("with suckers", "without"), motions, strict=True))
    return outcome(
        run,
        animal,
        motions,
        metrics,
        title,
        lambda path: draw_on_ground(path, both, title),
        sim_seconds=2.0 * seconds,
    )
