"""Compiling quickly, and making one machine function of a loop over steps.

XLA's CPU runtime runs a compiled program as a list of small kernels, and pays some 50 ns to 200 ns for each: for an arm
of few segments that is most of the time. A call that is marked so is compiled as a single function instead. The mark
is a private one of XLA; where it is not understood, or an operation cannot be compiled that way, the ordinary way is
taken, with the same results. Measured for SDIRK2 on two arcs: 33 us a step instead of 58.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import equinox as eqx
import jax
import jax.extend.core
import numpy as np
from jax.core import Tracer
from jax.experimental.xla_metadata import set_xla_metadata

from hydrostat.executables import Executables

_OPTIONS = {
    # The older way to emit kernels compiles twice as fast, and the kernels run as fast (measured: rollouts, Jacobians).
    "xla_cpu_use_fusion_emitters": False,
    # Level 1 compiles a fifth faster than level 3.
    "xla_backend_optimization_level": 1,
    # Kernels of a library cannot be part of a single function.
    "xla_cpu_experimental_ynn_fusion_type": "",
}


# For loops that run for long: what level 1 leaves out makes a control tick, or a step of 20 segments, a fifth slower.
_FAST = {**_OPTIONS, "xla_backend_optimization_level": 3}


def quick_jit(function):
    """`equinox.filter_jit` with options that compile long chains of small operations in half the time.

    What is compiled is kept on disk, and found there without tracing.
    """
    return _jit(function, _OPTIONS)


def fast_jit(function):
    """`equinox.filter_jit` for functions that run for long, so that they may be optimised for longer."""
    return _jit(function, _FAST)


def compiled(function, *arguments):
    """The function compiled for arrays such as these, ahead of time, to be called with NumPy arrays as well."""
    options = _FAST if _understood() else None
    return jax.jit(function, compiler_options=options).lower(*arguments).compile()


def _jit(function, options):
    """The function compiled with options, where this version of XLA knows them, and kept on disk."""
    quick = Executables(function, options)
    plain = eqx.filter_jit(function)

    @wraps(function)
    def call(*args, **kwargs):
        # Options are for a function that is compiled by itself, not for one that is part of another.
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs)))
        if traced or not _understood() or jax.default_backend() != "cpu" or jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            return plain(*args, **kwargs)
        return quick(*args, **kwargs)

    return call


@cache
def _understood() -> bool:
    """Whether this version of XLA knows the options."""
    try:
        jax.jit(lambda x: x + 1, compiler_options=_OPTIONS)(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True


# Operations that the single function cannot hold.
_REFUSED = {"scatter", "scatter-add", "scatter_add", "scatter_max", "sort", "top_k", "custom_call", "ffi_call"}


def as_one_function(function, argument):
    """function(argument), compiled as one machine function where that is possible."""
    closed, shape = jax.make_jaxpr(function, return_shape=True)(argument)
    if jax.default_backend() != "cpu" or not _allowed(closed.jaxpr):
        return function(argument)
    call = jax.jit(jax.extend.core.jaxpr_as_fun(closed))
    with set_xla_metadata(xla_cpu_small_call="true", inlineable="false"):
        flat = call(*jax.tree.leaves(argument))
    return jax.tree.unflatten(jax.tree.structure(shape), flat)


def _allowed(jaxpr) -> bool:
    """Whether every operation can be part of a single function."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in _REFUSED or eqn.primitive.name.startswith(("scatter", "lu", "cholesky", "triangular")):
            return False
        for inner in jax.tree.leaves(eqn.params, is_leaf=_is_jaxpr):
            if _is_jaxpr(inner) and not _allowed(getattr(inner, "jaxpr", inner)):
                return False
    return True


def _is_jaxpr(value) -> bool:
    return isinstance(value, jax.extend.core.ClosedJaxpr | jax.extend.core.Jaxpr)


def in_pieces(function: Callable, rows: Any, size: int) -> Any:
    """The value of a compiled function of many rows, computed in pieces of one size, so that it is compiled once.

    The last piece is padded with its last row, and the result is cut to the number of rows.

    **Arguments:** `function`: from arrays with the row as leading axis to a tree of such arrays; `rows`: an array or a
    tree of arrays, with the row as leading axis; `size`: rows of a piece.
    """
    count = len(jax.tree.leaves(rows)[0])
    parts = []
    for begin in range(0, count, size):
        index = np.minimum(np.arange(begin, begin + size), count - 1)
        found = function(jax.tree.map(lambda y, index=index: y[index], rows))
        parts.append(jax.tree.map(lambda y, left=count - begin: np.asarray(y)[:left], found))
    return parts[0] if len(parts) == 1 else jax.tree.map(lambda *y: np.concatenate(y), *parts)
