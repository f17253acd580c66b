"""The rod in hydrostat, by machine code: `METHODS` are its integrators."""

from collections.abc import Callable

import numpy as np

import hydrostat as hs
from hydrostat.robots import MODES
from hydrostat.simulation.simulate import Run
from peers.rods import Rod

# Iterations end at 1e-6 rad, below the error of all steps that are compared; the reference has the default of 1e-8.
METHODS = {
    "SDIRK2": hs.SDIRK2(tolerance=1e-6),
    "linearly implicit Euler": hs.LinearImplicitEuler(),
    "RK4": hs.RK4(),
}


def prepare(
    rod: Rod, segments: int, method: str, dt: float, modes: tuple[str, ...] = MODES, backend: str = "native"
) -> Callable[[], np.ndarray]:
    """A function that simulates the rod and gives the tip at every sample."""
    around = () if rod.current is None else (hs.Water(current=rod.current),)
    robot = hs.robots.build_robot(rod.specification(segments, modes))
    system = hs.System(robot, around, gravity=rod.gravity)
    stepper = METHODS.get(method, hs.SDIRK2())
    run = Run(system, None, dt, every=rod.per_sample(dt), stepper=stepper, backend=backend)
    run.compile(rod.seconds)
    return lambda: np.asarray(run(rod.seconds).tip)
