"""Equilibria of an arm, and small vibrations about them.

Both come from the residual of the dynamics: an equilibrium is its root at rest, stiffness and mass are its derivatives.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Int

from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.model import AnyModel, Inputs, check_inputs, no_inputs
from hydrostat.mechanics.motion import Coordinates, PerArm, branches, joined, like_coordinates, split

_MOST_STEPS = 60
_LARGEST_TURN = 0.5  # rad: what one Newton step may change a segment's strain times its length by
_ASYMMETRY = 1e-7  # of a stiffness matrix, relative to its largest entry: more than rounding leaves
_CONVERGED = 1e-11  # of strain times length


class Equilibrium(NamedTuple):
    """Where a robot rests."""

    q: PerArm
    converged: Bool[Array, ""]
    steps: Int[Array, ""]
    """Newton steps of the last load step."""


def equilibrium(model: AnyModel, inputs: Inputs | None = None, q=None, load_steps: int = 1) -> Equilibrium:
    """The configuration in which arms on a fixed base rest under their weight and the given inputs.

    Newton's method with the exact stiffness, its steps bounded; loads and weight grow to their full size in
    `load_steps` equal parts, each started from the equilibrium of the one before. Wires of given length, and
    surroundings, are there from the beginning. From the straight arm a symmetric load leads to the symmetric branch: to
    reach a buckled one, start from a `q` that leans to its side.
    """
    if model.free_base:
        raise InputError("an equilibrium needs a fixed base; this one is free")
    if load_steps < 1:
        raise InputError(f"`load_steps` must be at least 1; got {load_steps}")
    inputs = no_inputs(model) if inputs is None else inputs
    check_inputs(inputs)
    rest = joined(model, [arm.rest for arm in branches(model)])
    start = rest if q is None else jax.tree.map(lambda y: jnp.asarray(y, float), q)
    shares = jnp.arange(1, load_steps + 1) / load_steps
    found = _equilibrium(model, inputs, start, shares)
    if not bool(found.converged):
        raise UnsolvedError(
            f"no equilibrium was found in {load_steps} load steps; more of them, or a start nearer to it, may help"
        )
    return found


def _turns(model: AnyModel, q):
    """What every coordinate is worth at its segment's end: what is comparable between arms [rad or m]."""
    scales = [arm.arm.segments.scale[:, None] for arm in branches(model)]
    return joined(model, [scale * part for scale, part in zip(scales, split(model, q), strict=True)])


@quick_jit
def _equilibrium(model: AnyModel, inputs: Inputs, start, shares) -> Equilibrium:
    flat_start, unravel = ravel_pytree(start)

    def find(start, share):
        part = inputs._replace(
            **{name: jax.tree.map(lambda y: share * y, getattr(inputs, name)) for name in _shared(model)}
        )
        partly = eqx.tree_at(lambda m: m.gravity, model, share * model.gravity)

        def lacking(flat):
            return ravel_pytree(at_rest(partly, unravel(flat), part))[0]

        def improve(carry):
            q, _, count = carry
            # One pass gives forces and stiffness.
            K, r = jax.jacfwd(lambda q: (lacking(q),) * 2, has_aux=True)(q)
            step = -jnp.linalg.solve(K, r)
            turn = jnp.max(jnp.abs(ravel_pytree(_turns(model, unravel(step)))[0]))
            return q + step * jnp.minimum(1.0, _LARGEST_TURN / jnp.maximum(turn, 1e-30)), turn, count + 1

        def going_on(carry):
            _, turn, count = carry
            return (turn > _CONVERGED) & (count < _MOST_STEPS)

        q, turn, count = jax.lax.while_loop(going_on, improve, (start, jnp.asarray(jnp.inf), jnp.asarray(0)))
        return q, (turn <= _CONVERGED, count)

    q, (converged, counts) = jax.lax.scan(find, flat_start, shares)
    return Equilibrium(unravel(q), jnp.all(converged), counts[-1])


def _shared(model: AnyModel) -> list[str]:
    """The inputs that grow with the load."""
    by_length = any(arm.wires is not None and arm.wires.stiffness is not None for arm in branches(model))
    return ["force", "follower", "torque", "activation"] + ([] if by_length else ["wires"])


def at_rest(model: AnyModel, q, inputs: Inputs):
    """The generalised forces that are missing for the arms to rest in a configuration.

    A locked coordinate is missing what it is away from zero.
    """
    zero = like_coordinates(model)
    lacking = residual(model, Coordinates(q, jnp.zeros(6)), zero, zero, inputs).q
    each = zip(branches(model), split(model, q), split(model, lacking), strict=True)
    return joined(model, [jnp.where(arm.arm.segments.free, part, own) for arm, own, part in each])


class Modes(NamedTuple):
    """Small undamped vibrations about an equilibrium, slowest first."""

    frequencies: np.ndarray
    """[Hz]; imaginary ones, of an unstable equilibrium, as negative numbers."""
    shapes: np.ndarray
    """Coordinates (modes, n, k), scaled to unit generalised mass; of several arms or a free base (modes, all)."""


def vibrations(model: AnyModel, q, inputs: Inputs | None = None) -> Modes:
    """The natural frequencies and mode shapes about an equilibrium; a free base adds six coordinates, its twist, last.

    The arms of a free robot must be in equilibrium without their weight: it falls.
    """
    inputs = no_inputs(model) if inputs is None else inputs
    check_inputs(inputs)
    q = jax.tree.map(lambda y: jnp.asarray(y, float), q)
    M, K = (np.asarray(x) for x in _mass_and_stiffness(model, q, inputs))
    locks = [np.broadcast_to(np.asarray(arm.arm.segments.free), arm.stiffness.shape).ravel() for arm in branches(model)]
    free = np.flatnonzero(np.concatenate([*locks, np.full(6 if model.free_base else 0, True)]))
    M, K = M[np.ix_(free, free)], K[np.ix_(free, free)]
    # M^-1 K by the factor of M: symmetric for conservative loads, and real.
    scale = 1.0 / np.sqrt(np.diag(M))
    L = np.linalg.cholesky(M * np.outer(scale, scale))
    inner = np.linalg.solve(L, np.linalg.solve(L, (K * np.outer(scale, scale)).T).T)
    if np.max(np.abs(inner - inner.T)) > _ASYMMETRY * np.max(np.abs(inner)):
        raise InputError(
            "vibrations need conservative loads; these forces follow the arm, and their stiffness is lopsided"
        )
    squares, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    shapes = np.zeros((len(free), sum(map(len, locks)) + (6 if model.free_base else 0)))
    shapes[:, free] = (scale[:, None] * np.linalg.solve(L.T, vectors)).T
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi)
    if not isinstance(q, tuple) and not model.free_base:
        shapes = shapes.reshape(len(free), *q.shape)
    return Modes(frequencies, shapes)


@quick_jit
def _mass_and_stiffness(model: AnyModel, q, inputs: Inputs):
    """Dense mass and stiffness matrices: derivatives of the residual by accelerations and by coordinates."""
    zero = like_coordinates(model)
    here = Coordinates(q, jnp.zeros(6))
    flat, unravel = ravel_pytree(here)
    size = len(flat) if model.free_base else len(flat) - 6

    def wrap(some):
        return unravel(flat.at[:size].set(some))

    def lacking(x, a):
        return ravel_pytree(residual(model, x, zero, a, inputs))[0][:size]

    M = jax.jacfwd(lambda a: lacking(here, unravel(jnp.zeros_like(flat).at[:size].set(a))))(jnp.zeros(size))
    K = jax.jacfwd(lambda x: lacking(wrap(x), zero))(flat[:size])
    return M, K
