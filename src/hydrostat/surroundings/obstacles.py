"""Rigid shapes around a robot: fixed, or moving as they are told to."""

from collections.abc import Sequence

from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place
from hydrostat.surroundings.contact import ContactLaw, NodeContact, Reactions, contact_with_shapes
from hydrostat.surroundings.shapes import AbstractShape


class Obstacles(AbstractForces, AbstractSurroundings):
    """Shapes that arms touch, each contact node as a ball of its radius."""

    law: ContactLaw
    shapes: tuple[AbstractShape, ...]

    def __init__(self, law: ContactLaw, shapes: Sequence[AbstractShape] = ()):
        self.law, self.shapes = law, tuple(shapes)

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """The contact with them, worked out wherever the nodes go."""
        del place, environment, commands, dt
        return state, self

    def by_arm(self, arms: int) -> "Obstacles":
        """The same shapes for each."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""
        return NodeForces(*self.contact(nodes)[0][:4])

    def contact(self, nodes: Nodes) -> tuple[NodeContact, Reactions]:
        """The contact of every node, and what the shapes feel."""
        return contact_with_shapes(self.law, nodes, self.shapes)
