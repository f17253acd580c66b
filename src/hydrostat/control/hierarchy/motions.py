"""The motions that an arm knows: how it turns the few parameters of a message into the activation of all its muscles.

The muscles of elongating, shortening, bending and reaching are those of Kang et al. 2012, Table 1. The paper leaves the
loop open; here the arm closes it where a motion has a goal that it feels: it goes by its own length, bend or twist.
"""

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.control.anatomy import Anatomy
from hydrostat.control.commands.contractions import towards
from hydrostat.control.commands.reaching import Fetch, Reach
from hydrostat.control.hierarchy.messages import NO_HOLD, NOT_REACHED
from hydrostat.control.hierarchy.senses import Feeling
from hydrostat.control.profiles import minimum_jerk
from hydrostat.errors import InputError

RISE = 0.1
"""Time over which the muscles of a motion take over from those of the motion before [s]."""
_MOST = 0.5  # largest activation by which an arm follows a goal
_STRAIGHT = 0.7  # rad: all bends of an arm together, below which it is straight


class Moment(NamedTuple):
    """A moment of one arm's motion: the message that asked for it, its clock, and what the arm feels."""

    parameters: Float[Array, " p"]
    """Parameters of the message."""
    elapsed: Float[Array, ""]
    """Time since the motion began, by the clock of the message: it runs faster in an arm that began late, and stands
    still when the motion is over [s]."""
    duration: Float[Array, ""]
    """Planned duration of the motion [s]."""
    over: Bool[Array, ""]
    """Whether that time is over."""
    felt_before: Float[Array, ""]
    """Value of the motion's measure when it began."""
    effort: Float[Array, ""]
    """Activation that the arm has added by itself to follow its goal."""
    feeling: Feeling
    """What the arm feels of itself now."""


class Drive(NamedTuple):
    """What muscles and suckers of one arm do."""

    activation: Float[Array, "n m"]
    """Activation of every muscle."""
    grip: Float[Array, " n"]
    """1 for segments whose suckers hold the ground."""
    take: Float[Array, " n"]
    """1 for segments whose suckers hold a free object."""


class Motion(eqx.Module):
    """A motion that an arm knows by name."""

    names: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters, in the order in which a message has them."""
    defaults: ClassVar[tuple[float | None, ...]] = ()
    """Values of the parameters where a message is made without them; None for those that it must have."""
    failure: ClassVar[int] = NOT_REACHED
    """State of an arm in which this motion is over and not done."""
    latched: ClassVar[bool] = True
    """Whether a motion that was done once stays done."""
    rise: ClassVar[float] = RISE
    """Time over which its muscles take over from those of the motion before [s]; 0 for a motion that sees to that
    itself."""

    @abc.abstractmethod
    def drive(self, now: Moment, anatomy: Anatomy) -> Drive:
        """What muscles and suckers do at a moment."""

    @abc.abstractmethod
    def done(self, now: Moment, anatomy: Anatomy) -> Bool[Array, ""]:
        """Whether the arm feels that it has done what was asked for."""

    def measure(self, parameters: Float[Array, " p"], feeling: Feeling, anatomy: Anatomy) -> Float[Array, ""]:
        """The quantity that the arm leads to its goal, as the arm feels it; 0 for a motion without goal."""
        del parameters, feeling, anatomy
        return jnp.zeros(())

    def effort_rate(self, now: Moment, anatomy: Anatomy) -> Float[Array, ""]:
        """The rate of change of the effort [1/s]; 0 for a motion without goal."""
        del now, anatomy
        return jnp.zeros(())

    def check(self, anatomy: Anatomy) -> None:
        """Refuse an arm that cannot make this motion."""
        del anatomy


def still(activation: Float[Array, "n m"]) -> Drive:
    """Muscles alone, while all suckers let go."""
    none = jnp.zeros(activation.shape[0])
    return Drive(activation, none, none)


class Relax(Motion):
    """All muscles relax, and all suckers let go."""

    def drive(self, now, anatomy):
        """The drive of an arm at rest."""
        del now
        return still(anatomy.relaxed())

    def done(self, now, anatomy):
        """Whether the time is over."""
        del anatomy
        return now.over


class GoalMotion(Motion):
    """A motion that leads a measure, such as the length of a part of the arm, smoothly to a goal and keeps it there.

    The level of the muscles' pattern is what the measure of a usual arm needs, plus an effort that integrates the
    error: x' = rate (plan - measure) / slope.
    """

    rate: ClassVar[float] = 4.0
    """Rate at which errors fade in a usual arm [1/s]."""
    gain: ClassVar[float] = 0.0
    """Share of an error that acts at once, over what the plan itself needs."""
    damping: ClassVar[float] = 0.0
    """Time constant by which errors of the measure's rate act with it [s]."""
    rest: ClassVar[float] = 0.0
    """Value of the measure in a relaxed arm."""
    least: ClassVar[float] = 0.0
    """Smallest level of the pattern; negative where other muscles pull to the opposite side."""
    tolerance: ClassVar[float] = 0.05
    """Error of the measure with which the goal is reached, over the goal's distance from rest."""

    @abc.abstractmethod
    def pattern(self, parameters: Float[Array, " p"], anatomy: Anatomy) -> Float[Array, "n m"]:
        """Activation of the muscles at a level of 1."""

    @abc.abstractmethod
    def slope(self, parameters: Float[Array, " p"]) -> Float[Array, ""] | float:
        """Change of the measure by a level of 1 in a usual arm, found by trying."""

    def driven(self, level, parameters: Float[Array, " p"], anatomy: Anatomy) -> Float[Array, "n m"]:
        """Activation of the muscles at a level of the pattern."""
        return level * self.pattern(parameters, anatomy)

    def plan(self, elapsed, now: Moment) -> Float[Array, ""]:
        """The planned value of the measure at a time: by minimum jerk from where it was to the goal."""
        share = jnp.clip(elapsed / now.duration, 0.0, 1.0)
        return now.felt_before + (now.parameters[0] - now.felt_before) * minimum_jerk(share)

    def level(self, now: Moment, anatomy: Anatomy) -> Float[Array, ""]:
        """The level of the pattern: what the plan needs in a usual arm, the effort, and against errors of the rate."""
        ahead = (self.plan(now.elapsed + RISE, now) - self.plan(now.elapsed, now)) / RISE
        speed = self.measure(now.parameters, now.feeling.moving, anatomy)
        plan = self.plan(now.elapsed, now)
        error = plan - self.measure(now.parameters, now.feeling, anatomy)
        usual = plan - self.rest + self.gain * (error + self.damping * (ahead - speed))
        return usual / self.slope(now.parameters) + now.effort

    def drive(self, now, anatomy):
        """The pattern at its level, within bounds."""
        return still(self.driven(jnp.clip(self.level(now, anatomy), self.least, _MOST), now.parameters, anatomy))

    def effort_rate(self, now, anatomy):
        """The rate by which the effort follows the error; none where the level is at its bounds already."""
        error = self.plan(now.elapsed, now) - self.measure(now.parameters, now.feeling, anatomy)
        rate = self.rate * error / self.slope(now.parameters)
        level = self.level(now, anatomy)
        stuck = ((level >= _MOST) & (rate > 0.0)) | ((level <= self.least) & (rate < 0.0))
        return jnp.where(stuck, 0.0, rate)

    def done(self, now, anatomy):
        """Whether the time is over and the measure at its goal, not on its way past it."""
        goal = now.parameters[0]
        error = jnp.abs(self.measure(now.parameters, now.feeling, anatomy) - goal)
        drift = RISE * jnp.abs(self.measure(now.parameters, now.feeling.moving, anatomy))
        return now.over & (error + drift <= self.tolerance * jnp.abs(goal - self.rest))


class Length(GoalMotion):
    """A part of the arm comes to a length: the common part of elongating and shortening."""

    names: ClassVar = ("goal", "first", "last")
    defaults: ClassVar = (None, 0.0, 1.0)
    rest: ClassVar = 1.0

    def measure(self, parameters, feeling, anatomy):
        """Length of that part over its rest length."""
        inside = anatomy.width * anatomy.inside(parameters[1], parameters[2])
        return jnp.sum(inside * feeling.stretch) / jnp.maximum(jnp.sum(inside), 1e-9)


class Elongating(Length):
    """Radial muscles contract, longitudinal ones are relaxed, until a part of the arm has a length above 1."""

    def pattern(self, parameters, anatomy):
        """The radial muscles of that part."""
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), anatomy.inside(parameters[1], parameters[2]))

    def slope(self, parameters):
        """The growth of the length ratio."""
        del parameters
        return 4.0


class Shortening(Length):
    """Longitudinal muscles contract, radial ones are relaxed, until a part of the arm has a length below 1."""

    def pattern(self, parameters, anatomy):
        """The longitudinal muscles of that part."""
        inside = anatomy.inside(parameters[1], parameters[2])
        return anatomy.muscles(jnp.repeat(inside[:, None], 4, 1), jnp.zeros(anatomy.count))

    def slope(self, parameters):
        """The fall of the length ratio."""
        del parameters
        return -4.0


class Bending(GoalMotion):
    """Longitudinal muscles on one side and radial ones contract in a part of the arm, until that has bent by an
    angle."""

    names: ClassVar = ("goal", "azimuth", "first", "last")
    defaults: ClassVar = (None, 0.0, 0.0, 1.0)
    rate: ClassVar = 3.0
    gain: ClassVar = 4.0
    damping: ClassVar = 0.1
    least: ClassVar = -_MOST
    stiffen: ClassVar[float] = 0.2
    """Activation of all longitudinal muscles alike, by which the arm keeps straight what it does not bend; graded."""

    def measure(self, parameters, feeling, anatomy):
        """Angle by which that part bends towards the azimuth [rad]."""
        aim = jnp.stack([jnp.cos(parameters[1]), jnp.sin(parameters[1])])
        return jnp.sum(anatomy.inside(parameters[2], parameters[3]) * jnp.sum(feeling.bend * aim, -1))

    def pattern(self, parameters, anatomy):
        """The muscles on the side of the azimuth with half as much of the radial ones, graded."""
        on = anatomy.grade * anatomy.inside(parameters[2], parameters[3])
        return anatomy.muscles(on[:, None] * towards(parameters[1]), 0.5 * on)

    def driven(self, level, parameters, anatomy):
        """The pattern, that of the opposite side where the level is negative, and the stiffness of the whole arm."""
        stiff = self.stiffen * anatomy.grade
        other = parameters.at[1].add(jnp.pi)
        sides = jnp.maximum(level, 0.0) * self.pattern(parameters, anatomy)
        sides = sides + jnp.maximum(-level, 0.0) * self.pattern(other, anatomy)
        return sides + anatomy.muscles(jnp.repeat(stiff[:, None], 4, 1), 2.0 * stiff)

    def slope(self, parameters):
        """The growth of the angle, the more the longer the part is [rad]."""
        return 80.0 * jnp.maximum(parameters[3] - parameters[2], 0.01)


class Twisting(GoalMotion):
    """One of the two oblique muscles contracts until a part of the arm has twisted by an angle of either sign."""

    names: ClassVar = ("goal", "first", "last")
    defaults: ClassVar = (None, 0.0, 1.0)

    def measure(self, parameters, feeling, anatomy):
        """Twist of that part [rad]."""
        return jnp.sum(anatomy.inside(parameters[1], parameters[2]) * feeling.twist)

    def pattern(self, parameters, anatomy):
        """The oblique muscle that winds to the goal's side."""
        left = jnp.where(parameters[0] >= 0.0, 1.0, 0.0)
        oblique = anatomy.inside(parameters[1], parameters[2])[:, None] * jnp.stack([left, 1.0 - left])
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), jnp.zeros(anatomy.count), oblique)

    def slope(self, parameters):
        """The growth of the twist to the goal's side [rad]."""
        size = 40.0 * jnp.maximum(parameters[2] - parameters[1], 0.01)
        return jnp.where(parameters[0] >= 0.0, size, -size)

    def check(self, anatomy):
        """Refuse an arm without oblique muscles."""
        if not anatomy.has_oblique:
            raise InputError("to twist, an arm must have oblique muscles; this one has none")


class Reaching(Motion):
    """A bend near the base is pushed to the tip by a wave of stiffening, until the arm is straight."""

    names: ClassVar = ("azimuth", "strength")
    defaults: ClassVar = (0.0, 0.5)

    def drive(self, now, anatomy):
        """The muscles of `commands.Reach`, with three fifths of the time for the bend."""
        azimuth, strength = now.parameters[0], now.parameters[1]
        reach = Reach(azimuth, strength, duration=now.duration, prepare=0.6 * now.duration)
        return still(reach.activation(now.elapsed, anatomy))

    def done(self, now, anatomy):
        """Whether the time is over and the arm straight, all its bends together."""
        del anatomy
        turn = jnp.sum(now.feeling.bend, 0)
        return now.over & (jnp.sum(turn * turn) <= _STRAIGHT**2)


class Fetching(Motion):
    """Suckers of the last part of the arm take what they touch, and three joints bend it to the mouth."""

    names: ClassVar = ("azimuth", "strength", "holds_from")
    defaults: ClassVar = (np.pi, 1.0, 0.8)
    failure: ClassVar = NO_HOLD

    def drive(self, now, anatomy):
        """The muscles of `commands.Fetch`, which stay contracted when the motion is over."""
        azimuth, strength, first = now.parameters[0], now.parameters[1], now.parameters[2]
        fetch = Fetch(now.duration + 1.0, (0.5 * strength, strength, strength), azimuth=azimuth)
        activation = fetch.activation(now.elapsed, anatomy)
        return Drive(activation, jnp.zeros(anatomy.count), anatomy.within(first, 1.0))

    def done(self, now, anatomy):
        """Whether the time is over and the arm holds something."""
        del anatomy
        return now.over & jnp.any(now.feeling.taken > 0.0)


MOTIONS = {
    "relax": Relax(),
    "elongate": Elongating(),
    "shorten": Shortening(),
    "bend": Bending(),
    "twist": Twisting(),
    "reach": Reaching(),
    "fetch": Fetching(),
}
"""The motions of an arm by name: those of the paper's table, twisting and fetching."""
