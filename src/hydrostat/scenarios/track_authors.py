"""controller=authors of the tracking scenarios: the code that the authors of Lafmejani et al. 2020 published."""

import time

import numpy as np

from hydrostat import control
from hydrostat.errors import InputError
from hydrostat.results import TipTracking, authors_legs, authors_tracking
from hydrostat.scenarios.base import Run
from hydrostat.scenarios.recorded_tracking import recorded

AUTHORS_DT = 1e-3
"""The step of the authors' code [s]."""


def by_authors(
    run: Run, name: str, arm: control.Platforms, curve: control.Curve, targets: np.ndarray
) -> tuple[TipTracking, float]:
    """The authors' tracker on an arm of its own, and the cost of a step [ms]."""
    settings = run.settings
    if settings.obstacle or settings.orientation != "free":
        raise InputError("the authors' controller has no `obstacle` and no `orientation`; take controller=continuous")
    options = {"segments": settings.authors_segments, "threshold": settings.authors_threshold, "gain": settings.gain}
    tracker = control.AuthorsTracker(**options, dt=AUTHORS_DT, legs=settings.authors_legs)
    begun = time.perf_counter()
    ticks = round(settings.seconds_max / AUTHORS_DT) + 2
    with recorded(run, name, arm, ticks, AUTHORS_DT, segments=tracker.segments) as recorder:

        def record(P: np.ndarray, R: np.ndarray, headed_for: np.ndarray) -> None:
            legs, rings, _ = authors_legs(tracker.radii, tracker.joints, P, R)
            recorder.append_plates(P, R, legs, rings, targets[np.minimum(headed_for, len(targets) - 1)])

        found = tracker.run(targets, settings.seconds_max, record)
    cost_ms = 1e3 * (time.perf_counter() - begun) / max(len(found.times) - 1, 1)
    return authors_tracking(arm, tracker, found, curve, targets), cost_ms
