"""The rod in SoRoMoX: piecewise constant strain, by its own `rollout_to` with the solvers that come with it.

Its best setting: bends alone, since shear and stretch bound the step of its explicit solvers far more tightly (all six
strains are timed as well, at the longest steps at which they stay finite); one compiled function for the whole rollout;
semi-implicit Euler, which evaluates the dynamics once a step. As shipped it takes Tsit5 at 0.1 ms, which does so six
times a step; with 8 segments of the soft arm that was unstable at 2.5 ms, where semi-implicit Euler still runs at 2 ms.
Its cost of a step grows faster than the number of segments, since it forms the dense mass matrix; 8 segments are
compared as well, and for the stiff rod alone, of which 20 are stable only below 0.1 ms and would take several seconds
for a simulated one. It has no water.
"""

from collections.abc import Callable
from importlib.metadata import version

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from soromox.simulation import SemiImplicitEuler
from soromox.systems.components import LinkSpec
from soromox.systems.pcs import PCS, PCSStructure
from soromox.systems.system_state import SystemState

from peers.rods import BENDS, Rod

METHODS = {"semi-implicit Euler": SemiImplicitEuler, "Tsit5": lambda robot: None}
"""Its solvers; none is its default, Tsit5."""
VERSION = version("soromox")
_ORDER = ("twist", "bend_x", "bend_y", "stretch", "shear_x", "shear_y")  # of its strains
_STRAIGHT = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


@eqx.filter_jit
def _tips(robot: PCS, dt, times, length: float, method: str):
    """The tip at some times; compiled once for all steps."""
    count = robot.num_internal_dofs
    start = SystemState(t=jnp.asarray(0.0), y=jnp.zeros(2 * count))
    solver = METHODS[method](robot)
    rows = robot.rollout_to(start, t1=times[-1], solver_dt=dt, save_ts=times, solver=solver)
    return jax.vmap(lambda y: robot.forward_kinematics(y[:count], jnp.asarray(length))[:3, 3])(rows.y)


def prepare(
    rod: Rod, segments: int, method: str, dt: float, modes: tuple[str, ...] = BENDS
) -> Callable[[], np.ndarray]:
    """A function that simulates the rod and gives the tip at every sample."""
    rod.per_sample(dt)
    middles = (np.arange(segments) + 0.5) / segments
    radii = rod.radius[0] + (rod.radius[1] - rod.radius[0]) * middles
    links = [
        LinkSpec.circular(
            length=rod.length / segments,
            radius=float(radius),
            density=rod.density,
            reference_strain=_STRAIGHT,
            young_modulus=rod.youngs_modulus,
            shear_modulus=rod.youngs_modulus / (2.0 * (1.0 + rod.poisson_ratio)),
            # Of shear: that of bends and stretch is three times as large.
            material_damping_coefficient=rod.damping_time * rod.youngs_modulus / 3.0,
        )
        for radius in radii
    ]
    structure = PCSStructure(strain_selector=jnp.array([strain in modes for strain in _ORDER] * segments))
    # Its rods point along z, ours along x.
    robot = PCS.from_links(links, structure=structure, gravity=jnp.asarray(np.roll(rod.gravity, -1)))
    times = jnp.linspace(0.0, rod.seconds, rod.samples + 1)
    return lambda: np.roll(np.asarray(_tips(robot, jnp.asarray(dt), times, rod.length, method)), 1, -1)
