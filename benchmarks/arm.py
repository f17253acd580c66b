"""One arm in hydrostat and in other programs: a soft arm in air, the same damped, one in a current, and a stiff rod.

Every program has its best setting, which its file in `peers` states with the reason. Of each method the step is the one
that needs the least time while the tip stays within 1 % of length of the same model's own solution at a far smaller
step (`step_error_percent`). `error_percent` compares with the converged rod that has the same strains, 80 segments in
hydrostat: it holds the error of the 20 segments too. Programs that are not installed are left out.
"""

import importlib
import importlib.util
import inspect
import json
from typing import Any

import numpy as np
from peers import hydrostat_rod
from peers.rods import BENDS, RODS, Rod

from hydrostat.errors import DivergedError, InputError
from hydrostat.measuring import best_of, on_one_core
from hydrostat.robots import MODES

SEGMENTS, FINE_SEGMENTS, FINE_STEP = 20, 80, 0.2e-3
WITHIN_PERCENT = 1.0
LONG, SHORT, ENOUGH = 5.0, 0.4, 15.0
"""A run that takes less than `SHORT` [s] is timed over `LONG` simulated seconds, which hides what a call costs; one of
more than `ENOUGH` [s] is timed once."""
SIX, BOTH = "all six", "bends"
# Program, method, strains, segments, steps [ms], and the step of its own reference [ms].
SWEEPS: dict[str, list[tuple[str, str, str, int, tuple[float, ...], float]]] = {
    "dry": [
        ("hydrostat", "SDIRK2", SIX, 20, (10, 20 / 3, 5, 2.5, 1.25, 0.5), 0.1),
        ("hydrostat", "SDIRK2", BOTH, 20, (10, 20 / 3, 5, 2.5, 1.25, 0.5), 0.1),
        ("hydrostat", "linearly implicit Euler", BOTH, 20, (2, 1, 0.5, 0.2, 0.1), 0.02),
        ("hydrostat", "RK4", BOTH, 20, (0.8, 0.5, 0.4, 0.25), 0.1),
        ("mujoco", "Euler", BOTH, 20, (0.8, 0.625, 0.5, 0.25, 0.1), 0.02),
        ("mujoco", "implicitfast", BOTH, 20, (0.8, 0.625, 0.5, 0.25, 0.1), 0.02),
        ("mujoco", "RK4", BOTH, 20, (1.25, 1, 0.8, 0.5, 0.25), 0.1),
        ("pyelastica", "position Verlet", SIX, 20, (0.2, 0.16, 0.125, 0.1, 0.05), 0.025),
        ("soromox", "semi-implicit Euler", SIX, 20, (0.16, 0.125, 0.1), 0.05),
        ("soromox", "Tsit5", SIX, 20, (0.125, 0.1), 0.08),
        ("soromox", "semi-implicit Euler", BOTH, 20, (0.5, 0.4, 0.25), 0.1),
        ("soromox", "semi-implicit Euler", BOTH, 8, (4, 2, 1), 0.25),
    ],
    "damped": [
        ("hydrostat", "SDIRK2", SIX, 20, (20, 10, 20 / 3, 5, 2.5), 0.2),
        ("hydrostat", "SDIRK2", BOTH, 20, (20, 10, 20 / 3, 5, 2.5), 0.2),
        ("hydrostat", "linearly implicit Euler", BOTH, 20, (2, 1, 0.5, 0.25), 0.02),
        ("mujoco", "Euler", BOTH, 20, (10, 5, 20 / 6, 20 / 7, 2.5, 1.25, 0.5), 0.05),
        ("mujoco", "implicitfast", BOTH, 20, (10, 5, 20 / 6, 20 / 7, 2.5, 1.25, 0.5), 0.05),
    ],
    "water": [
        ("hydrostat", "SDIRK2", SIX, 20, (20, 10, 5), 0.5),
        ("hydrostat", "SDIRK2", BOTH, 20, (20, 10, 5), 0.5),
        ("hydrostat", "linearly implicit Euler", BOTH, 20, (20, 10, 5, 2.5), 0.1),
        ("mujoco", "Euler", BOTH, 20, (20, 10, 20 / 3, 5, 2.5, 1.25), 0.1),
        ("mujoco", "RK4", BOTH, 20, (5, 2.5, 1.25), 0.5),
    ],
    "nitinol": [
        ("hydrostat", "SDIRK2", SIX, 20, (10, 20 / 3, 5, 2.5, 1.25, 0.5), 0.1),
        ("hydrostat", "SDIRK2", BOTH, 20, (10, 20 / 3, 5, 2.5, 1.25, 0.5), 0.1),
        ("hydrostat", "linearly implicit Euler", BOTH, 20, (1, 0.5, 0.2, 0.1), 0.02),
        ("hydrostat", "RK4", BOTH, 20, (0.125, 0.1, 0.08), 0.1),
        ("mujoco", "Euler", BOTH, 20, (0.16, 0.125, 0.1), 0.05),
        ("mujoco", "implicitfast", BOTH, 20, (0.16, 0.125, 0.1), 0.05),
        ("mujoco", "RK4", BOTH, 20, (0.2, 0.16, 0.125, 0.1), 0.05),
        ("soromox", "semi-implicit Euler", BOTH, 8, (2, 1, 0.5), 0.125),
    ],
}
ELASTICA_NITINOL = 20.0 / 44_000  # ms, about the longest stable step, by trial
PACKAGES = {
    "mujoco": ("mujoco", "peers.mujoco_rod"),
    "pyelastica": ("elastica", "peers.elastica_rod"),
    "soromox": ("soromox", "peers.soromox_rod"),
}


def program(name: str) -> Any:
    """The module of a program; None where it is not installed."""
    if name == "hydrostat":
        return hydrostat_rod
    package, module = PACKAGES[name]
    return importlib.import_module(module) if importlib.util.find_spec(package) else None


def simulated(module: Any, rod: Rod, segments: int, method: str, dt: float, strains: str) -> Any:
    """A function that simulates, and the tips that it finds; None for both where the step is refused or breaks off."""
    chooses = module is not None and "modes" in inspect.signature(module.prepare).parameters
    more = {"modes": MODES if strains == SIX else BENDS} if chooses else {}
    try:
        run = module.prepare(rod, segments, method, dt, **more)
        tips = run()
    except (DivergedError, InputError):
        return None, None
    whole = tips.shape == (rod.samples + 1, 3) and np.isfinite(tips).all()
    return (run, tips) if whole and np.abs(tips).max() < 2.0 * rod.length else (None, None)


def wall_per_second(module: Any, rod: Rod, run: Any, arguments: tuple, repetitions: int, long: float) -> float:
    """Wall seconds of a simulated second."""
    wall = best_of(1, run)
    if wall < SHORT and long > rod.seconds:
        longer = rod.shorter(long)
        slow, _ = simulated(module, longer, *arguments)
        if slow is not None:
            return best_of(repetitions, slow) / longer.seconds
    if wall > ENOUGH:
        return wall / rod.seconds
    return best_of(repetitions, run) / rod.seconds


def sweep(case: str, entry: tuple, truths: dict[str, np.ndarray], repetitions: int, long: float = LONG) -> dict:
    """Errors and times of one method at its steps, and the best of them."""
    name, method, strains, segments, steps_ms, reference_ms = entry
    module, rod = program(name), RODS[case]
    _, own = simulated(module, rod, segments, method if name != "hydrostat" else "", 1e-3 * reference_ms, strains)
    points = []
    for step in steps_ms:
        arguments = (segments, method, 1e-3 * step, strains)
        run, tips = simulated(module, rod, *arguments)
        if run is None or own is None:
            points.append({"dt_ms": step, "stable": False})
            continue
        wall = wall_per_second(module, rod, run, arguments, repetitions, long)
        error = None if strains not in truths else rod.error_percent(tips, truths[strains])
        points.append({
            "dt_ms": step,
            "stable": True,
            "wall_per_second": wall,
            "us_per_step": 1e3 * wall * step,
            "step_error_percent": rod.error_percent(tips, own),
            "error_percent": error,
        })  # fmt: skip
    good = [point for point in points if point["stable"] and point["step_error_percent"] <= WITHIN_PERCENT]
    best = min(good, key=lambda point: point["wall_per_second"], default=None)
    about = {"program": name, "version": getattr(module, "VERSION", ""), "method": method, "strains": strains}
    return {**about, "segments": segments, "points": points, "best": best}


def elastica_nitinol(samples: int = 1) -> dict | None:
    """PyElastica's time for the stiff rod, from a fiftieth of a second: a whole one would take a minute."""
    module, rod = program("pyelastica"), RODS["nitinol"].shorter(samples * RODS["nitinol"].sample)
    if module is None:
        return None
    run, _ = simulated(module, rod, SEGMENTS, "position Verlet", 1e-3 * ELASTICA_NITINOL, SIX)
    if run is None:
        return None
    wall = best_of(2, run) / rod.seconds
    point = {"dt_ms": ELASTICA_NITINOL, "stable": True, "wall_per_second": wall}
    point |= {"us_per_step": 1e3 * wall * ELASTICA_NITINOL, "step_error_percent": None, "error_percent": None}
    return {"program": "pyelastica", "version": module.VERSION, "method": "position Verlet", "strains": SIX,
            "segments": SEGMENTS, "points": [], "best": point,
            "note": f"from {rod.seconds:g} simulated seconds; a whole second was not run"}  # fmt: skip


def measure(cases: tuple[str, ...] = tuple(SWEEPS), repetitions: int = 3) -> dict[str, Any]:
    """All cases; `left_out` says which programs are not installed."""
    missing = [name for name in PACKAGES if program(name) is None]
    found: dict[str, Any] = {"left_out": [f"{name}: not installed" for name in missing]}
    for case in cases:
        rod = RODS[case]
        # Other programs have another model of the water, and are compared with themselves alone.
        truths = {
            strains: simulated(hydrostat_rod, rod, FINE_SEGMENTS, "", FINE_STEP, strains)[1] for strains in (SIX, BOTH)
        }
        rows = [sweep(case, entry, truths, repetitions) for entry in SWEEPS[case] if entry[0] not in missing]
        if case == "nitinol":
            rows += [row for row in (elastica_nitinol(),) if row is not None]
        if case == "water":
            for row in rows:
                if row["program"] != "hydrostat":
                    for point in row["points"]:
                        point.pop("error_percent", None)
        found[case] = {
            "length_m": rod.length,
            "seconds": rod.seconds,
            "bends_alone_error_percent": rod.error_percent(truths[BOTH], truths[SIX]),
            "rows": rows,
        }
    return found


def main() -> None:
    with on_one_core():
        print(json.dumps(measure()))


if __name__ == "__main__":
    main()
