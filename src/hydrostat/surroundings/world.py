"""The world of an arm: water, ground, itself, suckers, and a ball that it can take hold of, carry and throw.

The ball moves in turn with the arm. At the begin of a step it goes first, to where the nodes are about to be; the arm
then meets it where it went. Each is implicit in the forces between them.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small, so3
from hydrostat.mechanics.nodes import AbstractSurroundings, Nodes
from hydrostat.surroundings.contact import ContactLaw, contact_with_shapes
from hydrostat.surroundings.own import own_contact
from hydrostat.surroundings.planes import planes
from hydrostat.surroundings.shapes import AbstractShape, Plane, Sphere, scalar
from hydrostat.surroundings.suckers import SuckerLaw, Suckers, touch_points
from hydrostat.surroundings.water import Together, Water

BALL_DRAG = 0.47
"""Drag coefficient of a sphere on its shadow, for Reynolds numbers of 1e3 to 1e5 (Hoerner)."""


class Ball(eqx.Module):
    """A free rigid ball."""

    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    mass: Float[Array, ""] = eqx.field(converter=scalar("mass"))
    """[kg]"""
    drag: Float[Array, ""] = eqx.field(converter=scalar("drag", positive=False), default=BALL_DRAG)
    """On the area of its shadow."""

    @staticmethod
    def of_density(mass: float, density: float) -> "Ball":
        """A ball of some mass [kg] and density [kg/m^3]."""
        return Ball((0.75 * mass / density / jnp.pi) ** (1.0 / 3.0), mass)

    @property
    def volume(self) -> Float[Array, ""]:
        """[m^3]"""
        return 4.0 / 3.0 * jnp.pi * self.radius**3


class BallState(NamedTuple):
    """Where a ball is and how it moves."""

    position: Float[Array, " 3"]
    rotation: Float[Array, "3 3"]
    velocity: Float[Array, " 3"]
    spin: Float[Array, " 3"]
    """Angular velocity in world axes [rad/s]."""


class Grip(NamedTuple):
    """What the suckers hold."""

    held: Float[Array, " n"]
    """1 where a sucker holds the ball, else 0."""
    anchor: Float[Array, "n 3"]
    """Where, from the ball's centre in its own axes [m]."""
    rest: Float[Array, " n"]
    """[m]"""


class WorldState(NamedTuple):
    """All that moves in a world besides the arm."""

    ball: BallState
    grip: Grip


class World(eqx.Module):
    """What is around an arm."""

    water: Water
    gravity: Float[Array, " 3"]
    law: ContactLaw
    ball: Ball | None = None
    ground: Plane | None = None
    suckers: SuckerLaw | None = None
    neighbours: int | None = eqx.field(static=True, default=None)
    """How many places along the arm two of its parts must be apart to touch; None where it does not touch itself."""

    def begin(self, count: int, position=(0.0, 0.0, 0.0)) -> WorldState:
        """The ball at rest somewhere, and an arm of so many nodes that holds nothing."""
        zero = jnp.zeros(3)
        ball = BallState(jnp.asarray(position, float), jnp.eye(3), zero, zero)
        return WorldState(ball, Grip(jnp.zeros(count), jnp.zeros((count, 3)), jnp.zeros(count)))

    def around(self, state: WorldState, nodes: Nodes) -> AbstractSurroundings:
        """What an arm meets while the world is in a state, and its nodes are about here."""
        parts: list[AbstractSurroundings] = [self.water]
        shapes: list[AbstractShape] = [] if self.ground is None else [self.ground]
        if self.ball is not None:
            shapes.append(self._sphere(state.ball))
        if shapes:
            parts.append(planes(self.law, nodes, shapes))
        if self.neighbours is not None:
            parts.append(own_contact(self.law, nodes, self.neighbours))
        if self.suckers is not None and self.ball is not None:
            parts.append(self._held(state))
        return Together(tuple(parts))

    def _sphere(self, ball: BallState) -> Sphere:
        assert self.ball is not None
        return Sphere(ball.position, self.ball.radius, ball.velocity, ball.spin)

    def _held(self, state: WorldState) -> Suckers:
        """The suckers that hold, with what they hold where it is now."""
        assert self.suckers is not None
        lever = small.matvec(state.ball.rotation, state.grip.anchor)
        velocity = state.ball.velocity + small.cross(state.ball.spin, lever)
        return Suckers(self.suckers, state.grip.held, state.ball.position + lever, velocity, state.grip.rest)

    def advance(self, state: WorldState, nodes: Nodes, wanted: Float[Array, " n"], dt) -> WorldState:
        """The world after a step that begins with the nodes here.

        **Arguments:** `wanted`: 1 for suckers that shall hold, 0 for those that shall not.
        """
        if self.ball is None:
            return state
        grip = state.grip if self.suckers is None else self._taken(state, nodes, wanted)
        return WorldState(self._moved(WorldState(state.ball, grip), nodes_ahead(nodes, dt), dt), grip)

    def _taken(self, state: WorldState, nodes: Nodes, wanted) -> Grip:
        """Suckers let go by command or when they are torn off, and take hold of what is near."""
        assert self.suckers is not None
        assert self.ball is not None
        grip, ball = state.grip, state.ball
        torn = self._held(state).tension(nodes) > self.suckers.pull_off(nodes.radius)
        kept = grip.held * jnp.where(torn, 0.0, 1.0) * wanted
        points, gap = touch_points(ball.position, self.ball.radius, nodes)
        new = (1.0 - grip.held) * wanted * jnp.where(gap <= self.suckers.reach, 1.0, 0.0)
        own = small.matvec(ball.rotation.T, points - ball.position)
        length = small.norm(points - nodes.position)
        return Grip(
            kept + new,
            jnp.where(new[:, None] > 0.0, own, grip.anchor),
            jnp.where(new > 0.0, length, grip.rest),
        )

    def _moved(self, state: WorldState, ahead: Nodes, dt) -> BallState:
        """The ball after a step, implicit in all that acts on it, with the nodes where they will be."""
        assert self.ball is not None
        own, ball = self.ball, state.ball
        there = ball._replace(position=ball.position + dt * ball.velocity)
        zero = jnp.zeros((3, 3))
        stiffness, damping, turning = zero, zero, jnp.zeros(())
        # Weight and buoyancy, drag.
        force = (own.mass - self.water.density * own.volume) * self.gravity
        flow = self.water.current - ball.velocity
        drag = 0.5 * self.water.density * own.drag * jnp.pi * own.radius**2 * small.norm(flow)
        force, damping, torque = force + drag * flow, damping + 2.0 * drag * jnp.eye(3), jnp.zeros(3)
        # The arm's skin.
        touch, reactions = contact_with_shapes(self.law, ahead, [self._sphere(there)])
        force, torque = force + reactions.force[0], torque + reactions.torque[0]
        stiffness = stiffness + jnp.sum(touch.stiffness[:, 3:, 3:], 0)
        damping = damping + jnp.sum(touch.damping[:, 3:, 3:], 0)
        # Its suckers.
        if self.suckers is not None:
            held = self._held(WorldState(there, state.grip))
            pull = held.forces(ahead)
            force = force - jnp.sum(pull.force, 0)
            torque = torque - jnp.sum(small.cross(held.anchor - there.position, pull.force), 0)
            stiffness = stiffness + jnp.sum(pull.stiffness[:, 3:, 3:], 0)
            damping = damping + jnp.sum(pull.damping[:, 3:, 3:], 0)
            many = jnp.sum(held.held) * own.radius**2
            turning = turning + many * (dt * self.suckers.damping + dt * dt * self.suckers.stiffness)
        # The ground.
        if self.ground is not None:
            body = Nodes(*(y[None] for y in (there.position, ball.velocity, ball.spin, jnp.zeros(3), own.radius,
                                             own.radius)))  # fmt: skip
            touch, _ = contact_with_shapes(self.law, body, [self.ground])
            force, torque = force + touch.force[0], torque + touch.torque[0]
            stiffness, damping = stiffness + touch.stiffness[0, 3:, 3:], damping + touch.damping[0, 3:, 3:]
            turning = turning + dt * touch.damping[0, 0, 0]
        inertia = 0.4 * own.mass * own.radius**2
        mass = own.mass * jnp.eye(3) + dt * damping + dt * dt * stiffness
        velocity = ball.velocity + dt * small.matvec(small.inverse_positive(mass), force)
        spin = ball.spin + dt * torque / (inertia + turning)
        rotation = small.matmul(so3.exp(dt * spin), ball.rotation)
        return BallState(ball.position + dt * velocity, rotation, velocity, spin)


def nodes_ahead(nodes: Nodes, dt) -> Nodes:
    """The nodes where their velocities lead."""
    return nodes._replace(position=nodes.position + dt * nodes.velocity)
