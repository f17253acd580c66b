"""The linearly implicit Euler method: one solve a step, no iteration."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from hydrostat.mechanics.dynamics import Coordinates, factor, residual, solve
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, moved, positions, velocities


class LinearImplicitEuler(AbstractStepper):
    """First order: material forces at the end of the step, everything else at its beginning.

    (M + h C + h^2 K) a = forces at (q + h v, v): cheap, very damped, and good for soft arms in water.
    """

    order: ClassVar[int] = 1

    def step(self, model, state, time, dt, inputs) -> Stepped:
        """The state after one step of dt [s]."""
        x0, v0 = positions(state), velocities(state)
        given = acting(model, state, time + dt, inputs)
        still = Coordinates(jnp.zeros_like(state.q), jnp.zeros(6))
        lacking = residual(model, x0, v0, still, given)
        lacking = lacking._replace(q=lacking.q + dt * model.stiffness * state.v * model.arm.segments.free)
        a = solve(factor(model, x0, dt, dt * dt), jax.tree.map(jnp.negative, lacking))
        v = combine((1, v0), (dt, a))
        new = moved(model, state, combine((1, x0), (dt, v)), v)
        return Stepped(new, jnp.all(jnp.isfinite(new.q)), jnp.asarray(1))
