"""The functions sin t/t, (1 - cos t)/t^2, (t - sin t)/t^3, ... that every formula of SO(3) and SE(3) is made of."""

from functools import partial
from math import factorial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# Up to x = 9, 3 rad, the power series is used: twelve terms leave less than 1e-17 of c_4, c_5 and those above.
_LARGE = 9.0
_SERIES_TERMS = 11
_SERIES_LEAST = 5  # the least order for which that holds


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def stumpff(x: Float[Array, "*batch"], order: int) -> tuple[Float[Array, "*batch"], ...]:
    """The Stumpff functions c_0 ... c_order of x = t^2, for an angle t of any size.

    c_k(x) = sum_j (-x)^j / (2 j + k)!, so c_0 = cos t, c_1 = sin t / t, c_2 = (1 - cos t) / t^2, and so on, with
    c_k = 1/k! - x c_(k+2) and c_k' = (k c_(k+2) - c_(k+1)) / 2. They are entire functions of x: neither value nor any
    derivative is singular at t = 0, which is why everything here is written in t^2 and never in t. Derivatives are
    taken by that formula: functions of higher order, and no way through series and closed form.

    **Arguments:** `x`: squared angle [rad^2], at least 0; `order`: highest index, at least 1.
    """
    # Horner's rule for the two highest, then the recursion downwards, which cannot cancel there.
    x_small = jnp.where(x < _LARGE, x, _LARGE)
    highest = max(order, _SERIES_LEAST)
    series = {k: _series(x_small, k) for k in (highest, highest - 1)}
    for k in range(highest - 2, -1, -1):
        series[k] = 1.0 / factorial(k) - x_small * series[k + 2]
    found = tuple(series[k] for k in range(order + 1))

    # Larger angles: sine and cosine, then the recursion upwards. In a loop that is made once or not at all: few arms
    # bend so far within a segment, and a call of the sine keeps the compiler from taking several angles at a time.
    def going_on(carry):
        return jnp.any(carry[0])

    def close(carry):
        large, found = carry
        x_large = jnp.where(large, x, _LARGE)
        t = jnp.sqrt(x_large)
        closed = [jnp.cos(t), jnp.sin(t) / t]
        for k in range(2, order + 1):
            closed.append((1.0 / factorial(k - 2) - closed[k - 2]) / x_large)
        return jnp.zeros_like(large), tuple(jnp.where(large, c, s) for c, s in zip(closed, found, strict=False))

    return jax.lax.while_loop(going_on, close, (x >= _LARGE, found))[1]


@stumpff.defjvp
def _stumpff_jvp(order, primals, tangents):
    (x,), (change,) = primals, tangents
    c = stumpff(x, order + 2)
    return c[: order + 1], tuple(0.5 * (k * c[k + 2] - c[k + 1]) * change for k in range(order + 1))


def _series(x: Float[Array, "*batch"], k: int) -> Float[Array, "*batch"]:
    """The power series of c_k, by Horner's rule."""
    total = jnp.zeros_like(x)
    for j in range(_SERIES_TERMS, -1, -1):
        total = 1.0 / factorial(2 * j + k) - x * total
    return total
