"""The closest points of two straight pieces of line: of the axes of capsules, which are parts of arms."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small


class Closest(NamedTuple):
    """The points of two straight pieces of line that are closest to each other."""

    s: Float[Array, ""]
    """Fraction of the first from its start."""
    t: Float[Array, ""]
    """Fraction of the second from its start."""
    separation: Float[Array, " 3"]
    """Vector from the point of the second to that of the first [m]."""


def closest_points(ends: Float[Array, "4 3"], pull: Float[Array, ""] | float = 0.0) -> Closest:
    """The closest points of two straight pieces of line, of any direction and length, also zero.

    Minimises |separation|^2 / 2 + pull ((s - 1/2)^2 + (t - 1/2)^2) / 2, a convex quadratic, over the unit square: s
    with t free, then t for that s, then s for that t, each within bounds, is its exact minimum. With a pull the points
    are unique and continuous even where the pieces are parallel.

    **Arguments:** `ends`: start and end of the first, then of the second [m]; `pull`: towards their middles [m^2].
    """
    u, w, apart = ends[1] - ends[0], ends[3] - ends[2], ends[0] - ends[2]
    a, b, c = small.dot(u, u) + pull, small.dot(u, w), small.dot(w, w) + pull
    e, f = 0.5 * pull - small.dot(u, apart), 0.5 * pull + small.dot(w, apart)
    determinant = a * c - b * b
    parallel = determinant <= 0.0
    s = jnp.where(parallel, 0.5, (c * e + b * f) / jnp.where(parallel, 1.0, determinant))
    t = jnp.clip((f + b * jnp.clip(s, 0.0, 1.0)) / jnp.where(c == 0.0, 1.0, c), 0.0, 1.0)
    s = jnp.clip((e + b * t) / jnp.where(a == 0.0, 1.0, a), 0.0, 1.0)
    return Closest(s, t, apart + s * u - t * w)
