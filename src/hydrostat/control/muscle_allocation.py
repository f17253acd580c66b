"""Which muscles of an arm to activate, and how much, for required forces on its coordinates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.model import ArmModel

_RIDGE = 1e-9  # of a segment's muscles' strength, so that their matrix can be inverted


def holding_activations(
    model: ArmModel, q: Float[Array, "n k"], force: Float[Array, "n k"], least: Float[Array, " n"]
) -> Float[Array, "n m"]:
    """The activations by which muscles exert forces on the coordinates in a shape, from 0 to 1 as far as they can.

    With B the forces of fully active muscles and u the required ones, B a = u has many solutions: the smallest one, and
    with it as much of all muscles at once as changes nothing and leaves none negative, or more where `least` asks.

    **Arguments:** `force`: required, along the coordinates; `least`: smallest co-contraction.
    """
    muscles = model.muscles
    assert muscles is not None
    lengths, J = muscles.pulls(model.arm, q)
    full = muscles.tensions(lengths, jnp.zeros_like(lengths), jnp.ones_like(lengths))
    k = q.shape[-1]
    B = jnp.swapaxes(J, -1, -2) * full[:, None]
    # Rows over their own size, so that weak ones, such as twist, count as much as strong ones.
    rows = 1.0 / jnp.maximum(jnp.sqrt(jnp.sum(B * B, -1)), 1e-300)
    B, f = rows[..., None] * B, rows * force
    BB = small.matmul(B, jnp.swapaxes(B, -1, -2))
    size = jnp.trace(BB, axis1=-2, axis2=-1)[:, None, None]
    inverse = small.inverse_positive(BB + _RIDGE * size * jnp.eye(k))

    def smallest(force):
        return small.matvec(jnp.swapaxes(B, -1, -2), small.matvec(inverse, force))

    found = smallest(-f)
    # All longitudinal muscles and twice the radial ones, less what of it would move the segment.
    all_at_once = jnp.concatenate([jnp.ones((len(q), 4)), jnp.full((len(q), 1), 2.0), jnp.ones_like(full[:, 5:])], -1)
    together = all_at_once - smallest(small.matvec(B, all_at_once))
    together = jnp.maximum(together, 1e-3)
    needed = jnp.max(-found / together, 1)
    return jnp.clip(found + jnp.maximum(needed, least)[:, None] * together, 0.0, 1.0)
