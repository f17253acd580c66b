"""What the tests interpret is what XLA computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import interpreter

X = np.linspace(-1.2, 1.7, 12).reshape(3, 4)
Y = np.cos(5.0 * X) + 0.1
AT = np.array([2, 0, 1, 2])
S = Y[:, :3] @ Y[:, :3].T + 3.0 * np.eye(3)


def newton(x):
    return lax.while_loop(
        lambda c: jnp.abs(c[0] ** 2 - x) > 1e-9, lambda c: (0.5 * (c[0] + x / c[0]), c[1] + 1), (x, 0)
    )


def swept(x):
    def body(carry, row):
        carry = jnp.sin(carry) + row
        return carry, (carry.sum(), carry[::-1])

    return lax.scan(body, jnp.zeros(4), x), lax.scan(body, jnp.zeros(4), x, reverse=True)


PROGRAMS = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, -x, x**2, x**3, x**-2, jnp.abs(x) ** y, x % 0.3),
    "functions": lambda x, y: [f(0.5 * x) for f in (
        jnp.sin, jnp.cos, jnp.tan, jnp.exp, jnp.expm1, jnp.tanh, jnp.arctan, jnp.arcsinh, jnp.sinh, jnp.cosh, jnp.sign,
        jnp.floor, jnp.ceil, jnp.round, jnp.cbrt, jnp.isfinite, jax.nn.sigmoid, jnp.arcsin, jnp.arccos)],
    "roots": lambda x, y: (jnp.sqrt(jnp.abs(x)), jnp.log(jnp.abs(x)), jnp.log1p(jnp.abs(x)), lax.rsqrt(jnp.abs(x))),
    "comparisons": lambda x, y: (x < y, x >= y, (x > 0) & (y > 0), ~(x > 0) | (y != 0), jnp.arctan2(x, y)),
    "choice": lambda x, y: (jnp.where(x > 0, x, y), jnp.clip(x, -0.5, 0.5), jnp.maximum(x, y), jnp.minimum(x, y)),
    "integers": lambda x, y: (AT // 2, jnp.asarray(AT) // -2, jnp.asarray(AT) % 2, jnp.asarray(x * 3, int),
                              jnp.arange(5)),
    "shapes": lambda x, y: (x.T, x.reshape(2, 6), x[:, None], x[::2, 1:], jnp.stack([x, y], 1), jnp.concatenate([x, y]),
                            jnp.tile(x, (2, 1)), jnp.flip(x, 1), jnp.pad(x, ((1, 2), (0, 1))), jnp.split(x, 2, 1)),
    "negative padding": lambda x, y: lax.pad(x, 7.0, ((-1, 2, 0), (1, -1, 1))),
    "sums": lambda x, y: (x.sum(), x.sum(1), x.prod(0), x.max(1), x.min(), x.argmax(1), x.argmin(), jnp.cumsum(x, 1),
                          lax.cumsum(x, 1, reverse=True), lax.cummax(x, 0), (x > 0).any(1), (x > -2).all()),
    "products": lambda x, y: (x @ y.T, jnp.einsum("ij,kj->ik", x, y), jnp.einsum("ij,ij->i", x, y),
                              jnp.outer(x[0], y[1]),
                              jnp.einsum("aij,ajk->aik", jnp.stack([S, S.T]), jnp.stack([S, S]))),
    "indices": lambda x, y: (x[:, AT], x[jnp.asarray(AT)[:3]], x[jnp.asarray(AT), jnp.asarray(AT)],
                             x[jnp.asarray([0, 9])],
                             jnp.take(x, jnp.asarray([5, 1]), axis=1, mode="fill"), jnp.take_along_axis(x, AT[None], 1),
                             jax.vmap(lambda row, i: row[i])(x, jnp.asarray([0, 2, 3]))),
    "updates": lambda x, y: (x.at[1].set(0.0), x.at[:, jnp.asarray(AT)].add(1.0), x.at[jnp.asarray(AT), 1].add(y[0]),
                             x.at[jnp.asarray([0, 9])].set(5.0), jax.vmap(lambda r, i: r.at[i].set(9.0))(x, AT[:3])),
    "windows": lambda x, y: (lax.dynamic_slice(x, (jnp.asarray(2), jnp.asarray(1)), (2, 2)),
                             lax.dynamic_update_slice(x, y[:2, :2], (jnp.asarray(9), jnp.asarray(1)))),
    "order": lambda x, y: (jnp.sort(y, 1), jnp.argsort(y, 1), jnp.argsort(y[:, 0])),
    "loops": lambda x, y: (newton(jnp.asarray(2.0)), jax.vmap(newton)(jnp.asarray([2.0, 50.0])), swept(x)),
    "branches": lambda x, y: [lax.cond(flag, jnp.sin, jnp.cos, x) for flag in (jnp.asarray(True), jnp.asarray(False))]
                             + [lax.switch(jnp.asarray(i), [jnp.sin, jnp.cos, jnp.exp], x) for i in (0, 1, 5)],
    "linear algebra": lambda x, y: (jnp.linalg.solve(S, x), jnp.linalg.norm(x, axis=1), jnp.linalg.eigvalsh(S)),
    "derivatives": lambda x, y: (jax.grad(lambda z: jnp.sum(swept(z)[0][0] ** 2))(x),
                                 jax.jacfwd(lambda z: jnp.linalg.solve(S, z) ** 2)(x[:, 0])),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_what_xla_makes_of_it(name):
    arguments = jnp.asarray(X), jnp.asarray(Y)
    closed, shape = jax.make_jaxpr(PROGRAMS[name], return_shape=True)(*arguments)
    program, consts = interpreter.program_of(closed)
    with np.errstate(all="ignore"):
        found = program(consts, [X, Y])
    compiled = jax.jit(PROGRAMS[name]).lower(*arguments).compile()(*arguments)
    for mine, wanted, like in zip(found, jax.tree.leaves(compiled), jax.tree.leaves(shape), strict=True):
        assert np.shape(mine) == like.shape
        assert np.asarray(mine).dtype == like.dtype
        np.testing.assert_allclose(np.asarray(mine), np.asarray(wanted), rtol=1e-12, atol=1e-13)


def tier_of(function, *arguments):
    return interpreter.Tier(jax.make_jaxpr(function)(*arguments))


def test_a_program_is_compiled_once_it_has_been_interpreted_for_as_long_as_that_takes():
    tier = tier_of(lambda x: jnp.sin(x) + 1.0, X)
    assert np.asarray(tier([X])[0]) == pytest.approx(np.sin(X) + 1.0)
    tier.spent = tier.compile
    assert tier([X]) is not None
    assert tier([X]) is None


def test_a_long_program_is_compiled_at_once_and_one_that_turns_out_long_is_given_up():
    assert tier_of(lambda x: lax.fori_loop(0, 10**6, lambda i, y: jnp.sin(y), x), X)([X]) is None
    endless = tier_of(lambda x: lax.while_loop(lambda y: y[0, 0] < 9.0, jnp.sin, x), X)
    assert endless.program is not None
    assert endless([X]) is None
    assert endless.program is None


def test_what_has_effects_is_compiled():
    assert tier_of(lambda x: jax.debug.callback(lambda y: None, x), X)([X]) is None


def test_results_are_arrays_of_jax_as_before():
    weak, strong = jax.jit(lambda x: (2.0 * x, jnp.asarray(x, float)))(3)
    assert isinstance(weak, jax.Array)
    assert weak.weak_type
    assert not strong.weak_type
    assert weak.dtype == strong.dtype == np.float64
