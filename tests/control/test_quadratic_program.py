"""Bounded least squares: the optimality conditions, an independent solver, and what gives way when not all can hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

from hydrostat.control.quadratic_program import UNBOUNDED, Rows, bounded_least_squares

solve = jax.jit(bounded_least_squares)
N, K, M, TASKS = 2, 4, 5, 2
WEIGHT = 1e3


def random_rows(seed, give=0.0):
    rng = np.random.default_rng(seed)
    parts = (
        rng.normal(size=(N, K, 6)),
        -rng.uniform(0.1, 2, (N, K)),
        rng.uniform(0.1, 2, (N, K)),
        rng.normal(size=(M, N, 6)),
        -rng.uniform(0.1, 1, M),
        np.where(np.arange(M) < 2, UNBOUNDED, rng.uniform(0.1, 1, M)),
        np.full(M, give),
    )
    tasks = rng.normal(size=(TASKS, N, 6)), 20.0 * rng.normal(size=TASKS)
    return Rows(*map(jnp.asarray, parts)), *map(jnp.asarray, tasks)


def dense(rows):
    """All rows as one matrix, with their bounds."""
    own = np.zeros((N, K, N, 6))
    for i in range(N):
        own[i, :, i] = rows.local[i]
    C = np.concatenate([own.reshape(N * K, -1), np.asarray(rows.shared).reshape(M, -1)])
    lower = np.concatenate([np.ravel(rows.local_lower), rows.shared_lower])
    upper = np.concatenate([np.ravel(rows.local_upper), rows.shared_upper])
    return C, lower, upper


@pytest.mark.parametrize("seed", range(4))
def test_the_solution_meets_the_conditions_of_optimality(seed):
    rows, E, e = random_rows(seed)
    found = solve(rows, E, e, WEIGHT)
    assert bool(found.solved)
    x, E = np.asarray(found.x).ravel(), np.asarray(E).reshape(TASKS, -1)
    C, lower, upper = dense(rows)
    slack = np.concatenate([C @ x - lower, upper - C @ x])
    assert slack.min() > -1e-6
    # The gradient is a combination of active rows, with multipliers that push inwards: found by another solver.
    gradient = x + WEIGHT * E.T @ (E @ x - np.asarray(e))
    active = np.concatenate([C, -C])[slack < 1e-4]
    assert len(active) >= 1
    _, left = nnls(active.T, gradient)
    assert left < 1e-3 * np.linalg.norm(WEIGHT * E.T @ np.asarray(e))


def test_bounds_on_the_unknowns_themselves_give_the_answer_of_another_solver():
    rng = np.random.default_rng(5)
    E, e = rng.normal(size=(4, 12)), 5.0 * rng.normal(size=4)
    eye = jnp.broadcast_to(jnp.eye(6), (N, 6, 6))
    bound = jnp.full((N, 6), 0.4)
    none = jnp.zeros((0, N, 6)), *[jnp.zeros(0)] * 3
    found = bounded_least_squares(
        Rows(eye, -bound, bound, *none), jnp.asarray(E).reshape(4, N, 6), jnp.asarray(e), 10.0
    )
    A = np.concatenate([np.eye(12), np.sqrt(10.0) * E])
    expected = lsq_linear(A, np.concatenate([np.zeros(12), np.sqrt(10.0) * e]), (-0.4, 0.4), tol=1e-14)
    assert np.sum(expected.active_mask != 0) >= 2
    np.testing.assert_allclose(np.ravel(found.x), expected.x, rtol=0, atol=1e-5)


def test_what_cannot_hold_gives_way_where_it_may():
    # An elastic row asks for 1, a hard one allows 0.25 of the same: the hard one wins.
    rows, E, e = random_rows(0, give=1e-6)
    row = jnp.zeros((M, N, 6)).at[:, 0, 0].set(1.0)
    local = jnp.zeros((N, K, 6)).at[0, 0, 0].set(1.0)
    wide = jnp.full((N, K), 10.0)
    rows = Rows(local, -wide, wide.at[0, 0].set(0.25), row, jnp.ones(M), jnp.full(M, UNBOUNDED), rows.shared_give)
    found = solve(rows, E, e, WEIGHT)
    assert bool(found.solved)
    assert float(found.x[0, 0]) == pytest.approx(0.25, abs=1e-6)
