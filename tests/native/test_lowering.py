"""Machine code of our own gives what XLA gives, operation by operation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.native.function import Native, lowered
from hydrostat.native.order import ordered

KEY = np.random.default_rng(0)


def native(function, carry, parameters=(), side_by_side=0, width=8):
    """What machine code makes of function(parameters, carry) -> carry."""
    step = Native(function, parameters, carry, side_by_side=side_by_side, stepping=True, width=width)
    given, memory = step.parameters.new(), step.argument.new()
    step.parameters.pack(given, jax.tree.leaves(parameters))
    step.argument.pack(memory, jax.tree.leaves(carry))
    out = step.steps(given, memory, 1, 1, step.frame())
    return jax.tree.unflatten(jax.tree.structure(carry), step.argument.unpack(out[0]))


def check(function, *carry, parameters=(), side_by_side=0, widths=(2, 4, 8)):
    """The same from machine code as from XLA, for vectors of several widths."""
    wanted = function(parameters, carry)
    for width in widths:
        found = native(function, carry, parameters, side_by_side, width)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=1e-13, atol=1e-13)


def numbers(*shape):
    return jnp.asarray(KEY.normal(size=shape))


def entrywise(function):
    return lambda _, carry: (function(*carry), *carry[1:])


SHAPES = [(), (3,), (20,), (20, 3), (3, 20), (8, 20, 3), (171,)]


@pytest.mark.parametrize("shape", SHAPES)
def test_arithmetic(shape):
    check(entrywise(lambda a, b: (a + b) * a - b / (2.0 + a * a)), numbers(*shape), numbers(*shape), side_by_side=8)


@pytest.mark.parametrize(
    "function",
    [jnp.sin, jnp.cos, jnp.exp, jnp.tanh, jnp.abs, jnp.floor, jnp.sign, jnp.square, lambda a: jnp.log(2.0 + a * a),
     lambda a: jnp.sqrt(a * a), lambda a: a**3, lambda a: jnp.arctan2(a, 1.0 - a),
     lambda a: jnp.where(a > 0, a, -2 * a),
     lambda a: jnp.maximum(a, 0.3), lambda a: jnp.clip(a, -0.5, 0.5), lambda a: (a > 0.0).astype(float),
     lambda a: a.astype(int).astype(float), lambda a: ((1e3 * a).astype(int) % 7).astype(float),
     lambda a: (jnp.abs(1e3 * a).astype(jnp.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(11)).astype(float),
     jnp.round, lambda a: jnp.sin(1e4 * a),
     lambda a: jnp.exp(100 * a)],
)  # fmt: skip
def test_functions(function):
    check(entrywise(function), numbers(20))
    check(entrywise(function), numbers())


@pytest.mark.parametrize(
    "function",
    [lambda a: jnp.sum(a, 0) + a, lambda a: a - jnp.max(a, 1, keepdims=True), lambda a: jnp.cumsum(a[:3], 0)[2] + a,
     lambda a: jnp.concatenate([a[1:], a[:1]]), lambda a: a[::-1], lambda a: jnp.stack([a[:, 1], a[:, 0], a[:, 2]], 1),
     lambda a: a.reshape(3, 20).T, lambda a: a.at[3, 1].set(7.0), lambda a: a.at[2:5].add(1.5),
     lambda a: a.at[jnp.argmax(a[:, 0])].set(3.0), lambda a: jnp.pad(a[2:], ((1, 1), (0, 0))),
     lambda a: jnp.tile(a[:, :1], (1, 3)), lambda a: jnp.linalg.norm(a, axis=1)[:, None] * a, lambda a: a @ (a.T @ a),
     lambda a: a * jnp.arange(20)[:, None], lambda a: a[jnp.argmax(a[:, 0])] + a,
     lambda a: a[jnp.array([3, 1, 2])][0] + a,
     lambda a: jax.lax.dynamic_slice(a, (jnp.asarray(2), jnp.asarray(0)), (18, 3))[0] * a],
)  # fmt: skip
def test_shapes(function):
    check(entrywise(function), numbers(20, 3))


def arms(function):
    """The same for every arm, as robots do it."""
    return lambda p, carry: jax.lax.map(lambda own: function(p, own), carry)


def scanned(_, own):
    q, v = own

    def turn(c, x):
        return c * 0.9 + x, (c, jnp.outer(x, x) @ c)

    last, (rows, turned) = jax.lax.scan(turn, jnp.zeros(3), q * v)
    return rows + last, turned - jnp.flip(rows, 0)


def symmetric(_, own):
    q, v = own
    each = jax.vmap(lambda a, b: jnp.outer(a, a) * (1.0 + b @ b))(q, v)
    each = jnp.concatenate([jnp.concatenate([each, jnp.zeros_like(each)], 2), jnp.zeros((20, 2, 6))], 1)

    def turn(c, x):
        c = 0.5 * c + x
        return c, c @ jnp.arange(6.0)

    last, rows = jax.lax.scan(turn, jnp.zeros((5, 6)), each, reverse=True)
    return q + last[:3, :3].sum(), rows[:, :3]


def stopping(_, own):
    q, v = own

    def halved(x):
        return jax.lax.while_loop(lambda x: jnp.abs(x) > 0.3, lambda x: 0.5 * x, x)

    return jax.vmap(jax.vmap(halved))(q), v


def branching(_, own):
    q, v = own
    return jax.lax.cond(q[0, 0] > 0.0, lambda: (q * 2.0, v), lambda: (v, q @ jnp.ones((3, 3))))


@pytest.mark.parametrize("function", [scanned, symmetric, stopping, branching])
@pytest.mark.parametrize("count", [1, 3, 8, 13])
def test_arms_side_by_side(function, count):
    check(arms(function), numbers(count, 20, 3), numbers(count, 20, 3), side_by_side=count, widths=(4, 8))


@pytest.mark.parametrize("count", [5, 8])
def test_loops_over_all_arms(count):
    def step(_, carry):
        def turn(carry):
            q, v, k = carry
            (a, b) = jax.lax.map(lambda own: scanned(None, own), (q, v))
            share = jnp.sum(a) / jnp.sum(a * a)
            factors = jax.lax.cond(k == 1, lambda: b, lambda: v)
            return 0.5 * q + 0.01 * share * jnp.tanh(a), factors, k + 1

        return jax.lax.while_loop(lambda c: c[2] < 4, turn, carry)

    check(step, numbers(count, 20, 3), numbers(count, 20, 3), jnp.asarray(0), side_by_side=count, widths=(4, 8))


def test_parameters_stay():
    parameters = {"k": numbers(20, 3), "c": numbers()}

    def step(p, carry):
        (q,) = carry
        return (jax.lax.fori_loop(0, 3, lambda i, q: q + p["c"] * jnp.cumsum(p["k"][:, 0])[19] * 0.1, q),)

    check(step, numbers(20, 3), parameters=parameters)


def test_arrays_without_entries():
    def step(_, carry):
        a, none = carry
        return a + jnp.sum(none), jnp.concatenate([none, a[:0, None]], 0)

    check(step, numbers(20), jnp.zeros((0, 1)))


def test_a_loop_whose_condition_has_many_entries():
    def halved(x):
        return jax.lax.while_loop(lambda x: jnp.max(jnp.abs(x)) > 0.3, lambda x: 0.5 * x, x)

    check(entrywise(jax.vmap(halved)), numbers(6, 11))


def test_a_constant_lasts_as_long_as_what_is_seen_of_it():
    constant = np.full((20, 3), 2.0)

    def step(_, carry):
        (a,) = carry
        part = jnp.asarray(constant)[2:].T
        first = jnp.sum(part, 1)
        rolled = jnp.concatenate([a[3:], a[:3]])
        b = jnp.concatenate([rolled[5:], rolled[:5]]) + jnp.max(rolled @ first)
        c = jnp.concatenate([b[7:], b[:7]])
        return (c + jnp.sum(jnp.concatenate([part.T, a[:2]]) * c),)

    check(step, numbers(20, 3))


def test_lanes_that_have_ended_keep_what_they_have():
    def one(_, own):
        q, v = own

        def turn(carry):
            k, x = carry
            return k + 1, 0.5 * x + jnp.roll(x, 1, 0)

        return jax.lax.while_loop(lambda c: c[0] < 2.0 + 3.0 * jnp.abs(v[0, 0]), turn, (0, q))[1], v

    check(arms(one), numbers(8, 20, 3), numbers(8, 20, 3), side_by_side=8, widths=(4, 8))


def test_loads_stay_before_stores_that_overwrite_them():
    lines = [
        "  %a = load double, ptr %m1",
        "  %b = load double, ptr %m2",
        *(f"  %c{i} = fadd double %b, %b" for i in range(6)),
        "  store double %b, ptr %m3",
        "  %d = load double, ptr %m3",
        "  %e = fadd double %a, %d",
        "  store double %e, ptr %m2",
        "  ret void",
    ]
    # The first and the third buffer are the same memory.
    found = ordered(lines, {"%m1": (0, 64), "%m2": (64, 128), "%m3": (0, 64)})
    at = {line: i for i, line in enumerate(found)}
    assert sorted(found) == sorted(lines)
    assert at[lines[0]] < at["  store double %b, ptr %m3"] < at["  %d = load double, ptr %m3"]


@pytest.mark.parametrize("time", [-1.0, 0.0, 0.3, 0.4, 2.0, np.nan])
def test_interpolation_in_a_table(time):
    times, values = jnp.array([0.0, 0.2, 0.4, 0.6]), numbers(4, 3)
    rows = [
        lambda t: jnp.interp(t, times, values[:, 0]),
        lambda t: jax.vmap(jnp.interp, (None, None, 1))(t, times, values),
    ]
    for row in rows:
        check(lambda _, carry, row=row: (carry[0], row(carry[0])), jnp.array(time), row(0.0))


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9])
def test_rows_of_a_scan_that_share_entries_are_lanes_of_what_follows(count):
    """Rows that a scan gives twice are stored once, apart from each other, and fewer than there are lanes."""

    def function(_, carry):
        rows, wide = carry

        def body(R, row):
            new = jnp.sin(R @ row)
            return new, (R, new, R, row)

        first, after, again, same = jax.lax.scan(body, jnp.eye(3) + rows[0], rows)[1]
        return again + after + same, first[:, None, :, 0:1] * wide

    check(function, numbers(count, 3, 3), numbers(count, 2, 3, 3))


def test_padding_may_cut():
    check(entrywise(lambda a: jax.lax.pad(a, 2.0, ((-1, 1, 0), (2, -2, 0)))), numbers(20, 5))


def test_a_linear_solve_with_a_transposition_of_its_own():
    diagonal = numbers(6) + 5.0

    def solved(b):
        return jax.lax.custom_linear_solve(lambda x: diagonal * x, b, lambda _, y: y / diagonal, symmetric=True)

    check(entrywise(solved), numbers(6))
    # Reverse mode holds the transposed solve.
    check(entrywise(jax.grad(lambda b: jnp.sum(jnp.sin(solved(b))))), numbers(6))


def test_steps_that_are_brought_something_by_every_row():
    def function(scale, both):
        carry, row = both
        return scale * carry + jnp.sin(row)

    start, rows = np.asarray(numbers(20)), np.asarray(numbers(7, 20))
    step = Native(function, 0.5, (jnp.asarray(start), jnp.asarray(rows[0])), stepping=True, fed=True)
    parameters, memory, brought = step.parameters.new(), step.argument.new(), step.brought.new(len(rows))
    step.parameters.pack(parameters, [0.5])
    step.argument.pack(memory, [start])
    step.brought.pack(brought, [rows])
    step.fed_steps(parameters, memory, brought)
    for row in rows:
        start = 0.5 * start + np.sin(row)
    np.testing.assert_allclose(step.argument.unpack(memory)[0], start, rtol=1e-13)


def value_of(function, parameters, argument):
    """What machine code makes of a function whose result is no carry."""
    native = Native(function, parameters, argument)
    given, memory = native.parameters.new(), native.argument.new(1)
    native.parameters.pack(given, [parameters])
    native.argument.pack(memory[0], [argument])
    out = native.result.new(1)
    native.rows(given, memory, out)
    (found,) = native.result.unpack(out[0])
    return found


def test_a_row_of_a_table_is_read_where_it_is():
    table, row = numbers(600, 20, 3), jnp.asarray(417.0)

    def picked(table, row):
        return jnp.sin(table[jnp.clip(row.astype(int), 0, 599)])

    assert lowered(picked, table, row)[0]["frame"] < 10 * 20 * 3 * 8
    np.testing.assert_allclose(value_of(picked, table, row), np.sin(table[417]), rtol=1e-15)


def test_rows_of_steps_whose_carry_is_read_at_a_computed_place():
    def step(rate, carry):
        buffer, place, total = carry
        row = buffer[jnp.clip(place.astype(int), 0, 8)]
        return buffer + rate, jnp.where(place > 7.0, 0.0, place + 1.0), total + row

    carry = numbers(9, 3, 20), jnp.zeros(()), jnp.zeros((3, 20))
    native = Native(step, 0.5, carry, stepping=True)
    parameters, memory = native.parameters.new(), native.argument.new()
    native.parameters.pack(parameters, [0.5])
    native.argument.pack(memory, carry)
    found = native.argument.unpack(native.steps(parameters, memory, 4, 1, native.frame()))
    for row in range(4):
        carry = step(0.5, carry)
        for mine, wanted in zip(found, carry, strict=True):
            np.testing.assert_allclose(mine[row], wanted, rtol=1e-13, atol=1e-13)


def test_a_sum_within_lanes_that_is_the_same_for_all_of_them():
    def grown(weights, row):
        def body(y, i):
            return y + jnp.sin(y) * jnp.sum(jnp.cos(weights * i)), None

        return jax.lax.scan(body, row, jnp.arange(3.0))[0]

    function = jax.vmap(grown, (None, 0))
    weights, rows = numbers(20), 0.1 * numbers(20)
    np.testing.assert_allclose(value_of(function, weights, rows), function(weights, rows), rtol=1e-12)
