"""Commands of whole motions: reaching by a wave of stiffening, and fetching by three joints."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.commands.base import RISE, Command, Number, checked, checked_part, envelope
from hydrostat.control.commands.contractions import towards
from hydrostat.errors import InputError, shown


class Reach(Command):
    """A bend near the base is pushed to the tip by a wave of stiffening, until the arm is straight.

    The arm first bends (`prepare` seconds), then the front runs from base to tip in `duration` less that. Behind it the
    longitudinal muscles contract all alike and the radial ones twice as much, which stiffens without changing the
    length; before it the bend stays as it is.
    """

    duration: Number
    prepare: Number
    azimuth: Number
    """Azimuth of the bend [rad]."""
    bend: Number
    stiffen: Number
    first: Number
    last: Number
    wave: bool = eqx.field(static=True)

    def __init__(
        self,
        azimuth: float | Number = 0.0,
        strength: float | Number = 0.5,
        *,
        duration: float | Number = 2.5,
        prepare: float | Number = 1.5,
        bend: float | None = None,
        stiffen: float | None = None,
        first: float = 0.05,
        last: float = 0.4,
        wave: bool = True,
    ):
        """**Arguments:** `azimuth`: towards which it bends first [rad]; `strength`: from 0 to 1, by which bend and
        stiffness follow where they are not given; `bend`, `stiffen`: their activations; `first`, `last`: where it
        bends, as fractions of the arm; `wave`: False to let the bend go instead.
        """
        strength = errors.number("strength", strength, least=0.0, most=1.0)
        bent = 0.2 * strength if bend is None else bend
        self.bend, self.duration, self.first, self.last = checked_part(bent, duration, first, last)
        self.prepare = checked("prepare", prepare, least=0.0, most=0.99 * duration)
        self.azimuth = checked("azimuth", azimuth)
        self.stiffen = checked("stiffen", 0.4 * strength if stiffen is None else stiffen, least=0.0, most=0.5)
        self.wave = bool(wave)

    def activation(self, time, anatomy):
        """The bend before the front, stiffness behind it; without the wave, the bend is let go."""
        front = (time - self.prepare) / (self.duration - self.prepare)
        behind = jnp.clip((front - anatomy.place) / anatomy.width, 0.0, 1.0)
        rise = jnp.clip(time / (2.0 * RISE), 0.0, 1.0)
        bend = self.bend * anatomy.grade * anatomy.inside(self.first, self.last) * rise
        if not self.wave:
            bend = jnp.where(time < self.prepare, bend, 0.0)
            return anatomy.muscles(bend[:, None] * towards(self.azimuth), jnp.zeros(anatomy.count))
        stiff = self.stiffen * anatomy.grade * behind
        longitudinal = (bend * (1.0 - behind))[:, None] * towards(self.azimuth) + stiff[:, None]
        return anatomy.muscles(longitudinal, 2.0 * stiff)


class Fetch(Command):
    """Three joints bend the arm to one side, as an octopus does that brings food to its mouth (Sumbre et al. 2005).

    Joints near the base, in the middle and before the tip, each with its own activation, and all longitudinal muscles a
    little: the pieces between stay straight.
    """

    duration: Number
    amounts: Float[Array, " 3"]
    shorten: Number
    azimuth: Number
    """Azimuth of the bend [rad]."""
    places: Float[Array, "3 2"]
    """Begin and end of each joint, as fractions of the arm."""
    rise: Number
    """Time over which the muscles contract [s]: haste tears a load off."""

    def __init__(
        self,
        duration: float | Number,
        amounts=(0.5, 1.0, 1.0),
        shorten: float = 0.2,
        azimuth: float | Number = np.pi,
        places=((0.0, 0.1), (0.3, 0.5), (0.7, 0.85)),
        rise: float | None = None,
    ):
        amounts = errors.numbers("amounts", amounts, 3)
        places = tuple(errors.numbers("places", place, 2) for place in places)
        if len(places) != 3:
            raise InputError(f"`places` must be three pairs of fractions of the arm; got {len(places)}")
        each = [checked_part(a, duration, first, last) for a, (first, last) in zip(amounts, places, strict=True)]
        self.amounts = jnp.stack([one[0] for one in each])
        self.duration = each[0][1]
        self.places = jnp.stack([jnp.stack(one[2:]) for one in each])
        if any(a[1] > b[0] for a, b in itertools.pairwise(places)):
            raise InputError(f"the joints of a fetch must follow each other along the arm; got {shown(places)}")
        self.shorten = checked("shorten", shorten, least=0.0, most=1.0)
        self.azimuth = checked("azimuth", azimuth)
        self.rise = jnp.minimum(1.0, 0.5 * self.duration)
        if rise is not None:
            self.rise = checked("rise", rise, above=0.0, most=duration)

    def activation(self, time, anatomy):
        """The joints' muscles on one side, with half as much of the radial ones."""
        t = jnp.clip(time / self.rise, 0.0, 1.0)
        on = t * t * (3.0 - 2.0 * t) * envelope(time, self.duration)
        joints = sum(self.amounts[i] * anatomy.inside(*self.places[i]) for i in range(3)) * anatomy.grade * on
        longitudinal = joints[:, None] * towards(self.azimuth) + self.shorten * on
        return anatomy.muscles(jnp.clip(longitudinal, 0.0, 1.0), 0.5 * joints)
