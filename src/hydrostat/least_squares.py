"""Small dense nonlinear least squares, for solves that run by the thousand inside a batch.

Levenberg and Marquardt's method in one loop. It compiles in a tenth of the time of a general library's (which counts
when a command line starts), works under `jax.vmap`, and its solution can be differentiated both ways.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.lie import small

_UNROLL_UP_TO = 6  # unknowns: below, a library call costs more than the arithmetic
_FIRST_DAMPING = 1e-3
_LEAST_DAMPING = 1e-14  # of the largest diagonal entry: what keeps a rank-deficient system solvable


class Solution(NamedTuple):
    """The result of a least-squares solve."""

    x: Float[Array, " k"]
    residual: Float[Array, " m"]
    converged: Bool[Array, ""]
    """Whether the last step was below the tolerance; else the steps ran out."""
    steps: Int[Array, ""]


def least_squares(
    residual: Callable[[Float[Array, " k"]], Float[Array, " m"]],
    x: Float[Array, " k"],
    *,
    tolerance: float = 1e-13,
    max_steps: int = 100,
    bounds: tuple[Float[Array, " k"], Float[Array, " k"]] | None = None,
) -> Solution:
    """The x that makes |residual(x)|^2 smallest near the first guess.

    **Arguments:** `residual`: m equations, scaled so that 1 is a typical size, as `x` should be; `tolerance`: on the
    largest entry of a step; `max_steps`: after which it gives up and says so; `bounds`: lowest and highest x, by
    projection: an unknown at its bound that the gradient presses against it takes no part in the step.
    """

    def linearise(x):
        # One pass gives the residual and its Jacobian, and the loop holds one copy of it: compiling is what costs.
        J, r = jax.jacfwd(lambda x: (residual(x),) * 2, has_aux=True)(x)
        return r, J.T @ J, J.T @ r

    def within(x):
        return x if bounds is None else jnp.clip(x, *bounds)

    def free(x, A, g):
        """The normal equations of the unknowns that no bound holds; the others get a unit row and no gradient."""
        if bounds is None:
            return A, g
        held = ((x <= bounds[0]) & (g > 0.0)) | ((x >= bounds[1]) & (g < 0.0))
        either = held[:, None] | held
        diagonal = jnp.where(held, jnp.max(jnp.diagonal(A)), jnp.diagonal(A))
        A = jnp.where(jnp.eye(len(g), dtype=bool), diagonal[:, None], jnp.where(either, 0.0, A))
        return A, jnp.where(held, 0.0, g)

    def advance(state):
        x, r, A, g, damping, _, count = state
        target = within(x - _solve(*free(x, A, g), damping))
        step = target - x
        trial = (target, *linearise(target))
        better = trial[1] @ trial[1] <= r @ r
        x, r, A, g = jax.tree.map(lambda new, old: jnp.where(better, new, old), trial, (x, r, A, g))
        damping = jnp.where(better, jnp.maximum(0.01 * damping, _LEAST_DAMPING), jnp.minimum(10.0 * damping, 1e8))
        return x, r, A, g, damping, jnp.max(jnp.abs(step)), count + 1

    def going_on(state):
        *_, step, count = state
        return (step > tolerance) & (count < max_steps)

    guess = jax.lax.stop_gradient(within(x))
    infinite = jnp.asarray(jnp.inf)
    start = (guess, *linearise(guess), jnp.asarray(_FIRST_DAMPING), infinite, jnp.asarray(0))
    x, _, A, _, _, step, count = jax.lax.while_loop(going_on, advance, jax.lax.stop_gradient(start))
    # One more Gauss-Newton step outside the loop: it moves nothing, but it carries the derivatives of the solution
    # with respect to whatever `residual` closes over (exact where the residual vanishes).
    x = jax.lax.stop_gradient(x)
    J, r = jax.jacfwd(lambda x: (residual(x),) * 2, has_aux=True)(x)
    A, g = free(x, jax.lax.stop_gradient(A), jax.lax.stop_gradient(J).T @ r)
    x = within(x - _solve(A, g, _LEAST_DAMPING))
    return Solution(x, r, step <= tolerance, count)


def _solve(A, g, damping):
    """(A + damping max(diag A) I)^-1 g for a symmetric positive matrix."""
    damped = A + damping * jnp.max(jnp.diagonal(A)) * jnp.eye(len(g))
    if len(g) <= _UNROLL_UP_TO:
        return small.solve_positive(damped, g)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(damped), g)
