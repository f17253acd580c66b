"""What surrounds an arm: water, shapes to touch, and the contact with them and between arms."""

from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings.contact import (
    ContactLaw,
    NodeContact,
    PointContact,
    Reactions,
    combined,
    contact_with_shapes,
)
from hydrostat.surroundings.contacts import Contacts
from hydrostat.surroundings.pairs import (
    Candidates,
    CapsuleGap,
    CapsulePairs,
    Closest,
    capsule_gap,
    closest_points,
    contact_between_capsules,
    find_candidates,
)
from hydrostat.surroundings.shapes import AbstractShape, Box, Capsule, Plane, Sphere, Surface
from hydrostat.surroundings.water import Together, Water

__all__ = [
    "AbstractShape",
    "Box",
    "Candidates",
    "Capsule",
    "CapsuleGap",
    "CapsulePairs",
    "Closest",
    "ContactLaw",
    "Contacts",
    "NodeContact",
    "Nodes",
    "Plane",
    "PointContact",
    "Reactions",
    "Sphere",
    "Surface",
    "Together",
    "Water",
    "capsule_gap",
    "closest_points",
    "combined",
    "contact_between_capsules",
    "contact_with_shapes",
    "find_candidates",
]
