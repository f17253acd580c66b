"""How the cost of a step grows with the number of segments: the same rod in ever finer segments."""

import time
from typing import Any

import numpy as np

from hydrostat.measuring import best_of
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.rod import rod
from hydrostat.scenarios.base import Progress
from hydrostat.simulation.simulate import Run
from hydrostat.system import System

SEGMENTS = (10, 20, 40, 80, 160, 320)
TIP_MASS = 0.02  # kg
STEP = 1e-3  # s
_STEPS = 100
_REPETITIONS = 5


def measure(progress: Progress, segments: tuple[int, ...] = SEGMENTS, steps: int = _STEPS) -> dict[str, Any]:
    """Cost of a step of the default stepper with all six strains; lists have one entry for each number of segments.

    The rod falls from the horizontal for a tenth of a second, a smooth motion that all of them make alike, so that the
    stepper iterates equally often; the iterations are counted, and the cost of one is given beside that of a step.
    `exponent` is the slope of log(cost of a step) by log(segments), fitted by least squares.
    """
    compile_seconds, per_step, iterations = [], [], []
    for count in segments:
        simulation = Run(System(build_robot(rod(count, tip_mass=TIP_MASS))), dt=STEP)
        progress.say(f"compiling for {count} segments")
        start = time.perf_counter()
        simulation.compile(steps * STEP)
        compile_seconds.append(time.perf_counter() - start)
        progress.say(f"running {count} segments")
        rows = simulation(steps * STEP)
        iterations.append(float(np.sum(rows.iterations)) / steps)
        per_step.append(1e6 * best_of(_REPETITIONS, lambda one=simulation: one(steps * STEP)) / steps)
    per_iteration = [cost / turns for cost, turns in zip(per_step, iterations, strict=True)]
    return {
        "exponent": _slope(segments, per_step),
        "exponent_per_iteration": _slope(segments, per_iteration),
        "exponent_compile": _slope(segments, compile_seconds),
        "segments": list(segments),
        "microseconds_per_step": per_step,
        "iterations_per_step": iterations,
        "microseconds_per_iteration": per_iteration,
        "compile_seconds": compile_seconds,
    }


def _slope(x, y) -> float:
    """The exponent of a power law, by least squares."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])
