"""Everything that arms can touch, as one thing for the mechanics: shapes around them, and each other."""

from collections.abc import Sequence

import equinox as eqx
from jaxtyping import Array, Int

from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes
from hydrostat.surroundings.contact import ContactLaw, NodeContact, Reactions, combined, contact_with_shapes
from hydrostat.surroundings.pairs import Candidates, CapsulePairs, contact_between_capsules, find_candidates
from hydrostat.surroundings.shapes import AbstractShape


class Contacts(AbstractSurroundings):
    """Contact of arms with shapes, and of arms with each other where `pairs` are given.

    Pairs of capsules that may touch are searched once a step: `capacity` of them are looked at, the nearest ones.
    """

    law: ContactLaw
    shapes: tuple[AbstractShape, ...]
    pairs: CapsulePairs | None
    candidates: Candidates | None
    capacity: int = eqx.field(static=True)
    margin: float
    """Gap up to which a pair must be among the candidates, or is counted as overflow [m]."""

    def __init__(
        self,
        law: ContactLaw,
        shapes: Sequence[AbstractShape] = (),
        pairs: CapsulePairs | None = None,
        capacity: int = 64,
        margin: float = 0.01,
        candidates: Candidates | None = None,
    ):
        self.law, self.shapes, self.pairs, self.candidates = law, tuple(shapes), pairs, candidates
        self.capacity, self.margin = capacity, margin

    def prepare(self, nodes: Nodes) -> "Contacts":
        """The same, with the pairs that may touch until the next step."""
        if self.pairs is None:
            return self
        found = find_candidates(self.pairs, nodes, self.capacity, self.margin)
        return Contacts(self.law, self.shapes, self.pairs, self.capacity, self.margin, found)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""
        return NodeForces(*self.contact(nodes)[0][:4])

    def contact(self, nodes: Nodes) -> tuple[NodeContact, Reactions]:
        """The contact of every node, and what the shapes feel."""
        touch, reactions = contact_with_shapes(self.law, nodes, self.shapes)
        if self.pairs is not None:
            candidates = self.candidates
            if candidates is None:
                candidates = find_candidates(self.pairs, nodes, self.capacity, self.margin)
            touch = combined(touch, contact_between_capsules(self.law, nodes, candidates))
        return touch, reactions

    @property
    def overflow(self) -> Int[Array, ""] | None:
        """How many pairs within the margin found no place among the candidates; contact is complete only if it is 0."""
        return None if self.candidates is None else self.candidates.overflow
