"""arm-fetch: the octopus arm brings its tip, or a load that its suckers hold, to the mouth."""

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Fetch, FetchTo, Grasp, Parallel, Stiffen
from hydrostat.scenarios.arm import balance_metrics, known_arm, move
from hydrostat.scenarios.arm_loads import GATHERED, Loaded, load_arm, load_outcome
from hydrostat.scenarios.base import Outcome, Run

_HOLDS_AT = 0.55  # of the arm: where it holds the load
_NEAREST = 1e-3  # m beyond its least distance from the mouth, within which it counts as nearest


def fetch(run: Run) -> Outcome:
    """Fetch by a pattern of activations, or by feedback of shape and touch."""
    settings = run.settings
    loaded = load_arm(run, _HOLDS_AT, ground=False)
    feedback = FetchTo(min(6.0, 0.8 * settings.seconds), known=known_arm(run)) if settings.feedback else None
    command = feedback or _pattern(loaded, settings.seconds + 10.0)
    motion = move(run, loaded.system, command, settings.seconds, record="arm-fetch", functions=GATHERED)
    time, found = motion.time, motion.values
    brought = found["tip"].position if loaded.ball is None else found["objects"].position[:, 0]
    radius = 0.0 if loaded.ball is None else float(loaded.ball.radius)
    distance = np.linalg.norm(brought - loaded.mouth, axis=-1) - radius
    metrics = {
        "mouth_distance_mm": 1e3 * float(distance[-1]),
        "mouth_distance_least_mm": 1e3 * float(distance.min()),
        "mouth_distance_least_time_s": float(time[np.flatnonzero(distance <= distance.min() + _NEAREST)[0]]),
        "attached": bool(found["taken"][-1].any()),
        "load_g": settings.load_g,
        **balance_metrics([motion]),
    }
    what = "its tip" if loaded.ball is None else f"{settings.load_g:g} g"
    title = f"arm-fetch: {run.robot.name} brings {what} to the mouth" + (", with feedback" if settings.feedback else "")
    return load_outcome(run, loaded, motion, metrics, title, ("distance from the mouth", 1e3 * distance, "[mm]"))


def _pattern(loaded: Loaded, duration: float) -> hs.Controller:
    """Joints that bend the arm, up when it is free; sideways and along most of its length where it carries a load.

    An arm of 40 segments ends elsewhere by some 5 mm than one of 20: struts tilt at their upper ends, and grades are
    over the first segment's radius. The free arm's tip is brought above the mouth and behind it.
    """
    if loaded.ball is None:
        return Fetch(duration, (0.39, 0.75, 0.15), 0.27, places=((0.0, 0.1), (0.25, 0.7), (0.7, 0.75)), rise=1.3)
    n, azimuth = loaded.count, np.deg2rad(107.0)
    joints = Fetch(duration, (0.35, 0.275, 0.0), 0.07, azimuth, ((0.04, 0.26), (0.26, 0.72), (0.75, 0.85)), 2.6)
    grasp = Grasp(duration, (loaded.segment - 1.5) / n, (loaded.segment + 0.5) / n)
    return Parallel(joints, Stiffen(0.1, duration), grasp)
