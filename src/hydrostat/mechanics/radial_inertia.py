"""The inertia of radial motion: the section of a segment that swells moves across the axis.

A point at the distance y_0 from the axis is at y_0 w while the radius is w times that at rest. A segment so has the
kinetic energy 1/2 B w'^2, with B its moment of inertia about the axis at rest.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.mechanics.model import ArmModel


def _radius_ratio(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, " n"]:
    """The radius of each segment over that at rest."""
    return jnp.sqrt(model.arm.segments.area_ratio(q))


def radial_kinetic_energy(model: ArmModel, q: Float[Array, "n k"], v: Float[Array, "n k"]) -> Float[Array, ""]:
    """The kinetic energy of radial motion [J]."""
    if model.radial_inertia is None:
        return jnp.zeros(())
    _, rate = jax.jvp(lambda q: _radius_ratio(model, q), (q,), (v,))
    return 0.5 * jnp.sum(model.radial_inertia * rate**2)


def radial_inertia_forces(model: ArmModel, q, v, a) -> Float[Array, "n k"]:
    """The generalised forces that accelerate radial motion: B w'' dw/dq."""
    if model.radial_inertia is None:
        return jnp.zeros_like(q)

    def rate(q, v):
        return jax.jvp(lambda q: _radius_ratio(model, q), (q,), (v,))[1]

    _, acceleration = jax.jvp(rate, (q, v), (v, a))
    return _slope(model, q) * (model.radial_inertia * acceleration)[:, None]


def radial_mass_matrix(model: ArmModel, q) -> Float[Array, "n k k"]:
    """The mass matrix of radial motion, B dw/dq (dw/dq)^T."""
    assert model.radial_inertia is not None
    slope = _slope(model, q)
    return model.radial_inertia[:, None, None] * slope[:, :, None] * slope[:, None, :]


def _slope(model: ArmModel, q) -> Float[Array, "n k"]:
    """The derivative dw/dq of each segment, which depends on its own coordinates alone."""
    return jax.grad(lambda q: jnp.sum(_radius_ratio(model, q)))(q)
