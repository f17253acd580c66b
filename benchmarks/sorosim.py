"""Shapes and releases of Cosserat rods that others computed with SoRoSim: by how much hydrostat's tips differ.

The data are those of the OpenCR project (github.com/ContinuumRoboticsLab/opencr-mujoco, `data/reference/sorosim`, MIT
licence): straight rods of spring steel and of TPU, clamped along x, held by dead loads at the middle and at the tip.
Positions are rounded to 0.1 mm and loads to four digits, which alone moves a tip by some 0.02 % of length. The folder
is the first argument or the environment variable HYDROSTAT_SOROSIM_DATA; without it the case is left out.

Shapes are found by letting a strongly damped rod come to rest, all shapes of a material as lanes of one batch: the
equilibrium is the same as that of `hydrostat.equilibrium`, which is compared for a few, and it is found faster.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import hydrostat as hs
from hydrostat.measuring import best_of
from hydrostat.simulation.simulate import Run

VARIABLE = "HYDROSTAT_SOROSIM_DATA"
RODS: dict[str, dict[str, float]] = {
    "SpringSteel": {
        "length": 0.6,
        "radius": 0.8e-3,
        "youngs_modulus": 200e9,
        "poisson_ratio": 0.33,
        "density": 7870.0,
    },
    "TPU": {"length": 0.4, "radius": 5e-3, "youngs_modulus": 70e6, "poisson_ratio": 0.4, "density": 1200.0},
}
SEGMENTS = 24
STEPS = {"SpringSteel": 2.5e-3, "TPU": 5e-3 / 3.0}
"""Steps of the releases [s], whole parts of the data's 5 ms."""
CONVERGED_STEP, CONVERGED_SEGMENTS = 0.5e-3, 72
"""Step [s] and segments of a converged solution, whose difference from the data is not hydrostat's error."""
SAMPLE = 5e-3  # s, of the releases' data
SETTLING = {"damping_time": 0.1, "dt": 0.02, "steps": 800}
"""With it the slowest of all shapes moves by less than 1e-10 of its length in the last step."""
STEPPER = hs.SDIRK2(tolerance=1e-6)
"""An iteration that ends 1e-6 rad away leaves far less than the step itself."""


def data_folder(arguments: list[str]) -> Path | None:
    """The folder with the data, where one was named and is there."""
    named = arguments[0] if arguments else os.environ.get(VARIABLE, "")
    return Path(named) if named and Path(named).is_dir() else None


def rod(material: str, segments: int, damping_time: float) -> Any:
    values = RODS[material]
    return hs.robots.rod(
        segments=segments, load_places=[0.5, 1.0], viscosity=damping_time * values["youngs_modulus"], **values
    )


def read_shapes(folder: Path, material: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gravity (n, 3), dead loads (n, 2, 6) and tips (n, 3)."""
    rows = np.genfromtxt(folder / f"{material}_statics.csv", delimiter=",", skip_header=2)[:, 1:]
    rows = rows.reshape(-1, 6, rows.shape[1])
    return rows[:, 3:, 0], np.swapaxes(rows[:, :, 1:3], 1, 2), rows[:, 3:, -1]


def read_release(folder: Path, material: str, number: int) -> dict[str, Any]:
    rows = np.loadtxt(folder / f"{material}_release_{number}.txt")
    return {
        "damping_time": float(rows[0, 0]),
        "gravity": rows[0, -3:],
        "load": rows[1, 1:].reshape(2, 6),
        "tip": rows[2:, -3:],
    }


def settled(material: str, gravity: np.ndarray, loads: np.ndarray, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and tips of rods at rest under their loads, one for each row."""
    robot = rod(material, segments, SETTLING["damping_time"])
    steps = int(SETTLING["steps"])

    def rest(gravity, load):
        system = hs.System(robot, gravity=gravity)
        end = hs.rollout(system, hs.Control(load=load), steps=steps, dt=SETTLING["dt"], every=steps, stepper=STEPPER)
        return end.q[-1], end.tip[-1]

    found = jax.jit(jax.vmap(rest))(gravity, loads)
    return np.asarray(found[0]), np.asarray(found[1])


def statics(folder: Path, material: str, segments: int, shapes: int | None, compared: int) -> dict[str, Any]:
    """Errors of the tips at rest in percent of length."""
    gravity, loads, tips = (values[:shapes] for values in read_shapes(folder, material))
    length = RODS[material]["length"]
    begin = time.perf_counter()
    q, found = settled(material, gravity, loads, segments)
    first = time.perf_counter() - begin
    again = best_of(1, lambda: settled(material, gravity, loads, segments))
    errors = 100.0 * np.linalg.norm(found - tips, axis=-1) / length
    robot = rod(material, segments, 0.0)
    by_newton = [
        hs.equilibrium(hs.System(robot, gravity=gravity[i]), hs.Control(load=loads[i]), q=q[i]).tip
        for i in range(compared)
    ]
    apart = np.linalg.norm(np.asarray(by_newton) - found[:compared], axis=-1) if compared else np.zeros(1)
    return {
        "shapes": len(errors),
        "tip_error_percent_mean": float(errors.mean()),
        "tip_error_percent_median": float(np.median(errors)),
        "tip_error_percent_worst": float(errors.max()),
        "difference_from_equilibrium_percent": float(100.0 * apart.max() / length),
        "ms_per_shape": 1e3 * again / len(errors),
        "first_run_s": first,
    }


def release(folder: Path, material: str, number: int, segments: int, dt: float, repetitions: int) -> tuple[float, ...]:
    """RMS error of the tip over a release in percent of length, and the real-time factor."""
    data = read_release(folder, material, number)
    q, _ = settled(material, data["gravity"][None], data["load"][None], segments)
    system = hs.System(rod(material, segments, data["damping_time"]), gravity=data["gravity"])
    run = Run(system, None, dt, every=round(SAMPLE / dt), stepper=STEPPER, backend="native")
    seconds = SAMPLE * (len(data["tip"]) - 1)
    start = system.rest(q[0])
    rows = run(seconds, state=start)
    errors = np.linalg.norm(np.asarray(rows.tip)[: len(data["tip"])] - data["tip"], axis=-1)
    wall = best_of(repetitions, lambda: run(seconds, state=start)) if repetitions else np.inf
    return 100.0 * float(np.sqrt(np.mean(errors**2))) / RODS[material]["length"], seconds / wall


def measure(
    folder: Path,
    segments: int = SEGMENTS,
    shapes: int | None = None,
    releases: tuple[int, ...] = (1, 2, 3, 4, 5),
    compared: int = 3,
    repetitions: int = 3,
) -> dict[str, Any]:
    """Statics and releases of both materials.

    **Arguments:** `shapes`: how many of them, all when not given; `compared`: how many with `hydrostat.equilibrium`.
    """
    found: dict[str, Any] = {"segments": segments}
    for material in RODS:
        name = material.lower()
        found[f"{name}_statics"] = statics(folder, material, segments, shapes, compared)
        at_step, fine_step, fine = (
            [release(folder, material, number, count, dt, times) for number in releases]
            for count, dt, times in (
                (segments, STEPS[material], repetitions),
                (segments, CONVERGED_STEP, 0),
                (CONVERGED_SEGMENTS, CONVERGED_STEP, 0),
            )
        )
        found[f"{name}_releases"] = {
            "releases": len(releases),
            "dt_ms": 1e3 * STEPS[material],
            "rms_error_percent_mean": float(np.mean([error for error, _ in at_step])),
            "rms_error_percent": [error for error, _ in at_step],
            "real_time_factor": float(np.median([factor for _, factor in at_step])),
            "rms_error_percent_converged_step": [error for error, _ in fine_step],
            "rms_error_percent_converged": [error for error, _ in fine],
        }
    return found


def main() -> None:
    folder = data_folder(sys.argv[1:])
    if folder is None:
        print(json.dumps({"left_out": f"the data's folder is neither an argument nor in {VARIABLE}"}))
        return
    print(json.dumps(measure(folder)))


if __name__ == "__main__":
    main()
