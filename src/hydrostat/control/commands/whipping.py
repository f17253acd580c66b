"""A whip: an arm becomes longer as it turns aside, and turns back as it lifts."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands.base import Command, Number, checked, checked_part


class Stage(NamedTuple):
    """One stage of a whip: when it begins, and the activations of the part of the arm that moves."""

    begins: float
    """Time since the whip began [s]."""
    rise: float
    """Time in which the levels come from those of the stage before [s]."""
    radial: float
    """Activation of the radial muscles, which make the arm longer."""
    along: float
    """Activation of all longitudinal muscles, which draw the arm in."""
    up: float
    """Activation of the muscles that bend it away from its suckers, graded; negative for those towards them."""
    aside: float
    """Activation of the muscles that bend it towards the arm's y, graded; negative for those away from it."""


STAGES = (
    Stage(0.000, 0.062, 1.000, 0.000, 0.094, 0.928),
    Stage(0.282, 0.037, 0.995, 0.000, -0.126, 0.633),
    Stage(0.386, 0.072, 1.000, 0.000, 1.000, -0.986),
    Stage(0.484, 0.051, 0.398, 0.000, 0.233, -1.000),
    Stage(0.507, 0.037, 1.000, 0.012, 0.435, -0.935),
)
"""The stages of a whip, found by a search (docs/papers/kang.md): two turn aside, three back and up."""
BACK = STAGES[3].begins
"""Time since the whip began from which the arm, well on its way back, may let go [s]."""
SHARE = 0.424
"""Share of the arm, from its base, that moves in a whip."""
_CURL = 1.000  # activation with which the arm curls round what it holds
_CURLS = (0.487, 0.000, 0.015, 0.336)  # of each longitudinal muscle, from the side of the suckers round to the arm's y
_CURLED = (0.108, 0.263)  # of the arm, from the middle of the part that holds: the part that curls


class Whip(Command):
    """The inner part of the arm becomes longer and turns aside, then turns back and lifts.

    No weight is against an arm that turns aside, and the stretched muscles of the other side pull harder than at rest
    when they bring it back. Beyond the place that holds it curls round the load, so that its thin end stays near.
    """

    duration: Number
    amount: Number
    share: Number
    held: Number

    def __init__(self, held: float, share: float = SHARE, amount: float = 1.0, duration: float = 1e3):
        """**Arguments:** `held`: the middle of the part of the arm that holds a load; `share`: of the arm, from its
        base, that moves; `amount`: factor of all activations; `duration` [s].
        """
        self.amount, self.duration, _, self.share = checked_part(amount, duration, 0.0, share)
        self.held = checked("held", held, least=0.0, most=1.0)

    def activation(self, time, anatomy):
        """The activation of each stage, from one to the next without a break."""
        begins, rises = (np.array([stage[i] for stage in STAGES]) for i in (0, 1))
        changes = np.diff(np.array([stage[2:] for stage in STAGES]), axis=0, prepend=0.0)
        risen = jnp.clip((time - begins) / rises, 0.0, 1.0)
        radial, along, up, aside = self.amount * jnp.sum(risen[:, None] * changes, 0)
        sides = jnp.maximum(jnp.stack([-up, aside, up, -aside]), 0.0)
        moves = anatomy.inside(0.0, self.share)
        curl = self.amount * _CURL * risen[0] * anatomy.inside(self.held + _CURLED[0], self.held + _CURLED[1])
        long = moves[:, None] * (along + anatomy.grade[:, None] * sides) + curl[:, None] * np.array(_CURLS)
        return jnp.clip(anatomy.muscles(long, radial * moves + 0.5 * curl), 0.0, 1.0)
