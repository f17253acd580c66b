"""Equilibria of an arm, and small vibrations about them.

Both come from the residual of the dynamics: an equilibrium is its root at rest, stiffness and mass are its derivatives.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from hydrostat.compiling import quick_jit
from hydrostat.derivatives import with_derivative
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.motion import Coordinates, like_coordinates
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, check_inputs, joined, no_inputs, split

_MOST_STEPS = 60
_LARGEST_TURN = 0.5  # rad: what one Newton step may change a segment's strain times its length by
_ASYMMETRY = 1e-7  # of a stiffness matrix, relative to its largest entry: more than rounding leaves
_CONVERGED = 1e-11  # of strain times length


class Equilibrium(NamedTuple):
    """The equilibrium of a robot."""

    q: PerArm
    converged: Bool[Array, ""]
    steps: Int[Array, ""]
    """The number of Newton steps of the last load step."""


def equilibrium(robot: Robot, inputs: Inputs | None = None, q=None, load_steps: int = 1) -> Equilibrium:
    """The configuration in which arms on a fixed base rest under their weight and the inputs.

    Newton's method with the exact stiffness, its steps bounded; loads and weight grow to their full size in
    `load_steps` equal parts, each started from the equilibrium of the one before. Wires of prescribed length, and
    surroundings, are there from the beginning. From the straight arm a symmetric load leads to the symmetric branch: to
    reach a buckled one, start from a `q` that leans to its side.

    `jax.jit`, `jax.vmap` and gradients go through it. Where nothing is found it raises `UnsolvedError`; within compiled
    functions, which cannot raise, the result is not a number.
    """
    check_equilibrium(robot, load_steps)
    inputs = no_inputs(robot) if inputs is None else inputs
    check_inputs(inputs)

    return find_rest(robot, _Loaded(robot, inputs), q, load_steps)


class _Loaded(eqx.Module):
    """The residual at rest of a robot under a share of its weight and its loads."""

    robot: Robot
    inputs: Inputs

    def __call__(self, q, share):
        robot, inputs = self.robot, self.inputs
        names = _shared(robot)
        part = inputs._replace(**{n: jax.tree.map(lambda y: share * y, getattr(inputs, n)) for n in names})
        return at_rest(eqx.tree_at(lambda m: m.gravity, robot, share * robot.gravity), q, part)


def check_equilibrium(robot: Robot, load_steps: int) -> None:
    """Refuse robots that have no equilibrium."""
    if robot.free_base:
        raise InputError("an equilibrium needs a fixed base; this one is free")
    if load_steps < 1:
        raise InputError(f"`load_steps` must be at least 1; got {load_steps}")


def find_rest(robot: Robot, residual_at, q, load_steps: int) -> Equilibrium:
    """The root of residual_at(q, share), the residual at rest under a share of the load, at the full load.

    Its derivative is that of the implicit function.

    **Arguments:** `residual_at`: a module that is called, so that it can be compiled with the arrays it holds.
    """
    rest = joined(robot, [arm.rest for arm in robot.each])
    start = rest if q is None else jax.tree.map(lambda y: jnp.asarray(y, float), q)
    found = _find(robot, residual_at, start, load_steps)
    if not isinstance(found.converged, Tracer) and not bool(found.converged):
        raise UnsolvedError(
            f"no equilibrium was found in {load_steps} load steps; more of them, or a start nearer to it, may help"
        )
    return found


def _turns(robot: Robot, q):
    """The coordinates as displacements at their segment's end, comparable between arms [rad or m]."""
    scales = [arm.arm.segments.scale[:, None] for arm in robot.each]
    return joined(robot, [scale * part for scale, part in zip(scales, split(robot, q), strict=True)])


@quick_jit
def _find(robot: Robot, residual_at, start, load_steps: int) -> Equilibrium:
    flat_start, unravel = ravel_pytree(start)

    def newton(missing, start):
        """A root by bounded Newton steps."""

        def improve(carry):
            q, _, count = carry
            # One pass gives forces and stiffness.
            K, r = jax.jacfwd(lambda q: (missing(q),) * 2, has_aux=True)(q)
            step = -jnp.linalg.solve(K, r)
            turn = jnp.max(jnp.abs(ravel_pytree(_turns(robot, unravel(step)))[0]))
            return q + step * jnp.minimum(1.0, _LARGEST_TURN / jnp.maximum(turn, 1e-30)), turn, count + 1

        def going_on(carry):
            _, turn, count = carry
            return (turn > _CONVERGED) & (count < _MOST_STEPS)

        q, turn, count = jax.lax.while_loop(going_on, improve, (start, jnp.asarray(jnp.inf), jnp.asarray(0)))
        return q, (jnp.where(turn <= _CONVERGED, 1.0, 0.0), count.astype(float))

    # Share after share, each from where the one before ended. No derivative goes through this: that of the last root is
    # the implicit function's.
    fixed = jax.tree.map(lambda y: jax.lax.stop_gradient(y) if eqx.is_array(y) else y, residual_at)
    root, (good, counts) = jax.lax.scan(
        lambda q, share: newton(lambda q: ravel_pytree(fixed(unravel(q), share))[0], q),
        jax.lax.stop_gradient(flat_start),
        jnp.arange(1, load_steps + 1) / load_steps,
    )

    q = with_derivative(root, (residual_at, unravel), _implicit_derivative)
    count = counts[-1]
    converged = jnp.all(good > 0.0)
    return Equilibrium(unravel(jnp.where(converged, q, jnp.nan)), converged, count.astype(int))


def _implicit_derivative(root, known, tangents):
    """The change of the root with the residual."""
    residual_at, unravel = known

    def residual(q, residual_at):
        return ravel_pytree(residual_at(unravel(q), 1.0))[0]

    K = jax.jacfwd(lambda q: residual(q, residual_at))(root)
    _, pushed = eqx.filter_jvp(lambda own: residual(root, own), (residual_at,), (tangents[0],))
    return -jnp.linalg.solve(K, pushed)


def _shared(model: Robot) -> list[str]:
    """The inputs that grow with the load."""
    by_length = any(arm.wires is not None and arm.wires.stiffness is not None for arm in model.each)
    return ["force", "follower", "torque", "activation"] + ([] if by_length else ["wires"])


def at_rest(model: Robot, q, inputs: Inputs):
    """The residual of the arms at rest in a configuration: required generalised forces minus applied ones.

    A locked coordinate is missing what it is away from zero.
    """
    zero = like_coordinates(model)
    forces = residual(model, Coordinates(q, jnp.zeros(6)), zero, zero, inputs).q
    each = zip(model.each, split(model, q), split(model, forces), strict=True)
    return joined(model, [jnp.where(arm.arm.segments.free, part, own) for arm, own, part in each])


class Modes(NamedTuple):
    """Small undamped vibrations about an equilibrium, slowest first."""

    frequencies: Float[Array, " m"]
    """Natural frequencies [Hz]; imaginary ones, of an unstable equilibrium, are negative numbers."""
    shapes: Array
    """Mode shapes as coordinates (modes, n, k), scaled to unit generalised mass; of several arms or a free base (modes,
    all)."""


def vibrations(robot: Robot, q, inputs: Inputs | None = None) -> Modes:
    """The natural frequencies and mode shapes about an equilibrium; a free base adds six coordinates, its twist, last.

    The arms of a free robot must be in equilibrium without their weight: it falls.
    """
    inputs = no_inputs(robot) if inputs is None else inputs
    check_inputs(inputs)
    q = jax.tree.map(lambda y: jnp.asarray(y, float), q)

    return small_vibrations(robot, q, inputs)


def small_vibrations(robot: Robot, q, inputs: Inputs) -> Modes:
    """Frequencies and shapes from the derivatives of the residual by coordinates and by accelerations."""
    size = sum(arm.stiffness.size for arm in robot.each)
    locks = [np.broadcast_to(np.asarray(arm.arm.segments.free), arm.stiffness.shape).ravel() for arm in robot.each]
    free = np.flatnonzero(np.concatenate([*locks, np.full(6 if robot.free_base else 0, True)]))
    whole = size + (6 if robot.free_base else 0)
    M, K = _mass_and_stiffness(robot, inputs, q, whole)
    M, K = M[np.ix_(free, free)], K[np.ix_(free, free)]
    # Outside of tracing by NumPy, whose eigenvalues of stiff arms are a little less rounded.
    traced = isinstance(M, Tracer) or isinstance(K, Tracer)
    library, eigenpairs = (jnp, _eigenpairs) if traced else (np, np.linalg.eigh)
    M, K = library.asarray(M), library.asarray(K)
    # M^-1 K by the factor of M: symmetric for conservative loads, and real.
    scale = 1.0 / library.sqrt(library.diag(M))
    L = library.linalg.cholesky(M * library.outer(scale, scale))
    inner = library.linalg.solve(L, library.linalg.solve(L, (K * library.outer(scale, scale)).T).T)
    if not traced and bool(np.max(np.abs(inner - inner.T)) > _ASYMMETRY * np.max(np.abs(inner))):
        raise InputError(
            "vibrations need conservative loads; these forces follow the arm, and their stiffness is lopsided"
        )
    squares, vectors = eigenpairs(0.5 * (inner + inner.T))
    own = (scale[:, None] * library.linalg.solve(L.T, vectors)).T
    shapes = jnp.zeros((len(free), whole)).at[:, free].set(own)
    frequencies = jnp.sign(squares) * jnp.sqrt(jnp.abs(squares)) / (2.0 * jnp.pi)
    if not isinstance(q, tuple) and not robot.free_base:
        shapes = shapes.reshape(len(free), *q.shape)
    return Modes(frequencies, shapes)


@jax.custom_jvp
def _eigenpairs(A: Float[Array, "m m"]) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
    """Eigenvalues and eigenvectors of a symmetric matrix.

    Derivatives are those of the eigenvalues, v^T dA v; eigenvectors are taken as constant, since those of equal
    eigenvalues, as a round arm has, have no derivative.
    """
    return jnp.linalg.eigh(A)


@_eigenpairs.defjvp
def _eigenpairs_jvp(primals, tangents):
    values, vectors = _eigenpairs(*primals)
    change = jnp.einsum("im,ij,jm->m", vectors, tangents[0], vectors)
    return (values, vectors), (change, jnp.zeros_like(vectors))


@quick_jit
def _mass_and_stiffness(robot: Robot, inputs: Inputs, q, size: int):
    """Dense mass and stiffness matrices: derivatives of the residual by accelerations and by coordinates."""
    here = Coordinates(q, jnp.zeros(6))
    flat, unravel = ravel_pytree(here)
    zero = unravel(jnp.zeros_like(flat))

    def missing(x, a):
        return ravel_pytree(residual(robot, x, zero, a, inputs))[0][:size]

    M = jax.jacfwd(lambda a: missing(here, unravel(jnp.zeros_like(flat).at[:size].set(a))))(jnp.zeros(size))
    K = jax.jacfwd(lambda x: missing(unravel(flat.at[:size].set(x)), zero))(flat[:size])
    return M, K
