"""Muscles of unequal strength, as scenarios draw them."""

import numpy as np

from hydrostat.control.anatomy import Anatomy
from hydrostat.scenarios.base import Run


def muscle_gains(run: Run, anatomy: Anatomy, *arms: int) -> np.ndarray:
    """A constant gain for every muscle of an arm, or of so many, drawn with the noise that the settings ask for."""
    rng = np.random.default_rng([run.seed, 1])
    noise = rng.normal(size=(*arms, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)
