"""What a brain and the arms of a robot tell each other: messages that ask for a motion, and reports of how it goes."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

IDLE = 0
"""State of an arm that has no message."""
UNDER_WAY = 1
"""State of an arm whose motion is under way."""
DONE = 2
"""State of an arm whose motion is done."""
NO_HOLD = 3
"""State of an arm that has failed, since suckers that were to hold do not."""
NOT_REACHED = 4
"""State of an arm that has failed, since what was asked for is not reached in time."""
TOO_LATE = 5
"""State of an arm whose message came too late for its motion to be completed."""


class Message(NamedTuple):
    """The description of a motion for one arm, or for each arm: what a brain sends, and all that it sends."""

    number: Int[Array, "*arms"]
    """Number of the message, from 1; one that is sent again keeps its number."""
    motion: Int[Array, "*arms"]
    """Index of the motion among those that the arm knows."""
    begins: Float[Array, "*arms"]
    """Time at which the motion is to begin [s]."""
    completes: Float[Array, "*arms"]
    """Time at which it is to be complete [s]."""
    parameters: Float[Array, "*arms p"]
    """Parameters of the motion, as many as that with the most of them has."""

    @staticmethod
    def none(arms: int, parameters: int) -> "Message":
        """The messages of arms that have got none, with number 0."""
        zero, whole = jnp.zeros(arms), jnp.zeros(arms, int)
        return Message(whole, whole, zero, zero, jnp.zeros((arms, parameters)))


class Report(NamedTuple):
    """The report of one arm, or of each arm: how the motion goes that a message asked for."""

    number: Int[Array, "*arms"]
    """Number of the message that it answers, 0 where there was none."""
    status: Int[Array, "*arms"]
    """State of the arm: one of `IDLE`, `UNDER_WAY`, `DONE`, `NO_HOLD`, `NOT_REACHED`, `TOO_LATE`."""
    progress: Float[Array, "*arms"]
    """Share of the motion's time that is over."""
    held: Float[Array, "*arms"]
    """Number of the arm's segments whose suckers hold the ground or an object."""

    @staticmethod
    def none(arms: int) -> "Report":
        """The reports of arms that do nothing."""
        zero, whole = jnp.zeros(arms), jnp.zeros(arms, int)
        return Report(whole, whole, zero, zero)


class Orders(NamedTuple):
    """The decision of a brain at a moment."""

    message: Message
    """A message for each arm."""
    present: Bool[Array, " a"]
    """Whether it is sent: all others are but places."""
    asks: Bool[Array, " a"]
    """Whether the last message of an arm is to be sent again, so that the arm reports anew."""


def failed(status: Int[Array, "*arms"]) -> Bool[Array, "*arms"]:
    """Whether an arm's state is one of those of a motion that has failed."""
    return status >= NO_HOLD


def numbers_in(contents: Any, arms: int) -> int:
    """The count of numbers that a message or a report of one arm has."""
    return sum(int(leaf.size) // arms for leaf in jax.tree.leaves(contents))


def chosen(mask: Bool[Array, " a"], new: Any, old: Any) -> Any:
    """One tree where a mask of the arms is true, else another one."""

    def of_leaf(a, b):
        return jnp.where(mask.reshape(mask.shape + (1,) * (a.ndim - mask.ndim)), a, b)

    return jax.tree.map(of_leaf, new, old)
