"""Compiled functions of wired arms that several tests share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import shape_from_lengths


@pytest.fixture(scope="session")
def lengths_of():
    """Wire lengths of a stack of configurations."""
    compiled = jax.jit(jax.vmap(lambda arm, tendons, q: tendons.lengths(arm, q), in_axes=(None, None, 0)))
    return lambda wired, q: np.asarray(compiled(*wired, q))


@pytest.fixture(scope="session")
def shapes_of():
    """Shapes of a stack of wire lengths."""
    compiled = jax.jit(jax.vmap(shape_from_lengths, in_axes=(None, None, 0)))
    return lambda wired, lengths: jax.tree.map(np.asarray, compiled(*wired, jnp.asarray(lengths)))
