"""Values with a derivative of their own: right to third order, in loops and in batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.derivatives import with_derivative


def root(p):
    """The root a of a^3 + a = p, by Newton's method."""
    fixed = jax.lax.stop_gradient(p)
    a = jax.lax.fori_loop(0, 30, lambda _, a: a - (a**3 + a - fixed) / (3.0 * a * a + 1.0), fixed)
    return with_derivative(a, p, lambda a, _, tangent: tangent / (3.0 * a * a + 1.0))


def one_root(p):
    return root(p)


def roots_in_a_loop(p):
    return jax.lax.scan(lambda p, _: (root(p), None), p, None, length=3)[0]


def derivatives(p, times: int):
    """The first three derivatives of roots of roots, from those of p = a^3 + a."""
    total = np.array([p, 1.0, 0.0, 0.0])
    for _ in range(times):
        a = np.roots([1.0, 0.0, 1.0, -total[0]])
        a = a[np.abs(a.imag) < 1e-9].real[0]
        slope = 3.0 * a * a + 1.0
        own = 1.0 / slope, -6.0 * a / slope**3, (108.0 * a * a - 6.0 * slope) / slope**5
        _, d1, d2, d3 = total
        total = np.array(
            [a, own[0] * d1, own[1] * d1**2 + own[0] * d2, own[2] * d1**3 + 3.0 * own[1] * d1 * d2 + own[0] * d3]
        )
    return total


@pytest.mark.parametrize(("function", "times"), [(one_root, 1), (roots_in_a_loop, 3)])
@pytest.mark.parametrize(
    ("outer", "inner"),
    [(outer, inner) for outer in (jax.jacfwd, jax.jacrev) for inner in (jax.jacfwd, jax.jacrev)],
)
def test_derivatives_of_derivatives(function, times, outer, inner):
    value, first, second, third = derivatives(0.7, times)
    p = jnp.asarray(0.7)
    assert function(p) == pytest.approx(value, rel=1e-12)
    assert inner(function)(p) == pytest.approx(first, rel=1e-12)
    assert outer(inner(function))(p) == pytest.approx(second, rel=1e-12)
    assert jax.jacfwd(outer(inner(function)))(p) == pytest.approx(third, rel=1e-11)


def test_derivatives_of_a_batch():
    p = jnp.array([0.7, -0.2, 3.0])
    expected = [derivatives(x, 3) for x in p]
    assert jax.vmap(jax.jacfwd(jax.grad(roots_in_a_loop)))(p) == pytest.approx([y[2] for y in expected], rel=1e-12)

    def total(p):
        return jnp.sum(jax.vmap(roots_in_a_loop)(p))

    assert jax.grad(total)(p) == pytest.approx([y[1] for y in expected], rel=1e-12)
    assert jax.hessian(total)(p) == pytest.approx(np.diag([y[2] for y in expected]), rel=1e-12)


def test_a_parameter_that_the_batch_shares():
    def scaled(p, factor):
        a = jax.lax.stop_gradient(factor * root(p))

        def change(_, parameters, tangents):
            (p, factor), (of_p, of_factor) = parameters, tangents
            along = 0.0 if of_p is None else factor * jax.jvp(root, (p,), (of_p,))[1]
            return along + (0.0 if of_factor is None else of_factor * root(p))

        return with_derivative(a, (p, factor), change)

    p = jnp.array([0.7, 3.0])
    expected = np.array([derivatives(x, 1) for x in p])
    found = jax.grad(lambda factor: jnp.sum(jax.vmap(lambda p: scaled(p, factor))(p)))(2.0)
    assert found == pytest.approx(expected[:, 0].sum(), rel=1e-12)
    assert jax.vmap(jax.grad(scaled), (0, None))(p, 2.0) == pytest.approx(2.0 * expected[:, 1], rel=1e-12)
