"""The interface between arms and their surroundings: material points of the arms, and forces on them."""

import abc
from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small, so3

NodeFamily = Literal["contact", "flow"]
"""Two families of nodes along an arm. Contact nodes are at the ends of the segments, or at equal distances up to them:
what touches the skin acts there. Flow nodes are the points of a Gauss quadrature of each segment: forces that are
distributed along the arm act there, and their sums are of second order in the segments' length, or better."""


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
    length: Float[Array, " n"]
    """Length of the piece of arm that each node stands for [m]."""
    rotation: Float[Array, "n 3 3"] | None = None
    """Axes of a body, which is a node by itself; the nodes of arms have none."""


class NodeForces(NamedTuple):
    """The forces of the surroundings on each node, in world axes; matrices are (angular, linear) about the node's
    centre."""

    force: Float[Array, "n 3"]
    """[N]"""
    torque: Float[Array, "n 3"]
    """Moment about the node's centre [N m]."""
    stiffness: Float[Array, "n 6 6"]
    """K = -d(wrench)/d(displacement), positive semidefinite part; lower right block [N/m]."""
    damping: Float[Array, "n 6 6"]
    """C = -d(wrench)/d(twist), positive semidefinite part; lower right block [N s/m]."""


class Entrained(NamedTuple):
    """Water that arms carry along where they move across their axes, and bodies whichever way they move."""

    density: Float[Array, ""]
    """Mass of the water per volume of an arm, or of what a body displaces [kg/m^3]."""
    velocity: Float[Array, " 3"]
    """Velocity of the water far away [m/s]."""


def on_displacements(linear: Float[Array, "n 3 3"]) -> Float[Array, "n 6 6"]:
    """A stiffness or damping against displacements of the nodes, with none against rotations."""
    return jnp.pad(linear, ((0, 0), (3, 0), (3, 0)))


def at_levers(levers: Float[Array, "p 3"], forces: Float[Array, "p 3"], damping: Float[Array, "p 3 3"]) -> NodeForces:
    """Forces at points that are rigidly joined to one node, as forces on that node.

    With B = [-hat(r) | I], the velocity of a point per twist of the node, it is B^T F, and its damping B^T C B.

    **Arguments:** `levers`: r, from the node to the points in world axes [m]; `damping`: C of each force against the
    velocity of its point [N s/m].
    """
    hats = so3.hat(levers)
    turned = small.matmul(hats, damping)
    mixed = jnp.sum(turned, 0)
    rotary = -jnp.sum(small.matmul(turned, hats), 0)
    linear = jnp.sum(damping, 0)
    upper, lower = jnp.concatenate([rotary, mixed], -1), jnp.concatenate([mixed.T, linear], -1)
    matrix = jnp.concatenate([upper, lower], 0)[None]
    torque = jnp.sum(small.cross(levers, forces), 0)
    return NodeForces(jnp.sum(forces, 0)[None], torque[None], jnp.zeros_like(matrix), matrix)


class AbstractForces(eqx.Module):
    """Forces on arms from outside: of water, ground, objects, other arms."""

    acts_at: ClassVar[NodeFamily | Literal["body"]] = "contact"
    """The family of nodes at which the forces act; `body` for forces on the body that carries the arms alone."""

    def at(self, family: NodeFamily) -> "AbstractForces | None":
        """The part of the forces that acts at a family of nodes; None where there is none."""
        return self if self.acts_at == family else None

    @property
    def abrupt(self) -> bool:
        """Whether stiffness and damping can change much within a step, as those of contact do."""
        return True

    def prepare(self, nodes: Nodes) -> "AbstractForces":
        """The same surroundings, prepared for a step that begins with these nodes."""
        del nodes
        return self

    def after(self, elapsed) -> "AbstractForces":
        """The same surroundings at some seconds into a step, where they move by themselves during it."""
        del elapsed
        return self

    def entrained(self) -> Entrained | None:
        """The water that arms carry along; None where they carry none."""
        return None

    def displaced(self) -> Float[Array, ""] | None:
        """The density of the water that arms and body displace [kg/m^3]; None where there is none.

        Buoyancy is not among `forces`: it is the weight of that water upside down, and has a potential as weight has.
        """
        return None

    def by_arm(self, arms: int) -> "AbstractForces":
        """The forces on each of several equal arms, with the arm as leading axis of every array.

        Only surroundings that act on each node by itself, or on each arm, have it.
        """
        raise InputError(f"equal arms cannot be surrounded by {type(self).__name__}, which takes all arms together")

    def outside(self) -> "AbstractForces | None":
        """The same surroundings without the forces of parts of a robot on each other; None where nothing is left.

        Those forces are internal: they come in pairs and change no momentum.
        """
        return self

    def on_body(self, body: Nodes) -> NodeForces | None:
        """The forces on the body that carries the arms, whose origin is a node without extent; None where there are
        none."""
        del body
        return None

    @abc.abstractmethod
    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the nodes, with their linearisation for implicit steps."""


def copies(tree, arms: int):
    """The forces on each arm's own nodes, with a leading axis."""
    return jax.tree.map(lambda y: jnp.broadcast_to(y, (arms, *y.shape)), tree)


def shares(tree, arms: int):
    """Arrays over all nodes, divided among the arms."""
    return jax.tree.map(lambda y: y.reshape(arms, -1, *y.shape[1:]), tree)


class AbstractWires(eqx.Module):
    """Tendons and wires that pull along an arm."""

    @abc.abstractmethod
    def along_segments(self, arm, q: Float[Array, "n k"]) -> Float[Array, "w n"]:
        """The length of each of w wires within each segment [m]."""


class AbstractTissue(eqx.Module):
    """The tissue of a segment, defined by the energy it stores."""

    @abc.abstractmethod
    def energy(self, arm, q: Float[Array, "n k"]) -> Float[Array, " n"]:
        """The energy stored in each segment [J]."""

    @abc.abstractmethod
    def stiffness(self, arm, q: Float[Array, "n k"]) -> Float[Array, "n k k"]:
        """The positive semidefinite part of the energy's second derivative, for implicit steps."""


class AbstractMuscles(eqx.Module):
    """Elements that contract within each segment by activation: m of them per segment."""

    @property
    @abc.abstractmethod
    def columns(self) -> int:
        """The number m of elements of a segment."""

    @abc.abstractmethod
    def lengths(self, arm, q: Float[Array, "n k"]) -> Float[Array, "n m"]:
        """The length of every element [m]."""

    def pulls(self, arm, q: Float[Array, "n k"]) -> tuple[Float[Array, "n m"], Float[Array, "n m k"]]:
        """The lengths, and their derivatives by the coordinates of their own segment."""
        ones = [jnp.broadcast_to(one, q.shape) for one in np.eye(q.shape[-1])]
        columns = [jax.jvp(lambda q: self.lengths(arm, q), (q,), (one,))[1] for one in ones]
        return self.lengths(arm, q), jnp.stack(columns, -1)

    def turning(self, arm, q: Float[Array, "n k"], tension: Float[Array, "n m"], lengths, J) -> Float[Array, "n k k"]:
        """The sum of T d2l/dq2 over the elements: how the forces of constant tensions change as the elements turn.

        **Arguments:** `lengths`, `J`: of `pulls`, for a faster formula that uses them.
        """
        del lengths, J

        def along(direction):
            """The second derivative along one coordinate, for all segments at once, which do not interact."""

            def forces(q):
                return small.matvec(jnp.swapaxes(self.pulls(arm, q)[1], -1, -2), tension)

            return jax.jvp(forces, (q,), (jnp.broadcast_to(direction, q.shape),))[1]

        return jax.vmap(along, out_axes=-1)(jnp.asarray(np.eye(q.shape[-1])))

    @abc.abstractmethod
    def tensions(
        self, lengths: Float[Array, "n m"], rates: Float[Array, "n m"], activation: Float[Array, "n m"]
    ) -> Float[Array, "n m"]:
        """The tension of every element [N]; negative where one resists being shortened."""


class AbstractTelescopes(eqx.Module):
    """The masses of segments whose muscles are pistons in cylinders, in place of those along the arm."""

    point_mass: eqx.AbstractVar[Float[Array, "n p"]]
    """Masses of points that move with the muscles [kg]."""
    platform: eqx.AbstractVar[Float[Array, "n 6"]]
    """Diagonal spatial inertias of the platforms at the segments' ends."""

    @abc.abstractmethod
    def positions(self, arm, q: Float[Array, "n k"]) -> Float[Array, "n p 3"]:
        """The positions of the points in the frame of their segment's base, by its own coordinates [m]."""
