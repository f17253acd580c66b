"""Mass and elasticity of an arm: its sections and material, gathered at Gauss points."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies.arm import Arm
from hydrostat.segments.strain import MODES
from hydrostat.segments.swelling import SWELL


def gauss_points(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points on [0, 1] and their weights, whose sum is 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def node_inertias(arm: Arm, points: int) -> Float[Array, "n g 6"]:
    """The diagonals of the spatial inertias (angular, linear) that each segment's Gauss points carry [kg m^2, kg].

    A point stands for its share of the length: density times area for translation, density times second moment for
    rotation; about the axis the second moment is twice that about a diameter.
    """
    fractions, weights = gauss_points(points)
    length = (arm.material.density * arm.segments.length)[:, None] * weights
    area, moment = _at_points(arm.section.area, fractions), _at_points(arm.section.second_moment, fractions)
    return length[..., None] * jnp.stack([moment, moment, 2.0 * moment, area, area, area], -1)


def stiffness(arm: Arm, points: int) -> Float[Array, "n k"]:
    """The generalised stiffness of each coordinate: section stiffness times length, exact for the taper.

    EI for bending, GJ for twist, GA for shear (shear factor 1) and EA for stretch; a strain that is constant along the
    segment sees their mean. Against swell a linear rod has none: that is up to its tissue.
    """
    fractions, weights = gauss_points(max(points, 3))
    young, shear = arm.material.youngs_modulus, arm.material.shear_modulus
    area = _at_points(arm.section.area, fractions) @ weights
    moment = _at_points(arm.section.second_moment, fractions) @ weights
    six = [young * moment, young * moment, 2.0 * shear * moment, shear * area, shear * area, young * area]
    own = {**dict(zip(MODES, six, strict=True)), SWELL: 0.0 * area}
    return arm.segments.length[:, None] * jnp.stack([own[mode] for mode in arm.segments.modes], -1)


def damping(arm: Arm, points: int) -> Float[Array, "n k"]:
    """The generalised Kelvin-Voigt damping of each coordinate: stiffness times viscosity over Young's modulus.

    Swell is damped as a change of volume, at the rate 2 u', by the same viscosity (assumed).
    """
    damped = stiffness(arm, points) * (arm.material.viscosity / arm.material.youngs_modulus)[:, None]
    if SWELL not in arm.segments.modes:
        return damped
    fractions, weights = gauss_points(max(points, 3))
    volume = arm.segments.length * (_at_points(arm.section.area, fractions) @ weights)
    swells = np.array([mode == SWELL for mode in arm.segments.modes], float)
    return damped + (4.0 * arm.material.viscosity * volume)[:, None] * swells


def _at_points(function, fractions: np.ndarray) -> Float[Array, "n g"]:
    """A property of the section of every segment at every point."""
    return jnp.stack([function(float(s)) for s in fractions], -1)
