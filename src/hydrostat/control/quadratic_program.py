"""Bounded least squares: a small convex quadratic program, solved by an interior-point method.

    minimise    |x|^2 / 2  +  weight |E x - e|^2 / 2  +  sum s^2 / (2 give)
    subject to  lower <= C x + s <= upper

The unknowns come in n blocks, such as the twists of n segments. Most rows of C touch one block alone; the others, and
those of E, touch all of them. A row with `give` = 0 is a hard bound; one with more is elastic, which makes the program
feasible where the hard bounds allow x = 0. Mehrotra's predictor and corrector: each iteration factors one matrix of the
size of x, and some ten iterations reach a relative accuracy of 1e-9.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

UNBOUNDED = 1e6
"""The bound of a row that has none on that side."""
_ITERATIONS = 60
_TOLERANCE = 1e-9
_ACCEPTED = 1e-6  # residual of a solution where rounding keeps the iteration from its tolerance
_STEP_SHARE = 0.995  # of the step to the nearest bound


class Rows(NamedTuple):
    """Bounds lower <= C x <= upper."""

    local: Float[Array, "n k 6"]
    """Rows that touch one block each."""
    local_lower: Float[Array, "n k"]
    local_upper: Float[Array, "n k"]
    shared: Float[Array, "m n 6"]
    """Rows that touch all blocks."""
    shared_lower: Float[Array, " m"]
    shared_upper: Float[Array, " m"]
    shared_give: Float[Array, " m"]
    """How far a row gives way per multiplier; 0 for hard bounds."""


class Solution(NamedTuple):
    """The solution of a quadratic program."""

    x: Float[Array, "n 6"]
    solved: Bool[Array, ""]
    """Whether the residuals are small: below 1e-6, and below 1e-9 but for rounding."""
    iterations: Int[Array, ""]


class _Problem(NamedTuple):
    """The program with rows of unit length, both sides of its bounds as lower ones: sign C x + give mu >= bound."""

    local: Float[Array, "n k 6"]
    shared: Float[Array, "m size"]
    bound: Float[Array, "2 rows"]
    give: Float[Array, " rows"]
    hessian: Float[Array, "size size"]
    target: Float[Array, " size"]

    def values(self, x: Float[Array, " size"]) -> Float[Array, "2 rows"]:
        """sign C x, for both sides."""
        own = jnp.einsum("nki,ni->nk", self.local, x.reshape(-1, 6)).ravel()
        both = jnp.concatenate([own, self.shared @ x])
        return jnp.stack([both, -both])

    def gathered(self, mu: Float[Array, "2 rows"]) -> Float[Array, " size"]:
        """The transpose of `values`."""
        mu, own = mu[0] - mu[1], self.local.shape[:2]
        count = own[0] * own[1]
        mine = jnp.einsum("nki,nk->ni", self.local, mu[:count].reshape(own)).ravel()
        return mine + self.shared.T @ mu[count:]

    def factor(self, weights: Float[Array, " rows"]) -> Float[Array, "size size"]:
        """The Cholesky factor of H + C^T diag(weights) C."""
        n, k, _ = self.local.shape
        blocks = jnp.einsum("nki,nk,nkj->nij", self.local, weights[: n * k].reshape(n, k), self.local)
        own = (jnp.eye(n)[:, None, :, None] * blocks[:, :, None, :]).reshape(6 * n, 6 * n)
        return jnp.linalg.cholesky(self.hessian + own + (self.shared.T * weights[n * k :]) @ self.shared)

    def residuals(self, x, y, mu):
        """What is missing of stationarity, and of the slacks y being those of x."""
        dual = self.hessian @ x - self.target - self.gathered(mu)
        return dual, self.values(x) + self.give * mu - self.bound - y


def bounded_least_squares(
    rows: Rows, E: Float[Array, "t n 6"], e: Float[Array, " t"], weight: Float[Array, ""]
) -> Solution:
    """The smallest x that has E x = e, as nearly as the bounds allow.

    **Arguments:** `weight`: of the squared error of E x = e against |x|^2.
    """
    problem = _scaled(rows, E.reshape(len(e), -1), e, weight)
    scale = 1.0 + jnp.max(jnp.abs(problem.target))

    def iterate(state):
        x, y, mu, before, count = state
        dual, primal = problem.residuals(x, y, mu)
        weights = 1.0 / (y + problem.give * mu)
        L = problem.factor(jnp.sum(mu * weights, 0))

        def step(complementarity):
            part = (complementarity + mu * primal) * weights
            dx = jax.scipy.linalg.cho_solve((L, True), -dual - problem.gathered(part))
            change = problem.values(dx)
            dmu = -part - mu * weights * change
            return dx, change + problem.give * dmu + primal, dmu

        # A step to the bounds says how much to keep away from them, and how curved the way is.
        gap = jnp.mean(mu * y)
        _, dy, dmu = step(mu * y)
        ahead = jnp.mean((mu + _largest(mu, dmu) * dmu) * (y + _largest(y, dy) * dy))
        centring = jnp.clip(ahead / gap, 0.0, 1.0) ** 3
        dx, dy, dmu = step(mu * y + dy * dmu - centring * gap)
        share = jnp.minimum(_STEP_SHARE * jnp.minimum(_largest(y, dy), _largest(mu, dmu)), 1.0)
        new = x + share * dx, y + share * dy, mu + share * dmu
        dual, primal = problem.residuals(*new)
        error = jnp.maximum(jnp.max(jnp.abs(dual)) / scale, jnp.max(jnp.abs(primal)))
        error = jnp.maximum(error, jnp.mean(new[1] * new[2]) / scale)
        # Where rounding spoils the factor, the last sound iterate is the result.
        sound = jnp.isfinite(error)
        x, y, mu = (jnp.where(sound, after, old) for after, old in zip(new, (x, y, mu), strict=True))
        return x, y, mu, jnp.where(sound, error, before), jnp.where(sound, count + 1, _ITERATIONS)

    def unsolved(state):
        *_, error, count = state
        return (error > _TOLERANCE) & (count < _ITERATIONS)

    # From the minimum without bounds, shifted to where the slacks are positive; multipliers as large as the violations.
    x = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(problem.hessian), True), problem.target)
    slack = problem.values(x) - problem.bound
    beyond = jnp.maximum(jnp.max(-slack), 0.0) + 1e-2
    begin = (x, jnp.maximum(slack, beyond), jnp.full_like(slack, beyond), jnp.asarray(jnp.inf), jnp.asarray(0))
    x, _, _, error, count = jax.lax.while_loop(unsolved, iterate, begin)
    return Solution(x.reshape(-1, 6), error <= _ACCEPTED, count)


def _scaled(rows: Rows, E: Float[Array, "t size"], e: Float[Array, " t"], weight) -> _Problem:
    """The program with rows of unit length, so that one tolerance and one scale of multipliers serve all."""
    shared = rows.shared.reshape(len(rows.shared), E.shape[1])
    local_size = jnp.maximum(jnp.linalg.norm(rows.local, axis=-1), 1e-9)
    shared_size = jnp.maximum(jnp.linalg.norm(shared, axis=-1), 1e-9)
    lower = jnp.concatenate([(rows.local_lower / local_size).ravel(), rows.shared_lower / shared_size])
    upper = jnp.concatenate([(rows.local_upper / local_size).ravel(), rows.shared_upper / shared_size])
    return _Problem(
        rows.local / local_size[..., None],
        shared / shared_size[:, None],
        jnp.stack([lower, -upper]),
        jnp.concatenate([jnp.zeros(local_size.size), rows.shared_give]),
        jnp.eye(E.shape[1]) + weight * E.T @ E,
        weight * E.T @ e,
    )


def _largest(values, steps):
    """The largest share of a step that leaves values positive, cut a little above 1."""
    return jnp.min(jnp.where(steps < 0.0, -values / jnp.where(steps < 0.0, steps, -1.0), 1.0 / _STEP_SHARE))
