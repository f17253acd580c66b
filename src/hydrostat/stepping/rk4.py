"""The classical Runge-Kutta method, for arms that are not stiff."""

from typing import ClassVar

import jax.numpy as jnp

from hydrostat.mechanics.dynamics import accelerations
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, finite, moved, positions, velocities


class RK4(AbstractStepper):
    """Fourth order, explicit: stable while dt times the highest frequency [rad/s] is below 2.8."""

    order: ClassVar[int] = 4
    reach: ClassVar[float] = 2.78
    """Largest product of step and rate that is stable, whether the rate swings (2.83) or decays (2.785)."""

    def step(self, model, state, time, dt, inputs) -> Stepped:
        """The state after one step of dt [s]."""
        x0, v0 = positions(state), velocities(state)

        def slopes(x, v, at):
            given = acting(model, state, at, inputs)
            return v, accelerations(model, x, v, given)

        v1, a1 = slopes(x0, v0, time)
        v2, a2 = slopes(combine((1, x0), (dt / 2, v1)), combine((1, v0), (dt / 2, a1)), time + dt / 2)
        v3, a3 = slopes(combine((1, x0), (dt / 2, v2)), combine((1, v0), (dt / 2, a2)), time + dt / 2)
        v4, a4 = slopes(combine((1, x0), (dt, v3)), combine((1, v0), (dt, a3)), time + dt)
        x = combine((1, x0), (dt / 6, v1), (dt / 3, v2), (dt / 3, v3), (dt / 6, v4))
        v = combine((1, v0), (dt / 6, a1), (dt / 3, a2), (dt / 3, a3), (dt / 6, a4))
        new = moved(model, state, x, v)
        return Stepped(new, finite(new), jnp.asarray(0))
