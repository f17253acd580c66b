"""The hull of a swimming body: a prolate spheroid, and its centre of buoyancy."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3


class Hull(eqx.Module):
    """The hull of a body, its axis along the body's z. Positions are in the body's frame, from its centre of mass."""

    centre: Float[Array, " 3"]
    """Position of the spheroid's centre [m]."""
    buoyancy: Float[Array, " 3"]
    """Position of the centre of buoyancy [m]."""
    half_length: Float[Array, ""]
    """Half of the length along the body's z [m]."""
    radius: Float[Array, ""]
    """Largest radius across [m]."""
    added: Float[Array, " 6"]
    """Inertia of the water pushed aside over its density, about the spheroid's centre [m^5, m^3]."""
    axial_drag: Float[Array, ""]
    """Drag coefficient along the axis, on the largest cross-section."""
    cross_drag: Float[Array, ""]
    """Drag coefficient across, on the area of the shadow, strip by strip."""
    slow: Float[Array, ""]
    """Speed at which the linear part of the drag is as large as the quadratic one [m/s]."""

    @property
    def T_body_centre(self) -> SE3:
        """Pose of the spheroid's centre in the body's frame."""
        return SE3(jnp.eye(3), self.centre)

    @property
    def T_body_buoyancy(self) -> SE3:
        """Pose of the centre of buoyancy in the body's frame."""
        return SE3(jnp.eye(3), self.buoyancy)

    def entrained_inertia(self, density: Float[Array, ""]) -> Float[Array, " 6"]:
        """The diagonal inertia of the water carried along, of a density [kg/m^3], about the spheroid's centre."""
        return density * self.added
