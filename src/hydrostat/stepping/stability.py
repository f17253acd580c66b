"""The largest stable step of an explicit stepper."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from hydrostat.compiling import quick_jit
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.robot import Inputs, Robot
from hydrostat.mechanics.state import RobotState, positions, velocities

_TURNS = 60  # of the power iteration; the largest frequency comes within a few percent
_SAFETY = 0.95


def largest_step(model: Robot, state: RobotState, inputs: Inputs, reach: float) -> float:
    """The largest stable step [s] of a method that is stable while dt times the fastest rate [1/s] is below `reach`."""
    if model.free_base:
        inputs = inputs._replace(base_pose=state.base_pose)
    fastest = float(_fastest_rate(model, state, inputs))
    return _SAFETY * reach / fastest if fastest > 0.0 else float("inf")


@quick_jit
def _fastest_rate(model: Robot, state: RobotState, inputs: Inputs):
    """The largest rate at which a small disturbance grows, decays or oscillates [1/s], by power iteration.

    The disturbance (dx, dv) obeys dx' = dv, dv' = A dx + B dv, of which only products with vectors are needed.
    """
    x0, unravel = ravel_pytree(positions(state))
    v0, _ = ravel_pytree(velocities(state))

    def slope(y):
        half = len(x0)
        a = accelerations(model, unravel(y[:half]), unravel(y[half:]), inputs)
        return jnp.concatenate([y[half:], ravel_pytree(a)[0]])

    y0 = jnp.concatenate([x0, v0])
    _, push = jax.linearize(slope, y0)

    # Two applications count together: over both a swinging disturbance only changes its size.
    def turn(_, carry):
        d, _, before = carry
        new = push(d)
        size = jnp.linalg.norm(new)
        return new / jnp.maximum(size, 1e-300), before, size

    d0 = jax.random.normal(jax.random.key(0), y0.shape)
    start = (d0 / jnp.linalg.norm(d0), jnp.asarray(0.0), jnp.asarray(0.0))
    _, first, second = jax.lax.fori_loop(0, 2 * _TURNS, turn, start)
    return jnp.sqrt(first * second)
