"""A whip: an arm becomes longer as it turns aside, turns back as it lifts, and is drawn in."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands.base import RISE, Command, Number, checked, checked_part

_CURL = 0.44  # activation with which the arm curls round what it holds
_BEYOND = 0.235  # of the arm, from the place that holds it on: the part that curls
_TURNS = 0.04  # s from the level of one stage to that of the next


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
    Stage(0.0, 0.81, 0.02, -0.05, 0.94),
    Stage(0.32, 0.94, 0.01, 0.89, -0.92),
    Stage(0.49, 0.34, 0.41, 0.96, -0.21),
    Stage(0.57, 0.51, 0.65, 0.39, -0.93),
)
"""The stages of a whip, found by a search (docs/papers/kang.md)."""


class Whip(Command):
    """The inner part of the arm becomes longer and turns aside, turns back and lifts, and is drawn in.

    Muscles pull along an arm much harder than they bend it. No weight is against an arm that turns aside, and what it
    holds turns faster the nearer it is drawn in, as a skater does. Beyond the place that holds it curls round the load.
    """

    duration: Number
    amount: Number
    share: Number
    held: Number

    def __init__(self, held: float, share: float = 0.45, amount: float = 1.0, duration: float = 1e3):
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
        curl = curls * anatomy.inside(self.held, self.held + _BEYOND)
        long = along * moves[:, None] + (anatomy.grade * moves)[:, None] * sides
        long = long + curl[:, None] * jnp.array([1.0, 0.0, 0.0, 0.0])
        return jnp.clip(anatomy.muscles(long, radial * moves + 0.5 * curl), 0.0, 1.0)
