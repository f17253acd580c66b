"""The world of an arm: water, ground, itself, suckers, and a ball that it can take hold of, carry and throw.

What suckers hold moves with the arm, implicitly within each step. Contact between the arm and a ball that it does not
hold is worked out once a step, where both are about to be, and each is implicit in it.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, Nodes
from hydrostat.surroundings.contact import ContactLaw, contact_with_shapes
from hydrostat.surroundings.own import own_contact
from hydrostat.surroundings.planes import Planes, planes
from hydrostat.surroundings.shapes import Plane, Sphere, scalar
from hydrostat.surroundings.suckers import BallState, SuckerLaw, Suckers, hold
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
        mass, density = errors.number("mass", mass, above=0.0), errors.number("density", density, above=0.0)
        return Ball((0.75 * mass / density / jnp.pi) ** (1.0 / 3.0), mass)

    @property
    def volume(self) -> Float[Array, ""]:
        """[m^3]"""
        return 4.0 / 3.0 * jnp.pi * self.radius**3


class WorldState(NamedTuple):
    """All that moves in a world besides the arm, at the begin of a step."""

    ball: BallState
    held: Float[Array, " n"]
    """1 where a sucker holds the ball, else 0."""
    anchor: Float[Array, "n 3"]
    """Where, from the ball's centre in its own axes [m]."""
    ties: Suckers
    """How the ball answers to the arm during the step."""


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
    squeezes: bool = eqx.field(static=True, default=False)
    """Whether skin whose suckers hold the ball presses on it besides, when it is drawn into it. Then it stays outside;
    but such contact is worked out once a step, so what an arm does with a load depends more on the step."""

    def begin(self, count: int, position=(0.0, 0.0, 0.0)) -> WorldState:
        """The ball at rest somewhere, and an arm of so many nodes that holds nothing."""
        zero, none = jnp.zeros(3), jnp.zeros(count)
        ball = BallState(jnp.asarray(position, float), jnp.eye(3), zero, zero)
        law = SuckerLaw() if self.suckers is None else self.suckers
        lever = jnp.zeros((count, 3))
        # Nothing happens in a step of no duration.
        ties = hold(law, ball, none, lever, jnp.ones(6), jnp.zeros((6, 6)), jnp.zeros(6), 0.0)
        return WorldState(ball, none, lever, ties)

    def advance(self, state: WorldState, nodes: Nodes, wanted: Float[Array, " n"], dt) -> WorldState:
        """The world for a step that begins with the nodes here, given that for the step before.

        **Arguments:** `wanted`: 1 for suckers that shall hold, 0 for those that shall not.
        """
        if self.ball is None:
            return state
        ball = state.ties.moved(nodes)
        state = state._replace(ball=ball)
        held, anchor = (state.held, state.anchor) if self.suckers is None else self._taken(state, nodes, wanted)
        law = SuckerLaw() if self.suckers is None else self.suckers
        # A ball carries along half the water that a cylinder of its volume does (Lamb, Hydrodynamics, art. 92).
        carried = self.water.entrained()
        moved = self.ball.mass if carried is None else self.ball.mass + 0.5 * carried.density * self.ball.volume
        inertia = jnp.concatenate([jnp.full(3, moved), jnp.full(3, 0.4 * self.ball.mass * self.ball.radius**2)])
        matrix, loads = self._loads(ball, held, nodes_ahead(nodes, dt), dt)
        ties = hold(law, ball, held, small.matvec(ball.rotation, anchor), inertia, matrix, loads, dt)
        return WorldState(ball, held, anchor, ties)

    def _taken(self, state: WorldState, nodes: Nodes, wanted):
        """Suckers let go by command or when they are torn off, and take hold of what is near."""
        assert self.suckers is not None
        assert self.ball is not None
        ball = state.ball
        torn = state.ties.pulls(nodes) > self.suckers.pull_off(nodes.radius)
        kept = state.held * jnp.where(torn, 0.0, 1.0) * wanted
        away = nodes.position - ball.position
        gap = small.norm(away) - self.ball.radius - nodes.radius
        new = (1.0 - state.held) * wanted * jnp.where(gap <= self.suckers.reach, 1.0, 0.0)
        own = small.matvec(ball.rotation.T, away)
        return kept + new, jnp.where(new[:, None] > 0.0, own, state.anchor)

    def _loads(self, ball: BallState, held, ahead: Nodes, dt):
        """What acts on the ball besides suckers: its resistance to motion (6, 6), and force and torque (6,)."""
        assert self.ball is not None
        own = self.ball
        there = ball._replace(position=ball.position + dt * ball.velocity)
        zero = jnp.zeros((3, 3))
        turning = jnp.zeros((3, 3))
        # Weight and buoyancy, drag.
        force = (own.mass - self.water.density * own.volume) * self.gravity
        flow = self.water.current - ball.velocity
        drag = 0.5 * self.water.density * own.drag * jnp.pi * own.radius**2 * small.norm(flow)
        force, resisting, torque = force + drag * flow, 2.0 * drag * jnp.eye(3), jnp.zeros(3)
        # The skin of the arm where it does not hold the ball.
        touch = self._skin(there, held, ahead)
        at = touch.contact(ahead)
        lever = ahead.position - ahead.radius[:, None] * touch.normal[:, 0] - there.position
        force = force - jnp.sum(at.force, 0)
        torque = torque - jnp.sum(small.cross(lever, at.force), 0)
        resisting = resisting + jnp.sum(at.damping[:, 3:, 3:] + dt * at.stiffness[:, 3:, 3:], 0)
        outer = lever[:, :, None] * lever[:, None, :]
        across = small.dot(lever, lever)[:, None, None] * jnp.eye(3) - outer
        turning = turning + jnp.sum(touch.friction[:, :1, None] * across, 0)
        # The ground.
        if self.ground is not None:
            body = Nodes(*(y[None] for y in (there.position, ball.velocity, ball.spin, jnp.zeros(3), own.radius,
                                             own.radius)))  # fmt: skip
            at, _ = contact_with_shapes(self.law, body, [self.ground])
            force, torque = force + at.force[0], torque + at.torque[0]
            resisting = resisting + at.damping[0, 3:, 3:] + dt * at.stiffness[0, 3:, 3:]
            turning = turning + at.damping[0, :3, :3]
        matrix = jnp.concatenate([jnp.concatenate([resisting, zero], 1), jnp.concatenate([zero, turning], 1)], 0)
        return matrix, jnp.concatenate([force, torque])

    def _skin(self, ball: BallState, held, nodes: Nodes) -> Planes:
        """Contact of the nodes with the ball; of those that do not hold it, unless it is squeezed."""
        assert self.ball is not None
        sphere = Sphere(ball.position, self.ball.radius, ball.velocity, ball.spin)
        touch = planes(self.law, nodes, [sphere])
        if self.squeezes:
            return touch
        free = (1.0 - held)[:, None]
        return eqx.tree_at(lambda t: (t.share, t.friction), touch, (free * touch.share, free * touch.friction))

    def skin(self, state: WorldState, nodes: Nodes, dt) -> Planes:
        """Contact with the ball during a step of dt [s] at whose end the nodes are about here."""
        there = state.ball._replace(position=state.ball.position + dt * state.ball.velocity)
        return self._skin(there, state.held, nodes)

    def around(self, state: WorldState, nodes: Nodes, dt, body: Nodes | None = None) -> AbstractSurroundings:
        """What an arm meets during a step of dt [s] at whose end its nodes are about here; its base meets nothing."""
        del body
        parts: list[AbstractSurroundings] = [self.water]
        if self.ground is not None:
            parts.append(planes(self.law, nodes, [self.ground]))
        if self.ball is not None:
            parts.append(self.skin(state, nodes, dt))
            if self.suckers is not None:
                parts.append(state.ties)
        if self.neighbours is not None:
            parts.append(own_contact(self.law, nodes, self.neighbours, dt))
        return Together(tuple(parts))


def nodes_ahead(nodes: Nodes, dt) -> Nodes:
    """The nodes where their velocities lead."""
    return nodes._replace(position=nodes.position + dt * nodes.velocity)
