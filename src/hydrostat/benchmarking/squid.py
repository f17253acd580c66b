"""The squid's four limbs in water in a control loop of 1 kHz: each step is called by itself, with new tensions.

The body stays where it is. Every limb is ten sections long, as in the paper, which ran their kinematics at 1 kHz.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from hydrostat.robots.build import build_robot
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.robots.specs.squid import SECTIONS, WATER, squid
from hydrostat.scenarios.base import Progress
from hydrostat.simulation import RealTime
from hydrostat.surroundings import Water
from hydrostat.system import State, System

DT = 1e-3  # s
STEPS = 60_000
_WARM_UP = 1000
"""Steps before the clock counts: caches and the processor's clock settle."""
_TENSION = 0.3  # N, about which each tendon is pulled more and less
_DAMPING = 0.002  # N per 1/(m s), by how fast the tip bends; ten times as much rings from step to step at 1 kHz


def measure(progress: Progress, steps: int = STEPS) -> dict[str, Any]:
    """Times of single steps, from the call to the new state in NumPy arrays.

    What the controller itself needs is not in them. Python's garbage collector rests while the loop runs, as it would
    on a robot. `step_cpu_` is the processor's time, without that of other programs. `real_time_factor` is simulated
    time over the time of all steps; `steps_late` of them took more than dt.
    """
    spec = even_sections(squid(), SECTIONS)
    # Two Gauss points are exact for cubic polynomials, and a section's taper is slight.
    system = System(build_robot(spec, points=2), [Water(WATER, added_mass=1.0)])
    progress.say("compiling")
    start = time.perf_counter()
    robot = RealTime(system, DT)
    compile_seconds = time.perf_counter() - start

    phases = np.tile(np.deg2rad([0.0, 90.0, 180.0, 270.0]), len(spec.limbs))
    state, times, own, iterations = robot.state, np.zeros(steps), np.zeros(steps), 0
    furthest = 0.0
    with _without_collecting():
        for i in range(-_WARM_UP, steps):
            if i % 5000 == 0:
                progress.show("stepping", max(i, 0) / steps)
            command = _tensions(robot.time, phases, state)
            used, begin = time.process_time(), time.perf_counter()
            state = robot.step(command)
            taken, used = time.perf_counter() - begin, time.process_time() - used
            if i >= 0:
                times[i], own[i] = taken, used
                iterations += robot.iterations
            if i % 100 == 0:
                furthest = max(furthest, *(float(np.abs(np.sum(q[:, :2], 0)).max()) for q in state.q))
    micro = 1e6 * times
    segments = [q.shape[0] for q in state.q]
    return {
        "step_p50_us": float(np.quantile(micro, 0.5)),
        "step_p99_us": float(np.quantile(micro, 0.99)),
        "step_p999_us": float(np.quantile(micro, 0.999)),
        "step_max_us": float(micro.max()),
        "step_cpu_p50_us": float(np.quantile(1e6 * own, 0.5)),
        "step_cpu_p999_us": float(np.quantile(1e6 * own, 0.999)),
        "real_time_factor": steps * DT / float(times.sum()),
        "steps_late": int(np.sum(times > DT)),
        "steps": steps,
        "dt_ms": 1e3 * DT,
        "iterations_per_step": iterations / steps,
        "largest_bend_deg": float(
            np.rad2deg(furthest * sum(s.length for s in spec.limbs[0].arm.segments) / segments[0])
        ),
        "limbs": len(segments),
        "segments": sum(segments),
        "coordinates": sum(q.size for q in state.q),
        "compile_seconds": compile_seconds,
    }


def even_sections(spec: LimbedSpec, sections: int) -> LimbedSpec:
    """The robot with the same number of sections in every limb, whatever its segments are."""
    limbs = (replace(limb, arm=limb.arm.cut(sections // len(limb.arm.segments))) for limb in spec.limbs)
    return replace(spec, limbs=tuple(limbs))


def _tensions(now: float, phases: np.ndarray, state: State) -> np.ndarray:
    """The tensions that a controller sets: the limbs stir, and tendons yield a little to the rate of bending of the
    tips."""
    wave = _TENSION * (1.0 + np.sin(2.0 * np.pi * 0.5 * now + phases))
    yielding = [_DAMPING * np.array([v[-1, 1], -v[-1, 0], -v[-1, 1], v[-1, 0]]) for v in state.v]
    return np.maximum(wave - np.concatenate(yielding), 0.0)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep Python's garbage collector from pausing the loop; nothing in it makes cycles."""
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
