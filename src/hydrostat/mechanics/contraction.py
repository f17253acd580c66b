"""What muscles do to the coordinates of their own segment, by virtual work: a tension T pulls with -T dl/dq."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.model import Model


def muscle_lengths(model: Model, q: Float[Array, "n k"]) -> Float[Array, "n m"]:
    """The length of every element [m]."""
    assert model.muscles is not None
    return model.muscles.lengths(model.arm, q)


def muscle_tensions(model: Model, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """The tension of every element [N]."""
    assert model.muscles is not None
    lengths, rates = jax.jvp(lambda q: muscle_lengths(model, q), (q,), (v,))
    return model.muscles.tensions(lengths, rates, activation)


def muscle_forces(model: Model, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n k"]:
    """The generalised forces that hold against the muscles: T dl/dq, to be overcome."""
    if model.muscles is None:
        return jnp.zeros_like(q)
    tension = muscle_tensions(model, q, v, activation)
    return jax.vjp(lambda q: muscle_lengths(model, q), q)[1](tension)[0]


def muscle_power(model: Model, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """The mechanical power that every element gives [W]."""
    assert model.muscles is not None
    lengths, rates = jax.jvp(lambda q: muscle_lengths(model, q), (q,), (v,))
    return -model.muscles.tensions(lengths, rates, activation) * rates


def muscle_operator(model: Model, q, v, c_v, c_q, activation: Float[Array, "n m"]) -> Float[Array, "n k k"]:
    """c_v C + c_q K of the muscles: how tensions grow with lengths and rates, where they grow."""
    muscles = model.muscles
    assert muscles is not None
    k = q.shape[-1]
    lengths, rates = jax.jvp(lambda q: muscle_lengths(model, q), (q,), (v,))
    # Segments are apart: one derivative along each coordinate gives those of all segments.
    ones = [jnp.broadcast_to(jnp.asarray(np.eye(k)[i]), q.shape) for i in range(k)]
    J = jnp.stack([jax.jvp(lambda q: muscle_lengths(model, q), (q,), (one,))[1] for one in ones], -1)
    one = jnp.ones_like(lengths)
    by_length = jax.jvp(lambda y: muscles.tensions(y, rates, activation), (lengths,), (one,))[1]
    by_rate = jax.jvp(lambda y: muscles.tensions(lengths, y, activation), (rates,), (one,))[1]
    weight = c_q * jnp.maximum(by_length, 0.0) + c_v * jnp.maximum(by_rate, 0.0)
    local = small.matmul(jnp.swapaxes(J, -1, -2), weight[..., None] * J)
    # How the lengths themselves are curved, on the diagonal and where it resists: T l'' of a bent segment, and that of
    # a squeezed section, which is more than what its falling tension T' r'^2 takes away.
    tension = muscles.tensions(lengths, rates, activation)
    falling = jnp.minimum(by_length, 0.0)
    more = []
    for i, one in enumerate(ones):
        curved = jax.jvp(lambda q, one=one: jax.jvp(lambda q: muscle_lengths(model, q), (q,), (one,))[1], (q,), (one,))[
            1
        ]
        more.append(jnp.maximum(jnp.sum(tension * curved + falling * J[..., i] ** 2, -1), 0.0))
    return local + c_q * jnp.stack(more, -1)[..., None] * jnp.eye(k)
