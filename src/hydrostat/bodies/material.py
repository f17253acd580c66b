"""The material of an arm."""

import equinox as eqx
from jaxtyping import Array, Float


class Material(eqx.Module):
    """A linear viscoelastic (Kelvin-Voigt) material; fields may be one value, or one per segment."""

    youngs_modulus: Float[Array, "..."]
    """[Pa]"""
    poisson_ratio: Float[Array, "..."]
    density: Float[Array, "..."]
    """[kg/m^3]"""
    viscosity: Float[Array, "..."]
    """Ratio of viscous stress to rate of strain [Pa s]."""

    @property
    def shear_modulus(self) -> Float[Array, "..."]:
        """E / (2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))
