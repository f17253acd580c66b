"""Fatigue of muscles: active, fatigued and resting shares of their motor units.

The three-compartment controller model of Xia and Frey Law, "A theoretical approach for modeling peripheral muscle
fatigue and recovery", Journal of Biomechanics 41 (2008): with the shares A, M and R = 1 - A - M of a muscle, a target
T of the activation and the rates F and r of fatigue and of recovery,

    A' = C - F A,    M' = F A - r M,    R' = r M - C.

The controller C recruits resting units towards the target as fast as they can be, and lets active ones go. With the
lag t of activation for both, where the paper has two rates,

    C = (min(T, A + R) - A) / t.

So long as fewer units are fatigued than the target leaves idle, the activation hardly lags behind it; then it falls, to
the share r / (F + r) at which as many units recover as tire.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import number
from hydrostat.mechanics.robot import PerArm


class Fatigue(eqx.Module):
    """How fast muscles tire and recover, all alike.

    System(octopus_arm(), fatigue=Fatigue(rate=0.01, recovery=0.001))
    """

    rate: Float[Array, ""]
    """Rate F at which active units tire [1/s]."""
    recovery: Float[Array, ""]
    """Rate r at which fatigued units recover [1/s]."""

    def __init__(self, rate: float, recovery: float):
        self.rate = jnp.asarray(number("rate", rate, least=0.0, most=1e3))
        self.recovery = jnp.asarray(number("recovery", recovery, least=0.0, most=1e3))

    def tired(self, active: PerArm, fatigued: PerArm, dt) -> tuple[PerArm, PerArm]:
        """The active and the fatigued shares after dt [s] without recruitment.

        To second order and with no share below zero: units recover for half of the time, tire, and recover again.
        """
        lost, kept = 1.0 - jnp.exp(-self.rate * dt), jnp.exp(-0.5 * self.recovery * dt)
        less = jax.tree.map(lambda a: a * (1.0 - lost), active)
        return less, jax.tree.map(lambda a, m: (m * kept + a * lost) * kept, active, fatigued)

    @property
    def lasting(self) -> Float[Array, ""]:
        """The share of its strength that a muscle can give for ever, r / (F + r); 1 where nothing tires."""
        return jnp.where(self.rate > 0.0, self.recovery / jnp.maximum(self.rate + self.recovery, 1e-300), 1.0)
