"""arm-fetch: the octopus arm brings its tip, or a load that its suckers hold, to the mouth."""

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Anatomy, Fetch, FetchTo, Grasp, Parallel, Retrieve, Stiffen
from hydrostat.results import Digest
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import arm_name, balance_metrics, known_arm, move, muscle_gains
from hydrostat.scenarios.arm_loads import GATHERED, Loaded, drawn_places, load_arm, load_outcome
from hydrostat.scenarios.base import Outcome, Run

_HOLDS_AT = 0.55  # of the arm: where it holds the load
_FETCHED = 25e-3  # m from the mouth to the skin of a load that is fetched
_NEAREST = 1e-3  # m beyond its least distance from the mouth, within which it counts as nearest


def fetch(run: Run) -> Outcome:
    """Fetch by a pattern of activations, or by feedback of shape, sight and touch."""
    settings = run.settings
    if settings.places:
        return _fetch_everywhere(run)
    # A load that is not beneath the arm lies on the ground.
    elsewhere = bool(settings.feedback and settings.load_g and settings.load_at)
    loaded = load_arm(run, _HOLDS_AT, ground=elsewhere)
    command: hs.Controller = _pattern(loaded, settings.seconds + 10.0)
    if settings.feedback:
        known = known_arm(run)
        command = Retrieve(known=known) if elsewhere else FetchTo(min(6.0, 0.8 * settings.seconds), known=known)
    motion = move(run, loaded.system, command, settings.seconds, record="arm-fetch", functions=GATHERED)
    time, found = motion.time, motion.values
    distance = _distance(loaded, motion)
    metrics = {
        "mouth_distance_mm": 1e3 * float(distance[-1]),
        "mouth_distance_least_mm": 1e3 * float(distance.min()),
        "mouth_distance_least_time_s": float(time[np.flatnonzero(distance <= distance.min() + _NEAREST)[0]]),
        "attached": bool(found["taken"][-1].any()),
        "load_g": settings.load_g,
        **balance_metrics([motion]),
    }
    what = "its tip" if loaded.ball is None else f"{settings.load_g:g} g"
    title = f"arm-fetch: {arm_name(run)} brings {what} to the mouth" + (", with feedback" if settings.feedback else "")
    return load_outcome(run, loaded, motion, metrics, title, ("distance from the mouth", 1e3 * distance, "[mm]"))


def _distance(loaded: Loaded, motion: Digest) -> np.ndarray:
    """The distance from the mouth to the skin of the load, or to the tip of a free arm, at all times [m]."""
    found = motion.values
    if loaded.ball is None:
        return np.linalg.norm(found["tip"].position - loaded.mouth, axis=-1)
    return np.linalg.norm(found["objects"].position[:, 0] - loaded.mouth, axis=-1) - float(loaded.ball.radius)


def _fetch_everywhere(run: Run) -> Outcome:
    """Fetch loads from drawn places on the ground, with muscles of other gains for each, by sight and touch."""
    settings, places, command = run.settings, drawn_places(run), Retrieve(known=known_arm(run))
    all_gains = muscle_gains(run, Anatomy.of(build_robot(run.robot)), len(places))
    motions, distances, first = [], [], None
    for i, (place, gains) in enumerate(zip(places, all_gains, strict=True)):
        loaded = load_arm(run, _HOLDS_AT, ground=True, start=place, gains=gains)
        options = {"share": (i / len(places), (i + 1) / len(places)), "functions": GATHERED}
        motions.append(
            move(run, loaded.system, command, settings.seconds, record=None if i else "arm-fetch", **options)
        )
        distances.append(_distance(loaded, motions[-1]))
        first = loaded if first is None else first
    assert first is not None
    ends = np.array([distance[-1] for distance in distances])
    attached = np.array([motion.values["taken"][-1].any() for motion in motions])
    fetched = attached & (ends <= _FETCHED)
    metrics = {
        "attached_rate": float(attached.mean()),
        "fetched_rate": float(fetched.mean()),
        "places": len(places),
        "mouth_distance_median_mm": 1e3 * float(np.median(ends)),
        "mouth_distance_max_mm": 1e3 * float(ends.max()),
        "tries_mean": float(np.mean([motion.shown.memory.tries[-1] for motion in motions])),
        "load_g": settings.load_g,
        **balance_metrics(motions),
    }
    title = f"arm-fetch: {arm_name(run)} fetches {settings.load_g:g} g from {fetched.sum()} of {len(places)} places"
    course = ("distance from the mouth", 1e3 * np.stack(distances, -1), "[mm]")
    return load_outcome(run, first, motions[0], metrics, title, course, places, fetched)


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
