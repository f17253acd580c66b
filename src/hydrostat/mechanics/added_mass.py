"""Added mass: the water that a slender arm pushes aside when it moves across its axis.

A piece of an arm of the volume V carries along the mass mu = C_a rho V, where it moves across its axis and not along
it. In the axes of the piece the water so has the inertia I = diag(0, 0, 0, mu, mu, 0), constant where the volume is,
and with the twist V of the piece relative to the water the kinetic energy 1/2 V^T I V. Its equations of motion are
those of any body, Kirchhoff's:

    wrench = I V' - ad(V)^T I V,

which along an arm makes the three-dimensional elongated-body theory of Lighthill (Boyer, Porez and Leroyer 2010).

In the last strut of a chain of struts, whose bend turns its upper end and moves none of its mass, nothing would hold
that end against the moment by which the water turns a slender body across its way: it would fold and flutter. The water
at its points goes along whichever way they move, I = diag(0, 0, 0, mu, mu, mu), which exerts no moment. That is first
order in the length of a segment, and of a tapered arm one part in a thousand.

Water carried along has no weight: its acceleration is the true one, not that relative to free fall. In a current U,
the same everywhere and always, it obeys these equations in the frame of the current. In the world's its energy is then
1/2 V^T I V - 1/2 U^T I U with the piece's own twist V: with it the energies balance, whatever the current does.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.nodes import Entrained
from hydrostat.mechanics.points import gyroscopic
from hydrostat.mechanics.robot import Inputs

_ACROSS = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 0.0])
_EVERY_WAY = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


def entrained(inputs: Inputs) -> Entrained | None:
    """The water that goes with the arms; None where none does."""
    return None if inputs.surroundings is None else inputs.surroundings.entrained()


def added_inertia(arm: ArmModel, water: Entrained) -> Float[Array, "n g 6"]:
    """The water's part of the diagonal spatial inertias at the Gauss points."""
    volume = arm.inertia[..., 3] / arm.arm.material.density[:, None]
    ways = np.tile(_ACROSS, (volume.shape[0], 1, 1))
    if arm.arm.segments.bends_at_end:
        ways[-1] = _EVERY_WAY
    return (water.density * volume)[..., None] * jnp.asarray(ways)


def added_wrench(
    inertia: Float[Array, "... 6"],
    R_world: Float[Array, "... 3 3"],
    V: Float[Array, "... 6"],
    A: Float[Array, "... 6"],
    water: Entrained,
    gravity: Float[Array, " 3"],
) -> Float[Array, "... 6"]:
    """The wrench that accelerates the water carried along by pieces of an arm, in their axes.

    **Arguments:** `R_world`: the axes of the pieces; `V`: their twists; `A`: their accelerations relative to free fall.
    """
    U, g = (in_axes(R_world, vector) for vector in (water.velocity, gravity))
    none = jnp.zeros_like(U)
    relative = V - jnp.concatenate([none, U], -1)
    # The current as seen from a piece turns against it: U' = -w x U.
    rate = A + jnp.concatenate([none, g + small.cross(V[..., :3], U)], -1)
    return inertia * rate + gyroscopic(relative, inertia * relative)


def in_axes(R_world: Float[Array, "... 3 3"], vector: Float[Array, " 3"]) -> Float[Array, "... 3"]:
    """A vector of the world in the axes of pieces of an arm."""
    return small.matvec(jnp.swapaxes(R_world, -1, -2), jnp.broadcast_to(vector, R_world.shape[:-1]))
