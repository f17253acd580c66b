"""Elastic and viscous forces of the material on the coordinates of an arm, whose section may follow the stretch.

With constant volume the radius is r_0 / sqrt(stretch): area falls as 1 / stretch, second moments as its square. The
stiffness against bending and twist follows; axial force and shear keep the stiffness of the rest section, which is what
nominal stress means.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.mechanics.model import ArmModel


def _section_factor(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, "n k"]:
    """The stiffness of each coordinate over that of the rest section."""
    turning = np.array([mode in ("bend_x", "bend_y", "twist") for mode in model.arm.segments.modes])
    return jnp.where(turning, model.arm.segments.area_ratio(q)[:, None] ** 2, 1.0)


def elastic_energy(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, ""]:
    """The energy stored in the material [J]."""
    if model.tissue is not None:
        return jnp.sum(model.tissue.energy(model.arm, q))
    energy = 0.5 * model.stiffness * (q - model.rest) ** 2
    return jnp.sum(energy * _section_factor(model, q) if model.constant_volume else energy)


def elastic_forces(model: ArmModel, q: Float[Array, "n k"], v: Float[Array, "n k"]) -> Float[Array, "n k"]:
    """The generalised forces against deformation and its rate."""
    if model.tissue is None and not model.constant_volume:
        return model.stiffness * (q - model.rest) + model.damping * v
    if not model.constant_volume:
        return jax.grad(lambda q: elastic_energy(model, q))(q) + model.damping * v
    return jax.grad(lambda q: elastic_energy(model, q))(q) + model.damping * _section_factor(model, q) * v


def dissipated_power(model: ArmModel, q: Float[Array, "n k"], v: Float[Array, "n k"]) -> Float[Array, ""]:
    """The power that the material turns into heat [W]."""
    power = model.damping * v * v
    return jnp.sum(power * _section_factor(model, q) if model.constant_volume else power)


def local_operator(model: ArmModel, q: Float[Array, "n k"], c_v, c_q) -> Float[Array, "n k k"]:
    """The material's part of the operator, c_v C + c_q K, with ones for locked coordinates."""
    diagonal = c_v * model.damping
    if model.tissue is None:
        diagonal = diagonal + c_q * model.stiffness
    if model.constant_volume:
        diagonal = diagonal * _section_factor(model, q)
    diagonal = diagonal + (1.0 - model.arm.segments.free)
    local = diagonal[:, :, None] * jnp.eye(model.arm.coordinates)
    return local if model.tissue is None else local + c_q * model.tissue.stiffness(model.arm, q)
