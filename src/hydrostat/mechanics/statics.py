"""Equilibria of an arm, and small vibrations about them.

Both come from the residual of the dynamics: an equilibrium is its root at rest, stiffness and mass are its derivatives.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.errors import InputError, UnsolvedError
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.mechanics.model import Inputs, Model, no_inputs

_MOST_STEPS = 60
_LARGEST_TURN = 0.5  # rad: what one Newton step may change a segment's strain times its length by
_CONVERGED = 1e-11  # of strain times length


class Equilibrium(NamedTuple):
    """Where the arm rests."""

    q: Float[Array, "n k"]
    converged: Bool[Array, ""]
    steps: Int[Array, ""]
    """Newton steps of the last load step."""


def equilibrium(model: Model, inputs: Inputs | None = None, q=None, load_steps: int = 1) -> Equilibrium:
    """The configuration in which an arm on a fixed base rests under its weight and the given inputs.

    Newton's method with the exact stiffness, its steps bounded; loads and weight grow to their full size in
    `load_steps` equal parts, each started from the equilibrium of the one before. From the straight arm a symmetric
    load leads to the symmetric branch: to reach a buckled one, start from a `q` that leans to its side.
    """
    if model.free_base:
        raise InputError("an equilibrium needs a fixed base; this one is free")
    if load_steps < 1:
        raise InputError(f"`load_steps` must be at least 1; got {load_steps}")
    inputs = no_inputs(model) if inputs is None else inputs
    for name in ("force", "follower", "torque"):
        if not bool(jnp.all(jnp.isfinite(getattr(inputs, name)))):
            raise InputError(f"every load must be finite; `{name}` is not")
    start = model.rest if q is None else jnp.asarray(q, float)
    found = _equilibrium(model, inputs, start, load_steps)
    if not bool(found.converged):
        raise UnsolvedError(
            f"no equilibrium was found in {load_steps} load steps; more of them, or a start nearer to it, may help"
        )
    return found


@eqx.filter_jit
def _equilibrium(model: Model, inputs: Inputs, start, load_steps: int) -> Equilibrium:
    lengths = model.arm.segments.length[:, None]

    def find(start, share):
        part = inputs._replace(
            force=share * inputs.force, follower=share * inputs.follower, torque=share * inputs.torque
        )
        partly = eqx.tree_at(lambda m: m.gravity, model, share * model.gravity)

        def lacking(flat):
            return at_rest(partly, flat.reshape(start.shape), part).ravel()

        def improve(carry):
            q, _, count = carry
            # One pass gives forces and stiffness.
            K, r = jax.jacfwd(lambda q: (lacking(q),) * 2, has_aux=True)(q.ravel())
            step = -jnp.linalg.solve(K, r).reshape(start.shape)
            turn = jnp.max(jnp.abs(lengths * step))
            step = step * jnp.minimum(1.0, _LARGEST_TURN / jnp.maximum(turn, 1e-30))
            return q + step, turn, count + 1

        def going_on(carry):
            _, turn, count = carry
            return (turn > _CONVERGED) & (count < _MOST_STEPS)

        q, turn, count = jax.lax.while_loop(going_on, improve, (start, jnp.asarray(jnp.inf), jnp.asarray(0)))
        return q, (turn <= _CONVERGED, count)

    q, (converged, counts) = jax.lax.scan(find, start, jnp.arange(1, load_steps + 1) / load_steps)
    return Equilibrium(q, jnp.all(converged), counts[-1])


def at_rest(model: Model, q: Float[Array, "n k"], inputs: Inputs) -> Float[Array, "n k"]:
    """The generalised forces that are missing for the arm to rest in a configuration."""
    zero = Coordinates(jnp.zeros_like(q), jnp.zeros(6))
    return residual(model, Coordinates(q, jnp.zeros(6)), zero, zero, inputs).q


class Modes(NamedTuple):
    """Small undamped vibrations about an equilibrium, slowest first."""

    frequencies: np.ndarray
    """[Hz]; imaginary ones, of an unstable equilibrium, as negative numbers."""
    shapes: np.ndarray
    """Coordinates (modes, n, k), scaled to unit generalised mass."""


def vibrations(model: Model, q: Float[Array, "n k"], inputs: Inputs | None = None) -> Modes:
    """The natural frequencies and mode shapes of an arm about an equilibrium."""
    inputs = no_inputs(model) if inputs is None else inputs
    M, K = (np.asarray(x) for x in _mass_and_stiffness(model, q, inputs))
    free = np.flatnonzero(np.broadcast_to(np.asarray(model.arm.segments.free), q.shape).ravel())
    M, K = M[np.ix_(free, free)], K[np.ix_(free, free)]
    # M^-1 K by the factor of M: symmetric for conservative loads, and real.
    scale = 1.0 / np.sqrt(np.diag(M))
    L = np.linalg.cholesky(M * np.outer(scale, scale))
    inner = np.linalg.solve(L, np.linalg.solve(L, (K * np.outer(scale, scale)).T).T)
    squares, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    shapes = np.zeros((len(free), q.size))
    shapes[:, free] = (scale[:, None] * np.linalg.solve(L.T, vectors)).T
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi)
    return Modes(frequencies, shapes.reshape(len(free), *q.shape))


@eqx.filter_jit
def _mass_and_stiffness(model: Model, q, inputs: Inputs):
    """Dense mass and stiffness matrices: derivatives of the residual by accelerations and by coordinates."""
    zero = Coordinates(jnp.zeros_like(q), jnp.zeros(6))

    def by_acceleration(a):
        x = Coordinates(q, jnp.zeros(6))
        return residual(model, x, zero, Coordinates(a.reshape(q.shape), jnp.zeros(6)), inputs).q.ravel()

    M = jax.jacfwd(by_acceleration)(jnp.zeros(q.size))
    K = jax.jacfwd(lambda flat: at_rest(model, flat.reshape(q.shape), inputs).ravel())(q.ravel())
    return M, K
