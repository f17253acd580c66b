"""Suckers that hold a free ball, which answers within the step.

A sucker ties the node's centre to the point of the ball's frame where it was when it took hold: the spring starts from
nothing, the damper from the velocity at which the two met. Whatever pulls them apart by d, along or across, is resisted
with k d + c d'. What one loses of linear momentum the other gains. Of angular momentum that holds for the spring, which
pulls along d; the damper, whose force acts on either at its own end, leaves c d x d' per time, little while d is.

Within a step the ball answers: its motion follows from the nodes', implicitly, so that a light arm with a heavy load
needs no small steps.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small, so3
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, on_displacements, shares
from hydrostat.surroundings.suckers import Suckers


class BallState(NamedTuple):
    """Pose and velocity of a ball."""

    position: Float[Array, " 3"]
    rotation: Float[Array, "3 3"]
    velocity: Float[Array, " 3"]
    spin: Float[Array, " 3"]
    """Angular velocity in world axes [rad/s]."""


class BallGrip(AbstractForces):
    """Suckers that hold a ball during a step.

    With u = (v, w) the ball's twist at the end of the step, G = [1 | -hat(r)] of each lever r, k and c of a sucker and
    e = dt k + c, the ball obeys (M + dt e sum G^T G) u = M u_0 + dt (its other loads) + dt sum G^T b, where
    b = k (node - anchor) + c (its velocity), the anchor as at the step's begin; a node is pulled by e G u - b.
    """

    law: Suckers
    ball: BallState
    """The ball at the step's begin."""
    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    lever: Float[Array, "n 3"]
    """Lever from the ball's centre to the point that each sucker holds, in world axes [m]."""
    inertia: Float[Array, " 6"]
    """Diagonal inertia of the ball: (mass, mass, mass), then its three moments of inertia."""
    resisting: Float[Array, "6 6"]
    """Other resistance to the ball's motion, such as drag [N s/m]."""
    loads: Float[Array, " 6"]
    """Other loads on the ball, force and torque."""
    dt: Float[Array, ""]
    """Time since the step's begin [s]."""
    inverse: Float[Array, "6 6"]
    """Inverse of the ball's matrix M + dt e sum G^T G."""
    known: Float[Array, " 6"]
    """Right-hand side M u_0 + dt (other loads of the ball)."""

    def after(self, elapsed) -> "BallGrip":
        """The same suckers later in the step: the ball responds to the time that has passed, not to the whole step."""
        return hold(self.law, self.ball, self.held, self.lever, self.inertia, self.resisting, self.loads, elapsed)

    @property
    def abrupt(self) -> bool:
        """Whether the forces change abruptly within a step: no, suckers take hold and let go between steps."""
        return False

    def by_arm(self, arms: int) -> "BallGrip":
        """The part of each arm: exact while a single arm holds the ball, whose response depends on all that hold it."""
        own = copies(self, arms)
        parts = shares((self.held, self.lever), arms)
        return eqx.tree_at(lambda one: (one.held, one.lever), own, parts)

    def _answer(self, nodes: Nodes):
        """The ball's twist at the end of the step, and the force on each node."""
        apart = nodes.position - self.ball.position - self.lever
        b = self.held[:, None] * (self.law.stiffness * apart + self.law.damping * nodes.velocity)
        gathered = jnp.concatenate([jnp.sum(b, 0), jnp.sum(small.cross(self.lever, b), 0)])
        u = small.matvec(self.inverse, self.known + self.dt * gathered)
        there = u[:3] + small.cross(jnp.broadcast_to(u[3:], self.lever.shape), self.lever)
        stiff = self.dt * self.law.stiffness + self.law.damping
        return u, self.held[:, None] * stiff * there - b

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces of the suckers on every node."""
        _, force = self._answer(nodes)
        stiff = self.dt * self.law.stiffness + self.law.damping
        G = _levers(self.lever)
        eased = small.matmul(G, small.matmul(self.inverse, jnp.swapaxes(G, -1, -2)))
        own = self.held[:, None, None] * (jnp.eye(3) - self.dt * stiff * eased)
        stiffness, damping = (on_displacements(factor * own) for factor in (self.law.stiffness, self.law.damping))
        return NodeForces(force, jnp.zeros_like(force), stiffness, damping)

    def moved(self, nodes: Nodes) -> BallState:
        """The ball at the end of a step that ended with the nodes here."""
        u, _ = self._answer(nodes)
        rotation = small.matmul(so3.exp(self.dt * u[3:]), self.ball.rotation)
        return BallState(self.ball.position + self.dt * u[:3], rotation, u[:3], u[3:])

    def pulls(self, nodes: Nodes) -> Float[Array, " n"]:
        """The tension of each sucker [N]."""
        return small.norm(self._answer(nodes)[1])


def _levers(lever: Float[Array, "n 3"]) -> Float[Array, "n 3 6"]:
    """G: the velocity of the points per twist (v, w) of the ball."""
    return jnp.concatenate([jnp.broadcast_to(jnp.eye(3), (len(lever), 3, 3)), -so3.hat(lever)], -1)


def hold(law: Suckers, ball: BallState, held, lever, inertia: Float[Array, " 6"], resisting, loads, dt) -> BallGrip:
    """The suckers' forces at some seconds into a step.

    **Arguments:** `inertia`: mass and moment of inertia, (v, w); `resisting`: what else resists the ball's motion
    (6, 6); `loads`: force and torque on it (6,).
    """
    G = _levers(lever)
    stiff = dt * (dt * law.stiffness + law.damping)
    ties = jnp.sum(held[:, None, None] * small.matmul(jnp.swapaxes(G, -1, -2), G), 0)
    inverse = small.inverse_positive(jnp.diag(inertia) + dt * resisting + stiff * ties)
    twist = jnp.concatenate([ball.velocity, ball.spin])
    known = inertia * twist + dt * (small.matvec(resisting, twist) + loads)
    return BallGrip(law, ball, held, lever, inertia, resisting, loads, jnp.asarray(dt, float), inverse, known)
