"""A whip: an arm becomes longer as it turns aside, and turns back as it lifts."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands.base import RISE, Command, Number, checked, checked_part


class Part(NamedTuple):
    """The activations of one part of an arm in one stage of a whip."""

    radial: float
    """Activation of the radial muscles, which make the arm longer."""
    along: float
    """Activation of all longitudinal muscles, which draw the arm in."""
    up: float
    """Activation of the muscles that bend it away from its suckers, graded; negative for those towards them."""
    aside: float
    """Activation of the muscles that bend it towards the arm's y, graded; negative for those away from it."""


class Stage(NamedTuple):
    """One stage of a whip."""

    begins: float
    """Time since the whip began [s]."""
    rise: float
    """Time in which the levels come from those of the stage before [s]."""
    root: Part
    """The part next to the base."""
    beyond: Part
    """The rest of what moves."""


STAGES = (
    Stage(0.000, RISE, Part(0.675, 0.006, 0.428, 0.849), Part(0.952, 0.002, 0.039, 0.964)),
    Stage(0.324, 0.041, Part(0.944, 0.017, 0.994, -0.954), Part(0.987, 0.001, 0.994, -0.998)),
    Stage(0.409, 0.023, Part(0.825, 0.162, 0.662, -0.974), Part(0.924, 0.084, 0.530, -0.783)),
    Stage(0.432, 0.054, Part(0.874, 0.143, 0.707, -0.771), Part(0.986, 0.076, 0.701, -0.963)),
)
"""The stages of a whip, found by a search (docs/papers/kang.md)."""
BACK = STAGES[2].begins
"""Time since the whip began from which the arm, well on its way back, may let go [s]."""
_ROOT = 0.052  # of the arm: the part next to the base
_CURL = 0.451  # activation with which the arm curls round what it holds
_CURLS = (0.778, 0.0, 0.0, 0.629)  # of each longitudinal muscle, from the side of the suckers round to the arm's y
_CURLED = (0.014, 0.272)  # of the arm, from the place that holds it: the part that curls


class Whip(Command):
    """The inner part of the arm becomes longer and turns aside, then turns back and lifts.

    No weight is against an arm that turns aside, and the stretched muscles of the other side pull harder than at rest
    when they bring it back. The part next to the base has levels of its own. Beyond the place that holds it curls round
    the load, so that more suckers take hold.
    """

    duration: Number
    amount: Number
    share: Number
    held: Number

    def __init__(self, held: float, share: float = 0.388, amount: float = 1.0, duration: float = 1e3):
        """**Arguments:** `held`: the place along the arm that holds a load; `share`: of the arm, from its base, that
        moves; `amount`: factor of all activations; `duration` [s].
        """
        self.amount, self.duration, _, self.share = checked_part(amount, duration, 0.0, share)
        self.held = checked("held", held, least=0.0, most=1.0)

    def activation(self, time, anatomy):
        """The activation of each stage, from one to the next without a break."""
        levels = np.array([[stage.root, stage.beyond] for stage in STAGES])
        changes = np.diff(levels, axis=0, prepend=0.0)
        risen = [jnp.clip((time - stage.begins) / stage.rise, 0.0, 1.0) for stage in STAGES]
        level = self.amount * jnp.sum(jnp.stack(risen)[:, None, None] * changes, 0)
        radial, along, up, aside = level.T
        sides = jnp.maximum(jnp.stack([-up, aside, up, -aside], -1), 0.0)
        split = jnp.minimum(_ROOT, self.share)
        moves = jnp.stack([anatomy.inside(0.0, split), anatomy.inside(split, self.share)], -1)
        curls = self.amount * _CURL * risen[0]
        curl = curls * anatomy.inside(self.held + _CURLED[0], self.held + _CURLED[1])
        long = (moves @ along)[:, None] + anatomy.grade[:, None] * (moves @ sides) + curl[:, None] * jnp.array(_CURLS)
        return jnp.clip(anatomy.muscles(long, moves @ radial + 0.5 * curl), 0.0, 1.0)
