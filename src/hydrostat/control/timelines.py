"""Controllers by the clock alone: a control that rises smoothly, and controls at times with straight lines between."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from hydrostat.control.base import Controller
from hydrostat.errors import InputError
from hydrostat.system import Control, System


class Ramp(Controller):
    """A control that rises from nothing with minimum jerk, and then stays.

    Ramp(Control(tension=[3.0, 0.0, 0.0]), seconds=1.0)
    """

    control: Control
    seconds: float
    """Duration of the rise [s]."""

    def attach(self, system: System, dt: float) -> "Ramp":
        """The same; refused in a sentence where the system cannot be driven so."""
        del dt
        system.check(self.control)
        return self

    def __call__(self, time, observation, memory):
        """The share of the control that acts at a time."""
        del observation
        s = jnp.clip(time / self.seconds, 0.0, 1.0)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        return jax.tree.map(lambda y: share * y, self.control), memory


class Timeline(Controller):
    """Controls at times, with straight lines between them; before the first and after the last they are held.

        Timeline([0.0, 1.0, 4.0], Control(tension=table))    # table: (3, tendons)

    **Arguments:** `times`: increasing [s]; `control`: with the time as leading axis; `constant`: what else is set, the
    same at all times; `continuous`: whether the control changes within steps as well, or is held during each.
    """

    times: Float[Array, " t"]
    interval: Float[Array, ""] | None
    """From each time to the next, where all are equally far apart [s]; else None."""
    control: Control
    constant: Control
    continuous: bool = eqx.field(static=True)

    def __init__(self, times: Any, control: Control, constant: Control | None = None, *, continuous: bool = False):
        self.times, self.control, self.continuous = jnp.asarray(times, float), control, continuous
        self.constant = Control() if constant is None else constant
        if self.times.ndim != 1 or len(self.times) < 1:
            raise InputError(f"`times` must be a list of numbers; got an array of shape {self.times.shape}")
        if not isinstance(self.times, Tracer) and np.any(np.diff(np.asarray(self.times)) <= 0.0):
            raise InputError("`times` must increase from each to the next; some do not")
        self.interval = _interval(self.times)
        counts = {y.shape[0] for y in jax.tree.leaves(control)}
        if counts - {len(self.times)}:
            raise InputError(f"`control` must have {len(self.times)} rows, one for each time; got {sorted(counts)}")

    def at(self, time) -> Control:
        """The control at a time."""
        moving = jax.tree.map(lambda y: self._interpolated(time, y), self.control)
        values = {name: getattr(moving, name) for name in Control.__dataclass_fields__}
        return Control(**{name: getattr(self.constant, name) if y is None else y for name, y in values.items()})

    def _interpolated(self, time, rows: Float[Array, "t ..."]) -> Array:
        """One field of the control at a time."""
        last = len(self.times) - 1
        if last == 0:
            return rows[0]
        if self.interval is not None:
            place = jnp.clip((time - self.times[0]) / self.interval, 0.0, last * (1.0 - 1e-12))
            row = place.astype(int)
            share = place - row
        else:
            row = jnp.clip(jnp.searchsorted(self.times, time, side="right") - 1, 0, last - 1)
            start, end = self.times[row], self.times[row + 1]
            share = jnp.clip((time - start) / (end - start), 0.0, 1.0)
        return (1.0 - share) * rows[row] + share * rows[row + 1]

    def __call__(self, time, observation, memory):
        """The control at a time, or where it is continuous the control as a function of time."""
        del observation
        return (self.at if self.continuous else self.at(time)), memory


def _interval(times: Float[Array, " t"]) -> Float[Array, ""] | None:
    """From each time to the next, where all are equally far apart: rows are then found without a search."""
    if isinstance(times, Tracer) or len(times) < 2:
        return None
    gaps = np.diff(np.asarray(times))
    return jnp.asarray(gaps.mean()) if np.allclose(gaps, gaps[0], rtol=1e-6, atol=0.0) else None
