"""Path following with the tip: the paper's switching regulator, and continuous tracking with feed-forward."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.compiling import as_one_function, fast_jit
from hydrostat.control.agents import agents_rates
from hydrostat.control.bounded_rates import bounded_rates
from hydrostat.control.resolved_rate import Law, Rates, central_rates, desired_velocity, ease, moved
from hydrostat.lie import SE3


class Tracked(NamedTuple):
    """The motion of an arm, one row per tick."""

    T: SE3
    """Relative poses of the plates at the tick's begin (ticks, n)."""
    twist: Float[Array, "ticks n 6"]
    """Relative twists of the plates during the tick."""
    T_world_tip: SE3
    """Pose of the tip at the tick's begin."""
    solved: Bool[Array, " ticks"]
    """Whether the law found its twists."""
    sent: Int[Array, "ticks 2 2"]
    """What agents sent up and down the arm: messages, and numbers in them."""


class Switched(NamedTuple):
    """The rows of the switching regulator."""

    target: Int[Array, " ticks"]
    """Index of the present target; the number of targets once all are reached."""
    miss: Float[Array, " ticks"]
    """Distance from the present target at the tick's begin, before the switch [m]; 0 once all are reached."""


def rates(law: Law, T: SE3, ask, dt, scale, decentralised: bool) -> Rates:
    """The relative twists of all segments, from a centre or by their agents.

    A centre keeps all bounds at once where the law limits the speed of plates.
    """
    if decentralised:
        return agents_rates(law, T, ask, dt, scale)
    return (central_rates if law.plate_speed is None else bounded_rates)(law, T, ask, dt, scale)


@fast_jit
def follow(law: Law, T: SE3, goals: SE3, forward: Float[Array, "ticks 6"], gain, dt, decentralised: bool = False):
    """Follow goals, one for each tick, and their velocities; gives the rows and the poses after the last tick.

    **Arguments:** `T`: relative poses of the plates at the start; `goals`: world poses of the tip at the ticks' begins;
    `forward`: their world velocities, (angular, linear), over the tick; `gain`: decay of errors [1/s]; `dt` [s].
    """
    scale = ease(law)

    def tick(T, inputs):
        goal, forward = inputs
        asked = rates(law, T, lambda tip: desired_velocity(law, tip, goal, forward, gain), dt, scale, decentralised)
        return moved(T, asked.twist, dt), Tracked(T, *asked)

    return _as_one(lambda T, inputs: jax.lax.scan(tick, T, inputs), T, (goals, forward))


@fast_jit
def switch(law: Law, T: SE3, targets: Float[Array, "m 3"], index, radius, gain, dt, ticks: int):
    """The paper's tracker: head for a target until the tip is within `radius` [m] of it, then for the next.

    Each target is a regulator with E' = -gain E. Gives the rows, and poses and target after the last tick. Targets
    that are near enough already when their turn comes are passed in the same tick.
    """
    scale = ease(law)

    def tick(carry, _):
        T, index = carry

        def ask(tip):
            return gain * (goal(tip)[0] - tip.position)

        def goal(tip):
            aim = targets[jnp.minimum(index, len(targets) - 1)]
            miss = jnp.linalg.norm(aim - tip.position)
            near = jnp.linalg.norm(targets - tip.position, axis=-1) <= radius
            # The first target, from the one headed for on, that is not near: all before it are passed.
            later = jnp.where((jnp.arange(len(targets)) >= index) & ~near, jnp.arange(len(targets)), len(targets))
            new = jnp.maximum(index, jnp.min(later))
            still = new >= len(targets)
            return jnp.where(still, tip.position, targets[jnp.minimum(new, len(targets) - 1)]), miss, new

        asked = central_rates(law, T, ask, dt, scale)
        tip = asked.T_world_tip
        _, miss, new = goal(tip)
        row = Tracked(T, *asked), Switched(index, jnp.where(index < len(targets), miss, 0.0))
        return (moved(T, asked.twist, dt), new), row

    return _as_one(lambda carry: jax.lax.scan(tick, carry, None, length=ticks), (T, jnp.asarray(index)))


def _as_one(function, *arguments):
    """The loop as one machine function where that is possible."""
    dynamic, static = eqx.partition(arguments, eqx.is_array)
    return as_one_function(lambda dynamic: function(*eqx.combine(dynamic, static)), dynamic)
