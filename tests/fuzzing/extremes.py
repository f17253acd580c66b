"""Simulations from far out: each must end with finite numbers, or say when and where it could not go on."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.errors import DivergedError
from hydrostat.robots import build_robot
from hydrostat.robots.spec import MaterialSpec
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.robots.specs.rod import elastic_rod

WATER_DENSITY = 1000.0
_NAMED = re.compile(
    r"(the simulation diverged after|the energy grew without a source before) [\d.e+-]+ s at dt = [\d.e+-]+ s, "
    r"(fastest )?in segment \d+[;:] .+"
)
_STEPS = 400


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


def extreme_runs(rng: random.Random, count: int) -> Iterator[Extreme]:
    """Random extremes: moduli from 1 kPa to 1 TPa, densities of 0.01 to 100 waters, steps from 1e-6 to 0.1 s."""
    for _ in range(count):
        yield Extreme(
            segments=rng.choice((0, 0, 1, 20, 300)),
            youngs_modulus=10.0 ** rng.uniform(3.0, 12.0),
            density_ratio=10.0 ** rng.uniform(-2.0, 2.0),
            viscosity=rng.choice((0.0, 0.0, 10.0 ** rng.uniform(0.0, 5.0))),
            dt=10.0 ** rng.uniform(-6.0, -1.0),
            current=rng.choice((0.0, 1.0, 5.0)),
            in_water=rng.random() < 0.5,
            activation=rng.choice((0.0, 0.5, 1.0)),
            force=rng.choice((0.0, 0.0, 1.0, 100.0)),
        )


def extreme_run(case: Extreme, steps: int = _STEPS) -> None:
    """Simulate it; `DivergedError` where it cannot go on, in the words that it must have."""
    system, control = _system(case)
    try:
        rows = hs.simulate(system, control, steps * case.dt, case.dt)
    except DivergedError as error:
        if not _NAMED.fullmatch(str(error)):
            raise RuntimeError(f"it is not said when and where: {error}") from error
        raise
    if not np.all(np.isfinite(rows.q)):
        raise RuntimeError("it ended, and is not a number")


def _system(case: Extreme) -> tuple[hs.System, hs.Control]:
    around = [hs.Water(current=(0.0, case.current, 0.0))] if case.in_water else []
    material = MaterialSpec(case.youngs_modulus, 0.5, WATER_DENSITY * case.density_ratio, case.viscosity)
    if case.segments:
        spec = replace(elastic_rod(0.3, 0.005, case.segments), material=material)
        load = jnp.array([[0.0, 0.0, 0.0, 0.0, case.force, 0.0]])
        return hs.System(build_robot(spec, load_places=[1.0]), around), hs.Control(load=load)
    system = hs.System(build_robot(replace(octopus_arm(), material=material)), around)
    return system, hs.Control(activation=jnp.full_like(system.rest().activation, case.activation))
