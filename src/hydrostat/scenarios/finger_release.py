"""finger-release: the clamped rod with weights at its tip is pulled up and let go, as in Dehghani's experiment."""

import numpy as np

from hydrostat import System
from hydrostat.identification import read_tip_heights
from hydrostat.mechanics import planar, vibrations
from hydrostat.results import Coordinate, Trajectory, Variable, accuracy, planar_figures
from hydrostat.robots import RobotSpec, alterations, build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger_release_results import EXACT_ARCS, draw_release, height_deviation, swing_frequency
from hydrostat.simulation import Simulation, compile_pieces, side_by_side
from hydrostat.stepping import SDIRK2

_TOLERANCE = 1e-7  # rad, of the stepper: far below the error of the step itself
_ROW_SECONDS = 0.01  # between recorded rows, at most
_PERIOD_ROWS, _PERIOD_STEPS = 20, 50  # recorded rows and steps in a period of the fastest first vibration, at least
_REFINEMENTS = 3  # how often the step is divided by four where the motion is too violent for it
_LARGEST_DRIFT = 0.02  # of the energy, per second: more is said


def release(run: Run) -> Outcome:
    """Release the finger with each weight, once with its friction and once without."""
    set_, weights, count = run.settings, run.settings.tip_masses_g, len(run.settings.tip_masses_g)
    measured = read_tip_heights(set_.measured, weights) if set_.measured else None
    specs = [alterations.bare_rod(run.robot, 1e-3 * grams) for grams in weights]
    rests = []
    with run.compiling("equilibria and vibrations"):
        for spec in specs:
            rests.append(_rest(spec, set_.pull_deg))
            run.progress("equilibria and vibrations", len(rests) / count)
    held, rest_tips, frequencies = zip(*rests, strict=True)
    dt, every, notes = _steps(run.dt, float(np.max(frequencies)))
    rows = -(-max(round(set_.seconds / dt), 1) // every)
    systems = [System(build_robot(spec)) for spec in (*specs, *map(alterations.without_damping, specs))]
    starts = [system.rest(one.q[:2]) for system, one in zip(systems, 2 * held, strict=True)]
    stepper = SDIRK2(tolerance=_TOLERANCE)
    simulations = [Simulation(system, dt=dt, stepper=stepper, every=every) for system in systems]
    arm = systems[0].robot.arm
    with run.compiling("compiling the motion"):
        _observed(compile_pieces(simulations[0], starts[0], rows))

    blocks = []
    with run.timed(), _recorder(run, rows + 1) as recorder:

        def refined(time: float, step: float) -> None:
            notes.append(
                f"from {time:.3g} s on the step is {1e3 * step:.3g} ms: the motion is too violent for a longer"
            )

        for block in side_by_side(simulations, starts, rows, _REFINEMENTS, refined):
            tips, energies = (np.stack(y, 1) for y in zip(*map(_observed, block), strict=True))
            q = np.stack([part.q for part in block[:count]], 1)
            blocks.append((block[0].time, q, tips[:, :count], energies))
            kept = {"tip": tips[:, :count], "energy": energies[:, :count], "energy_undamped": energies[:, count:]}
            recorder.append(block[0].time, theta=planar.arc_angles(arm, q), **kept)
            run.progress("releasing", (recorder.rows - 1) / rows)

    time, q, tips, energies = (np.concatenate(y) for y in zip(*blocks, strict=True))
    paths = np.swapaxes(planar.in_plane(arm, tips), 0, 1)
    drifts = np.stack([np.abs(accuracy.energy_change(energies[:, count + i])) for i in range(count)])
    rest_tips = np.stack(rest_tips)
    metrics = {
        "tip_masses_g": list(weights),
        "f1_hz": [two for two, _ in frequencies],
        "f1_exact_hz": [many for _, many in frequencies],
        "f1_observed_hz": [swing_frequency(time, *pair) for pair in zip(paths, rest_tips[:, 0], strict=True)],
        "tip_sag_mm": list(-1e3 * rest_tips[:, 0, 1]),
        "tip_sag_exact_mm": list(-1e3 * rest_tips[:, 1, 1]),
        "tip_released_mm": list(1e3 * paths[:, 0, 1]),
        "pull_force_n": [one.force for one in held],
        "energy_drift": float(np.max(drifts)) / float(time[-1]),
    }
    if measured is not None:
        metrics["measured_rms_mm"] = [height_deviation(measured, i, time, paths[i, :, 1]) for i in range(count)]
    if metrics["energy_drift"] > _LARGEST_DRIFT:
        drift = 100.0 * metrics["energy_drift"]
        notes.append(
            f"without friction the energy drifts by {drift:.2g} % per second, so do not trust the motion: "
            "take a smaller `dt_ms`, or lighter weights"
        )
    title = f"finger-release: {run.robot.name}"
    shown = [planar_figures.ShownArm(f"{i + 1}: {w:g} g", arm, q[:, i], 1e-3 * w) for i, w in enumerate(weights)]
    words = "the finger is unstable where it hangs: a negative frequency is imaginary"
    unstable = [grams for grams, f1 in zip(weights, frequencies, strict=True) if min(f1) <= 0.0]
    return Outcome(
        metrics,
        figure=lambda path: draw_release(path, arm, metrics, time, q, paths, drifts, measured, title),
        replay=lambda path: planar_figures.replay_side_by_side(path, time, shown, title),
        sim_seconds=len(simulations) * rows * every * dt,
        dt=dt,
        steps=len(simulations) * rows * every,
        notes=[*notes, *(f"with {grams:g} g at its tip {words}" for grams in unstable)],
    )


def _steps(dt: float, frequency: float) -> tuple[float, int, list[str]]:
    """The step [s], the number of steps from row to row, and a note where the step is smaller than the given one.

    **Arguments:** `dt`: the given step; `frequency`: of the fastest first vibration [Hz], which must be resolved.
    """
    longest = 1.0 / (_PERIOD_STEPS * max(frequency, 1e-6))
    notes = []
    if dt > longest:
        dt = longest
        words = f"the first vibration of {frequency:.3g} Hz needs {_PERIOD_STEPS} steps a period"
        notes.append(f"the step is {1e3 * dt:.3g} ms, and not `dt_ms`: {words}")
    between = min(_ROW_SECONDS, _PERIOD_STEPS * longest / _PERIOD_ROWS)
    return dt, max(round(between / dt), 1), notes


def _rest(spec: RobotSpec, pull_deg: float) -> tuple[planar.HeldTip, np.ndarray, list[float]]:
    """The two arcs with their tip held; tips at rest [m] and first frequencies [Hz] of the two arcs and of many."""
    tips, frequencies = [], []
    # In arrays of one size, so that one function is compiled for all.
    robots = [alterations.padded_chain(spec, arcs, EXACT_ARCS) for arcs in (2, EXACT_ARCS)]
    for robot in robots:
        q = planar.rest(robot)
        tips.append(planar.tip_in_plane(robot.arm, q))
        frequencies.append(float(vibrations(robot, q).frequencies[0]))
    return planar.hold_tip(robots[0], pull_deg), np.stack(tips), frequencies


def _observed(rows: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """The tip [m], and the kinetic, elastic and gravitational energy [J], of every row (rows, 3)."""
    return np.asarray(rows.tip), np.stack(rows.energy()[:3], -1)


def _recorder(run: Run, total: int):
    """The recorder of all weights side by side."""
    weights = run.settings.tip_masses_g
    count = len(weights)
    variables = [
        Variable("theta", ("weight", "arc"), (count, 2), "rad", "bend of each arc, positive downwards"),
        Variable("tip", ("weight", "axis"), (count, 3), "m", "tip in the world"),
        Variable("energy", ("weight", "kind"), (count, 3), "J", "of the finger with friction"),
        Variable("energy_undamped", ("weight", "kind"), (count, 3), "J", "of the finger without friction"),
    ]
    masses = Coordinate("weight", [1e-3 * grams for grams in weights], "kg", "mass at the tip")
    coordinates = [masses, Coordinate("kind", ["kinetic", "elastic", "gravitational"])]
    attributes = {"scenario": "finger-release", "robot": run.robot.name}
    return run.recorder(variables, total, attributes=attributes, coordinates=coordinates)
