"""Stepper motors on screws, one per wire."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class Stepper(eqx.Module):
    """A stepper motor whose screw draws a wire in; lengths and their rates are those of the wire."""

    step: float
    """Wire drawn in by one pulse [m]."""
    max_speed: float
    """Highest speed of the wire [m/s]."""
    max_acceleration: float
    """Highest acceleration of the wire [m/s^2]."""
    max_jerk: float
    """Highest jerk of the wire, of S-curves [m/s^3]."""
    max_pulse_rate: float
    """Highest rate of pulses [1/s]."""

    @property
    def speed_limit(self) -> float:
        """The highest speed that both the motor and the pulse generator allow [m/s]."""
        return min(self.max_speed, self.max_pulse_rate * self.step)

    def pulses(self, travel: Float[Array, "..."]) -> Int[Array, "..."]:
        """The pulses nearest to a change of wire length [m]; positive lengthens the wire."""
        return jnp.round(travel / self.step).astype(jnp.int64)

    def travel(self, pulses: Int[Array, "..."]) -> Float[Array, "..."]:
        """The change of wire length that pulses make [m]."""
        return pulses * self.step
