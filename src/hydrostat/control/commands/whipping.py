"""A whip: an arm becomes longer as it turns aside, and turns back as it lifts."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands.base import RISE, Command, Number, checked, checked_part

_CURL = 0.410  # activation with which the arm curls round what it holds
_BEYOND = (0.02, 0.25)  # of the arm, from the place that holds it: the part that curls
_TURNS = 0.039  # s from the level of one stage to that of the next


class Stage(NamedTuple):
    """The activations of one stage of a whip."""

    begins: float
    """Time since the whip began [s]."""
    radial: float
    """Activation of the radial muscles, which make the arm longer."""
    along: float
    """Activation of all longitudinal muscles, which draw the arm in."""
    up: float
    """Activation of the muscles that bend it away from its suckers, graded; negative for those towards them."""
    aside: float
    """Activation of the muscles that bend it towards the arm's y, graded; negative for those away from it."""


STAGES = (
    Stage(0.0, 0.946, 0.005, 0.101, 0.775),
    Stage(0.36, 0.994, 0.012, 0.921, -0.957),
)
"""The stages of a whip, found by a search (docs/papers/kang.md)."""
BACK = STAGES[-1].begins + _TURNS
"""Time since the whip began from which the arm turns back with all its strength [s]."""


class Whip(Command):
    """The inner part of the arm becomes longer and turns aside, then turns back and lifts.

    No weight is against an arm that turns aside, and the stretched muscles of the other side pull harder than at rest
    when they bring it back. Beyond the place that holds it curls round the load, so that more suckers take hold.
    """

    duration: Number
    amount: Number
    share: Number
    held: Number

    def __init__(self, held: float, share: float = 0.335, amount: float = 1.0, duration: float = 1e3):
        """**Arguments:** `held`: the place along the arm that holds a load; `share`: of the arm, from its base, that
        moves; `amount`: factor of all activations; `duration` [s].
        """
        self.amount, self.duration, _, self.share = checked_part(amount, duration, 0.0, share)
        self.held = checked("held", held, least=0.0, most=1.0)

    def activation(self, time, anatomy):
        """The activation of each stage, from one to the next without a break."""
        levels = np.array([stage[1:] for stage in STAGES])
        changes = np.diff(levels, axis=0, prepend=0.0)
        level = jnp.zeros(4)
        for stage, change in zip(STAGES, changes, strict=True):
            rise = _TURNS if stage.begins else RISE
            level = level + jnp.clip((time - stage.begins) / rise, 0.0, 1.0) * change
        radial, along, up, aside = (self.amount * level[i] for i in range(4))
        moves = anatomy.inside(0.0, self.share)
        sides = jnp.maximum(jnp.stack([-up, aside, up, -aside]), 0.0)
        curls = self.amount * _CURL * jnp.clip(time / RISE, 0.0, 1.0)
        curl = curls * anatomy.inside(self.held + _BEYOND[0], self.held + _BEYOND[1])
        long = along * moves[:, None] + (anatomy.grade * moves)[:, None] * sides
        long = long + curl[:, None] * jnp.array([1.0, 0.0, 0.0, 0.0])
        return jnp.clip(anatomy.muscles(long, radial * moves + 0.5 * curl), 0.0, 1.0)
