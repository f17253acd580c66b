"""Set-up that the scenarios of the octopus arm share: the arm in its water, and its motion, recorded as it goes."""

from collections.abc import Mapping, Sequence

import numpy as np

import hydrostat as hs
from hydrostat.actuation import Fatigue
from hydrostat.control import KnownArm
from hydrostat.control.commands import Anatomy
from hydrostat.results import BALANCE, Digest, TrajectoryRecorder
from hydrostat.robots import RobotSpec, build_robot, with_paper_muscles
from hydrostat.scenarios.base import Run
from hydrostat.simulation import Simulation
from hydrostat.surroundings import ADDED_MASS, AbstractSurroundings


def arm_system(
    run: Run, parts: Sequence[AbstractSurroundings] = (), *, current=(0.0, 0.0, 0.0), gains=None
) -> hs.System:
    """The arm of a scenario in the water that its settings describe, with other surroundings besides."""
    settings = run.settings
    bulk = settings.bulk_modulus if settings.volume == "pressure" else None
    around = [_water(settings, current), *parts]
    return hs.System(build_robot(arm_spec(run), bulk_modulus=bulk), around, muscle_gains=gains, fatigue=fatigue(run))


def arm_spec(run: Run) -> RobotSpec:
    """The arm of a scenario with the muscles that its settings choose."""
    return with_paper_muscles(run.robot) if run.settings.muscle_law == "paper" else run.robot


def arm_name(run: Run) -> str:
    """The name of the arm, with its muscles where they are not its own."""
    return run.robot.name + (" with the paper's muscles" if run.settings.muscle_law == "paper" else "")


def fatigue(run: Run) -> Fatigue | None:
    """How fast muscles tire; None where the settings of a scenario do not ask for it."""
    settings = run.settings
    return Fatigue(settings.fatigue_rate, settings.recovery_rate) if getattr(settings, "fatigue", False) else None


def fatigued_shares(last: hs.Trajectory) -> np.ndarray | None:
    """The fatigued shares of all muscles at the end of a motion; None for muscles that do not tire."""
    each = last.state.fatigue
    if each is None:
        return None
    return np.concatenate([np.ravel(np.asarray(one)[-1]) for one in (each if isinstance(each, tuple) else (each,))])


def known_arm(run: Run) -> KnownArm:
    """The arm as its controller knows it: in still water, with a volume that is kept exactly."""
    return KnownArm.of(hs.System(build_robot(arm_spec(run)), [_water(run.settings)]))


def _water(settings, current=(0.0, 0.0, 0.0)) -> hs.Water:
    """Sea water, with drag and added mass as the settings say."""
    drag = {} if settings.drag else {"normal": 0.0, "tangential": 0.0}
    return hs.Water(current=current, added_mass=ADDED_MASS if settings.added_mass else None, **drag)


def muscle_gains(run: Run, anatomy: Anatomy, *arms: int, draw: int = 0) -> np.ndarray:
    """A constant gain for every muscle of an arm, or of several arms, drawn with the noise of the settings.

    **Arguments:** `draw`: which of several draws of the run's seed.
    """
    rng = np.random.default_rng([run.seed, 1, draw] if draw else [run.seed, 1])
    noise = rng.normal(size=(*arms, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)


def move(
    run: Run,
    system: hs.System,
    controller: hs.Controller,
    seconds: float,
    *,
    record: str | None = None,
    share: tuple[float, float] = (0.0, 1.0),
    functions: Mapping = BALANCE,
) -> Digest:
    """The motion of a driven arm, a row every step, kept as a digest that does not grow with its length.

    **Arguments:** `record`: the name of the scenario, where all rows are written to the folder of the run; `share`: of
    the scenario's progress that this motion is, the first one compiles for all; `functions`: row functions whose values
    are gathered of every row.
    """
    simulation = Simulation(system, controller, run.dt)
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


def balance_metrics(motions: Sequence[Digest]) -> dict:
    """How well motions of one arm kept its volume, by which pressure, and how well their energy balances."""
    metrics = {
        "volume_error_max": max(one.volume_error() for one in motions),
        "mesh_volume_error_max": max(one.mesh_volume_error() for one in motions),
    }
    pressure = max(float(one.values["pressure"].max()) for one in motions)
    if pressure > 0.0:
        metrics["pressure_max_kpa"] = 1e-3 * pressure
    return {**metrics, "energy_balance_error": max(one.energy_balance_error() for one in motions)}
