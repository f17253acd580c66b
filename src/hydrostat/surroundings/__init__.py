"""The surroundings of a robot: water, ground, suckers, free objects, obstacles, and arms that touch each other."""

from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes
from hydrostat.surroundings.arm_contact import FLESH, ArmContact
from hydrostat.surroundings.ball_grip import BallState
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place, Together
from hydrostat.surroundings.contact import ContactLaw, NodeContact, PointContact, Reactions, contact_with_shapes
from hydrostat.surroundings.ground import GROUND, Ground
from hydrostat.surroundings.hand import Hand
from hydrostat.surroundings.jet import Jet, JetState
from hydrostat.surroundings.objects import Ball, ObjectState
from hydrostat.surroundings.obstacles import Obstacles
from hydrostat.surroundings.rest_depth import rest_depth
from hydrostat.surroundings.shapes import AbstractShape, Box, Capsule, Plane, Sphere, Surface
from hydrostat.surroundings.suckers import Attachment, Suckers
from hydrostat.surroundings.water import ADDED_MASS, DENSITY, Water

__all__ = [
    "ADDED_MASS",
    "DENSITY",
    "FLESH",
    "GROUND",
    "AbstractForces",
    "AbstractShape",
    "AbstractSurroundings",
    "ArmContact",
    "Attachment",
    "Ball",
    "BallState",
    "Box",
    "Capsule",
    "Commands",
    "ContactLaw",
    "Environment",
    "Ground",
    "Hand",
    "Jet",
    "JetState",
    "NodeContact",
    "NodeForces",
    "Nodes",
    "ObjectState",
    "Obstacles",
    "Place",
    "Plane",
    "PointContact",
    "Reactions",
    "Sphere",
    "Suckers",
    "Surface",
    "Together",
    "Water",
    "contact_with_shapes",
    "rest_depth",
]
