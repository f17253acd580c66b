"""The peripheral nervous system of a muscular arm: commands in words of motion, turned into activations of muscles.

A command says what the arm does and how long it takes. Called with a time it gives the activation of every muscle of
every segment, 0 to 1 (the paper's Table 1): to elongate, radial muscles contract; to shorten, longitudinal ones; to
bend, those on one side with the radial ones beside them; to reach, a wave of stiffening runs from base to tip.
Commands can follow each other (`Sequence`) and act at the same time (`Parallel`).

"Graded" activation falls with the radius towards the tip. Without that the tip, whose muscles are as strong for its
section but whose water is thinner, would curl before the rest of the arm moves.
"""

import abc
import itertools
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.actuation.muscles import LONGITUDINAL_AZIMUTHS, HydrostatMuscles
from hydrostat.errors import InputError, shown

_RADIAL = 4  # the column of the radial muscles
_RISE = 0.1  # s, over which an activation comes and goes


class Anatomy(eqx.Module):
    """What commands need to know of an arm."""

    place: Float[Array, " n"]
    """Where each segment begins, as a fraction of the arm."""
    width: Float[Array, " n"]
    """Its share of the arm's rest length."""
    grade: Float[Array, " n"]
    """Its radius over that of the base."""
    columns: int = eqx.field(static=True)
    """Number of muscles of a segment."""

    @staticmethod
    def of(muscles: HydrostatMuscles) -> "Anatomy":
        """The anatomy of an arm's muscles."""
        width = muscles.rest / jnp.sum(muscles.rest)
        columns = 5 + (muscles.lower.shape[1] - 4) // 2
        return Anatomy(jnp.cumsum(width) - width, width, muscles.radius / muscles.radius[0], columns)

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.place.shape[0]

    def inside(self, first, last) -> Float[Array, " n"]:
        """By how much each segment lies between two fractions of the arm."""
        covered = jnp.minimum(self.place + self.width, last) - jnp.maximum(self.place, first)
        return jnp.clip(covered / self.width, 0.0, 1.0)

    def muscles(self, longitudinal, radial, oblique=None) -> Float[Array, "n m"]:
        """Activations from those of the longitudinal (n, 4), the radial (n,) and the oblique muscles (n, 2)."""
        parts = [longitudinal, radial[:, None]]
        if self.columns > _RADIAL + 1:
            parts.append(jnp.zeros((self.count, 2)) if oblique is None else oblique)
        return jnp.concatenate(parts, -1)


class AbstractCommand(eqx.Module):
    """A motion, and how long it takes."""

    duration: eqx.AbstractVar[Float[Array, ""]]
    """[s]"""

    @abc.abstractmethod
    def __call__(self, time, anatomy: Anatomy) -> Float[Array, "n m"]:
        """The activation of every muscle at a time since the command began [s]; none before and after it."""

    def grip(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """1 for segments whose suckers shall hold, 0 for those whose suckers shall let go."""
        del time
        return jnp.zeros(anatomy.count)


Number = Float[Array, ""]
"""Numbers are kept as arrays, so that another amount or duration is not another function to compile."""


def _envelope(time, duration, rise: Number | float = _RISE):
    """1 during a command, with soft ends."""
    rise = jnp.minimum(rise, 0.5 * duration)
    return jnp.clip(time / rise, 0.0, 1.0) * jnp.clip((duration - time) / rise, 0.0, 1.0)


def _checked(
    amount: float, duration: float, first: float, last: float, most: float = 1.0
) -> tuple[Number, Number, Number, Number]:
    """The numbers that all commands have, within their bounds."""
    values = (
        errors.number("amount", amount, least=0.0, most=most),
        errors.number("duration", duration, above=0.0, most=1e4),
        errors.number("first", first, least=0.0, most=1.0),
        errors.number("last", last, least=0.0, most=1.0),
    )
    if not first < last:
        raise InputError(f"`first` must be below `last`, both fractions of the arm; got {first:g} and {last:g}")
    a, b, c, d = (jnp.asarray(value) for value in values)
    return a, b, c, d


def _angle(azimuth_deg: float) -> Number:
    return jnp.deg2rad(jnp.asarray(errors.number("azimuth_deg", azimuth_deg, least=-360.0, most=360.0)))


def part(first_segment: int, last_segment: int, segments: int) -> tuple[float, float]:
    """The fractions of the arm from the begin of one segment to the end of another, counted from 1."""
    last = errors.whole("last_segment", last_segment, least=1, most=segments)
    first = errors.whole("first_segment", first_segment, least=1, most=last)
    return (first - 1) / segments, last / segments


class _AbstractContraction(AbstractCommand):
    """Muscles of a part of the arm contract all alike."""

    amount: Number
    duration: Number
    first: Number
    last: Number
    rise: Number
    """Time over which the muscles contract, and let go again [s]: in haste a soft arm that elongates buckles."""
    most: ClassVar[float] = 1.0
    """The largest amount."""

    def __init__(self, amount: float, duration: float, first: float = 0.0, last: float = 1.0, rise: float = _RISE):
        self.amount, self.duration, self.first, self.last = _checked(amount, duration, first, last, self.most)
        self.rise = jnp.asarray(errors.number("rise", rise, above=0.0, most=1e4))

    def _level(self, time, anatomy: Anatomy) -> Float[Array, " n"]:
        """Of each segment at a time."""
        return self.amount * anatomy.inside(self.first, self.last) * _envelope(time, self.duration, self.rise)


class Elongate(_AbstractContraction):
    """Radial muscles contract: the arm, or a part of it, becomes longer and thinner."""

    __init__ = _AbstractContraction.__init__

    def __call__(self, time, anatomy):
        """The radial muscles, all alike."""
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), self._level(time, anatomy))


class Shorten(_AbstractContraction):
    """Longitudinal muscles contract: the arm, or a part of it, becomes shorter and thicker."""

    __init__ = _AbstractContraction.__init__

    def __call__(self, time, anatomy):
        """The longitudinal muscles, all alike."""
        return anatomy.muscles(jnp.repeat(self._level(time, anatomy)[:, None], 4, 1), jnp.zeros(anatomy.count))


class Bend(AbstractCommand):
    """Longitudinal muscles on one side contract, with half as much of the radial ones, graded."""

    amount: Number
    duration: Number
    first: Number
    last: Number
    azimuth: Number
    """[rad]"""

    def __init__(self, amount: float, duration: float, first: float, last: float, azimuth_deg: float = 0.0):
        self.amount, self.duration, self.first, self.last = _checked(amount, duration, first, last)
        self.azimuth = _angle(azimuth_deg)

    def __call__(self, time, anatomy):
        """The muscles on the side that the arm bends to."""
        on = self.amount * anatomy.grade * anatomy.inside(self.first, self.last) * _envelope(time, self.duration)
        return anatomy.muscles(on[:, None] * _towards(self.azimuth), 0.5 * on)


def _towards(azimuth) -> Float[Array, " 4"]:
    """How much each of the four longitudinal muscles takes part in a bend, so that its moment has the azimuth."""
    return jnp.maximum(jnp.cos(azimuth - np.deg2rad(LONGITUDINAL_AZIMUTHS)), 0.0)


class Twist(AbstractCommand):
    """One of the two oblique muscles contracts; a negative amount takes the other one."""

    amount: Number
    duration: Number
    first: Number
    last: Number

    def __init__(self, amount: float, duration: float, first: float = 0.0, last: float = 1.0):
        size, self.duration, self.first, self.last = _checked(abs(amount), duration, first, last)
        self.amount = size * float(np.sign(amount))

    def __call__(self, time, anatomy):
        """The oblique muscle that winds the wanted way."""
        if anatomy.columns <= _RADIAL + 1:
            raise InputError("to twist, an arm must have oblique muscles; this one has none")
        on = anatomy.inside(self.first, self.last) * _envelope(time, self.duration)
        sides = jnp.stack([jnp.maximum(self.amount, 0.0), jnp.maximum(-self.amount, 0.0)])
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), jnp.zeros(anatomy.count), on[:, None] * sides)


class Reach(AbstractCommand):
    """A bend near the base is pushed to the tip by a wave of stiffening, until the arm is straight.

    The arm first bends (`prepare` seconds), then the front runs from base to tip in `duration` less that. Behind it the
    longitudinal muscles contract all alike and the radial ones twice as much, which stiffens without changing the
    length; before it the bend stays as it is.
    """

    duration: Number
    prepare: Number
    azimuth: Number
    """[rad]"""
    bend: Number
    stiffen: Number
    first: Number
    last: Number
    wave: bool = eqx.field(static=True)

    def __init__(self, duration: float = 2.5, prepare: float = 1.5, azimuth_deg: float = 0.0, bend: float = 0.1,
                 stiffen: float = 0.2, first: float = 0.05, last: float = 0.4, wave: bool = True):  # fmt: skip
        self.bend, self.duration, self.first, self.last = _checked(bend, duration, first, last)
        self.prepare = jnp.asarray(errors.number("prepare", prepare, least=0.0, most=0.99 * duration))
        self.azimuth = _angle(azimuth_deg)
        self.stiffen = jnp.asarray(errors.number("stiffen", stiffen, least=0.0, most=0.5))
        self.wave = bool(wave)

    def __call__(self, time, anatomy):
        """The bend before the front, stiffness behind it; without the wave, the bend is let go."""
        front = (time - self.prepare) / (self.duration - self.prepare)
        behind = jnp.clip((front - anatomy.place) / anatomy.width, 0.0, 1.0)
        rise = jnp.clip(time / (2.0 * _RISE), 0.0, 1.0)
        bend = self.bend * anatomy.grade * anatomy.inside(self.first, self.last) * rise
        if not self.wave:
            bend = jnp.where(time < self.prepare, bend, 0.0)
            return anatomy.muscles(bend[:, None] * _towards(self.azimuth), jnp.zeros(anatomy.count))
        stiff = self.stiffen * anatomy.grade * behind
        longitudinal = (bend * (1.0 - behind))[:, None] * _towards(self.azimuth) + stiff[:, None]
        return anatomy.muscles(longitudinal, 2.0 * stiff)


class Stiffen(_AbstractContraction):
    """All muscles contract, the radial ones twice as much, graded: the arm stiffens and keeps its shape."""

    most: ClassVar[float] = 0.5
    """Radial muscles cannot be more than fully active."""

    __init__ = _AbstractContraction.__init__

    def __call__(self, time, anatomy):
        """All alike."""
        on = anatomy.grade * self._level(time, anatomy)
        return anatomy.muscles(jnp.repeat(on[:, None], 4, 1), 2.0 * on)


class Fetch(AbstractCommand):
    """Three joints bend the arm to one side, as an octopus does that brings food to its mouth (Sumbre et al. 2005).

    Joints near the base, in the middle and before the tip, each with its own activation, and all longitudinal muscles a
    little: the pieces between stay straight.
    """

    duration: Number
    amounts: Float[Array, " 3"]
    shorten: Number
    azimuth: Number
    """[rad]"""
    places: Float[Array, "3 2"]
    """Where the joints begin and end, as fractions of the arm."""
    rise: Number
    """Time over which the muscles contract [s]: a load is torn off by haste."""

    def __init__(self, duration: float, amounts=(0.5, 1.0, 1.0), shorten: float = 0.2, azimuth_deg: float = 180.0,
                 places=((0.0, 0.1), (0.3, 0.5), (0.7, 0.85)), rise: float | None = None):  # fmt: skip
        amounts = errors.numbers("amounts", amounts, 3)
        places = tuple(errors.numbers("places", place, 2) for place in places)
        if len(places) != 3:
            raise InputError(f"`places` must be three pairs of fractions of the arm; got {len(places)}")
        checked = [_checked(a, duration, first, last) for a, (first, last) in zip(amounts, places, strict=True)]
        self.amounts = jnp.stack([each[0] for each in checked])
        self.duration = checked[0][1]
        self.places = jnp.stack([jnp.stack(each[2:]) for each in checked])
        if any(a[1] > b[0] for a, b in itertools.pairwise(places)):
            raise InputError(f"the joints of a fetch must follow each other along the arm; got {shown(places)}")
        self.shorten = jnp.asarray(errors.number("shorten", shorten, least=0.0, most=1.0))
        self.azimuth = _angle(azimuth_deg)
        rise = min(1.0, 0.5 * duration) if rise is None else rise
        self.rise = jnp.asarray(errors.number("rise", rise, above=0.0, most=duration))

    def __call__(self, time, anatomy):
        """The joints' muscles on one side, with half as much of the radial ones."""
        t = jnp.clip(time / self.rise, 0.0, 1.0)
        on = t * t * (3.0 - 2.0 * t) * _envelope(time, self.duration)
        joints = sum(self.amounts[i] * anatomy.inside(*self.places[i]) for i in range(3)) * anatomy.grade * on
        longitudinal = joints[:, None] * _towards(self.azimuth) + self.shorten * on
        return anatomy.muscles(jnp.clip(longitudinal, 0.0, 1.0), 0.5 * joints)


class Grasp(AbstractCommand):
    """Suckers of a part of the arm hold what they touch; when the command is over they let go."""

    duration: Number
    first: Number
    last: Number

    def __init__(self, duration: float, first: float = 0.8, last: float = 1.0):
        _, self.duration, self.first, self.last = _checked(0.0, duration, first, last)

    def __call__(self, time, anatomy):
        """No muscle of the arm is needed."""
        del time
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), jnp.zeros(anatomy.count))

    def grip(self, time, anatomy):
        """The suckers of that part."""
        on = (time >= 0.0) & (time < self.duration)
        return jnp.where(on & (anatomy.inside(self.first, self.last) > 0.5), 1.0, 0.0)


class Release(AbstractCommand):
    """All suckers let go, for a time: what follows a grasp in a sequence."""

    duration: Number

    def __init__(self, duration: float):
        self.duration = _checked(0.0, duration, 0.0, 1.0)[1]

    def __call__(self, time, anatomy):
        """No muscle of the arm is needed."""
        del time
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), jnp.zeros(anatomy.count))


class Sequence(AbstractCommand):
    """One command after the other."""

    commands: tuple[AbstractCommand, ...]
    duration: Number

    def __init__(self, *commands: AbstractCommand):
        if not commands:
            raise InputError("a sequence must hold at least one command; got none")
        self.commands = commands
        self.duration = jnp.sum(jnp.stack([command.duration for command in commands]))

    def __call__(self, time, anatomy):
        """Each in its turn; the last one goes on."""
        begin, total = 0.0, jnp.zeros((anatomy.count, anatomy.columns))
        for i, command in enumerate(self.commands):
            last = i == len(self.commands) - 1
            now = (time >= begin) & ((time < begin + command.duration) | last)
            total = total + jnp.where(now, command(time - begin, anatomy), 0.0)
            begin = begin + command.duration
        return total

    def grip(self, time, anatomy):
        """That of the command whose turn it is."""
        begin, total = 0.0, jnp.zeros(anatomy.count)
        for command in self.commands:
            now = (time >= begin) & (time < begin + command.duration)
            total = total + jnp.where(now, command.grip(time - begin, anatomy), 0.0)
            begin = begin + command.duration
        return total


class Parallel(AbstractCommand):
    """Several commands at once; activations add up to at most 1."""

    commands: tuple[AbstractCommand, ...]
    duration: Number

    def __init__(self, *commands: AbstractCommand):
        if not commands:
            raise InputError("parallel commands must be at least one; got none")
        self.commands = commands
        self.duration = jnp.max(jnp.stack([command.duration for command in commands]))

    def __call__(self, time, anatomy):
        """Their sum."""
        parts = [command(time, anatomy) for command in self.commands]
        return jnp.clip(sum(parts[1:], start=parts[0]), 0.0, 1.0)

    def grip(self, time, anatomy):
        """What any of them wants to hold."""
        return jnp.max(jnp.stack([command.grip(time, anatomy) for command in self.commands]), 0)
