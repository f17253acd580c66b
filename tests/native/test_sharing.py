"""Equations that compute the same value become one, and others do not."""

import jax.numpy as jnp
import numpy as np

from hydrostat.native.program import trace, used
from hydrostat.native.sharing import shared


def names(function, *arguments):
    return [eqn.name for eqn in used(shared(trace(function, *arguments))).eqns]


def test_a_value_is_computed_once():
    x = jnp.arange(3.0)
    assert names(lambda x: jnp.sin(x) * 2.0 + jnp.sin(x) * 2.0, x).count("sin") == 1
    assert names(lambda x: jnp.sin(x) * 2.0 + jnp.sin(x) * 2.0, x).count("mul") == 1
    # What differs in an input, a constant or a parameter is another value.
    assert names(lambda x: jnp.sin(x) + jnp.sin(2.0 * x), x).count("sin") == 2
    assert names(lambda x: x * 2.0 + x * 3.0, x).count("mul") == 2
    assert names(lambda x: jnp.sum(x[:2]) + jnp.sum(x[1:]), x).count("slice") == 2


def test_outputs_that_are_the_same_value_are_one():
    block = used(shared(trace(lambda x: (jnp.cos(x), jnp.cos(x)), np.ones(2))))
    assert block.outputs[0] is block.outputs[1]
