"""The interface of all surroundings: a state of their own, and forces on the robot during a step.

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
    """The position and motion of a robot as its surroundings see it."""

    nodes: Nodes
    """The contact nodes of all arms, arm after arm."""
    body: Nodes | None
    """The body as one node, a ball of its radius; None for a robot without a body of its own."""

    def ahead(self, dt) -> "Place":
        """The same place after dt [s] at constant velocities."""

        def on(nodes: Nodes) -> Nodes:
            return nodes._replace(position=nodes.position + dt * nodes.velocity)

        return Place(on(self.nodes), None if self.body is None else on(self.body))

    def all(self) -> Nodes:
        """The nodes of all arms, with the body as the last one."""
        if self.body is None:
            return self.nodes
        return jax.tree.map(lambda *y: jnp.concatenate(y), self.nodes, self.body._replace(rotation=None))


class Commands(NamedTuple):
    """The part of a control that is for the surroundings."""

    grip: Float[Array, " n"]
    """Command of the suckers of each contact node on the ground: 1 to hold it, 0 to let go."""
    take: Float[Array, " n"]
    """Command of the suckers of each contact node on free objects: 1 to hold them, 0 to let go."""
    jet: Float[Array, ""]
    """Effort of the mantle that presses its water out, or opening of its valve, 0 to 1."""
    fins: Float[Array, "f 2"] | None = None
    """Amplitudes of wave and flap of each fin section [rad]; None to go on as commanded before."""
    pump: Float[Array, ""] | None = None
    """Effort of the pump that fills a mantle, 0 to 1; None to let pump, valve and nozzle go on as commanded before."""
    nozzle: Float[Array, " 2"] | None = None
    """Angles of the nozzle [rad]."""


class Environment(eqx.Module):
    """The information on the robot and on the other parts that every part of the surroundings may use."""

    gravity: Float[Array, " 3"]
    body: BodyShape | None
    water: "Water | None"
    ground: "Ground | None"
    suckers: "Suckers | None"
    rows: tuple[int, ...] = eqx.field(static=True)
    """Number of contact nodes of each arm."""
    equal: bool = eqx.field(static=True)
    """Whether all arms are equal, and computed one after another."""

    @property
    def count(self) -> int:
        """The number of contact nodes."""
        return sum(self.rows)

    @property
    def along(self) -> np.ndarray:
        """The place of each contact node along its arm, from 0 at the base."""
        return np.concatenate([np.arange(rows) for rows in self.rows])


class AbstractSurroundings(eqx.Module):
    """A part of a robot's surroundings."""

    touches: ClassVar[bool] = True
    """Whether the part acts at the contact nodes of arms; an arm that touches nothing has none."""

    def init(self, environment: Environment) -> Any:
        """The part's state at the start: a tree of arrays, empty where nothing of it evolves."""
        del environment
        return ()

    @abc.abstractmethod
    def begin(
        self, state, place: Place, environment: Environment, commands: Commands, dt
    ) -> tuple[Any, AbstractForces | None]:
        """The events at the begin of a step of dt [s]: the part's new state, and its forces on the robot during the
        step.

        **Arguments:** `state`: its own, at the begin; `place`: where the robot is then.
        """

    def finish(self, state, forces: AbstractForces | None, place: Place, environment: Environment, dt) -> Any:
        """The part's state at the end of a step.

        **Arguments:** `state`, `forces`: what `begin` gave; `place`: where the robot is now.
        """
        del forces, place, environment, dt
        return state


class Together(AbstractForces):
    """The sum of several forces."""

    parts: tuple[AbstractForces, ...]

    def at(self, family: NodeFamily) -> "Together | None":
        """The forces among them that act at a family of nodes."""
        some = tuple(own for part in self.parts if (own := part.at(family)) is not None)
        return Together(some) if some else None

    @property
    def abrupt(self) -> bool:
        """Whether any of the forces is abrupt."""
        return any(part.abrupt for part in self.parts)

    def after(self, elapsed) -> "Together":
        """All of the forces, at a moment of a step."""
        return Together(tuple(part.after(elapsed) for part in self.parts))

    def entrained(self):
        """The water that arms carry along; there is one water at most."""
        return next((water for part in self.parts if (water := part.entrained()) is not None), None)

    def displaced(self) -> Float[Array, ""] | None:
        """The density of the water that arms and body displace."""
        return next((density for part in self.parts if (density := part.displaced()) is not None), None)

    def by_arm(self, arms: int) -> "Together":
        """All forces on arms, for each arm."""
        return Together(tuple(part.by_arm(arms) for part in self.parts if part.acts_at != "body"))

    def outside(self) -> "Together | None":
        """The forces among them that act from outside."""
        parts = tuple(part for each in self.parts if (part := each.outside()) is not None)
        return Together(parts) if parts else None

    def on_body(self, body: Nodes) -> NodeForces | None:
        """The sum of the forces on the body."""
        each = [forces for part in self.parts if (forces := part.on_body(body)) is not None]
        return _sum(each) if each else None

    def forces(self, nodes: Nodes) -> NodeForces:
        """The sums of the forces; all of them must act at one family of nodes, or on the body."""
        each = [part.forces(nodes) for part in self.parts if part.acts_at != "body"]
        return _sum(each) if each else no_forces(nodes)


class OnBody(AbstractForces):
    """Forces on the body alone, as those on a ball of its radius."""

    acts_at: ClassVar = "body"

    part: AbstractForces
    radius: Float[Array, ""]
    """Radius of the body [m]."""

    @property
    def abrupt(self) -> bool:
        """Whether the forces on the ball are abrupt."""
        return self.part.abrupt

    def after(self, elapsed) -> "OnBody":
        """The same forces at a moment of a step."""
        return OnBody(self.part.after(elapsed), self.radius)

    def outside(self) -> "OnBody | None":
        """The same forces, where those on the ball come from outside the robot."""
        part = self.part.outside()
        return None if part is None else OnBody(part, self.radius)

    def by_arm(self, arms: int) -> "OnBody":
        """The same forces, for each arm, on whose nodes none of them acts."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes of arms, all zero."""
        return no_forces(nodes)

    def on_body(self, body: Nodes) -> NodeForces:
        """The forces on the body, which are those on a ball of its radius."""
        return self.part.forces(body._replace(radius=self.radius[None]))


def no_forces(nodes: Nodes) -> NodeForces:
    """The forces on nodes that nothing touches, all zero."""
    vector, matrix = jnp.zeros_like(nodes.position), jnp.zeros((len(nodes.radius), 6, 6))
    return NodeForces(vector, vector, matrix, matrix)


def _sum(each: Sequence[NodeForces]) -> NodeForces:
    return jax.tree.map(lambda *values: sum(values[1:], start=values[0]), *each)


def per_node(robot: Robot, segments: PerArm) -> Float[Array, " n"]:
    """A value of each segment, repeated for each of its contact nodes."""
    return jnp.repeat(gathered(robot, segments), len(robot.each[0].skin_at))
