"""The classical Runge-Kutta method, for arms that are not stiff."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics.dynamics import accelerations
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, finite, moved, positions, velocities
from hydrostat.stepping.momentum import kept, outer_wrench

# Of each stage: where in the step it is, and what it counts for.
_SHARES, _WEIGHTS = np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


class RK4(AbstractStepper):
    """Fourth order, explicit: stable while dt times the highest frequency [rad/s] is below 2.8."""

    order: ClassVar[int] = 4
    reach: ClassVar[float] = 2.78
    """Largest product of step and rate that is stable, whether the rate swings (2.83) or decays (2.785)."""

    def step(self, model, state, time, dt, inputs, *, keep_momentum: bool = False, memory=None) -> Stepped:
        """The state after one step of dt [s]. The four stages are one loop, so that a stage is compiled once."""
        del memory
        x0, v0 = positions(state), velocities(state)

        def stage(carry, of):
            v, a, x_end, v_end, wrench = carry
            share, weight = of
            x, v = combine((1, x0), (share * dt, v)), combine((1, v0), (share * dt, a))
            stage_inputs = acting(model, state, time + share * dt, inputs)
            a = accelerations(model, x, v, stage_inputs)
            if keep_momentum:
                wrench = wrench + weight * outer_wrench(model, state, x, v, stage_inputs)
            return (v, a, combine((1, x_end), (weight * dt, v)), combine((1, v_end), (weight * dt, a)), wrench), None

        start = (v0, jax.tree.map(jnp.zeros_like, v0), x0, v0, jnp.zeros(6))
        (_, _, x, v, wrench), _ = jax.lax.scan(stage, start, (_SHARES, _WEIGHTS))
        if keep_momentum:
            new, _ = kept(model, state, x, v, dt, acting(model, state, time + dt, inputs), wrench)
        else:
            new = moved(model, state, x, v)
        return Stepped(new, finite(new), jnp.asarray(0))
