"""controller=authors of the tracking scenarios: the code that the authors of Lafmejani et al. 2020 published."""

import time

import numpy as np

from hydrostat import control
from hydrostat.errors import InputError
from hydrostat.results import TipTracking, authors_tracking
from hydrostat.scenarios.base import Run

AUTHORS_DT = 1e-3
"""The step of the authors' code [s]."""


def by_authors(
    run: Run, arm: control.Platforms, curve: control.Curve, targets: np.ndarray
) -> tuple[TipTracking, float]:
    """The authors' tracker on an arm of its own, and the cost of a step [ms]."""
    settings = run.settings
    if settings.obstacle or settings.orientation != "free":
        raise InputError("the authors' controller has no `obstacle` and no `orientation`; take controller=continuous")
    options = {"segments": settings.authors_segments, "threshold": settings.authors_threshold, "gain": settings.gain}
    tracker = control.AuthorsTracker(**options, dt=AUTHORS_DT, legs=settings.authors_legs)
    begun = time.perf_counter()
    with run.timed():
        found = tracker.run(targets, settings.seconds_max)
    cost_ms = 1e3 * (time.perf_counter() - begun) / max(len(found.times) - 1, 1)
    return authors_tracking(arm, tracker, found, curve, targets), cost_ms
