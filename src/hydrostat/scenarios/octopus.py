"""What the scenarios of whole octopuses share: the animal in its sea, and its motion, recorded as it goes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hydrostat.control import Controller
from hydrostat.control.anatomy import Anatomy
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY
from hydrostat.results import Trajectory
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.arm import muscle_gains
from hydrostat.scenarios.base import Run
from hydrostat.sensing import Sensors
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.stepping import AbstractStepper
from hydrostat.surroundings import AbstractSurroundings, ArmContact, Ground, Suckers, Water
from hydrostat.system import System

_ROW_S = 0.01  # from row to row, where steps are not longer


@dataclass(frozen=True)
class Octopus:
    """An octopus in its sea, ready to be commanded."""

    system: System
    failed_suckers: tuple[int, ...]
    """Arms whose suckers do not hold, by their numbers from 1 among those that are left."""
    notes: list[str]
    """What it lacks."""

    @property
    def length(self) -> float:
        """From the top of its mantle to the tips of its arms, were they all closed [m]."""
        robot = self.system.robot
        assert robot.body is not None
        assert isinstance(robot.mounts, SE3)
        return float(robot.body.radius - robot.mounts.position[0, 2] + robot.arm.length)


def octopus(
    run: Run,
    *,
    ground: bool = True,
    weight: float = 1.0,
    free: bool = True,
    water: Water | None = None,
    parts: Sequence[AbstractSurroundings] = (),
) -> Octopus:
    """The octopus of a run, without the arms that it has lost.

    **Arguments:** `ground`: whether it lies on the ground, or is in open water; `weight`: by how much of their weight
    in water body and arms sink; `free`: whether its body moves; `water`: still water when not given; `parts`: what else
    is around.
    """
    spec, settings = run.limbed, run.settings
    lost, failed = (_numbers(run, name) for name in ("lost_arms", "failed_suckers"))
    if len(lost) == len(spec.limbs):
        raise InputError(f"`lost_arms` must leave one of the arms 1 to {len(spec.limbs)}; got {sorted(lost)}")
    kept = [i for i in range(len(spec.limbs)) if i + 1 not in lost]
    robot = build_robot(spec, free=free, arms=kept)
    around: list[AbstractSurroundings] = [Water() if water is None else water]
    if ground:
        around += [Ground(), Suckers()]
    if getattr(settings, "arm_contact", False):
        around.append(ArmContact())
    system = System(
        robot,
        [*around, *parts],
        gravity=weight * np.array(GRAVITY),
        muscle_gains=muscle_gains(run, Anatomy.of(robot), robot.count),
    )
    return Octopus(
        system,
        tuple(number for number, i in enumerate(kept, 1) if i + 1 in failed),
        [
            f"{what} {', '.join(map(str, sorted(which)))}: what follows is without"
            for what, which in (("lost arms", lost), ("failed suckers of arms", failed))
            if which
        ],
    )


def _numbers(run: Run, name: str) -> set[int]:
    """Arms that a setting names by their numbers from 1; none where the scenario has no such setting."""
    count = len(run.limbed.limbs)
    given = {int(number) for number in getattr(run.settings, name, ())}
    if any(not 1 <= number <= count for number in given):
        raise InputError(f"`{name}` must name some of the arms 1 to {count}; got {sorted(given)}")
    return given


def move(
    run: Run,
    octopus: Octopus,
    controller: Controller,
    seconds: float,
    *,
    every: int = 1,
    share: tuple[float, float] = (0.0, 1.0),
    record: bool = False,
    sensors: Sensors | None = None,
    stepper: AbstractStepper | None = None,
) -> Trajectory:
    """The motion that a controller makes, a row every so many steps.

    **Arguments:** `share`: of the scenario's progress that this run is; the first one compiles for all; `record`:
    whether it is the one that is written to the result folder, as it goes.
    """
    first, last = share
    with run.compiling("compiling the octopus"):
        dt = 1e-3 * run.settings.dt_ms
        simulation = Simulation(octopus.system, controller, dt, stepper=stepper, sensors=sensors, every=every)
        if first == 0.0:
            simulation.compile(seconds, record=record)
    with run.timed():
        return simulation(
            seconds,
            record=run.folder if record else None,
            on_progress=lambda done: run.progress("moving", first + done * (last - first)),
        )


def row_steps(run: Run) -> int:
    """Steps from row to row."""
    return max(1, round(_ROW_S / (1e-3 * run.settings.dt_ms)))


def way(trajectory: Trajectory) -> np.ndarray:
    """Where the body is, from where it began (rows, 3) [m]."""
    return np.asarray(trajectory.body - trajectory.body[0])


def yaw(trajectory: Trajectory) -> np.ndarray:
    """By how much the body has turned about the vertical [deg]."""
    rotation = np.asarray(trajectory.body_pose.rotation)
    return np.rad2deg(np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])))
