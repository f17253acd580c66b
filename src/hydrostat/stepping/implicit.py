"""Derivatives of the root of a nonlinear system, by the implicit function theorem.

The root a(p) of R(a, p) = 0 changes by da = -A^-1 (dR/dp) dp with A = dR/da. The linear system is solved by a Krylov
method, preconditioned with the operator that the root was found with. Forward mode solves with A, reverse mode with its
transpose. Neither differentiates the iteration that found the root, and of a rollout reverse mode stores nothing but
the root, the factors and the parameters of each stage.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from hydrostat.derivatives import with_derivative

_TOLERANCE = 1e-12
_BASIS = 100  # most vectors of a Krylov basis: with 40, systems of 90 unknowns with scattered eigenvalues stalled
_BASES = 10  # most of them, one after the other
_SLOW = 0.9  # ratio of two residuals from where the next direction is not taken from the residual


def implicit_root(found, parameters, residual: Callable, solve: Callable):
    """The root with the derivative of the implicit function, NaN where the linear system could not be solved.

    **Arguments:** `found`: the root and the factors of a symmetric operator near dR/da; `parameters`: p; `residual`:
    R(a, p); `solve`: the operator's inverse, a function of the factors and of a right-hand side shaped as the root.
    """

    # Made again in reverse mode, so that no intermediate result of R is stored.
    @eqx.filter_checkpoint(prevent_cse=False)
    def change(root, known, tangents):
        factors, parameters = known
        return _change(root, factors, parameters, tangents[1], residual, solve)

    root, factors = found
    return with_derivative(root, (jax.lax.stop_gradient(factors), parameters), change)


def _change(root, factors, parameters, tangent, residual, solve):
    """The change of the root with the parameters."""
    moving, fixed = eqx.partition(
        parameters, jax.tree.map(lambda y: y is not None, tangent, is_leaf=lambda y: y is None)
    )
    # What is not linear in R is computed once, for both derivatives and for every iteration.
    _, linear = jax.linearize(lambda a, p: residual(a, eqx.combine(p, fixed)), root, moving)
    nothing = jax.tree.map(jnp.zeros_like, (root, moving))
    pushed = jax.jvp(lambda p: linear(nothing[0], p), nothing[1:], (tangent,))[1]
    flat, unravel = ravel_pytree(pushed)

    def apply(y):
        # As a derivative, so that what comes from the parameters is left out, and not a computation with zeros.
        return ravel_pytree(jax.jvp(lambda a: linear(a, nothing[1]), nothing[:1], (unravel(y),))[1])[0]

    def precondition(y):
        return ravel_pytree(solve(factors, unravel(y)))[0]

    def krylov(matvec, b):
        return gmres(matvec, precondition, b)

    return unravel(-jax.lax.custom_linear_solve(apply, flat, krylov, krylov))


def gmres(matvec: Callable, precondition: Callable, b: Float[Array, " n"]) -> Float[Array, " n"]:
    """The solution of matvec(x) = b, all NaN where it was not found.

    Its preconditioned residual, computed from the solution itself, is at most 1e-12 of that of x = 0. That is an error
    of some 1e-12 of the solution where the preconditioner is good, and 1e4 times the rounding of a double.

    The method is GMRES with restarts (Saad and Schultz 1986), in the form that needs no least squares (simpler GMRES
    with an adaptive basis, Jiranek and Rozloznik 2010): directions P and their orthonormal images Q = M^-1 A P grow
    together. The next direction is the residual where that falls, and else the last image.
    """
    size = min(b.shape[0], _BASIS)
    rows = jnp.arange(size)[:, None]
    right = precondition(b)
    norm = jnp.linalg.norm(right)
    goal = _TOLERANCE * norm

    def going_on(carry):
        *_, error, count = carry
        return (error > goal) & (count < _BASES * (size + 1))

    def advance(carry):
        x, r, z, P, Q, k, error, count = carry
        before = jnp.linalg.norm(r)
        # At the end of a basis the residual is computed anew: only that one is believed.
        anew = (k >= size) | (before <= 0.5 * goal)
        image = matvec(jnp.where(anew, x, z))
        image = precondition(jnp.where(anew, b - image, image))
        # One more direction, with an image orthogonal to all others: Gram and Schmidt, twice is enough.
        p, q = z, image
        for _ in range(2):
            shares = jnp.sum(Q * q, 1)[:, None]
            p, q = p - jnp.sum(shares * P, 0), q - jnp.sum(shares * Q, 0)
        length = jnp.linalg.norm(q)
        p, q = p / length, q / length
        share = jnp.sum(q * r)
        x = jnp.where(anew, x, x + share * p)
        r = jnp.where(anew, image, r - share * q)
        after = jnp.linalg.norm(r)
        z = jnp.where(anew | (after <= _SLOW * before), r / jnp.maximum(after, 1e-300), q)
        P, Q = (jnp.where(anew, 0.0, jnp.where(rows == k, new, old)) for new, old in ((p, P), (q, Q)))
        return x, r, z, P, Q, jnp.where(anew, 0, k + 1), jnp.where(anew, after, error), count + 1

    none, basis = jnp.zeros_like(right), jnp.zeros((size, right.size))
    start = (none, right, right / jnp.maximum(norm, 1e-300), basis, basis, jnp.asarray(0), norm, jnp.asarray(0))
    x, *_, error, _ = jax.lax.while_loop(going_on, advance, start)
    return jnp.where(error <= goal, x, jnp.nan)
