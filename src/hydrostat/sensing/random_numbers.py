"""Random numbers for the noise of sensors: a counter in, numbers out, with nothing but integer arithmetic.

The generator is SplitMix64 (Steele, Lea and Flood 2014, OOPSLA): the n-th number is a mixing function of the stream's
state plus n times an odd constant. Any number can be made without those before it, so that a run that is continued
goes on with the same noise, and a step needs no state but how often a sensor has been asked.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt64

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _mixed(z: UInt64[Array, "*shape"]) -> UInt64[Array, "*shape"]:
    """The mixing function of SplitMix64: a permutation of the 64-bit numbers without visible structure."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def stream(seed, index: int) -> UInt64[Array, ""]:
    """The state from which one of a seed's streams of numbers starts."""
    begin = _mixed(jnp.asarray(seed).astype(jnp.uint64) + _STEP)
    return _mixed(begin + np.uint64((index + 1) * int(_STEP) % 2**64))


def uniform(state: UInt64[Array, ""], turn, count: int) -> Float[Array, " count"]:
    """Numbers that are uniform between 0 and 1, both excluded, of one turn of a stream."""
    begin = _mixed(state ^ _mixed(jnp.asarray(turn).astype(jnp.uint64) + _STEP))
    offsets = np.array([n * int(_STEP) % 2**64 for n in range(1, count + 1)], np.uint64)
    bits = (_mixed(begin + offsets) >> np.uint64(11)).astype(jnp.int64)
    # The middles of 2^53 equal intervals.
    return (bits.astype(float) + 0.5) * 2.0**-53


def normal(u: Float[Array, " n2"]) -> Float[Array, " n"]:
    """Normal numbers of mean 0 and variance 1, each from two uniform ones (Box and Muller 1958)."""
    half = u.shape[0] // 2
    return jnp.sqrt(-2.0 * jnp.log(u[:half])) * jnp.cos(2.0 * np.pi * u[half:])
