"""The linearly implicit Euler method: one solve a step, no iteration."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from hydrostat.errors import InputError
from hydrostat.mechanics.dynamics import factor, residual, solve
from hydrostat.mechanics.motion import like_coordinates
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, finite, moved, positions, velocities
from hydrostat.stepping.momentum import kept, outer_wrench


class LinearImplicitEuler(AbstractStepper):
    """First order: local forces at the end of the step, everything else at its beginning.

    (M + h C + h^2 K) a = forces at (q + h v, v): cheap, very damped, and good for soft arms in water.
    """

    order: ClassVar[int] = 1

    def step(self, model, state, time, dt, inputs, *, keep_momentum: bool = False, memory=None) -> Stepped:
        """The state after one step of dt [s]."""
        del memory
        x0, v0 = positions(state), velocities(state)
        end_inputs = acting(model, state, time + dt, inputs)
        # Forces where the present velocity leads; velocities themselves change with the operator's help.
        ahead = combine((1, x0), (dt, v0))
        bias = residual(model, ahead, v0, like_coordinates(model), end_inputs)
        a = solve(factor(model, ahead, v0, dt, dt * dt, end_inputs), jax.tree.map(jnp.negative, bias))
        v = combine((1, v0), (dt, a))
        x = combine((1, x0), (dt, v))
        if not keep_momentum:
            new = moved(model, state, x, v)
        elif end_inputs.surroundings is not None and end_inputs.surroundings.abrupt:
            raise InputError(
                "`LinearImplicitEuler` cannot keep the momentum of a robot that touches something; use SDIRK2"
            )
        else:
            new, _ = kept(model, state, x, v, dt, end_inputs, outer_wrench(model, state, x, v, end_inputs))
        return Stepped(new, finite(new), jnp.asarray(1))
