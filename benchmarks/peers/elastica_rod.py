"""The rod in PyElastica: a Cosserat rod of elements with all six strains, stepped by position Verlet.

Its best setting: of its two symplectic steppers position Verlet computes the forces once a step. The step is bounded by
the vibrations of shear, which it cannot leave out. It has no Kelvin-Voigt damping and no water of its own: only
undamped rods in air are compared.
"""

from collections.abc import Callable
from importlib.metadata import version

import elastica
import numpy as np

from peers.rods import Rod

METHODS = {"position Verlet": elastica.PositionVerlet}
VERSION = version("pyelastica")


class _Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
    """A collection of one rod with its clamp and its weight."""


def prepare(rod: Rod, segments: int, method: str, dt: float) -> Callable[[], np.ndarray]:
    """A function that simulates the rod and gives the tip at every sample."""
    places = (np.arange(segments) + 0.5) / segments
    radius = rod.radius[0] + (rod.radius[1] - rod.radius[0]) * places
    shear = rod.youngs_modulus / (2.0 * (1.0 + rod.poisson_ratio))

    def build():
        simulator = _Simulator()
        made = elastica.CosseratRod.straight_rod(
            segments,
            np.zeros(3),
            np.array([1.0, 0.0, 0.0]),
            np.array([0.0, 0.0, 1.0]),
            rod.length,
            radius,
            rod.density,
            youngs_modulus=rod.youngs_modulus,
            shear_modulus=shear,
        )
        simulator.append(made)
        simulator.constrain(made).using(
            elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
        )
        simulator.add_forcing_to(made).using(elastica.GravityForces, acc_gravity=np.array(rod.gravity))
        simulator.finalize()
        return simulator, made

    steps = rod.per_sample(dt)
    stepper = METHODS[method]()

    def simulate() -> np.ndarray:
        simulator, made = build()
        now, step = np.float64(0.0), np.float64(dt)
        tips = [made.position_collection[:, -1].copy()]
        with np.errstate(all="ignore"):
            for _ in range(rod.samples):
                for _ in range(steps):
                    now = stepper.step(simulator, now, step)
                tips.append(made.position_collection[:, -1].copy())
                if not np.isfinite(tips[-1]).all():
                    break
        return np.array(tips)

    return simulate
