"""octopus-forage, interrupted again and again, ends with the metrics of a run without interruption."""

import random

import numpy as np
import pytest

from hydrostat.scenarios.progress import Progress
from hydrostat.scenarios.runner import run_scenario

SETTINGS = {"placements": 2, "distance_m": [0.2, 0.22]}
"""Two hunts for prey nearby, each whole: it is crawled to, taken and brought to the mouth."""
INTERRUPTIONS = 10


class InterruptedRunError(Exception):
    """Stands for Ctrl-C."""


class Interrupting(Progress):
    """Counts how often progress is shown while it moves, and interrupts after a number of times."""

    def __init__(self, after: float = float("inf")):
        self.shown, self._after = 0, after

    def say(self, what: str) -> None:
        """Say nothing."""

    def show(self, what: str, done: float) -> None:
        """Count, or interrupt."""
        self.shown += 1
        if self.shown > self._after:
            raise InterruptedRunError

    def close(self) -> None:
        """Nothing was shown."""


def numbers(metrics) -> np.ndarray:
    """All numbers among the metrics, those that are none as NaN."""
    values = [value for entry in metrics.values() for value in (entry if isinstance(entry, list) else [entry])]
    return np.array([np.nan if value is None else float(value) for value in values])


@pytest.mark.slow
def test_ten_interruptions_change_nothing(tmp_path):
    whole = Interrupting()
    wanted = run_scenario("octopus-forage", settings=SETTINGS, seed=3, out=tmp_path, figures=False, progress=whole)
    assert wanted["metrics"]["taken_rate"] == 1.0
    moments = sorted(random.Random(0).sample(range(1, whole.shown), min(INTERRUPTIONS, whole.shown - 1)))
    assert len(moments) == INTERRUPTIONS
    folder = tmp_path / "octopus-forage-2"
    for number, moment in enumerate(moments):
        options = {"settings": SETTINGS, "seed": 3, "out": tmp_path} if number == 0 else {"resume": folder}
        with pytest.raises(InterruptedRunError):
            run_scenario("octopus-forage", figures=False, progress=Interrupting(moment), **options)
        assert not (folder / "metrics.json").exists()
    found = run_scenario("octopus-forage", figures=False, resume=folder)
    assert found["steps"] == wanted["steps"]
    np.testing.assert_allclose(numbers(found["metrics"]), numbers(wanted["metrics"]), rtol=1e-9, atol=1e-12)
