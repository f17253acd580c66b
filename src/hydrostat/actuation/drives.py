"""The actuators of a robot: muscles with a first-order lag, tendons of prescribed tension or length, legs, torques."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.actuation.base import AbstractActuator
from hydrostat.actuation.fatigue import Fatigue
from hydrostat.actuation.legs import generalised_forces
from hydrostat.errors import InputError, shown
from hydrostat.mechanics.model import relaxed
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, joined
from hydrostat.segments import StewartSegment


class MuscleDrive(AbstractActuator):
    """Muscles whose activation follows what is commanded with a lag; its state is the activation, 0 to 1.

    Within a step the activation goes straight from its value at the begin to that at the end: a stair would make what
    is stiff enough to follow at once, as a volume is, leap at every step. The lag is exact for a command that is held.
    """

    lag: Float[Array, ""]
    """Time constant of the lag between command and activation [s]."""
    gains: PerArm
    """The gain of every muscle (n, m): 1 for an undamaged arm."""
    fatigue: Fatigue | None = None
    """How fast they tire; None for muscles that do not."""

    @staticmethod
    def of(robot: Robot, gains: PerArm | None = None, fatigue: object = None) -> "MuscleDrive":
        """The muscles of a robot; gains are 1 when not given, and nothing tires."""
        if fatigue is not None and not isinstance(fatigue, Fatigue):
            raise InputError(f"`fatigue` must be a `Fatigue`, such as Fatigue(0.01, 0.001); got {shown(fatigue)}")
        if fatigue is not None and all(arm.muscles is None for arm in robot.each):
            raise InputError(f"`fatigue` is for robots with muscles; {robot.name} has none")
        times = [arm.activation_time for arm in robot.each if arm.activation_time is not None]
        perfect = joined(robot, [1.0 + relaxed(arm) for arm in robot.each])
        return MuscleDrive(times[0] if times else jnp.zeros(()), perfect if gains is None else gains, fatigue)

    def init(self, robot: Robot) -> PerArm:
        """The activation of relaxed muscles: zero everywhere."""
        del robot
        return jax.tree.map(jnp.zeros_like, self.gains)

    def rested(self) -> PerArm | None:
        """The fatigued share of muscles at the start: zero everywhere; None for muscles that do not tire."""
        return None if self.fatigue is None else jax.tree.map(jnp.zeros_like, self.gains)

    def advance(self, state: PerArm, command: PerArm | None, dt, most: PerArm | float = 1.0) -> PerArm:
        """The activation after dt [s], which approaches the command times the gain.

        **Arguments:** `most`: the share of the units of every muscle that is not fatigued.
        """
        kept = jnp.where(self.lag > 0.0, jnp.exp(-dt / jnp.maximum(self.lag, 1e-9)), 0.0)

        def approach(now, gain, setpoint, most):
            aim = jnp.clip(gain * setpoint, 0.0, most)
            return aim + (now - aim) * kept

        setpoint = jax.tree.map(jnp.zeros_like, state) if command is None else command
        most = jax.tree.map(lambda y: most, state) if isinstance(most, float) else most
        return jax.tree.map(approach, state, self.gains, setpoint, most)

    def tire(self, state: PerArm, fatigued: PerArm | None, command: PerArm | None, dt) -> tuple[PerArm, PerArm | None]:
        """The activation and the fatigued share after dt [s]; units tire before and after they are recruited."""
        if self.fatigue is None:
            return self.advance(state, command, dt), fatigued
        active, fatigued = self.fatigue.tired(state, fatigued, 0.5 * dt)
        active = self.advance(active, command, dt, jax.tree.map(lambda m: 1.0 - m, fatigued))
        return self.fatigue.tired(active, fatigued, 0.5 * dt)

    def apply(self, inputs: Inputs, command: PerArm | None, before: PerArm, after: PerArm, share) -> Inputs:
        """The inputs with the activation at that moment of the step."""
        del command
        return inputs._replace(activation=jax.tree.map(lambda a, b: a + share * (b - a), before, after))


class TendonDrive(AbstractActuator):
    """Tendons that are held at a tension, or at a length. A tendon cannot push: below zero its tension is zero."""

    by_length: bool = eqx.field(static=True)

    def apply(self, inputs: Inputs, command: PerArm | None, before, after, share) -> Inputs:
        """The inputs with the tensions [N] or the lengths [m] of the tendons; tendons that are not driven are slack."""
        del before, after, share
        if command is None:
            return inputs
        return inputs._replace(
            wires=command if self.by_length else jax.tree.map(lambda t: jnp.where(t < 0.0, 0.0, t), command)
        )


class TorqueDrive(AbstractActuator):
    """Generalised forces on the coordinates, such as an ideal motor at every joint would give."""

    def apply(self, inputs: Inputs, command: PerArm | None, before, after, share) -> Inputs:
        """The inputs with the generalised forces added."""
        del before, after, share
        if command is None:
            return inputs
        return inputs._replace(torque=jax.tree.map(jnp.add, inputs.torque, command))


class LegDrive(AbstractActuator):
    """The legs of a chain of platforms: forces along them, as they stand when the step begins."""

    robot: Robot

    def generalised(self, q: Float[Array, "n 6"], force: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
        """The generalised forces of forces along the legs [N]."""
        segments = self.robot.arm.segments
        assert isinstance(segments, StewartSegment)
        return generalised_forces(segments, q, force)

    def apply(self, inputs: Inputs, command: PerArm | None, before, after, share) -> Inputs:
        """The inputs with the legs' generalised forces, into which `generalised` has turned the command before the
        step."""
        del before, after, share
        return inputs if command is None else inputs._replace(torque=jax.tree.map(jnp.add, inputs.torque, command))
