"""What all surroundings have in common: a state of their own, and forces on the robot during a step.

A step asks every part of the surroundings twice. At its begin (`begin`) events happen, such as suckers that take hold,
and the part says which forces act on the robot during the step. At its end (`finish`) the part is where the robot's
motion has brought it.
"""

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.mechanics.nodes import AbstractForces, NodeFamily, NodeForces, Nodes, copies
from hydrostat.mechanics.robot import BodyShape, PerArm, Robot, gathered

if TYPE_CHECKING:
    from hydrostat.surroundings.ground import Ground
    from hydrostat.surroundings.suckers import Suckers
    from hydrostat.surroundings.water import Water


class Place(NamedTuple):
    """Where the robot is, as its surroundings meet it."""

    nodes: Nodes
    """The contact nodes of all arms, arm after arm."""
    body: Nodes | None
    """The body as one node, a ball of its radius; None for a robot without a body of its own."""

    def ahead(self, dt) -> "Place":
        """Where the velocities lead in dt [s]."""

        def on(nodes: Nodes) -> Nodes:
            return nodes._replace(position=nodes.position + dt * nodes.velocity)

        return Place(on(self.nodes), None if self.body is None else on(self.body))

    def all(self) -> Nodes:
        """All nodes, and last the body."""
        if self.body is None:
            return self.nodes
        return jax.tree.map(lambda *y: jnp.concatenate(y), self.nodes, self.body)


class Commands(NamedTuple):
    """What of a control is meant for the surroundings."""

    grip: Float[Array, " n"]
    """1 for contact nodes whose suckers shall hold the ground, 0 for those whose suckers shall let go."""
    take: Float[Array, " n"]
    """The same for free objects."""
    jet: Float[Array, ""]
    """How hard the mantle shall press its water out, 0 to 1."""


class Environment(eqx.Module):
    """What every part of the surroundings may know of the robot and of the other parts."""

    gravity: Float[Array, " 3"]
    body: BodyShape | None
    water: "Water | None"
    ground: "Ground | None"
    suckers: "Suckers | None"
    rows: tuple[int, ...] = eqx.field(static=True)
    """Contact nodes of each arm."""
    equal: bool = eqx.field(static=True)
    """Whether all arms are equal, and worked out one after another."""

    @property
    def count(self) -> int:
        """The number of contact nodes."""
        return sum(self.rows)

    @property
    def along(self) -> np.ndarray:
        """Which place along its arm each contact node has, from 0 at the base."""
        return np.concatenate([np.arange(rows) for rows in self.rows])


class AbstractSurroundings(eqx.Module):
    """A part of what is around a robot."""

    touches: ClassVar[bool] = True
    """Whether it acts at the contact nodes of arms; an arm that touches nothing has none."""

    def init(self, environment: Environment) -> Any:
        """Its state at the start: a tree of arrays, empty where nothing of it evolves."""
        del environment
        return ()

    @abc.abstractmethod
    def begin(
        self, state, place: Place, environment: Environment, commands: Commands, dt
    ) -> tuple[Any, AbstractForces | None]:
        """What happens at the begin of a step of dt [s], and the forces on the robot during it.

        **Arguments:** `state`: its own, at the begin; `place`: where the robot is then.
        """

    def finish(self, state, forces: AbstractForces | None, place: Place, environment: Environment, dt) -> Any:
        """Its state at the end of a step.

        **Arguments:** `state`, `forces`: what `begin` gave; `place`: where the robot is now.
        """
        del forces, place, environment, dt
        return state


class Together(AbstractForces):
    """Several forces at once."""

    parts: tuple[AbstractForces, ...]

    def at(self, family: NodeFamily) -> "Together | None":
        """Those of them that act at a family of nodes."""
        some = tuple(own for part in self.parts if (own := part.at(family)) is not None)
        return Together(some) if some else None

    @property
    def abrupt(self) -> bool:
        """Whether any of them is."""
        return any(part.abrupt for part in self.parts)

    def after(self, elapsed) -> "Together":
        """All of them, into a step."""
        return Together(tuple(part.after(elapsed) for part in self.parts))

    def entrained(self):
        """The water that arms carry along; there is one water at most."""
        return next((water for part in self.parts if (water := part.entrained()) is not None), None)

    def displaced(self) -> Float[Array, ""] | None:
        """The density of the water that arms and body displace."""
        return next((density for part in self.parts if (density := part.displaced()) is not None), None)

    def by_arm(self, arms: int) -> "Together":
        """All that act on arms, for each arm."""
        return Together(tuple(part.by_arm(arms) for part in self.parts if part.acts_at != "body"))

    def outside(self) -> "Together | None":
        """Those of them that act from outside."""
        parts = tuple(part for each in self.parts if (part := each.outside()) is not None)
        return Together(parts) if parts else None

    def on_body(self, body: Nodes) -> NodeForces | None:
        """The sum of their forces on the body."""
        each = [forces for part in self.parts if (forces := part.on_body(body)) is not None]
        return _sum(each) if each else None

    def forces(self, nodes: Nodes) -> NodeForces:
        """The sums of their forces; all of them must act at one family of nodes, or on the body."""
        each = [part.forces(nodes) for part in self.parts if part.acts_at != "body"]
        return _sum(each) if each else no_forces(nodes)


class OnBody(AbstractForces):
    """Forces on the body alone, as those on a ball of its radius."""

    acts_at: ClassVar = "body"

    part: AbstractForces
    radius: Float[Array, ""]
    """Of the body [m]."""

    @property
    def abrupt(self) -> bool:
        """As those on the ball."""
        return self.part.abrupt

    def after(self, elapsed) -> "OnBody":
        """The same, into a step."""
        return OnBody(self.part.after(elapsed), self.radius)

    def outside(self) -> "OnBody | None":
        """The same, where what acts on the ball is no part of the robot."""
        part = self.part.outside()
        return None if part is None else OnBody(part, self.radius)

    def by_arm(self, arms: int) -> "OnBody":
        """It does not act on arms."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """None on the nodes of arms."""
        return no_forces(nodes)

    def on_body(self, body: Nodes) -> NodeForces:
        """Those on a ball of the body's radius."""
        return self.part.forces(body._replace(radius=self.radius[None]))


def no_forces(nodes: Nodes) -> NodeForces:
    """No forces on the nodes."""
    vector, matrix = jnp.zeros_like(nodes.position), jnp.zeros((len(nodes.radius), 6, 6))
    return NodeForces(vector, vector, matrix, matrix)


def _sum(each: Sequence[NodeForces]) -> NodeForces:
    return jax.tree.map(lambda *values: sum(values[1:], start=values[0]), *each)


def per_node(robot: Robot, segments: PerArm) -> Float[Array, " n"]:
    """What is said of segments, said of all their contact nodes."""
    return jnp.repeat(gathered(robot, segments), len(robot.each[0].skin_at))
