"""Buoyancy: the water that a robot displaces lifts it by its own weight.

It acts as weight does, at every piece of an arm and at the centre of the body, against gravity: it is exact at the
Gauss points to which the masses are exact, and has a potential. A piece of an arm displaces its volume at rest, its
mass over the density of its material; plates are taken as solid pieces of that material. Lumped masses displace
nothing, and of a body what it is said to displace.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.mechanics.added_mass import in_axes
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.robot import Inputs


def displaced(inputs: Inputs) -> Float[Array, ""] | None:
    """The density of the water that a robot displaces [kg/m^3]; None where there is none."""
    return None if inputs.surroundings is None else inputs.surroundings.displaced()


def displaced_mass(arm: ArmModel, density: Float[Array, ""]) -> Float[Array, "n g"]:
    """The mass of the water, of a density [kg/m^3], in the place of the arm's pieces at the Gauss points [kg]."""
    return density * arm.inertia[..., 3] / arm.arm.material.density[:, None]


def buoyant_wrench(
    mass: Float[Array, "..."], R_world: Float[Array, "... 3 3"], gravity: Float[Array, " 3"]
) -> Float[Array, "... 6"]:
    """The buoyancy of displaced water of this mass [kg], as a wrench in the axes of the piece that displaces it."""
    force = -mass[..., None] * in_axes(R_world, gravity)
    return jnp.concatenate([jnp.zeros_like(force), force], -1)
