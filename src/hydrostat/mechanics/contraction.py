"""Generalised forces of muscles on the coordinates of their own segment, by virtual work: a tension T pulls with -T
dl/dq."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.model import ArmModel


def muscle_lengths(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, "n m"]:
    """The length of every element [m]."""
    assert model.muscles is not None
    return model.muscles.lengths(model.arm, q)


def muscle_tensions(model: ArmModel, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """The tension of every element [N]."""
    return _tensed(model, q, v, activation)[0]


def _tensed(model: ArmModel, q, v, activation):
    """The tension of every element, its derivatives with respect to the coordinates (n, m, k), its length and its
    rate."""
    assert model.muscles is not None
    lengths, J = model.muscles.pulls(model.arm, q)
    rates = small.matvec(J, v)
    return model.muscles.tensions(lengths, rates, activation), J, lengths, rates


def muscle_forces(model: ArmModel, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n k"]:
    """The generalised forces that balance the muscles: T dl/dq."""
    if model.muscles is None:
        return jnp.zeros_like(q)
    tension, J, _, _ = _tensed(model, q, v, activation)
    return _summed(tension, J)


def _summed(tension: Float[Array, "n m"], J: Float[Array, "n m k"]) -> Float[Array, "n k"]:
    """The sum of T dl/dq over the elements of a segment."""
    return small.matvec(jnp.swapaxes(J, -1, -2), tension)


def muscle_power(model: ArmModel, q, v, activation: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """The mechanical power of every element [W]."""
    tension, _, _, rates = _tensed(model, q, v, activation)
    return -tension * rates


def muscle_operator(model: ArmModel, q, v, c_v, c_q, activation: Float[Array, "n m"]) -> Float[Array, "n k k"]:
    """The muscles' part of the operator, c_v C + c_q K: tensions change with lengths and rates, and turn with the
    fibres.

    The second part is T d2l/dq2. A bent strut has more of it than of all other stiffness, of tissue and muscles.
    """
    muscles = model.muscles
    assert muscles is not None
    tension, J, lengths, rates = _tensed(model, q, v, activation)
    one = jnp.ones_like(lengths)
    by_length = jax.jvp(lambda y: muscles.tensions(y, rates, activation), (lengths,), (one,))[1]
    by_rate = jax.jvp(lambda y: muscles.tensions(lengths, y, activation), (rates,), (one,))[1]

    turned = muscles.turning(model.arm, q, tension, lengths, J)

    def summed(weight):
        return small.matmul(jnp.swapaxes(J, -1, -2), weight[..., None] * J)

    grown = summed(c_q * jnp.maximum(by_length, 0.0) + c_v * jnp.maximum(by_rate, 0.0))
    # Radial muscles pull the more, the thinner the arm: what that takes counts against what they gain by turning.
    return grown + c_q * positive_part(turned + summed(jnp.minimum(by_length, 0.0)))


def positive_part(K: Float[Array, "n k k"]) -> Float[Array, "n k k"]:
    """An approximation of the positive semidefinite part of symmetric matrices, exact for diagonally dominant ones."""
    k = K.shape[-1]
    root = jnp.sqrt(jnp.maximum(jnp.diagonal(K, axis1=-2, axis2=-1), 0.0))
    most = root[..., :, None] * root[..., None, :] * jnp.where(np.eye(k) > 0, 1.0, 1.0 / max(k - 1, 1))
    return jnp.clip(K, -most, most)
