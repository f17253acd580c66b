"""The inertia of muscles that are pistons in cylinders: points that move within their segment, and platforms.

A point at p(q) in the frame of its segment's base moves there with p' = (dp/dq) q'. That is a material point without
rotation of its own, as far as the recursions see: pose (1, p), Jacobian (0, dp/dq) and bias (0, d(dp/dq)/dt q').
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import SE3
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.points import Points


def telescope_points(model: ArmModel, q: Float[Array, "n k"], v: Float[Array, "n k"], tips: Points) -> Points:
    """The points of each segment's muscles, and its platform last (n, p + 1).

    **Arguments:** `tips`: the ends of the segments (n), where the platforms are.
    """
    telescopes = model.telescopes
    assert telescopes is not None

    def at(q):
        return telescopes.positions(model.arm, q)

    def rate(q, v):
        return jax.jvp(at, (q,), (v,))[1]

    # Segments do not interact: one derivative for each coordinate of all segments at once.
    columns = [rate(q, jnp.broadcast_to(one, q.shape)) for one in np.eye(q.shape[-1])]
    p, (velocity, bias) = at(q), jax.jvp(lambda q: rate(q, v), (q,), (v,))
    J = jnp.stack(columns, -1)
    axes = jnp.broadcast_to(np.eye(3), (*p.shape, 3))
    moving = Points(SE3(axes, p), _linear(J, -2), _linear(velocity, -1), _linear(bias, -1))
    return jax.tree.map(lambda y, end: jnp.concatenate([y, end[:, None]], 1), moving, tips)


def gauss_inertia(model: ArmModel) -> Float[Array, "n g 6"]:
    """The diagonal spatial inertias at the Gauss points: none where all mass is that of muscles and platforms."""
    return model.inertia if model.telescopes is None else jnp.zeros_like(model.inertia)


def telescope_inertia(model: ArmModel) -> Float[Array, "n p 6"]:
    """The diagonal spatial inertias of the points and of the platform of each segment."""
    assert model.telescopes is not None
    points = model.telescopes.point_mass[..., None] * np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    return jnp.concatenate([points, model.telescopes.platform[:, None]], 1)


def _linear(values: Array, axis: int) -> Array:
    """Twists or Jacobians of points that do not turn, from their linear parts."""
    return jnp.concatenate([jnp.zeros_like(values), values], axis)
