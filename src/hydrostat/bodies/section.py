"""Cross-sections along a segment."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Section(eqx.Module):
    """A solid circular section whose radius runs linearly from the base of a segment to its tip."""

    radius_base: Float[Array, "..."]
    """[m]"""
    radius_tip: Float[Array, "..."]
    """[m]"""

    def radius(self, s) -> Float[Array, "..."]:
        """The radius at fraction s of the segment [m]."""
        return self.radius_base + s * (self.radius_tip - self.radius_base)

    def area(self, s) -> Float[Array, "..."]:
        """The area of the section [m^2]."""
        return jnp.pi * self.radius(s) ** 2

    def second_moment(self, s) -> Float[Array, "..."]:
        """The second moment of area about a diameter [m^4]."""
        return 0.25 * jnp.pi * self.radius(s) ** 4
