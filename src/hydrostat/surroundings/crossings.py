"""Whether an arm of plates passes through itself: plates that cut each other, and parts far along the arm that overlap.

Neighbours are always near each other, so nearness alone says nothing about them: their plates are taken as discs, and
discs cut each other or not. Parts that are far from each other along the arm are taken as capsules, which overlap when
their axes are nearer than their radii.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3, small
from hydrostat.surroundings.pairs import closest_points

# How far apart along the arm two parts are, over the sum of their radii, before their nearness is a crossing.
_FAR = 2.0


@eqx.filter_jit
def crossings(plates: SE3, radii: Float[Array, " m"]) -> Bool[Array, "m m"]:
    """Which pairs of the m plates of an arm, or of the parts that end in them, pass through each other.

    **Arguments:** `plates`: world poses, base first; `radii` [m].
    """
    m = len(radii)
    pair = jax.vmap(jax.vmap(_discs_cut, (None, None, 0, 0)), (0, 0, None, None))
    cut = pair(plates.position, plates.rotation[..., 2], plates.position, plates.rotation[..., 2])
    discs = _overlap(cut, radii)
    overlap = _far_parts(plates.position, radii)
    upper = jnp.arange(m)[:, None] < jnp.arange(m)[None, :]
    return (discs | overlap) & upper


def _discs_cut(c1, n1, c2, n2):
    """Distances of two centres from the line in which their planes intersect, and places along that line."""
    line = small.cross(n1, n2)
    size = small.norm(line)
    flat = size < 1e-9
    along = line / jnp.where(flat, 1.0, size)
    # From each centre go within its plane, square to the line, until the other plane is met.
    across1, across2 = small.cross(along, n1), small.cross(along, n2)
    away1 = small.dot(c2 - c1, n2) / jnp.where(flat, 1.0, small.dot(across1, n2))
    away2 = small.dot(c1 - c2, n1) / jnp.where(flat, 1.0, small.dot(across2, n1))
    return flat, jnp.abs(away1), jnp.abs(away2), jnp.abs(small.dot(c2 - c1, along))


def _overlap(cut, radii) -> Bool[Array, "m m"]:
    """Whether the chords that two discs cut out of their common line overlap."""
    flat, away1, away2, apart = cut
    half1 = jnp.sqrt(jnp.maximum(radii[:, None] ** 2 - away1**2, 0.0))
    half2 = jnp.sqrt(jnp.maximum(radii[None, :] ** 2 - away2**2, 0.0))
    within = (away1 < radii[:, None]) & (away2 < radii[None, :])
    return ~flat & within & (apart < half1 + half2)


def _far_parts(points: Float[Array, "m 3"], radii: Float[Array, " m"]) -> Bool[Array, "m m"]:
    """Whether parts that are far from each other along the arm overlap; a part ends in the plate of its number."""
    starts, ends = jnp.concatenate([points[:1], points[:-1]]), points
    distance = lambda a, b, c, d: small.norm(closest_points(jnp.stack([a, b, c, d])).separation)  # noqa: E731
    near = jax.vmap(jax.vmap(distance, (None, None, 0, 0)), (0, 0, None, None))(starts, ends, starts, ends)
    travelled = jnp.cumsum(small.norm(ends - starts))
    reach = radii[:, None] + radii[None, :]
    between = travelled[None, :] - small.norm(ends - starts)[None, :] - travelled[:, None]
    return (near < reach) & (between > _FAR * reach)
