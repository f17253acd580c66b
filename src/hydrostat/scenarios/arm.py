"""What the scenarios of the octopus arm share: the arm in its water, and its motion, recorded as it goes."""

from collections.abc import Mapping, Sequence

import numpy as np

from hydrostat.control.base import Controller
from hydrostat.control.commands import Anatomy
from hydrostat.control.feedback import KnownArm
from hydrostat.results import TrajectoryRecorder
from hydrostat.results.digest import BALANCE, Digest
from hydrostat.results.rows import RowFunction
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.base import Run
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.surroundings.base import AbstractSurroundings
from hydrostat.surroundings.water import ADDED_MASS, DENSITY, NORMAL, TANGENTIAL, Water
from hydrostat.system import System


def arm_system(run: Run, parts: Sequence[AbstractSurroundings] = (), *, current=(0.0, 0.0, 0.0), gains=None) -> System:
    """The arm of a scenario in the water that its settings describe, with what else is around it."""
    settings = run.settings
    robot = build_robot(run.robot, bulk_modulus=settings.bulk_modulus if settings.volume == "pressure" else None)
    return System(robot, [_water(settings, current), *parts], muscle_gains=gains)


def known_arm(run: Run) -> KnownArm:
    """The arm as its controller knows it: in still water, with a volume that is kept exactly."""
    return KnownArm.of(System(build_robot(run.robot), [_water(run.settings)]))


def _water(settings, current=(0.0, 0.0, 0.0)) -> Water:
    drag = (NORMAL, TANGENTIAL) if settings.drag else (0.0, 0.0)
    return Water(DENSITY, *drag, current=current, added_mass=ADDED_MASS if settings.added_mass else None)


def muscle_gains(run: Run, anatomy: Anatomy, *arms: int) -> np.ndarray:
    """A constant gain for every muscle of an arm, or of so many, drawn with the noise that the settings ask for."""
    rng = np.random.default_rng([run.seed, 1])
    noise = rng.normal(size=(*arms, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)


def move(
    run: Run,
    system: System,
    controller: Controller,
    seconds: float,
    *,
    record: str | None = None,
    share: tuple[float, float] = (0.0, 1.0),
    functions: Mapping[str, RowFunction] = BALANCE,
) -> Digest:
    """The motion of a driven arm, a row every step; what is kept of it does not grow with its length.

    **Arguments:** `record`: the name of the scenario, where all rows are written to the folder of the run; `share`: of
    the scenario's progress that this motion is, the first one compiles for all; `functions`: what is gathered of every
    row.
    """
    simulation = Simulation(system, controller, 1e-3 * run.settings.dt_ms)
    rows = simulation.rows(seconds) + 1
    digest = Digest(rows, functions)
    recorder = TrajectoryRecorder(run.folder, system, rows, attributes={"scenario": record}) if record else None
    first, last = share
    if first == 0.0 or recorder is not None:
        with run.compiling("compiling the motion"):
            trial = simulation.compile(seconds)
            digest.compile(trial)
            if recorder is not None:
                recorder.compile(trial)

    def take(piece) -> None:
        if recorder is not None:
            recorder.append(piece)
        with run.untimed():
            digest.append(piece)

    with run.timed():
        simulation(
            seconds,
            keep=False,
            on_rows=take,
            on_progress=lambda done: run.progress("moving", first + done * (last - first)),
        )
    if recorder is not None:
        recorder.close()
    return digest


def kept_metrics(motions: Sequence[Digest]) -> dict:
    """How well motions of one arm kept its volume, and by which pressure, and their energy."""
    metrics = {
        "volume_error_max": max(one.volume_error() for one in motions),
        "mesh_volume_error_max": max(one.mesh_volume_error() for one in motions),
    }
    pressure = max(float(one.values["pressure"].max()) for one in motions)
    if pressure > 0.0:
        metrics["pressure_max_kpa"] = 1e-3 * pressure
    return {**metrics, "energy_balance_error": max(one.energy_balance_error() for one in motions)}
