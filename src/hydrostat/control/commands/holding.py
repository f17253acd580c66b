"""Commands for suckers: take hold, and let go."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.commands.base import Command, Number, checked_part


class Grasp(Command):
    """Suckers of a part of the arm hold what they touch; when the command is over they let go."""

    duration: Number
    first: Number
    last: Number
    what: str = eqx.field(static=True)
    """The kind of thing they hold: `object`, a free one, or `ground`."""

    def __init__(self, duration: float, first: float = 0.8, last: float = 1.0, what: str = "object"):
        _, self.duration, self.first, self.last = checked_part(0.0, duration, first, last)
        self.what = errors.choice("what", what, ("object", "ground"))

    def activation(self, time, anatomy):
        """The activation of the muscles: none is needed."""
        del time
        return anatomy.relaxed()

    def take(self, time, anatomy):
        """The grip of that part's suckers, where they hold an object."""
        return self._holding(time, anatomy) if self.what == "object" else jnp.zeros(anatomy.count)

    def grip(self, time, anatomy):
        """The grip of that part's suckers, where they hold the ground."""
        return self._holding(time, anatomy) if self.what == "ground" else jnp.zeros(anatomy.count)

    def _holding(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """The indicator of the segments of that part while the command lasts."""
        return jnp.where((time >= 0.0) & (time < self.duration), anatomy.within(self.first, self.last), 0.0)


class Release(Command):
    """All suckers let go, for a time: it follows a grasp in a sequence."""

    duration: Number

    def __init__(self, duration: float):
        self.duration = checked_part(0.0, duration, 0.0, 1.0)[1]

    def activation(self, time, anatomy):
        """The activation of the muscles: none is needed."""
        del time
        return anatomy.relaxed()
