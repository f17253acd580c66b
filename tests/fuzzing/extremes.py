"""Simulations from far out: each must end with finite numbers, or say when and where it could not go on."""

import random
import re
from dataclasses import asdict, dataclass, replace

import jax.numpy as jnp
import numpy as np
from tally import Tally

import hydrostat as hs
from hydrostat.errors import DivergedError
from hydrostat.robots import build_robot
from hydrostat.robots.spec import MaterialSpec
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.robots.specs.rod import elastic_rod
from hydrostat.simulation.energy_watch import draw_up
from hydrostat.stepping import default_stepper

WATER_DENSITY = 1000.0
MOST_GAIN = 0.5
"""Largest share of the energy that may have no source in a run that ends without a word."""
_NAMED = re.compile(
    r"(the simulation diverged after|the energy grew without a source before) [\d.e+-]+ s at dt = [\d.e+-]+ s, "
    r"(fastest )?in segment \d+[;:] .+"
)
_STEPS = 400
_MINUTE = 60.0  # s


@dataclass(frozen=True)
class Extreme:
    """A simulation from far out."""

    segments: int
    """Number of segments of a rod; 0 for the octopus arm."""
    youngs_modulus: float
    density_ratio: float
    viscosity: float
    dt: float
    current: float
    in_water: bool
    activation: float
    force: float
    """Force on the tip of a rod, across it [N]."""
    seconds: float


def extreme(rng: random.Random) -> Extreme:
    """A random extreme: moduli from 1 kPa to 1 TPa, densities of 0.01 to 100 waters, steps from 1e-6 to 0.1 s.

    Some of the octopus arms are held under their command for a minute.
    """
    segments, minute = rng.choice((0, 0, 1, 20, 300)), rng.random() < 0.2
    dt = 10.0 ** rng.uniform(-6.0, -1.0)
    if minute and segments == 0:
        dt = 10.0 ** rng.uniform(-2.5, -1.0)
    return Extreme(
        segments=segments,
        youngs_modulus=10.0 ** rng.uniform(3.0, 12.0),
        density_ratio=10.0 ** rng.uniform(-2.0, 2.0),
        viscosity=rng.choice((0.0, 0.0, 10.0 ** rng.uniform(0.0, 5.0))),
        dt=dt,
        current=rng.choice((0.0, 1.0, 5.0)),
        in_water=rng.random() < 0.5,
        activation=rng.choice((0.0, 0.5, 1.0)),
        force=rng.choice((0.0, 0.0, 1.0, 100.0)),
        seconds=_MINUTE if minute and segments == 0 else _STEPS * dt,
    )


def try_extreme(case: Extreme, tally: Tally) -> None:
    """Simulate an extreme, and count how it ended."""
    tally.note(case=asdict(case))
    with tally.answered(lambda: case):
        try:
            rows = extreme_run(case)
        except DivergedError as error:
            tally.note(said=str(error))
            raise
        gain = unexplained_share(case, rows)
        tally.note(gain=gain)
        tally.count("silent growth", gain > MOST_GAIN)
        tally.measure("gain", gain)


def extreme_run(case: Extreme) -> hs.Trajectory:
    """Simulate it; `DivergedError` where it cannot go on, in the words that it must have."""
    system, control = _system(case)
    try:
        rows = hs.simulate(system, control, case.seconds, case.dt)
    except DivergedError as error:
        if not _NAMED.fullmatch(str(error)):
            raise RuntimeError(f"it is not said when and where: {error}") from error
        raise
    if not np.all(np.isfinite(rows.q)):
        raise RuntimeError("it ended, and is not a number")
    return rows


def unexplained_share(case: Extreme, rows: hs.Trajectory) -> float:
    """The largest part of the energy that has no source, over the work and the kinetic energy.

    Of a rod in air this needs no sum over steps: its own energy and that of the dead force on its tip can only become
    less. Otherwise it is the balance over all steps, whether or not the simulation had drawn it up.
    """
    if case.segments and not case.in_water:
        energy, work = rows.energy(), case.force * np.asarray(rows.tip)[:, 1]
        whole = np.asarray(energy.total) - work
        size = np.max(energy.kinetic) + np.ptp(work) + np.ptp(energy.gravitational)
        return float(np.max(whole - whole[0]) / (size + _least_energy(rows)))
    balance = draw_up(rows, default_stepper(rows.system))
    return balance.gain / (balance.size + _least_energy(rows))


def _least_energy(rows: hs.Trajectory) -> float:
    """What rounding may leave, and the weight of the arm times a hair's breadth: less is no motion [J]."""
    energy = rows.energy()
    return 1e-12 * float(np.max(np.abs(energy.total))) + 1e-9


def _system(case: Extreme) -> tuple[hs.System, hs.Control]:
    around = [hs.Water(current=(0.0, case.current, 0.0))] if case.in_water else []
    material = MaterialSpec(case.youngs_modulus, 0.5, WATER_DENSITY * case.density_ratio, case.viscosity)
    if case.segments:
        spec = replace(elastic_rod(0.3, 0.005, case.segments), material=material)
        load = jnp.array([[0.0, 0.0, 0.0, 0.0, case.force, 0.0]])
        return hs.System(build_robot(spec, load_places=[1.0]), around), hs.Control(load=load)
    system = hs.System(build_robot(replace(octopus_arm(), material=material)), around)
    return system, hs.Control(activation=jnp.full_like(system.rest().activation, case.activation))
