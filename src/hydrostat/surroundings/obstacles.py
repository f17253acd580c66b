"""Rigid shapes around a robot: fixed, or moving as prescribed."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError, shown
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, Together
from hydrostat.surroundings.contact import SOFT, ContactLaw, NodeContact, Reactions, contact_with_shapes
from hydrostat.surroundings.shapes import AbstractShape


class Obstacles(AbstractForces, AbstractSurroundings):
    """Shapes that arms touch, each contact node as a ball of its radius, and so does a body that is a ball.

    Where they move, their state is the time since the start [s].
    """

    law: ContactLaw
    shapes: tuple[AbstractShape, ...]
    motion: Callable[[Float[Array, ""]], Float[Array, " 3"]] | None
    """Displacement of all shapes [m] from where they start, as a function of the time since the start [s]."""

    def __init__(self, law=SOFT, shapes=(), motion: Callable | None = None):
        """**Arguments:** `law`: how they give way, a `ContactLaw`; `shapes`: a list, each a `Sphere`, `Capsule`, `Box`
        or `Plane`; `motion`: an `equinox.Module` that is called, where it holds arrays; None for shapes at rest, or at
        the velocities that they have.
        """
        if not isinstance(law, ContactLaw):
            raise InputError(f"`law` must be a `ContactLaw`, as in Obstacles(law, shapes); got {shown(law)}")
        for shape in shapes:
            if not isinstance(shape, AbstractShape):
                raise InputError(f"`shapes` must be a list of shapes, such as Sphere(...); it holds {shown(shape)}")
        self.law, self.shapes, self.motion = law, tuple(shapes), motion

    def init(self, environment: Environment):
        """The time at the start, zero, where the shapes move."""
        del environment
        return () if self.motion is None else jnp.zeros(())

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """The contact with the shapes, evaluated wherever the nodes are within the step."""
        del place, commands, dt
        on_arms = self if self.motion is None else MovingObstacles(self, state)
        body = environment.body
        if body is None or body.hull is not None:
            return state, on_arms
        return state, Together((on_arms, OnBody(on_arms, body.radius)))

    def finish(self, state, forces, place: Place, environment: Environment, dt):
        """The time at the end of the step."""
        del forces, place, environment
        return state if self.motion is None else state + dt

    def moved_to(self, time: Float[Array, ""]) -> "Obstacles":
        """The shapes where they are at a time since the start [s], with the velocities that they have there."""
        if self.motion is None:
            return self
        shift, velocity = jax.jvp(self.motion, (time,), (jnp.ones_like(time),))
        return Obstacles(self.law, [shape.moved(shift, velocity) for shape in self.shapes])

    def by_arm(self, arms: int) -> "Obstacles":
        """The same contact, for each arm."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""
        return NodeForces(*self.contact(nodes)[0][:4])

    def contact(self, nodes: Nodes) -> tuple[NodeContact, Reactions]:
        """The contact of every node, and the reactions on the shapes."""
        return contact_with_shapes(self.law, nodes, self.shapes)


class MovingObstacles(AbstractForces):
    """The contact with shapes that move during a step."""

    obstacles: Obstacles
    time: Float[Array, ""]
    """Time since the start [s]."""

    def after(self, elapsed) -> Obstacles:
        """The contact at some seconds into the step."""
        return self.obstacles.moved_to(self.time + elapsed)

    def by_arm(self, arms: int) -> AbstractForces:
        """The same contact, for each arm."""
        return self.after(0.0).by_arm(arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes."""
        return self.after(0.0).forces(nodes)
