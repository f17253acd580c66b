"""JAX's loops, branches and calls, and operations with several results, as NumPy does them."""

import numpy as np


def _inner(eqn, program_of, closed, weight=1.0):
    program, consts = program_of(closed)
    return lambda *args: program(consts, args), True, weight * program.weight, program.size


def _jit(eqn, program_of, clock, turns):
    return _inner(eqn, program_of, eqn.params["jaxpr"])


def _custom(eqn, program_of, clock, turns):
    return _inner(eqn, program_of, eqn.params["call_jaxpr"])


def _scan(eqn, program_of, clock, turns):
    params = eqn.params
    fixed, carried, length, reverse = (params[k] for k in ("num_consts", "num_carry", "length", "reverse"))
    program, consts = program_of(params["jaxpr"])
    shapes = [var.aval for var in eqn.outvars[carried:]]

    def call(*args):
        same, carry, rows = args[:fixed], list(args[fixed : fixed + carried]), args[fixed + carried :]
        out = [np.empty(shape.shape, shape.dtype) for shape in shapes]
        for i in reversed(range(length)) if reverse else range(length):
            clock.check()
            found = program(consts, (*same, *carry, *(row[i] for row in rows)))
            carry = found[:carried]
            for to, value in zip(out, found[carried:], strict=True):
                to[i] = value
        return [*carry, *out]

    return call, True, max(length, 1) * program.weight, program.size


def _while(eqn, program_of, clock, turns):
    of_cond, of_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    cond, cond_consts = program_of(eqn.params["cond_jaxpr"])
    body, body_consts = program_of(eqn.params["body_jaxpr"])

    def call(*args):
        first, second, carry = args[:of_cond], args[of_cond : of_cond + of_body], args[of_cond + of_body :]
        while np.any(going := cond(cond_consts, (*first, *carry))[0]):
            clock.check()
            new = body(body_consts, (*second, *carry))
            # In a batch, those that have ended stay as they are.
            carry = new if np.ndim(going) == 0 else [_chosen(going, *some) for some in zip(new, carry, strict=True)]
        return carry

    return call, True, turns * (cond.weight + body.weight), cond.size + body.size


def _chosen(which, yes, no):
    return np.where(np.reshape(which, np.shape(which) + (1,) * (np.ndim(yes) - np.ndim(which))), yes, no)


def _cond(eqn, program_of, clock, turns):
    programs = [program_of(branch) for branch in eqn.params["branches"]]

    def call(index, *args):
        program, consts = programs[min(max(int(index), 0), len(programs) - 1)]
        return program(consts, args)

    return call, True, max(p.weight for p, _ in programs), sum(p.size for p, _ in programs)


def _split(eqn, program_of, clock, turns):
    ends, axis = np.cumsum(eqn.params["sizes"])[:-1], eqn.params["axis"]
    return lambda x: np.split(x, ends, axis), True, 1e-5, 1


def _sort(eqn, program_of, clock, turns):
    axis, keys = eqn.params["dimension"], eqn.params["num_keys"]

    def call(*xs):
        order = np.lexsort([xs[k] for k in reversed(range(keys))], axis=axis)
        return [np.take_along_axis(x, order, axis) for x in xs]

    return call, True, 2e-5, 1


def _same(eqn, program_of, clock, turns):
    return lambda *args: args, True, 1e-6, 1


def _first(eqn, program_of, clock, turns):
    return lambda *args: args[: eqn.params["count"]], True, 1e-6, 1


LOOPS = {
    "jit": _jit, "pjit": _jit, "closed_call": _custom, "core_call": _custom, "custom_jvp_call": _custom,
    "custom_vjp_call": _custom, "custom_vjp_call_jaxpr": _custom, "remat": _jit, "checkpoint": _jit, "remat2": _jit,
    "custom_lin": _custom, "scan": _scan, "while": _while, "cond": _cond, "split": _split, "sort": _sort,
    "optimization_barrier": _same, "value_with_derivative": _first,
}  # fmt: skip
"""Operations with programs within them, or with several results: the call, that it has several results, seconds that
it takes, and the number of its equations.
"""
