"""Inverse kinematics of a driven limb: from a place for its tip to the commands of its actuators, within their limits.

Limbs with tendons are underactuated: their tensions T are found, of which the limb rests at q(T). With K the stiffness
at rest and J the change of the tendons' lengths, dq/dT = S = -K^-1 J^T (`control.plan_tension`). Each tick takes one
Newton step to q(T), and one Gauss-Newton step over tensions above the least one towards the target. The motors hold
lengths u = l + c / k l' - T / k, so that each pulls with T + k (l_measured - l) + c (l'_measured - l'), as
`control.TendonServo` does.

Arms whose muscles or legs act on every segment follow a shape: resolved rates move it by the least weighted changes,
what is left free returns to the shape at rest, and the forces that hold the shape and draw the arm to it are those of
inverse dynamics (`control.KnownArm`).

The remaining error of the tip, which its sensors tell, is integrated; while something touches the limb it is not, so
that a limb that cannot reach its target presses as its stiffness makes it, and no harder.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.actuation.limb_tendons import least_pull
from hydrostat.control.feedback import KnownArm
from hydrostat.control.muscle_allocation import holding_activations
from hydrostat.lie import small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.mechanics.statics import at_rest
from hydrostat.mechanics.wires import wire_lengths

_EFFORT = 1e-3  # weight of a newton against an error of the tip of one length of the limb
_LARGEST_STEP = 0.2  # N: what one tick may change a tension by
_DAMPING = 1e-4  # of resolved rates, so that they stay finite where the limb is straight


class Sensed(NamedTuple):
    """What the sensors of a limb tell its follower."""

    q: Float[Array, "n k"]
    v: Float[Array, "n k"]
    tip: Float[Array, " 3"]
    """Place of the tip [m]."""
    touching: Float[Array, ""]
    """1 where something touches the limb, else 0."""


class FollowerMemory(NamedTuple):
    """What a follower remembers."""

    plan: Any
    """Tensions, or the integral of the error of the shape."""
    q: Float[Array, "n k"]
    """The shape that is aimed at."""
    correction: Float[Array, " 3"]
    """Integral of the error of the tip, added to the target [m]."""


class AbstractFollower(eqx.Module):
    """Inverse kinematics of one limb."""

    gain: eqx.AbstractVar[Float[Array, ""]]
    """Rate at which the error of the tip fades [1/s]."""
    most_correction: eqx.AbstractVar[Float[Array, ""]]
    """Bound of the correction of the target [m]."""

    @abc.abstractmethod
    def start(self, q: Float[Array, "n k"]) -> FollowerMemory:
        """The memory at rest in a shape."""

    @abc.abstractmethod
    def aim(
        self, memory: FollowerMemory, target: Float[Array, " 3"], sensed: Sensed, dt
    ) -> tuple[FollowerMemory, Array]:
        """The memory and the commands of the actuators for a target that is corrected already."""

    def __call__(
        self, memory: FollowerMemory, target: Float[Array, " 3"], sensed: Sensed, dt
    ) -> tuple[FollowerMemory, Array]:
        """The new memory and the commands of the actuators for one tick.

        **Arguments:** `target`: place for the tip [m]; `dt`: of a tick [s].
        """
        miss = jnp.where(sensed.touching > 0.5, 0.0, target - sensed.tip)
        correction = memory.correction + dt * self.gain * miss
        size = small.norm(correction)
        correction = correction * jnp.minimum(1.0, self.most_correction / jnp.maximum(size, 1e-12))
        return self.aim(memory._replace(correction=correction), target + correction, sensed, dt)


class TendonFollower(AbstractFollower):
    """Inverse kinematics of a limb with tendons, whose motors hold their lengths."""

    robot: Robot
    """The limb as it is known, its tendons driven by tension."""
    stiffness: Float[Array, " w"]
    """Stiffness k of each tendon with its motor [N/m]."""
    damping_time: Float[Array, ""]
    """Damping of the motors over their stiffness [s]."""
    least: Float[Array, ""]
    """Tension that every tendon keeps, so that none is slack [N]."""
    most: Float[Array, ""]
    """Largest tension [N]."""
    gain: Float[Array, ""]
    most_correction: Float[Array, ""]

    def start(self, q) -> FollowerMemory:
        """The memory at rest in a shape, under the least tensions."""
        return FollowerMemory(jnp.full(len(self.stiffness), self.least), q, jnp.zeros(3))

    def aim(self, memory: FollowerMemory, target, sensed: Sensed, dt) -> tuple[FollowerMemory, Array]:
        """One step of Newton's method to the rest under the tensions, and one of Gauss and Newton to the target."""
        del sensed
        robot, tension, length = self.robot, memory.plan, jnp.sum(self.robot.arm.segments.length)
        inputs = no_inputs(robot)._replace(wires=tension)

        def unbalanced(q) -> Array:
            found = at_rest(robot, q, inputs)
            assert isinstance(found, Array)  # of one arm
            return found

        # One stiffness K serves the Newton step and the sensitivity: within a tick it hardly changes.
        shape, size = memory.q.shape, memory.q.size
        K = jax.jacfwd(lambda x: unbalanced(x.reshape(shape)).ravel())(memory.q.ravel())
        J = jax.jacrev(lambda x: wire_lengths(robot.one, x.reshape(shape)))(memory.q.ravel())
        solved = jnp.linalg.solve(K.reshape(size, size), jnp.concatenate([unbalanced(memory.q).reshape(-1, 1), J.T], 1))
        q, S = memory.q - solved[:, 0].reshape(shape), -solved[:, 1:].reshape(*shape, -1)
        place = lambda q: kinematics.tip_pose(robot.arm, q).position / length  # noqa: E731
        A = jnp.einsum("rnk,nkw->rw", jax.jacfwd(place)(q), S)
        goal = A @ (tension - self.least) + target / length - place(q)
        new = self.least + least_pull(A.T @ A + _EFFORT**2 * jnp.eye(len(tension)), A.T @ goal)
        change = jnp.minimum(new, self.most) - tension
        change = change * jnp.minimum(1.0, _LARGEST_STEP / jnp.maximum(jnp.max(jnp.abs(change)), 1e-12))
        q = q + jnp.einsum("nkw,w->nk", S, change)
        tension = tension + change
        before, lengths = (wire_lengths(robot.one, y) for y in (memory.q, q))
        # The motors damp what differs from the planned rates.
        planned = lengths + self.damping_time * (lengths - before) / dt
        return memory._replace(plan=tension, q=q), planned - tension / self.stiffness


class ShapeFollower(AbstractFollower):
    """Inverse kinematics of an arm whose muscles or legs act on every segment."""

    known: KnownArm
    """The arm as it is known."""
    bare: KnownArm
    """The same arm without elasticity and loads, for its mass matrix."""
    ease: Float[Array, "n k"]
    """Ease with which each coordinate moves: the inverse of the weight of its square."""
    rest: Float[Array, "n k"]
    """The shape that it returns to where the tip leaves it free."""
    low: Float[Array, "n k"]
    """Smallest coordinates."""
    high: Float[Array, "n k"]
    """Largest coordinates."""
    rate: Float[Array, ""]
    """Bandwidth w of the arm's shape [1/s]."""
    posture: Float[Array, ""]
    """Rate of the return to the shape at rest [1/s]."""
    stiffen: Float[Array, " n"]
    """Co-contraction of the muscles of every segment."""
    gain: Float[Array, ""]
    most_correction: Float[Array, ""]

    def start(self, q) -> FollowerMemory:
        """The memory at rest in a shape."""
        return FollowerMemory(jnp.zeros_like(q), q, jnp.zeros(3))

    def aim(self, memory: FollowerMemory, target, sensed: Sensed, dt) -> tuple[FollowerMemory, Array]:
        """Resolved rates of the shape, and the forces that draw the arm to it."""
        arm, q = self.known.arm.arm, memory.q
        place = lambda q: kinematics.tip_pose(arm, q).position  # noqa: E731
        J = jax.jacfwd(place)(q).reshape(3, -1)
        JW = J * self.ease.ravel()
        size = small.matmul(JW, J.T)
        inverse = small.inverse_positive(size + _DAMPING * jnp.trace(size) * jnp.eye(3))
        free = dt * self.posture * (self.rest - q).ravel()
        step = target - place(q) - small.matvec(J, free)
        new = q + (free + small.matvec(JW.T, small.matvec(inverse, step))).reshape(q.shape)
        new = jnp.clip(new, self.low, self.high)
        rate = (new - q) / dt
        behind = new - sensed.q
        loose = sensed.touching < 0.5
        missing = jnp.where(loose, memory.plan + dt * behind, memory.plan)
        w = self.rate
        drawn = 3.0 * w * (rate - sensed.v) + 3.0 * w**2 * behind + w**3 * missing
        zero = jnp.zeros_like(new)
        force = self.known.needed(new, zero, zero) + self.bare.needed(sensed.q, zero, drawn)
        command = force
        if self.known.arm.muscles is not None:
            command = holding_activations(self.known.arm, new, force, self.stiffen)
        return memory._replace(plan=missing, q=new), command
