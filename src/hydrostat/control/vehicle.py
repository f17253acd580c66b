"""The pilot of a swimming vehicle: it follows waypoints in a current, or holds its place, by fins and jet.

A point moves along the straight legs between the waypoints, and waits where the vehicle is late or its bow still turns.
The vehicle is drawn to it by a force

    F = m (w^2 e + 2 w (v_ref - v)) + I,    I' = m w^3 / 5 e,

e being the way to the point, w a frequency and m the mass with that of the water around; I holds against currents and
whatever pulls at a limb. Turns are alike, about all three axes. `FinAllocation` makes beats of the fins of it, and what
is more than these can do, forwards above all, a burst of the jet gives, whenever the mantle is full.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.fin_allocation import FinAllocation
from hydrostat.errors import InputError, shown
from hydrostat.lie import small
from hydrostat.sensing import Observation
from hydrostat.surroundings import Fins, MantleJet, Water
from hydrostat.surroundings.mantle_jet import JetPush
from hydrostat.system import Control, System

_LOOK_AHEAD = 0.3  # m, along the legs: ahead by which the direction of the path is taken
_APPROACH = 0.6  # 1/s: speed at which it is to return to the point, per distance from it
# Shares of what the fins can do about one axis, asked of them at most since they do several things at once: moments
# about the body's x, y and z, which are yaw, pitch and roll, and forces. In pitch and roll the body rights itself.
_SHARES = (0.6, 0.35, 0.4, 0.6, 0.6, 0.6)
_STRONGEST = 0.6  # of what the fins can do forwards, more than which is asked of the jet
_LATE = 0.15  # m, behind by which the point waits
_DECAY = 0.8  # 1/s, at which an error of the estimated position decays
_FLOW_TIME = 1.0  # s, over which the measured current is averaged
_STEERED = 0.05  # m/s: slower than that through the water the bow stays as it is
_TURN_RATE = 0.6  # rad/s, at most, of the wanted heading
_SLOWING = 0.4  # 1/s, speed per distance left to the last waypoint
_FULL, _EMPTY = 0.9, 0.15  # of the mantle: where a burst may begin, and where it ends
_STRONG = 0.7  # of what the fins' waves can give together, from which the jet helps


class PilotState(NamedTuple):
    """What the pilot of a vehicle remembers, and where it wants to be."""

    along: Float[Array, ""]
    """How far along the legs the point is that it follows [m]."""
    heading: Float[Array, ""]
    """Setpoint of the heading, the angle of the bow about the vertical from the world's x [rad]."""
    position: Float[Array, " 3"]
    """Estimated position of the body [m]."""
    current: Float[Array, " 3"]
    """Estimated velocity of the water over ground [m/s]."""
    held: Float[Array, " 6"]
    """Integral part of the wrench: moment in the body's axes [N m], force in world axes [N]."""
    target: Float[Array, " 3"]
    """The point that it follows [m]."""
    wrench: Float[Array, " 6"]
    """Wrench wanted of the fins, in the body's axes [N m, N]."""
    water: Float[Array, ""]
    """Estimated volume of the water in the mantle [m^3]."""
    bursting: Float[Array, ""]
    """1 during a burst of the jet, else 0."""


class JetControl(NamedTuple):
    """The control of a mantle jet; all None where there is none."""

    valve: Float[Array, ""] | None
    """Opening of the valve, 0 or 1."""
    pump: Float[Array, ""] | None
    """Effort of the pump, 0 to 1."""
    nozzle: Float[Array, " 2"] | None
    """Angles of the nozzle [rad]."""


class VehiclePilot(Recipe):
    """A vehicle with fins that swims from waypoint to waypoint and holds the last one.

        VehiclePilot([(3.0, 0.0, 0.0), (3.0, 2.0, -0.5)], speed=0.25)

    Where it has a mantle jet, and is allowed to, it uses it as well.
    """

    waypoints: Float[Array, "w 3"]
    """Points that the body is to pass [m]; the first leg begins where it starts."""
    speed: float
    """Speed along the legs, over ground [m/s]."""
    heading: float | None
    """Heading to keep [rad]; None: where it swims to, seen from the water."""
    frequency: float
    """Frequency w of the position's control [rad/s]."""
    turn_frequency: float
    """The same of the attitude's [rad/s]."""
    use_jet: bool

    def __init__(
        self,
        waypoints: ArrayLike,
        speed: float = 0.25,
        heading: float | None = None,
        *,
        frequency: float = 1.2,
        turn_frequency: float = 1.5,
        use_jet: bool = True,
    ):
        points = np.asarray(waypoints, float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.all(np.isfinite(points)):
            raise InputError(f"`waypoints` must be rows of three finite numbers; got {shown(waypoints)}")
        self.waypoints = jnp.asarray(points)
        self.speed = errors.number("speed", speed, above=0.0, most=10.0)
        self.heading = None if heading is None else errors.number("heading", heading)
        self.frequency = errors.number("frequency", frequency, above=0.0, most=100.0)
        self.turn_frequency = errors.number("turn_frequency", turn_frequency, above=0.0, most=100.0)
        self.use_jet = bool(use_jet)

    def attach(self, system: System, dt: float) -> "AttachedPilot":
        """The pilot of this system's robot."""
        robot, fins, water = system.robot, system.part(Fins), system.part(Water)
        if fins is None or robot.base_inertia is None or robot.body is None or robot.body.hull is None:
            raise InputError(
                "`VehiclePilot` needs `Fins` and `Water()` among the surroundings, and a free robot with a hull, "
                "such as hydrostat.robots.squid_vehicle()"
            )
        start = robot.T_world_body.position
        corners = jnp.concatenate([start[None], self.waypoints])
        lengths = small.norm(jnp.diff(corners, axis=0))
        added = water.density * robot.body.hull.added
        mass = robot.base_inertia + added
        limbs = sum(float(jnp.sum(arm.inertia[..., 3])) for arm in robot.each)
        # Limbs count with the water that they carry along, and turn with the body at some distance.
        mass = mass.at[3:].add(2.0 * limbs).at[:2].add(2.0 * limbs * 0.5)
        return AttachedPilot(
            corners=corners,
            ends=jnp.concatenate([jnp.zeros(1), jnp.cumsum(lengths)]),
            speed=jnp.asarray(self.speed),
            fixed=None if self.heading is None else jnp.asarray(self.heading),
            frequency=jnp.asarray(self.frequency),
            turn_frequency=jnp.asarray(self.turn_frequency),
            mass=mass,
            upright=robot.T_world_body.rotation,
            allocation=FinAllocation.of(fins, water.density),
            weight=_weight(system, water.density),
            jet=system.part(MantleJet) if self.use_jet else None,
            density=water.density,
        )


class AttachedPilot(Controller):
    """A `VehiclePilot` that knows its robot."""

    corners: Float[Array, "c 3"]
    """The start and the waypoints [m]."""
    ends: Float[Array, " c"]
    """How far along the legs they are [m]."""
    speed: Float[Array, ""]
    fixed: Float[Array, ""] | None
    """Heading to keep; None where it follows the legs, as seen from the water."""
    frequency: Float[Array, ""]
    turn_frequency: Float[Array, ""]
    mass: Float[Array, " 6"]
    """Diagonal inertia with the water around, as the pilot knows it."""
    upright: Float[Array, "3 3"]
    """Attitude at heading zero."""
    allocation: FinAllocation
    weight: Float[Array, " 3"]
    """Weight of the robot less its buoyancy, in world axes [N]."""
    jet: MantleJet | None
    density: Float[Array, ""]
    """Density of the water [kg/m^3]."""

    def init(self, observation: Observation) -> PilotState:
        """The memory at the start: nothing held yet, the bow as it is."""
        zero, position = jnp.zeros(()), observation.pose.position
        heading = _heading(observation.pose.rotation)
        assert observation.flow is not None
        current = small.matvec(observation.pose.rotation, observation.flow + observation.twist[3:])
        return PilotState(zero, heading, position, current, jnp.zeros(6), position, jnp.zeros(6), zero, zero)

    def point(self, along) -> Float[Array, " 3"]:
        """The point of the legs at a distance from their begin [m]."""
        return jnp.stack([jnp.interp(along, self.ends, self.corners[:, i]) for i in range(3)])

    def __call__(self, time, observation: Observation, memory: PilotState) -> tuple[Control, PilotState]:
        """The beats of the fins, and the jet, for the step that begins now."""
        del time
        dt, R = observation.period, observation.pose.rotation
        velocity = small.matvec(R, observation.twist[3:])
        # Measured velocities carry the estimate on, measured positions correct it slowly.
        position = memory.position + dt * velocity
        seen = observation.pose.position
        seen = seen if observation.depth is None else jnp.concatenate([seen[:2], -observation.depth[None]])
        position = position + jnp.minimum(_DECAY * dt, 1.0) * (seen - position)
        assert observation.flow is not None
        measured = small.matvec(R, observation.flow) + velocity
        current = memory.current + jnp.minimum(dt / _FLOW_TIME, 1.0) * (measured - memory.current)
        along, heading, target, reference = self._next(memory, position, current, R, dt)
        force, moment, held = self._feedback(memory, target - position, reference - velocity, R, heading, observation)
        in_body = small.matvec(R.T, force + held[3:])
        wrench = jnp.concatenate([moment + held[:3], in_body])
        jet, push, water, bursting = self._burst(memory, in_body, dt)
        most = jnp.array(_SHARES) * self.allocation.most
        fins = self.allocation(jnp.clip(wrench - push, -most, most))
        new = PilotState(along, heading, position, current, held, target, wrench, water, bursting)
        return Control(fins=fins, jet=jet.valve, pump=jet.pump, nozzle=jet.nozzle), new

    def _next(self, memory: PilotState, position, current, R, dt):
        """Where along the legs the point is, the wanted heading, the point, and its velocity."""
        ahead = self.point(memory.along + _LOOK_AHEAD) - self.point(memory.along)
        # The bow points to where the vehicle is to go as seen from the water, so that it has no flow across it.
        away = memory.target - position
        behind = small.dot(away, ahead) / jnp.maximum(small.norm(ahead), 1e-6)
        beside = jnp.sqrt(jnp.maximum(small.dot(away, away) - behind**2, 0.0) + 1e-12)
        # The point waits for a vehicle that is behind or beside it, and goes on when it is ahead.
        waiting = jnp.clip(1.0 - behind / _LATE, 0.0, 2.0) * jnp.clip(1.5 - beside / _LATE, 0.0, 1.0)
        through = waiting * self.speed / _LOOK_AHEAD * ahead + _APPROACH * away - current
        level = jnp.sqrt(through[0] ** 2 + through[1] ** 2)
        steered = level > _STEERED
        desired = jnp.where(steered, jnp.arctan2(through[1], jnp.where(steered, through[0], 1.0)), memory.heading)
        desired = desired if self.fixed is None else self.fixed
        turn = jnp.clip(_wrapped(desired - memory.heading), -_TURN_RATE * dt, _TURN_RATE * dt)
        heading = memory.heading + turn
        off = _wrapped(desired - _heading(R)) if self.fixed is None else jnp.zeros(())
        pace = self.speed * jnp.clip(jnp.cos(off), 0.3, 1.0) * waiting
        pace = jnp.minimum(pace, _SLOWING * (self.ends[-1] - memory.along))
        along = jnp.minimum(memory.along + dt * pace, self.ends[-1])
        before, target = self.point(memory.along), self.point(along)
        return along, heading, target, (target - before) / dt

    def _feedback(self, memory: PilotState, away, slower, R, heading, observation: Observation):
        """The force in world axes and the moment in the body's without their integrals, and the integrals."""
        w, turn_w, dt = self.frequency, self.turn_frequency, observation.period
        mass = jnp.max(self.mass[3:])
        force = mass * (w**2 * away + 2.0 * w * slower) - self.weight
        c, s = jnp.cos(heading), jnp.sin(heading)
        zero, one = jnp.zeros(()), jnp.ones(())
        turned = jnp.stack([jnp.stack([c, -s, zero]), jnp.stack([s, c, zero]), jnp.stack([zero, zero, one])])
        D = small.matmul(R.T, small.matmul(turned, self.upright))
        error = 0.5 * jnp.stack([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])
        inertia = self.mass[:3]
        moment = inertia * (turn_w**2 * error - 2.0 * turn_w * observation.twist[:3])
        change = jnp.concatenate([inertia * turn_w**3 / 5.0 * error, mass * w**3 / 5.0 * away])
        most = jnp.array([3.0] * 3 + [12.0] * 3)
        return force, moment, jnp.clip(memory.held + dt * change, -most, most)

    def _burst(self, memory: PilotState, force, dt):
        """The control of the jet, the wrench that it gives, the water left in the mantle, and whether it bursts."""
        if self.jet is None:
            return JetControl(None, None, None), jnp.zeros(6), memory.water, memory.bursting
        jet = self.jet
        share = memory.water / jet.capacity
        asked = -small.dot(force, jet.axis) > _STRONG * _STRONGEST * small.norm(self.allocation.most[3:] * jet.axis)
        begins, goes_on = asked & (share > _FULL), (memory.bursting > 0.5) & (share > _EMPTY)
        valve = jnp.where(begins | goes_on, 1.0, 0.0)
        unit = -force / jnp.maximum(small.norm(force), 1e-9)
        first = jnp.arcsin(jnp.clip(small.dot(unit, jet.sides[0]), -1.0, 1.0))
        second = jnp.arctan2(small.dot(unit, jet.sides[1]), jnp.maximum(small.dot(unit, jet.axis), 1e-6))
        nozzle = jnp.clip(jnp.stack([first, second]), -jet.most, jet.most)
        pump = jnp.ones(())
        taken, leaving, speed = jet.flows(memory.water, pump, valve, self.density)
        push = JetPush(jet, nozzle, self.density * leaving * speed, jnp.zeros(()), jnp.zeros(3))
        thrust = -push.momentum * push.direction
        wrench = jnp.concatenate([small.cross(jet.place, thrust), thrust])
        water = jnp.clip(memory.water + dt * (taken - leaving), 0.0, jet.capacity)
        return JetControl(valve, pump, nozzle), wrench, water, valve


def _weight(system: System, density: Float[Array, ""]) -> Float[Array, " 3"]:
    """The weight of a robot less its buoyancy in water of a density [kg/m^3], in world axes [N]."""
    robot = system.robot
    assert robot.base_inertia is not None
    assert robot.body is not None
    mass = robot.base_inertia[3] - density * robot.body.volume
    for arm in robot.each:
        mass = mass + jnp.sum(arm.inertia[..., 3] * (1.0 - density / arm.arm.material.density[:, None]))
    return mass * system.gravity


def _heading(R: Float[Array, "3 3"]) -> Float[Array, ""]:
    """The angle of the body's z about the vertical from the world's x [rad]."""
    return jnp.arctan2(R[1, 2], R[0, 2])


def _wrapped(angle):
    """The angle between -pi and pi."""
    return angle - 2.0 * np.pi * jnp.round(angle / (2.0 * np.pi))
