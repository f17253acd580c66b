"""Set-up that the scenarios of whole octopuses share: the animal in its sea, and its motion, recorded as it goes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Anatomy
from hydrostat.errors import InputError
from hydrostat.mechanics import GRAVITY
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import fatigue, muscle_gains
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.surroundings import ADDED_MASS, AbstractSurroundings

_ROW_S = 0.01  # from row to row, where steps are not longer


@dataclass(frozen=True)
class Octopus:
    """An octopus in its sea, ready to be commanded."""

    system: hs.System
    failed_suckers: tuple[int, ...]
    """Arms whose suckers do not hold, by their numbers from 1 among those that are left."""
    notes: list[str]
    """Sentences for the user about lost arms and failed suckers."""

    @property
    def length(self) -> float:
        """From the top of its mantle to the tips of its arms, were they all closed [m]."""
        robot = self.system.robot
        assert robot.body is not None
        assert isinstance(robot.mounts, hs.SE3)
        return float(robot.body.radius - robot.mounts.position[0, 2] + robot.arm.length)

    @property
    def weight_in_water(self) -> float:
        """Weight less buoyancy of body and arms [N]."""
        system = self.system
        robot, water = system.robot, system.part(hs.Water)
        assert robot.base_inertia is not None
        assert robot.body is not None
        inertia, density = np.asarray(robot.one.inertia[..., 3]), np.asarray(robot.arm.material.density)
        arms = robot.count * float(np.sum(inertia * (1.0 - float(water.density) / density[:, None])))
        body = float(robot.base_inertia[3]) - float(water.density * robot.body.volume)
        return float(np.linalg.norm(system.gravity)) * (arms + body)


def octopus(
    run: Run,
    *,
    ground: bool = True,
    weight: float = 1.0,
    free: bool = True,
    current=(0.0, 0.0, 0.0),
    parts: Sequence[AbstractSurroundings] = (),
    draw: int = 0,
) -> Octopus:
    """The octopus of a run, without the arms that it has lost.

    **Arguments:** `ground`: whether it lies on the ground, or is in open water; `weight`: share of their weight in
    water by which body and arms sink, the rest being made up for by buoyancy; `free`: whether its body moves;
    `current`: velocity of the water [m/s]; `parts`: other surroundings; `draw`: which draw of the muscles' gains it
    has.
    """
    spec, settings = run.limbed, run.settings
    lost, failed = (_numbers(run, name) for name in ("lost_arms", "failed_suckers"))
    if len(lost) == len(spec.limbs):
        raise InputError(f"`lost_arms` must leave one of the arms 1 to {len(spec.limbs)}; got {sorted(lost)}")
    kept = [i for i in range(len(spec.limbs)) if i + 1 not in lost]
    robot = build_robot(spec, free=free, arms=kept)
    carried = ADDED_MASS if getattr(settings, "added_mass", False) else None
    around: list[AbstractSurroundings] = [hs.Water(current=current, added_mass=carried)]
    if ground:
        around += [hs.Ground(), hs.Suckers()]
    if getattr(settings, "arm_contact", False):
        around.append(hs.ArmContact())
    gains = muscle_gains(run, Anatomy.of(robot), robot.count, draw=draw)
    own = {"muscle_gains": gains, "fatigue": fatigue(run)}
    system = hs.System(robot, [*around, *parts], gravity=weight * np.array(GRAVITY), **own)
    faults = {"lost arms": lost, "failed suckers of arms": failed}
    return Octopus(
        system,
        tuple(number for number, i in enumerate(kept, 1) if i + 1 in failed),
        [f"{what} {', '.join(map(str, sorted(one)))}: what follows is without" for what, one in faults.items() if one],
    )


def _numbers(run: Run, name: str) -> set[int]:
    """Arms that a setting names by their numbers from 1; none where the scenario has no such setting."""
    count = len(run.limbed.limbs)
    named = {int(number) for number in getattr(run.settings, name, ())}
    if any(not 1 <= number <= count for number in named):
        raise InputError(f"`{name}` must name some of the arms 1 to {count}; got {sorted(named)}")
    return named


def move(run: Run, octopus: Octopus, controller: hs.Controller, seconds: float, **options) -> hs.Trajectory:
    """The motion that a controller makes; `options` are those of `Run.simulate`."""
    return run.simulate(octopus.system, controller, seconds, **options)


def move_both(
    run: Run, animal: Octopus, both: Sequence[hs.Controller], seconds: float, state: hs.State | None = None
) -> tuple[hs.Trajectory, ...]:
    """The motions under two controllers, one after the other, from rest or a state; the first is recorded."""
    first, second = both
    options = {"every": row_steps(run), "state": state}
    recorded = move(run, animal, first, seconds, share=(0.0, 0.5), record=True, **options)
    return recorded, move(run, animal, second, seconds, share=(0.5, 1.0), **options)


def outcome(run: Run, animal: Octopus, motions, metrics: dict, title: str, draw, **options) -> Outcome:
    """The outcome of one or several motions of equal length, of which the first is replayed.

    **Arguments:** `draw`: draws the figure into a file.
    """
    shown, every = motions[0], row_steps(run)
    return Outcome(
        metrics,
        figure=draw,
        replay=lambda path: shown.replay(path, title),
        dt=run.dt,
        **{"steps": len(motions) * every * (len(shown) - 1), "notes": animal.notes, **options},
    )


def row_steps(run: Run) -> int:
    """Steps from row to row."""
    return run.steps_per_row(_ROW_S)


def beat(settings) -> dict:
    """The options of `Swim` for the beat that settings describe."""
    keys = {"last": "swing_to", "period": "period_s"}
    return {name: getattr(settings, keys.get(name, name)) for name in ("swing", "stiffen", "last", "period", "ratio")}
