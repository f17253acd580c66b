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
    Stage(0.000, 0.063, 0.995, 0.031, 0.097, 0.945),
    Stage(0.279, 0.036, 0.998, 0.001, -0.147, 0.626),
    Stage(0.379, 0.079, 1.000, 0.000, 0.997, -0.981),
    Stage(0.475, 0.051, 0.405, 0.021, 0.258, -0.978),
    Stage(0.499, 0.038, 0.943, 0.000, 0.447, -0.924),
)
"""The stages of a whip, found by a search (docs/papers/kang.md): two turn aside, three back and up."""
BACK = STAGES[3].begins
"""Time since the whip began from which the arm, well on its way back, may let go [s]."""
SHARE = 0.421
"""Share of the arm, from its base, that moves in a whip."""
_CURL = 0.958  # activation with which the arm curls round what it holds
_CURLS = (0.512, 0.000, 0.012, 0.359)  # of each longitudinal muscle, from the side of the suckers round to the arm's y
_CURLED = (0.106, 0.257)  # of the arm, from the middle of the part that holds: the part that curls


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
