"""Reference solutions by diffrax: slow, and as exact as asked."""

from typing import ClassVar

import diffrax
import equinox as eqx
import jax

from hydrostat.errors import InputError
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, finite, moved, positions, velocities


class Reference(AbstractStepper):
    """Dormand and Prince's method of order 8, in diffrax, with as many inner steps as a tolerance asks for.

    Explicit: on a stiff arm it takes tiny steps, which is the price of not being in doubt.
    """

    tolerance: float | None = eqx.field(default=1e-10, static=True)
    """Relative and absolute tolerance of each inner step; None takes one step of dt."""
    max_steps: int = eqx.field(default=100_000, static=True)
    order: ClassVar[int] = 8

    def step(self, model, state, time, dt, inputs, *, keep_momentum: bool = False, memory=None) -> Stepped:
        """The state after dt [s]."""
        del memory
        if keep_momentum:
            raise InputError("`Reference` keeps momentum to its tolerance; it cannot be kept better than that")

        def slope(at, y, _):
            x, v = y
            return v, accelerations(model, x, v, acting(model, state, at, inputs))

        control = diffrax.ConstantStepSize()
        if self.tolerance is not None:
            control = diffrax.PIDController(rtol=self.tolerance, atol=self.tolerance)
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),  # type: ignore[arg-type]
            diffrax.Dopri8(),
            time,
            time + dt,
            dt if self.tolerance is None else None,
            (positions(state), velocities(state)),
            stepsize_controller=control,
            saveat=diffrax.SaveAt(t1=True),
            max_steps=self.max_steps,
            throw=False,
        )
        assert found.ys is not None
        x, v = jax.tree.map(lambda y: y[0], found.ys)
        new = moved(model, state, x, v)
        good = finite(new) & (found.result == diffrax.RESULTS.successful)
        return Stepped(new, good, found.stats["num_steps"])
