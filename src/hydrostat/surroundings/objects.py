"""Free objects: a ball that arms can touch, take hold of, carry and throw.

What suckers hold moves with the arm, implicitly within each step. Contact between the arm and a ball that it does not
hold is worked out once a step, where both are about to be, and each is implicit in it. Balls do not touch each other.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.constants import BALL_DRAG
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, Nodes
from hydrostat.surroundings.ball_grip import BallGrip, BallState, hold
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, Together
from hydrostat.surroundings.contact import SOFT, ContactLaw, contact_with_shapes
from hydrostat.surroundings.planes import Planes, planes
from hydrostat.surroundings.shapes import Plane, Sphere, optional_scalar, scalar, vector
from hydrostat.surroundings.suckers import Attachment, Suckers


class ObjectState(NamedTuple):
    """The state of a free object and of the suckers that hold it."""

    ball: BallState
    attachment: Attachment
    """Attachment of the contact nodes of all arms and, last, of the body, which holds nothing."""


class Ball(AbstractSurroundings):
    """A free rigid ball."""

    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    mass: Float[Array, ""] = eqx.field(converter=scalar("mass"))
    """[kg]"""
    position: Float[Array, " 3"] = eqx.field(converter=vector("position"), default=(0.0, 0.0, 0.0))
    """Position of the centre at the start [m]."""
    drag: Float[Array, ""] = eqx.field(converter=scalar("drag", positive=False), default=BALL_DRAG)
    """Drag coefficient on the area of the shadow."""
    law: ContactLaw = SOFT
    """Contact law against arms, the body and the ground."""
    squeezed: bool = eqx.field(static=True, default=False)
    """Whether skin whose suckers hold the ball presses on it besides, when it is drawn into it. Then it stays outside;
    but such contact is worked out once a step, so what an arm does with a load depends more on the step."""
    flees: Float[Array, ""] | None = eqx.field(converter=optional_scalar("flees", positive=False), default=None)
    """Speed at which it crawls over the ground, straight away from the robot's body [m/s]; None for a thing. Its legs
    pull as friction does: with the ground's load on it times the coefficient of friction at most, and less at speeds
    within `slip_speed` of its own."""

    @staticmethod
    def of_density(mass: float, density: float, position=(0.0, 0.0, 0.0), **options) -> "Ball":
        """A ball of some mass [kg] and density [kg/m^3]."""
        mass, density = errors.number("mass", mass, above=0.0), errors.number("density", density, above=0.0)
        return Ball((0.75 * mass / density / jnp.pi) ** (1.0 / 3.0), mass, position, **options)

    @property
    def volume(self) -> Float[Array, ""]:
        """The volume of the ball [m^3]."""
        return 4.0 / 3.0 * jnp.pi * self.radius**3

    def init(self, environment: Environment) -> ObjectState:
        """The state at rest, held by nothing."""
        zero = jnp.zeros(3)
        count = environment.count + (environment.body is not None)
        # Suckers that have not held the ball yet need not settle first.
        settled = Suckers().seal_time if environment.suckers is None else environment.suckers.seal_time
        free = Attachment.nowhere(count)._replace(settled=jnp.broadcast_to(settled, (count,)))
        return ObjectState(BallState(self.position, jnp.eye(3), zero, zero), free)

    def begin(self, state: ObjectState, place: Place, environment: Environment, commands: Commands, dt):
        """The events at the begin of a step: suckers let go of the ball and take hold; and the forces of suckers and
        contact."""
        suckers = environment.suckers
        nodes, ahead = place.all(), place.ahead(dt).all()
        attachment = state.attachment
        if suckers is not None:
            take = jnp.concatenate([commands.take, jnp.zeros(len(nodes.radius) - len(commands.take))])
            attachment = self._taken(suckers, state, nodes, take, dt)
        law = Suckers() if suckers is None else suckers
        ball = state.ball
        # A ball carries along half the water that a cylinder of its volume does (Lamb, Hydrodynamics, art. 92).
        water = environment.water
        carried = None if water is None else water.entrained()
        moved = self.mass if carried is None else self.mass + 0.5 * carried.density * self.volume
        inertia = jnp.concatenate([jnp.full(3, moved), jnp.full(3, 0.4 * self.mass * self.radius**2)])
        feared = (place.nodes if place.body is None else place.body).position[0]
        away = None if self.flees is None else ball.position - feared
        matrix, loads = self._loads(ball, attachment.held, ahead, away, environment, dt)
        lever = small.matvec(ball.rotation, attachment.anchor)
        grip = hold(law, ball, attachment.held, lever, inertia, matrix, loads, dt)
        skin = self._skin(ball._replace(position=ball.position + dt * ball.velocity), attachment.held, ahead)
        n = environment.count
        on_arms: list[AbstractForces] = [_some(skin, slice(None, n))]
        if suckers is not None:
            own = (grip.held[:n], grip.lever[:n])
            on_arms.append(eqx.tree_at(lambda one: (one.held, one.lever), grip, own))
        if place.body is not None:
            on_arms.append(OnBody(_some(skin, slice(n, None)), place.body.radius[0]))
        return ObjectState(ball, attachment), BallForces(tuple(on_arms), grip)

    def finish(self, state: ObjectState, forces, place: Place, environment: Environment, dt) -> ObjectState:
        """The state of the ball after the step, from the motion of the nodes and its loads."""
        del environment, dt
        assert isinstance(forces, BallForces)
        nodes = place.all()
        attachment = state.attachment._replace(pull=forces.grip.pulls(nodes))
        return ObjectState(forces.grip.moved(nodes), attachment)

    def _taken(self, suckers: Suckers, state: ObjectState, nodes: Nodes, take, dt) -> Attachment:
        """The attachment after suckers have let go by command or by being torn off, and others have taken hold."""
        ball = state.ball
        away = nodes.position - ball.position
        touching = small.norm(away) - self.radius - nodes.radius <= suckers.reach
        own = small.matvec(ball.rotation.T, away)
        return suckers.attached(state.attachment, touching, take, own, nodes.radius, dt, at_once=True)

    def _loads(self, ball: BallState, held, ahead: Nodes, away, environment: Environment, dt):
        """The forces on the ball besides those of suckers: its resistance to motion (6, 6), and force and torque
        (6,).

        **Arguments:** `away`: from what it flees to where it is [m], None for a thing.
        """
        there = ball._replace(position=ball.position + dt * ball.velocity)
        zero, turning = jnp.zeros((3, 3)), jnp.zeros((3, 3))
        # Weight and buoyancy, drag.
        force, torque, resisting = self.mass * environment.gravity, jnp.zeros(3), jnp.zeros((3, 3))
        water = environment.water
        if water is not None:
            flow = water.current - ball.velocity
            drag = 0.5 * water.density * self.drag * jnp.pi * self.radius**2 * small.norm(flow)
            force = (self.mass - water.density * self.volume) * environment.gravity + drag * flow
            resisting = 2.0 * drag * jnp.eye(3)
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
        if environment.ground is not None:
            level = jnp.stack([jnp.zeros(()), jnp.zeros(()), environment.ground.height])
            plane = Plane(point=level, normal=(0.0, 0.0, 1.0))
            own = (there.position, ball.velocity, ball.spin, jnp.zeros(3), self.radius, self.radius)
            at, _ = contact_with_shapes(self.law, Nodes(*(y[None] for y in own)), [plane])
            force, torque = force + at.force[0], torque + at.torque[0]
            resisting = resisting + at.damping[0, 3:, 3:] + dt * at.stiffness[0, 3:, 3:]
            turning = turning + at.damping[0, :3, :3]
            if away is not None:
                pull, grasp = self._legs(ball.velocity, away, at.force[0, 2])
                force, resisting = force + pull, resisting + grasp
        matrix = jnp.concatenate([jnp.concatenate([resisting, zero], 1), jnp.concatenate([zero, turning], 1)], 0)
        return matrix, jnp.concatenate([force, torque])

    def _legs(self, velocity: Float[Array, " 3"], away: Float[Array, " 3"], load) -> tuple[Array, Array]:
        """The pull of its legs (3,) [N], and how it resists other motion (3, 3) [N s/m].

        **Arguments:** `load`: of the ground, upwards [N].
        """
        assert self.flees is not None
        level = jnp.array([1.0, 1.0, 0.0])
        away = level * away
        slip = level * velocity - self.flees * away / jnp.maximum(small.norm(away), 1e-9)
        speed = jnp.sqrt(small.dot(slip, slip) + self.law.slip_speed**2)
        grasp = self.law.friction * jnp.maximum(load, 0.0) / speed
        return -grasp * slip, grasp * jnp.diag(level)

    def _skin(self, ball: BallState, held, nodes: Nodes) -> Planes:
        """The contact of the nodes with the ball; only of those that do not hold it, unless `squeezed` is true."""
        sphere = Sphere(ball.position, self.radius, ball.velocity, ball.spin)
        touch = planes(self.law, nodes, [sphere])
        if self.squeezed:
            return touch
        free = (1.0 - held)[:, None]
        return eqx.tree_at(lambda t: (t.share, t.friction), touch, (free * touch.share, free * touch.friction))


class BallForces(Together):
    """The forces of a ball on arms and body during a step, and its response to the suckers that hold it."""

    grip: BallGrip

    def after(self, elapsed) -> "BallForces":
        """The same forces later in the step: the ball responds to the time that has passed."""
        return BallForces(tuple(part.after(elapsed) for part in self.parts), self.grip)


def _some(touching: Planes, some: slice) -> Planes:
    """The planes of some of the nodes."""
    arrays = ("normal", "offset", "velocity", "share", "friction")
    return Planes(touching.law, *(getattr(touching, name)[some] for name in arrays))
