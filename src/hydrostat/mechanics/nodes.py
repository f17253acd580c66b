"""What an arm offers to its surroundings, and what they answer: material points on its skin, and forces on them."""

import abc
from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Float


class Nodes(NamedTuple):
    """The material points that arms offer to their surroundings, in world axes, arm after arm and base to tip."""

    position: Float[Array, "n 3"]
    """[m]"""
    velocity: Float[Array, "n 3"]
    """[m/s]"""
    angular_velocity: Float[Array, "n 3"]
    """[rad/s]"""
    tangent: Float[Array, "n 3"]
    """Unit vector along the arm; contact does not use it."""
    radius: Float[Array, " n"]
    """[m]"""


class NodeForces(NamedTuple):
    """What surroundings do to each node, in world axes; matrices are (angular, linear) about the node's centre."""

    force: Float[Array, "n 3"]
    """[N]"""
    torque: Float[Array, "n 3"]
    """About the node's centre [N m]."""
    stiffness: Float[Array, "n 6 6"]
    """K = -d(wrench)/d(displacement), positive semidefinite part; lower right block [N/m]."""
    damping: Float[Array, "n 6 6"]
    """C = -d(wrench)/d(twist), positive semidefinite part; lower right block [N s/m]."""


class AbstractSurroundings(eqx.Module):
    """What touches arms from outside: ground, objects, other arms."""

    def prepare(self, nodes: Nodes) -> "AbstractSurroundings":
        """The same surroundings, readied for a step that begins with the nodes here."""
        del nodes
        return self

    @abc.abstractmethod
    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""


class AbstractWires(eqx.Module):
    """What pulls along an arm: tendons and wires."""

    @abc.abstractmethod
    def along_segments(self, arm, q: Float[Array, "n k"]) -> Float[Array, "w n"]:
        """The length of each of w wires within each segment [m]."""
