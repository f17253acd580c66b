"""The jet of a robotic squid: a pump stretches an elastic mantle, and a valve lets the water out through a nozzle.

The mantle holds the volume V of water at the pressure p = p_max V / V_max. The pump gives the flow
Q_p = c q (1 - p / p_max) at the command c; an open valve lets out Q = u A v with v = C_v sqrt(2 p / rho), u being its
opening. On the body act the momentum that leaves, -rho Q v d with the nozzle's direction d, and that of the water which
the intake brings to the body's velocity, rho Q_p (U - v_body), both at the nozzle. Energy:

    p Q_p = d/dt (p V / 2) + 1/2 rho Q v^2 + (1 - C_v^2) p Q,

the pump's work is stored, leaves with the jet, or is lost in the valve. The mass of the water in the mantle is not
counted with the body: it is at most 2 percent of the robot's.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, at_levers
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place
from hydrostat.surroundings.shapes import scalar, vector


class MantleJetState(NamedTuple):
    """The state of a mantle with its pump, valve and nozzle."""

    volume: Float[Array, ""]
    """Volume of the water in the mantle [m^3]."""
    nozzle: Float[Array, " 2"]
    """Angles of the nozzle [rad]."""
    command: Float[Array, " 4"]
    """Last command: effort of the pump, opening of the valve, and angles of the nozzle [rad]."""
    thrust: Float[Array, " 3"]
    """Force on the body during the step that has ended, in world axes, at the velocity at its begin [N]."""
    pump_work: Float[Array, ""]
    """Work of the pump since the start [J]."""
    jet_work: Float[Array, ""]
    """Kinetic energy, seen from the body, that has left with the jet since the start [J]."""
    valve_loss: Float[Array, ""]
    """Energy lost in the valve since the start [J]."""


class MantleJet(AbstractSurroundings):
    """A mantle with a pump, a valve and a steerable nozzle. Places and directions are in the body's frame."""

    touches = False

    place: Float[Array, " 3"] = eqx.field(converter=vector("place"))
    """Where the nozzle is, from the body's centre of mass [m]."""
    axis: Float[Array, " 3"] = eqx.field(converter=vector("axis"))
    """Direction of the water at nozzle angles of zero, a unit vector."""
    sides: Float[Array, "2 3"]
    """Directions into which the two nozzle angles turn it, unit vectors across the axis and each other."""
    capacity: Float[Array, ""] = eqx.field(converter=scalar("capacity"))
    """Volume of the water in a full mantle [m^3]."""
    pressure: Float[Array, ""] = eqx.field(converter=scalar("pressure"))
    """Pressure in a full mantle, at which the pump stalls [Pa]."""
    flow: Float[Array, ""] = eqx.field(converter=scalar("flow"))
    """Flow of the pump into an empty mantle [m^3/s]."""
    area: Float[Array, ""] = eqx.field(converter=scalar("area"))
    """Area of the nozzle [m^2]."""
    velocity_coefficient: Float[Array, ""] = eqx.field(converter=scalar("velocity_coefficient"))
    """Velocity of the jet over that of an ideal one, C_v."""
    most: Float[Array, ""] = eqx.field(converter=scalar("most"))
    """Largest angle of the nozzle, either way [rad]."""
    lag: Float[Array, ""] = eqx.field(converter=scalar("lag"))
    """Time in which the nozzle follows its command to 63 percent [s]."""

    def init(self, environment: Environment) -> MantleJetState:
        """The state of an empty mantle."""
        if environment.water is None or environment.body is None:
            raise InputError("`MantleJet` needs `Water()` among the surroundings, and a robot with a body")
        zero = jnp.zeros(())
        return MantleJetState(zero, jnp.zeros(2), jnp.zeros(4), jnp.zeros(3), zero, zero, zero)

    def pressure_at(self, volume) -> Float[Array, ""]:
        """The pressure in the mantle [Pa]."""
        return self.pressure * volume / self.capacity

    def flows(self, volume, pump, valve, density) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
        """The flow of the pump and that of the nozzle [m^3/s], and the velocity of the jet [m/s]."""
        pressure = self.pressure_at(volume)
        fast = jnp.maximum(2.0 * pressure / density, 0.0)
        speed = jnp.where(fast > 0.0, self.velocity_coefficient * jnp.sqrt(jnp.where(fast > 0.0, fast, 1.0)), 0.0)
        return pump * self.flow * jnp.maximum(1.0 - pressure / self.pressure, 0.0), valve * self.area * speed, speed

    def begin(self, state: MantleJetState, place: Place, environment: Environment, commands: Commands, dt):
        """The water that comes and goes during the step, by the midpoint rule, and the force that it makes."""
        assert environment.water is not None
        assert place.body is not None
        water = environment.water
        command = state.command
        if commands.pump is not None and commands.nozzle is not None:
            command = jnp.concatenate([jnp.stack([commands.pump, commands.jet]), commands.nozzle])
        pump, valve = (jnp.clip(command[i], 0.0, 1.0) for i in (0, 1))
        setpoint = jnp.clip(command[2:], -self.most, self.most)
        nozzle = setpoint + (state.nozzle - setpoint) * jnp.exp(-dt / self.lag)
        taken, leaving, _ = self.flows(state.volume, pump, valve, water.density)
        middle = jnp.maximum(state.volume + 0.5 * dt * (taken - leaving), 0.0)
        taken, leaving, speed = self.flows(middle, pump, valve, water.density)
        leaving = jnp.minimum(leaving, state.volume / dt + taken)
        pressure = self.pressure_at(middle)
        jet = 0.5 * water.density * leaving * speed**2
        push = JetPush(self, nozzle, water.density * leaving * speed, water.density * taken, water.current)
        new = MantleJetState(
            volume=state.volume + dt * (taken - leaving),
            nozzle=nozzle,
            command=command,
            thrust=push.forces(place.body).force[0],
            pump_work=state.pump_work + dt * pressure * taken,
            jet_work=state.jet_work + dt * jet,
            valve_loss=state.valve_loss + dt * (pressure * leaving - jet),
        )
        return new, OnBody(push, jnp.zeros(()))


class JetPush(AbstractForces):
    """The force of a jet and of its intake on the body."""

    jet: MantleJet
    nozzle: Float[Array, " 2"]
    """Angles of the nozzle [rad]."""
    momentum: Float[Array, ""]
    """Momentum that leaves in a second [N]."""
    taken: Float[Array, ""]
    """Mass that the intake takes in a second [kg/s]."""
    current: Float[Array, " 3"]
    """Velocity of the water [m/s]."""

    @property
    def abrupt(self) -> bool:
        """Whether the force is abrupt: no, it hardly depends on the motion."""
        return False

    @property
    def direction(self) -> Float[Array, " 3"]:
        """Direction of the water that leaves, in the body's frame."""
        cosines, sines = jnp.cos(self.nozzle), jnp.sin(self.nozzle)
        first, second = self.jet.sides[0], self.jet.sides[1]
        return cosines[0] * (cosines[1] * self.jet.axis + sines[1] * second) + sines[0] * first

    def forces(self, nodes: Nodes) -> NodeForces:
        """The force on the body, which is a node with axes of its own."""
        assert nodes.rotation is not None
        R = nodes.rotation[0]
        lever = small.matvec(R, self.jet.place)
        at_nozzle = nodes.velocity[0] + small.cross(nodes.angular_velocity[0], lever)
        force = -self.momentum * small.matvec(R, self.direction) + self.taken * (self.current - at_nozzle)
        return at_levers(lever[None], force[None], self.taken * jnp.eye(3)[None])
