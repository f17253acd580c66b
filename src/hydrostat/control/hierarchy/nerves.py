"""Nerves between a brain and the arms: what is sent arrives after the time of conduction, or is lost."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat import errors
from hydrostat.errors import InputError
from hydrostat.sensing import random_numbers

MOST_STEPS = 400
"""The largest time of conduction, in steps."""


class NerveMemory(NamedTuple):
    """What is on its way along the nerves of all arms in one direction."""

    contents: Any
    """Messages or reports, with the steps until they arrive as leading axis."""
    present: Bool[Array, "steps a"]
    """Whether there is one."""
    calls: Int[Array, ""]
    """Number of steps so far, for the random numbers."""


class Delivery(NamedTuple):
    """What happens at the two ends of the nerves in a step."""

    contents: Any
    """Messages or reports that arrive."""
    arrived: Bool[Array, " a"]
    """Whether one arrives."""
    lost: Bool[Array, " a"]
    """Whether one that was sent now will not arrive."""


class Nerves(eqx.Module):
    """The nerves of all arms, with the same time of conduction and the same share of losses in both directions.

    Nerves(delay=0.03, loss=0.05)
    """

    delay: float = eqx.field(static=True)
    """Time of conduction [s], to the nearest whole number of steps."""
    loss: Float[Array, ""]
    """Probability that a message or a report is lost."""
    seed: Int[Array, ""]
    """Seed of the losses."""

    def __init__(self, delay: float = 0.0, loss: float = 0.0, seed: int = 0):
        self.delay = errors.number("delay", delay, least=0.0)
        self.loss = jnp.asarray(errors.number("loss", loss, least=0.0, most=0.99), float)
        self.seed = jnp.asarray(errors.whole("seed", seed, least=0, most=2**31 - 1))

    def steps(self, dt: float) -> int:
        """The time of conduction in steps of dt [s]."""
        steps = round(self.delay / dt)
        if steps > MOST_STEPS:
            raise InputError(f"`delay` of nerves must be at most {MOST_STEPS} steps of {dt:g} s; got {self.delay:g} s")
        return steps

    def init(self, contents: Any, steps: int) -> NerveMemory:
        """The memory of nerves on which nothing is under way.

        **Arguments:** `contents`: what is sent, such as it is without a value; `steps`: time of conduction in steps.
        """
        arms = jax.tree.leaves(contents)[0].shape[0]
        empty = jax.tree.map(lambda y: jnp.zeros((steps, *y.shape), y.dtype), contents)
        return NerveMemory(empty, jnp.zeros((steps, arms), bool), jnp.zeros((), int))

    def __call__(
        self, contents: Any, sent: Bool[Array, " a"], memory: NerveMemory, direction: int
    ) -> tuple[Delivery, NerveMemory]:
        """What arrives in this step, and the new memory.

        **Arguments:** `contents`, `sent`: what is sent now, and whether it is; `direction`: 0 towards the arms, 1
        towards the brain, which lose independently of each other.
        """
        u = random_numbers.uniform(random_numbers.stream(self.seed, direction), memory.calls, sent.shape[0])
        lost = sent & (u < self.loss)
        kept = sent & ~lost
        calls = memory.calls + 1
        if memory.present.shape[0] == 0:
            return Delivery(contents, kept, lost), memory._replace(calls=calls)
        first = jax.tree.map(lambda y: y[0], memory.contents)
        later = jax.tree.map(lambda y, new: jnp.concatenate([y[1:], new[None]]), memory.contents, contents)
        present = jnp.concatenate([memory.present[1:], kept[None]])
        return Delivery(first, memory.present[0], lost), NerveMemory(later, present, calls)
