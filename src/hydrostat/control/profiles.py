"""Time laws from rest to rest: the fraction of a path that is done at a time.

Ramps up and down may differ, and the speed can be changed while the move is under way, as motion controllers do.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.interpolate import PPoly
from scipy.optimize import brentq

from hydrostat.errors import InputError

_Phase = tuple[float, float, float]  # duration [s], jerk [1/s^3], acceleration at its beginning [1/s^2]


@dataclass(frozen=True)
class Profile:
    """A smooth time law from 0 at time 0 to 1 at time `duration`, made of polynomial phases."""

    duration: float
    """Duration [s]."""
    phases: PPoly

    def __call__(self, times: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The fraction done at times [s], or one of its time derivatives; constant before and after."""
        return self.phases(np.clip(times, 0.0, self.duration), derivative)

    @staticmethod
    def from_jerks(durations: list[float], jerks: list[float], accelerations: list[float]) -> "Profile":
        """The profile of phases that start with these accelerations and have constant jerks."""
        coefficients, ends, position = _integrated(list(zip(durations, jerks, accelerations, strict=True)), 0.0, 0.0)
        # Rounding leaves the end at 1 to some 1e-16: bring it there exactly.
        return Profile(float(ends[-1]), PPoly(coefficients / position, ends))

    @staticmethod
    def constant_rate(duration: float, ramp_up: float = 0.0, ramp_down: float = 0.0) -> "Profile":
        """The profile of constant speed, with ramps of given times [s] at its ends; without them the speed jumps."""
        if ramp_up < 0.0 or ramp_down < 0.0 or ramp_up + ramp_down > duration:
            raise InputError(
                f"ramps must be at least 0 s and together at most the {duration:g} s of the move; got "
                f"{ramp_up:g} s and {ramp_down:g} s"
            )
        speed = 1.0 / (duration - 0.5 * (ramp_up + ramp_down))
        cruise: list[_Phase] = [(duration - ramp_up - ramp_down, 0.0, 0.0)]
        phases = _ramp_of_time(0.0, speed, ramp_up) + cruise + _ramp_of_time(speed, 0.0, ramp_down)
        first = 0.0 if ramp_up > 0.0 else speed
        coefficients, ends, _ = _integrated(phases, 0.0, first)
        return Profile(float(ends[-1]), PPoly(coefficients, ends))

    def with_speed(
        self,
        time: float,
        speed: float,
        max_acceleration: float,
        max_deceleration: float | None = None,
        max_jerk: float | None = None,
    ) -> "Profile":
        """The profile whose speed is changed on the fly: up to a time [s] this one, then at another speed to the end.

        An acceleration that is under way is ended first; then the speed is changed, kept, and taken to rest. Where the
        path that is left is too short for the new speed, the nearest that it allows is taken.

        **Arguments:** `speed`: the new one [1/s]; limits [1/s^2], [1/s^3]; without a jerk the acceleration jumps.
        """
        if not 0.0 <= time < self.duration:
            raise InputError(f"the speed can be changed from 0 to {self.duration:.4g} s of this move; got {time:g} s")
        if not speed > 0.0:
            raise InputError(f"the new speed must be positive; got {speed:g}")
        slow = max_acceleration if max_deceleration is None else max_deceleration
        position, rate, acceleration = (float(self(np.array([time]), order)[0]) for order in range(3))
        first: list[_Phase] = []
        if max_jerk is not None and acceleration != 0.0:
            ease, sign = abs(acceleration) / max_jerk, np.sign(acceleration)
            first = [(ease, -sign * max_jerk, acceleration)]
        distance = 1.0 - position - sum(_distances(first, rate))
        eased = rate + sum(t * (a + 0.5 * j * t) for t, j, a in first)
        if eased < 0.0 or distance < _ramp_distance(eased, 0.0, slow, max_jerk):
            raise InputError(f"the move is coming to rest at {time:g} s: its speed cannot be changed any more")
        phases = first + _to_rest(eased, distance, speed, max_acceleration, slow, max_jerk)
        coefficients, ends, _ = _integrated(phases, position, rate)
        kept = self.phases.x[:-1] < time
        marks = np.concatenate([self.phases.x[:-1][kept], time + ends])
        return Profile(float(marks[-1]), PPoly(np.concatenate([self.phases.c[:, kept], coefficients], 1), marks))

    def stretched(self, duration: float) -> "Profile":
        """The same profile stretched in time; speeds fall with the ratio, accelerations with its square, jerks with its
        cube."""
        slower = self.duration / duration
        powers = slower ** np.arange(3, -1, -1)
        return Profile(duration, PPoly(self.phases.c * powers[:, None], self.phases.x / slower))


def minimum_jerk(t):
    """The minimum-jerk time law: the fraction of a path at a fraction t of its duration, 0 to 1.

    It starts and ends at rest and without acceleration (Flash and Hogan 1985).
    """
    return t**3 * (10.0 - 15.0 * t + 6.0 * t**2)


def trapezoid(max_speed: float, max_acceleration: float, max_deceleration: float | None = None) -> Profile:
    """The fastest profile of bounded speed [1/s], acceleration and, where it differs, deceleration [1/s^2]."""
    if max_deceleration is not None:
        return _from_rest(max_speed, max_acceleration, max_deceleration, None)
    speed = min(max_speed, sqrt(max_acceleration))
    ramp = speed / max_acceleration
    cruise = 1.0 / speed - ramp
    return Profile.from_jerks([ramp, max(cruise, 0.0), ramp], [0.0] * 3, [max_acceleration, 0.0, -max_acceleration])


def scurve(
    max_speed: float, max_acceleration: float, max_jerk: float, max_deceleration: float | None = None
) -> Profile:
    """The fastest profile of bounded speed [1/s], acceleration [1/s^2] and jerk [1/s^3]: seven phases.

    **Arguments:** `max_deceleration`: where it differs from the acceleration [1/s^2].
    """
    if max_deceleration is not None:
        return _from_rest(max_speed, max_acceleration, max_deceleration, max_jerk)
    full = max_acceleration**2 / max_jerk  # the least speed at whose ramp the acceleration limit is reached
    # The highest speed that half the path allows, with and without a phase of constant acceleration.
    peak = (sqrt(full**2 + 4.0 * max_acceleration) - full) / 2.0
    if peak < full:
        peak = (max_jerk / 4.0) ** (1.0 / 3.0)
    speed = min(max_speed, peak)
    if speed >= full:
        onset = max_acceleration / max_jerk
        steady = speed / max_acceleration - onset
    else:
        onset = sqrt(speed / max_jerk)
        steady = 0.0
    top = max_jerk * onset
    cruise = max(1.0 / speed - (2.0 * onset + steady), 0.0)
    return Profile.from_jerks(
        [onset, steady, onset, cruise, onset, steady, onset],
        [max_jerk, 0.0, -max_jerk, 0.0, -max_jerk, 0.0, max_jerk],
        [0.0, top, top, 0.0, 0.0, -top, -top],
    )


def _from_rest(speed: float, acceleration: float, deceleration: float, jerk: float | None) -> Profile:
    """The fastest profile whose ramps differ."""
    phases = _to_rest(0.0, 1.0, speed, acceleration, deceleration, jerk)
    return Profile.from_jerks(*(list(column) for column in zip(*phases, strict=True)))


def _to_rest(
    first: float, distance: float, speed: float, acceleration: float, deceleration: float, jerk: float | None
) -> list[_Phase]:
    """The phases from a speed to another, kept as long as the distance allows, and to rest at its end."""

    def ramps(peak):
        change = _ramp(first, peak, acceleration if peak > first else deceleration, jerk)
        return change, _ramp(peak, 0.0, deceleration, jerk)

    def left(peak):
        up, down = ramps(peak)
        return distance - sum(_distances(up, first)) - sum(_distances(down, peak))

    # From the first speed it can come to rest in time; where it cannot from the other, one in between uses all.
    root: Any = speed if left(speed) >= 0.0 else brentq(left, first, speed, xtol=1e-15)
    peak = float(root)
    up, down = ramps(peak)
    return [*up, (max(left(peak), 0.0) / peak, 0.0, 0.0), *down]


def _ramp(first: float, last: float, acceleration: float, jerk: float | None) -> list[_Phase]:
    """The phases from a speed to another, without acceleration at both ends where the jerk is bounded."""
    change, sign = abs(last - first), float(np.sign(last - first))
    if change == 0.0:
        return []
    if jerk is None:
        return [(change / acceleration, 0.0, sign * acceleration)]
    onset = min(sqrt(change / jerk), acceleration / jerk)
    steady = max(change / (jerk * onset) - onset, 0.0)
    top = sign * jerk * onset
    return [(onset, sign * jerk, 0.0), (steady, 0.0, top), (onset, -sign * jerk, top)]


def _ramp_of_time(first: float, last: float, time: float) -> list[_Phase]:
    """The phase from a speed to another in a given time [s]; none where it has no time."""
    return [(time, 0.0, (last - first) / time)] if time > 0.0 else []


def _ramp_distance(first: float, last: float, acceleration: float, jerk: float | None) -> float:
    """The distance that a ramp takes."""
    return sum(_distances(_ramp(first, last, acceleration, jerk), first))


def _distances(phases: list[_Phase], speed: float) -> list[float]:
    """The distance that each phase takes, from a first speed on."""
    distances = []
    for time, jerk, acceleration in phases:
        distances.append(speed * time + acceleration * time**2 / 2.0 + jerk * time**3 / 6.0)
        speed += acceleration * time + jerk * time**2 / 2.0
    return distances


def _integrated(phases: list[_Phase], position: float, speed: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Phases as polynomials (4, phases), the times of their ends with 0 before them, and the last position."""
    coefficients, times = [], [0.0]
    for time, jerk, acceleration in phases:
        if time > 0.0:
            coefficients.append([jerk / 6.0, acceleration / 2.0, speed, position])
            times.append(time)
            position += speed * time + acceleration * time**2 / 2.0 + jerk * time**3 / 6.0
            speed += acceleration * time + jerk * time**2 / 2.0
    return np.array(coefficients).T, np.cumsum(times), position
