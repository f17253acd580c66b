"""Decentralised resolved-rate control: every segment is an agent that talks to its two neighbours.

An agent holds its own geometry, its own limits and its own pose, and nothing else. In a control tick one message goes
up from agent to agent and one comes down:

- up go the pose of the plate, its mobility (a 6 x 6 matrix, 21 numbers) and its drift by the posture tasks
  of the segments below (6 numbers): 39 numbers with the pose's 12;
- the last agent, which alone knows where the tip should be, turns that into the wrench for the desired motion;
- down goes that wrench (6 numbers), carried from plate to plate, and the share of its posture task that each agent may
  follow (1 number); each agent answers with its own twist.

With that the motion is the one that a centre would compute, and a message is as long in an arm of a thousand segments
as in one of five. Paper: "distributed inverse kinematics", after McEvoy and Correll (2016).
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.actuation.legs import Legs
from hydrostat.control.resolved_rate import Ask, Call, Law, Posture, Rates, call, ease, limited, local
from hydrostat.errors import InputError
from hydrostat.lie import SE3, small
from hydrostat.mechanics.points import carried_twist, gathered_wrench
from hydrostat.segments import StewartSegment

_ABOVE = np.triu_indices(6)  # of a symmetric matrix, what is sent
_PLACES = np.zeros((6, 6), int)  # of each entry of a symmetric matrix among the numbers sent
_PLACES[_ABOVE] = np.arange(21)
_PLACES = np.maximum(_PLACES, _PLACES.T)


class Upward(NamedTuple):
    """The message of an agent to the one above it, about its own upper plate and in its axes."""

    T_world: SE3
    """Pose of the plate; the base's pose is known to the lowest agent."""
    mobility: Float[Array, "6 6"]
    """Mobility: body twist of the plate per wrench on it, through all segments up to here; symmetric."""
    drift: Float[Array, " 6"]
    """Body twist of the plate that the tasks of lower priority of all segments up to here would cause."""

    def packed(self) -> Float[Array, " numbers"]:
        """The message as it is sent: a row of numbers."""
        pose = jnp.concatenate([self.T_world.rotation.ravel(), self.T_world.position])
        return jnp.concatenate([pose, self.mobility[_ABOVE], self.drift])

    @staticmethod
    def unpacked(numbers: Float[Array, " numbers"]) -> "Upward":
        """The message from its numbers, as it is read."""
        pose = SE3(numbers[:9].reshape(3, 3), numbers[9:12])
        return Upward(pose, numbers[12:33][_PLACES], numbers[33:])


class Agent(eqx.Module):
    """One segment's part of the law: its own geometry and limits."""

    segment: StewartSegment
    posture: Posture | None
    legs: Legs | None
    frozen: Bool[Array, ""] | None

    def upward(self, T: SE3, below: Upward) -> Upward:
        """The message to the agent above, from the own pose and the message from below."""
        own = local(self.segment, self.legs, self.frozen, self.posture, T)
        R = T.rotation
        half = _carried_columns(T, below.mobility)  # (Ad M)^T = M Ad^T
        carried = _carried_columns(T, half)
        turned = _turned(R, jnp.swapaxes(_turned(R, own.S), -1, -2))
        drift = carried_twist(T, below.drift) + _turned_vector(R, own.posture_twist)
        return Upward(below.T_world @ T, carried + turned, drift)

    def downward(self, T: SE3, above: Call, dt) -> tuple[Call, Float[Array, " 6"]]:
        """The message to the agent below, and the own twist, from the message that comes from above.

        The wrench of a message is that on the plate between the two agents, in the plate's axes.
        """
        own = local(self.segment, self.legs, self.frozen, self.posture, T)
        twist = above.share * own.posture_twist + small.matvec(own.S, _turned_vector(T.rotation.T, above.wrench))
        below = Call(gathered_wrench(T, above.wrench), above.share)
        return below, limited(self.segment, self.legs, T, twist, dt)


def _carried_columns(T: SE3, columns: Float[Array, "6 6"]) -> Float[Array, "6 6"]:
    """Ad(T^-1) times the columns of a matrix: twists of the lower plate as twists of the upper one, transposed."""
    return jax.vmap(lambda column: carried_twist(T, column), 1, 0)(columns)


def _turned(R, matrix: Float[Array, "6 6"]) -> Float[Array, "6 6"]:
    """Rows in the axes of R."""
    return jnp.concatenate([small.matmul(R.T, matrix[:3]), small.matmul(R.T, matrix[3:])])


def _turned_vector(R, vector: Float[Array, " 6"]) -> Float[Array, " 6"]:
    return jnp.concatenate([small.matvec(R.T, vector[:3]), small.matvec(R.T, vector[3:])])


def agents_of(law: Law) -> Agent:
    """The agents of an arm, stacked: each holds its own geometry and limits."""
    if law.obstacle is not None:
        raise InputError("agents must have no obstacle: to keep clear of one takes more sweeps than their two")
    n = law.segments.length.shape[0]
    spread = lambda tree: jax.tree.map(lambda y: jnp.broadcast_to(y, (n, *jnp.shape(y))), tree)  # noqa: E731
    return Agent(law.segments, spread(law.posture), law.legs, law.frozen)


def agents_rates(law: Law, T: SE3, ask: Ask, dt, scale=None) -> Rates:
    """The relative twists of all segments, each found by its own agent after two sweeps of messages.

    **Arguments:** `scale`: what `ease` gives, where it is known already.
    """
    scale = ease(law) if scale is None else scale
    agents = agents_of(law)

    has_neighbour, zero = jnp.arange(len(T.position)) < len(T.position) - 1, jnp.zeros(2, int)

    def up(carry, own):
        read, sent = carry
        agent, T, neighbour = own
        packed = agent.upward(T, Upward.unpacked(read)).packed()
        return (packed, sent + _counted(packed, neighbour)), None

    # The lowest agent knows the base, and the last one the tip's task: neither is told by a message.
    first = Upward(law.T_world_base, jnp.zeros((6, 6)), jnp.zeros(6)).packed()
    (last, climbed), _ = jax.lax.scan(up, (first, zero), (agents, T, has_neighbour))
    last = Upward.unpacked(last)

    def down(carry, own):
        read, sent = carry
        agent, T, neighbour = own
        message, twist = agent.downward(T, call_of(read), dt)
        packed = numbers_of(message)
        return (packed, sent + _counted(packed, neighbour)), twist

    reply = numbers_of(tip_call(law, last, ask, scale, dt))
    (_, descended), twists = jax.lax.scan(down, (reply, zero), (agents, T, has_neighbour[::-1]), reverse=True)
    return Rates(twists, last.T_world, jnp.asarray(True), jnp.stack([climbed, descended]))


def numbers_of(message: Call) -> Float[Array, " numbers"]:
    """A message down as it is sent."""
    return jnp.concatenate([message.wrench, message.share[None]])


def call_of(numbers: Float[Array, " numbers"]) -> Call:
    """A message down as it is read."""
    return Call(numbers[:-1], numbers[-1])


def _counted(packed: Float[Array, " numbers"], neighbour: Bool[Array, ""]) -> Int[Array, " 2"]:
    """One message and its numbers, where there is a neighbour to send it to."""
    return jnp.where(neighbour, jnp.array([1, packed.size]), 0)


def tip_call(law: Law, message: Upward, ask: Ask, scale, dt) -> Call:
    """The reply of the last agent to the message that reaches the tip, in the axes of the tip.

    It knows the task and one constant of the arm, `ease`, besides the message.
    """
    R = message.T_world.rotation
    outward = lambda matrix: jnp.swapaxes(_turned(R.T, matrix), -1, -2)  # noqa: E731
    gram = outward(outward(message.mobility))
    turns = gram[0, 0] + gram[1, 1] + gram[2, 2]
    drift = _turned_vector(R.T, message.drift)
    if law.orient:
        asked = call(gram, turns, ask(message.T_world), drift, scale, dt)
        return Call(_turned_vector(R, asked.wrench), asked.share)
    asked = call(gram[3:, 3:], turns, ask(message.T_world), drift[3:], scale, dt)
    return Call(jnp.concatenate([jnp.zeros(3), small.matvec(R.T, asked.wrench)]), asked.share)
