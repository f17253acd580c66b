"""The rod in SoRoMoX: piecewise constant strain, by its own `rollout_to` with the solvers that come with it.

Its best setting: bends alone, since shear and stretch would bound the step of its explicit solvers a hundred times as
tightly; one compiled function for the whole rollout. Tsit5 is its default; its semi-implicit Euler evaluates the
dynamics once a step. Its dynamics forms the dense mass matrix, whose cost grows with the cube of the segments, so fewer
segments may be its better choice. It has no water.
"""

from collections.abc import Callable
from importlib.metadata import version

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from peers.rods import Rod
from soromox.simulation import SemiImplicitEuler
from soromox.systems.components import LinkSpec
from soromox.systems.pcs import PCS, PCSStructure
from soromox.systems.system_state import SystemState

METHODS = {"semi-implicit Euler": SemiImplicitEuler, "Tsit5": lambda _: diffrax.Tsit5()}
VERSION = version("soromox")
_BENDS = [0, 1, 1, 0, 0, 0]  # of twist, two bends, stretch and two shears
_STRAIGHT = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def prepare(rod: Rod, segments: int, method: str, dt: float) -> Callable[[], np.ndarray]:
    """A function that simulates the rod and gives the tip at every sample."""
    steps = rod.per_sample(dt)
    middles = (np.arange(segments) + 0.5) / segments
    radii = rod.radius[0] + (rod.radius[1] - rod.radius[0]) * middles
    links = [
        LinkSpec.circular(
            length=rod.length / segments,
            radius=float(radius),
            density=rod.density,
            reference_strain=_STRAIGHT,
            young_modulus=rod.youngs_modulus,
            poisson_ratio=rod.poisson_ratio,
        )
        for radius in radii
    ]
    structure = PCSStructure(strain_selector=jnp.array(_BENDS * segments, dtype=bool))
    robot = PCS.from_links(links, structure=structure, gravity=jnp.asarray(rod.gravity))
    count = robot.num_internal_dofs
    times = jnp.linspace(0.0, rod.seconds, rod.samples + 1)

    @eqx.filter_jit
    def roll(robot, dt):
        start = SystemState(t=jnp.asarray(0.0), y=jnp.zeros(2 * count))
        rows = robot.rollout_to(
            start,
            t1=rod.seconds,
            solver_dt=dt,
            save_ts=times,
            solver=METHODS[method](robot),
            max_steps=steps * rod.samples + 2,
        )
        return jax.vmap(lambda y: robot.forward_kinematics(y[:count], jnp.asarray(rod.length))[:3, 3])(rows.y)

    step = jnp.asarray(dt)
    return lambda: np.asarray(roll(robot, step))
