"""The largest stable step of an explicit stepper."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from hydrostat.compiling import quick_jit
from hydrostat.mechanics.dynamics import accelerations, factor, residual, solve
from hydrostat.mechanics.robot import Inputs, Robot
from hydrostat.mechanics.state import RobotState, positions, velocities

_TURNS = 60  # of the power iteration before its growth is measured, and over which it is: within a few percent
_SAFETY = 0.95


def largest_step(model: Robot, state: RobotState, inputs: Inputs, reach: float) -> float:
    """The largest stable step [s] of a method that is stable while dt times the fastest rate [1/s] is below `reach`."""
    if model.free_base:
        inputs = inputs._replace(base_pose=state.base_pose)
    fastest = float(_fastest_rate(model, state, inputs))
    # A rate that is not a number means that nothing is known of the stability: no step is safe then.
    if not np.isfinite(fastest):
        return 0.0
    return _SAFETY * reach / fastest if fastest > 0.0 else float("inf")


@quick_jit
def _fastest_rate(model: Robot, state: RobotState, inputs: Inputs):
    """The largest rate at which a small disturbance grows, decays or oscillates [1/s], by power iteration.

    The disturbance (dx, dv) obeys dx' = dv, dv' = -M^-1 (dR/dx dx + dR/dv dv) with the residual R(x, v, a) of the
    inverse dynamics at the acceleration of the present state, of which only products with vectors are needed. The
    mass matrix M is not differentiated: that is done by R, and its factors hold stiffness, whose derivative does not
    exist where an arm is straight.
    """
    x0, unravel = ravel_pytree(positions(state))
    v0, _ = ravel_pytree(velocities(state))
    half = len(x0)
    x, v = unravel(x0), unravel(v0)
    a = accelerations(model, x, v, inputs)
    mass = factor(model, x, v, 0.0, 0.0, inputs)
    _, push_residual = jax.linearize(lambda x, v: residual(model, x, v, a, inputs), x, v)

    def push(d):
        force = push_residual(unravel(d[:half]), unravel(d[half:]))
        return jnp.concatenate([d[half:], -ravel_pytree(solve(mass, force))[0]])

    # A disturbance that swings and decays changes its size unevenly: the growth is the mean over many applications.
    def turn(i, carry):
        d, growth = carry
        new = push(d)
        size = jnp.linalg.norm(new)
        return new / jnp.maximum(size, 1e-300), growth + jnp.where(i >= _TURNS, jnp.log(size), 0.0)

    d0 = jax.random.normal(jax.random.key(0), (2 * half,))
    start = (d0 / jnp.linalg.norm(d0), jnp.asarray(0.0))
    return jnp.exp(jax.lax.fori_loop(0, 2 * _TURNS, turn, start)[1] / _TURNS)
