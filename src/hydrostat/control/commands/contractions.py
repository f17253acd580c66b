"""Commands by which an arm becomes longer, shorter, stiffer, bent or twisted: which muscles contract, where and when.

To elongate, radial muscles contract; to shorten, longitudinal ones; to bend, those on one side with the radial ones
beside them; to stiffen, all of them (Kang et al. 2012, Table 1).

"Graded" activation falls with the radius towards the tip. Without that the tip, whose muscles are as strong for its
section but whose water is thinner, would curl before the rest of the arm moves.
"""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation.muscles import LONGITUDINAL_AZIMUTHS
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.commands.base import RISE, Command, Number, checked, checked_part, envelope
from hydrostat.errors import InputError


class Contraction(Command):
    """A contraction of all muscles of a kind in a part of the arm."""

    amount: Number
    duration: Number
    first: Number
    last: Number
    rise: Number
    """Time over which the muscles contract, and relax again [s]: in haste a soft arm that elongates buckles."""
    most: ClassVar[float] = 1.0
    """Largest activation."""

    def __init__(self, amount: float, duration: float, first: float = 0.0, last: float = 1.0, rise: float = RISE):
        self.amount, self.duration, self.first, self.last = checked_part(amount, duration, first, last, most=self.most)
        self.rise = checked("rise", rise, above=0.0, most=1e4)

    def _level(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """The level of contraction of each segment at a time."""
        return self.amount * anatomy.inside(self.first, self.last) * envelope(time, self.duration, self.rise)


class Elongate(Contraction):
    """Radial muscles contract: the arm, or a part of it, becomes longer and thinner."""

    __init__ = Contraction.__init__

    def activation(self, time, anatomy):
        """The radial muscles, all alike."""
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), self._level(time, anatomy))


class Shorten(Contraction):
    """Longitudinal muscles contract: the arm, or a part of it, becomes shorter and thicker."""

    __init__ = Contraction.__init__

    def activation(self, time, anatomy):
        """The longitudinal muscles, all alike."""
        return anatomy.muscles(jnp.repeat(self._level(time, anatomy)[:, None], 4, 1), jnp.zeros(anatomy.count))


class Bend(Command):
    """Longitudinal muscles on one side contract, with half as much of the radial ones, graded."""

    amount: Number
    duration: Number
    first: Number
    last: Number
    azimuth: Number
    """Azimuth of the bend, from the side of the suckers round to the arm's y [rad]."""

    def __init__(self, amount: float, duration: float, first: float = 0.0, last: float = 1.0, azimuth: float = 0.0):
        self.amount, self.duration, self.first, self.last = checked_part(amount, duration, first, last)
        self.azimuth = checked("azimuth", azimuth)

    def activation(self, time, anatomy):
        """The muscles on the side that the arm bends to."""
        on = self.amount * anatomy.grade * anatomy.inside(self.first, self.last) * envelope(time, self.duration)
        return anatomy.muscles(on[:, None] * towards(self.azimuth), 0.5 * on)


def towards(azimuth) -> Float[Array, " 4"]:
    """The share of each of the four longitudinal muscles in a bend, so that its moment has the azimuth."""
    return jnp.maximum(jnp.cos(azimuth - np.deg2rad(LONGITUDINAL_AZIMUTHS)), 0.0)


class Twist(Command):
    """One of the two oblique muscles contracts; a negative amount takes the other one."""

    amount: Number
    duration: Number
    first: Number
    last: Number

    def __init__(self, amount: float, duration: float, first: float = 0.0, last: float = 1.0):
        self.amount, self.duration, self.first, self.last = checked_part(amount, duration, first, last, least=-1.0)

    def activation(self, time, anatomy):
        """The activation of the oblique muscle that winds in the direction of the twist."""
        if not anatomy.has_oblique:
            raise InputError("to twist, an arm must have oblique muscles; this one has none")
        on = anatomy.inside(self.first, self.last) * envelope(time, self.duration)
        sides = jnp.stack([jnp.maximum(self.amount, 0.0), jnp.maximum(-self.amount, 0.0)])
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), jnp.zeros(anatomy.count), on[:, None] * sides)


class Stiffen(Contraction):
    """All muscles contract, the radial ones twice as much, graded: the arm stiffens and keeps its shape."""

    most: ClassVar[float] = 0.5
    """Largest amount: at more than this, radial muscles would be more than fully active."""

    __init__ = Contraction.__init__

    def activation(self, time, anatomy):
        """The activation of all muscles alike, graded."""
        on = anatomy.grade * self._level(time, anatomy)
        return anatomy.muscles(jnp.repeat(on[:, None], 4, 1), 2.0 * on)
