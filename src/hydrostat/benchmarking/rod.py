"""The stiff rod: a Nitinol rod of 20 segments and all six strains, with 20 g at its tip, falls from the horizontal.

Its fastest vibrations, those of shear and stretch, take microseconds, which is what an explicit method would have to
step; what one wants to see takes a second. So the question is how long a step may be, and what it costs.
"""

import time
from typing import Any

import numpy as np

from hydrostat.errors import DivergedError
from hydrostat.measuring import best_of
from hydrostat.results.trajectory import Trajectory
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.rod import rod
from hydrostat.scenarios.base import Progress
from hydrostat.simulation.simulate import Run
from hydrostat.system import System

TIP_MASS = 0.02  # kg
STEPS_MS = (0.5, 1.0, 2.0, 5.0)
REFERENCE_MS = 0.1
"""The step of which every measured step is a multiple, so that the tips can be compared at each of them [ms]."""
WITHIN_PERCENT = 1.0
"""The largest error of the tip at which a step counts, over the rod's length [%]."""
_REPETITIONS = 5


def measure(progress: Progress, steps_ms: tuple[float, ...] = STEPS_MS, seconds: float = 1.0) -> dict[str, Any]:
    """Stability, error and speed of the default stepper at some steps; lists have one entry for each.

    The reference is the same stepper at a much smaller step; its own error is estimated, after Richardson, from a run
    with steps twice as long. `real_time_factor` is the best one among the steps whose tip stays within 1 % of the
    length, at `dt_ms`. Times are those of the simulation, without compiling.
    """
    robot = build_robot(rod(tip_mass=TIP_MASS))
    system = System(robot)
    length = float(robot.arm.length)
    compile_seconds = 0.0

    def prepared(step_ms: float) -> Run:
        nonlocal compile_seconds
        simulation = Run(system, dt=1e-3 * step_ms)
        progress.say(f"compiling for {step_ms:g} ms")
        start = time.perf_counter()
        simulation.compile(seconds)
        compile_seconds += time.perf_counter() - start
        return simulation

    fine = prepared(REFERENCE_MS)
    progress.say("reference")
    exact = _tips(fine(seconds))
    coarser = _tips(prepared(2.0 * REFERENCE_MS)(seconds))
    doubt = _distance(coarser, exact[::2]) / 3.0  # of a second-order method whose step was doubled

    found = []
    for step_ms in steps_ms:
        simulation = prepared(step_ms)
        progress.say(f"running at {step_ms:g} ms")
        found.append(_measure_step(simulation, seconds, exact, length))
    good = [i for i, one in enumerate(found) if one["stable"] and one["tip_error_percent"] <= WITHIN_PERCENT]
    best = max(good, key=lambda i: found[i]["real_time_factors"], default=None)
    return {
        "real_time_factor": None if best is None else found[best]["real_time_factors"],
        "dt_ms": None if best is None else steps_ms[best],
        "reference_error_percent": 100.0 * doubt / length,
        "compile_seconds": compile_seconds,
        "segments": robot.arm.count,
        "coordinates": robot.one.stiffness.size,
        "steps_ms": list(steps_ms),
        **{name: [one[name] for one in found] for name in found[0]},
    }


def _measure_step(simulation: Run, seconds: float, exact: np.ndarray, length: float) -> dict[str, Any]:
    """The results of one step size."""
    try:
        rows = simulation(seconds)
    except DivergedError:
        names = ("tip_error_percent", "microseconds_per_step", "real_time_factors", "iterations_per_step")
        return {"stable": False, **dict.fromkeys(names)}
    steps = len(rows.time) - 1
    error = _distance(_tips(rows), exact[:: (len(exact) - 1) // steps])
    wall = best_of(_REPETITIONS, lambda: simulation(seconds))
    return {
        "stable": True,
        "tip_error_percent": 100.0 * error / length,
        "microseconds_per_step": 1e6 * wall / steps,
        "real_time_factors": float(rows.time[-1]) / wall,
        "iterations_per_step": float(np.sum(rows.iterations)) / steps,
    }


def _tips(rows: Trajectory) -> np.ndarray:
    """The position of the tip at every step [m]."""
    return np.asarray(rows.tip)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """The largest distance of two paths' points [m]."""
    return float(np.max(np.linalg.norm(one - other, axis=-1)))
